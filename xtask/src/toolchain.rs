//! A cargo that can build for wasm32: rustup's target where it is or can be had, else Debian's compiler with a sysroot of our own.

use crate::failure::{Outcome, fail};
use crate::place::Place;
use crate::process::{cargo, program, read, run};
use crate::sysroot;
use std::path::PathBuf;
use std::process::Command;

/// The browser's target.
pub const WASM: &str = "wasm32-unknown-unknown";

/// Between the flags of `CARGO_ENCODED_RUSTFLAGS`.
pub const SEPARATOR: &str = "\u{1f}";

/// Makes sure that `web_cargo` will work.
pub fn ensure(place: &Place) -> Outcome<()> {
    if rustup_has_wasm() || sysroot::find(place).is_some() {
        return Ok(());
    }
    eprintln!("Asking rustup for {WASM} …");
    if run(program("rustup").args(["target", "add", WASM])).is_ok() {
        return Ok(());
    }
    eprintln!("rustup cannot add {WASM}: using Debian's compiler instead, with a standard library built once.");
    sysroot::build(place)
}

/// cargo for the browser side with these flags for rustc, building into the cache.
pub fn web_cargo(place: &Place, rustflags: &[&str]) -> Outcome<Command> {
    if rustup_has_wasm() {
        let mut command = cargo(place);
        command.env("CARGO_TARGET_DIR", place.web_target()).env("CARGO_ENCODED_RUSTFLAGS", rustflags.join(SEPARATOR));
        return Ok(command);
    }
    match sysroot::find(place) {
        Some(sysroot) => sysroot::cargo(place, &sysroot, &linker()?, rustflags),
        None => fail(format!("no compiler for {WASM} is here: run `cargo xtask setup`.")),
    }
}

fn rustup_has_wasm() -> bool {
    rustc_sysroot().is_some_and(|sysroot| sysroot.join("lib/rustlib").join(WASM).join("lib").is_dir())
}

/// The linker that comes with rustup's toolchain: Debian's compiler has none of its own for the browser.
fn linker() -> Outcome<PathBuf> {
    let host = read(program("rustc").arg("-vV"))?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned();
    let bundled = rustc_sysroot().map(|sysroot| sysroot.join("lib/rustlib").join(host).join("bin/rust-lld"));
    match bundled.filter(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => fail("rust-lld is missing from the Rust toolchain: install Rust with rustup, then run this again."),
    }
}

fn rustc_sysroot() -> Option<PathBuf> {
    read(program("rustc").args(["--print", "sysroot"])).ok().map(PathBuf::from)
}
