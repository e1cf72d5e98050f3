//! Lets the server compile before the frontend was built, and embeds it anew whenever `cargo xtask web` wrote it.

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../dist/web");
    std::fs::create_dir_all("../dist/web")
}
