use super::*;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::Command;

/// On a thread of its own, since it can't be undone.
#[test]
fn a_shut_thread_reaches_what_it_needs_and_nothing_else() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (given, secret) = (outside.path().join("given"), outside.path().join("secret"));
    fs::write(&given, "read me").unwrap();
    fs::write(&secret, "not me").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let needs = Needs { reads: vec![given.clone()], writes: vec![inside.path().to_owned()], ..Needs::default() };
    std::thread::spawn(move || {
        let missing = shut(&needs);
        let has = |layer: &str| !missing.iter().any(|name| name.starts_with(layer));
        let file = inside.path().join("a");
        fs::write(&file, "mine").unwrap();
        assert_eq!(fs::read_to_string(&given).unwrap(), "read me");
        std::thread::spawn(move || fs::remove_file(file).unwrap()).join().unwrap();
        if has("Landlock") {
            assert!(fs::read(&secret).is_err() && fs::write(&given, "").is_err() && fs::read("/proc/self/environ").is_err());
        }
        if has("seccomp") {
            assert!(TcpListener::bind("127.0.0.1:0").is_err());
            assert!(std::os::unix::net::UnixStream::pair().is_err());
            assert!(
                rustix::process::setrlimit(rustix::process::Resource::Core, rustix::process::getrlimit(rustix::process::Resource::Core))
                    .is_err()
            );
            let parent = rustix::process::getppid().unwrap();
            assert!(rustix::process::test_kill_process(parent).is_err());
            assert!(rustix::process::test_kill_process(rustix::process::getpid()).is_ok());
        }
        if has("Landlock") || has("seccomp") {
            assert!(TcpStream::connect(address).is_err());
            assert!(Command::new("/bin/true").status().is_err());
        }
    })
    .join()
    .unwrap();
    assert_eq!(Command::new("/bin/true").status().map(|status| status.success()).ok(), Some(true), "other threads are as they were");
}

#[test]
fn a_thread_that_may_use_any_file_reaches_files_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let missing = shut(&Needs { any_file: true, ..Needs::default() });
        fs::write(&file, "mine").unwrap();
        fs::File::open(&file).unwrap().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        fs::remove_file(file).unwrap();
        let has = |layer: &str| !missing.iter().any(|name| name.starts_with(layer));
        if has("seccomp") {
            assert!(std::os::unix::net::UnixStream::pair().is_err());
            assert!(rustix::process::test_kill_process(rustix::process::getppid().unwrap()).is_err());
        }
        if has("Landlock") || has("seccomp") {
            assert!(TcpStream::connect(address).is_err());
            assert!(Command::new("/bin/true").status().is_err());
        }
    })
    .join()
    .unwrap();
}
