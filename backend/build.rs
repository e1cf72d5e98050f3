//! Lets the server compile before the frontend was built, and embeds it anew whenever `cargo xtask web` wrote it; migrations are embedded too.

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../dist/web");
    println!("cargo:rerun-if-changed=migrations");
    std::fs::create_dir_all("../dist/web")
}
