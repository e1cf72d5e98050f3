//! The standard library for the browser, built once from Debian's sources of it and kept in the cache.
//!
//! rustc finds a target's libraries below its sysroot, so a folder of that shape with nothing but this target in it is enough:
//! cargo gives `--sysroot` to the crates of the browser only, while build scripts and macros use the compiler's own.

use crate::failure::{Outcome, WhileTrying, fail};
use crate::packages;
use crate::place::Place;
use crate::process::{program, read, run};
use crate::toolchain::{SEPARATOR, WASM};
use std::fs::{copy, create_dir_all, read_dir, remove_dir_all, rename, write};
use std::path::{Path, PathBuf};
use std::process::Command;

const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";
/// Debian's packages of a compiler recent enough for the workspace's `rust-version`.
const PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src"];
/// An empty crate: cargo builds the standard library only on the way to something. Release, since it ends up in the page.
const SEED_MANIFEST: &str = "[package]\nname = \"seed\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
    [profile.release]\npanic = \"abort\"\ncodegen-units = 1\ndebug = false\n";

/// The cached sysroot that fits the compiler of this machine.
pub fn find(place: &Place) -> Option<PathBuf> {
    let path = folder(place).ok()?;
    path.join("lib").is_dir().then_some(path)
}

/// cargo with that sysroot for the browser's crates.
pub fn cargo(place: &Place, sysroot: &Path, linker: &Path, rustflags: &[&str]) -> Outcome<Command> {
    let sysroot = format!("--sysroot={}", sysroot.display());
    let flags: Vec<&str> = std::iter::once(sysroot.as_str()).chain(rustflags.iter().copied()).collect();
    let mut command = debian_cargo();
    command
        .current_dir(&place.root)
        .env("CARGO_TARGET_DIR", place.web_target())
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join(SEPARATOR))
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    Ok(command)
}

/// Installs Debian's compiler where it is missing and builds the library with it.
pub fn build(place: &Place) -> Outcome<()> {
    // By the packages, not by the files: Debian's plain rustc lies at the same path and is too old.
    if read(program("dpkg-query").arg("--show").args(PACKAGES)).is_err() {
        packages::install("Building for the browser without rustup's target", PACKAGES)?;
    }
    let wanted = folder(place)?;
    let work = wanted.with_extension(format!("work-{}", std::process::id()));
    let built = build_in(&work).and_then(|rlibs| lay_out(&rlibs, &work.join("sysroot")));
    let moved = built.and_then(|()| rename(work.join("sysroot"), &wanted).while_trying("put the standard library into the cache"));
    remove_dir_all(&work).while_trying(format_args!("remove {}", work.display()))?;
    moved
}

/// One folder for each compiler: the libraries of one are of no use to another.
fn folder(place: &Place) -> Outcome<PathBuf> {
    let version = read(program(RUSTC).arg("--version"))?;
    match version.split_whitespace().nth(1) {
        Some(number) => Ok(place.cached("wasm-sysroot").join(number)),
        None => fail(format!("`{RUSTC} --version` did not name a version: reinstall the package rustc-web.")),
    }
}

/// Returns the folder with the libraries that cargo left.
fn build_in(work: &Path) -> Outcome<PathBuf> {
    let source = work.join("seed/src");
    create_dir_all(&source).while_trying(format_args!("make {}", source.display()))?;
    write(work.join("seed/Cargo.toml"), SEED_MANIFEST).while_trying("write the seed crate")?;
    write(source.join("lib.rs"), "#![no_std]\n").while_trying("write the seed crate")?;
    let target = work.join("target");
    // `build-std` is for nightly compilers only; std itself is built with this variable too. Bitcode is what later LTO reads.
    let mut command = debian_cargo();
    command
        .current_dir(work.join("seed"))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_ENCODED_RUSTFLAGS", "-Cembed-bitcode=yes")
        .args(["build", "-Zbuild-std=std,panic_abort", "--release", "--target", WASM]);
    run(&mut command)?;
    Ok(target.join(WASM).join("release/deps"))
}

fn lay_out(rlibs: &Path, sysroot: &Path) -> Outcome<()> {
    let libraries = sysroot.join("lib/rustlib").join(WASM).join("lib");
    create_dir_all(&libraries).while_trying(format_args!("make {}", libraries.display()))?;
    for entry in read_dir(rlibs).while_trying(format_args!("list {}", rlibs.display()))? {
        let path = entry.while_trying(format_args!("list {}", rlibs.display()))?.path();
        let Some(name) = path.file_name().filter(|_| is_library(&path)) else { continue };
        copy(&path, libraries.join(name)).while_trying(format_args!("copy {}", path.display()))?;
    }
    Ok(())
}

fn is_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".rlib") && !name.starts_with("libseed-")
}

/// Debian's cargo and compiler, without what rustup tells its own.
fn debian_cargo() -> Command {
    let mut command = program(CARGO);
    for name in ["RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH", "RUSTFLAGS", "CARGO"] {
        command.env_remove(name);
    }
    command.env("RUSTC", RUSTC);
    command
}
