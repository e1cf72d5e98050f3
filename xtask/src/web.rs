//! `cargo xtask web [--dev]`: the browser side into dist/web. WASM from cargo, its glue from wasm-bindgen, all else from assets.mjs.

use crate::failure::{Outcome, WhileTrying, fail};
use crate::place::Place;
use crate::process::{self, cargo, program};
use crate::steps::{Step, perform};
use crate::{fingerprint, npm, toolchain};
use std::fs::create_dir_all;
use std::path::{Path, PathBuf};

/// How much is spent on making it small.
#[derive(Clone, Copy)]
pub enum Build {
    /// Quick to build, with readable names in it.
    Dev,
    /// As it ships.
    Release,
}

impl Build {
    fn cargo_profile(self) -> &'static str {
        match self {
            Self::Dev => "web-dev",
            Self::Release => "web",
        }
    }

    /// Views of erased types are a third of the code and compile in a third of the time; Leptos reads this at compile time.
    fn rustflags(self) -> &'static [&'static str] {
        match self {
            Self::Dev => &[],
            Self::Release => &["--cfg=erase_components"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }
}

/// The command.
pub fn run(place: &Place, arguments: &[String]) -> Outcome<()> {
    match arguments {
        [] => perform(place, steps(Build::Release)),
        [only] if only == "--dev" => perform(place, steps(Build::Dev)),
        _ => fail("`cargo xtask web` takes --dev or nothing."),
    }
}

/// What other commands do first.
pub fn steps(build: Build) -> Vec<Step<'static>> {
    vec![
        Step::new("Find a compiler for the browser", toolchain::ensure),
        Step::new("Install the editor's packages", |place| npm::install(place, "frontend/editor")),
        Step::new("Compile the frontend", move |place| compile(place, build)),
        Step::new("Build the maker of the glue", build_bindgen),
        Step::new("Bundle and compress the assets", move |place| assemble(place, build)),
    ]
}

fn compile(place: &Place, build: Build) -> Outcome<()> {
    let mut command = toolchain::web_cargo(place, build.rustflags())?;
    process::run(command.args([
        "build",
        "--locked",
        "--package",
        "frontend",
        "--lib",
        "--target",
        toolchain::WASM,
        "--profile",
        build.cargo_profile(),
    ]))
}

fn build_bindgen(place: &Place) -> Outcome<()> {
    process::run(cargo(place).args(["build", "--locked", "--package", "xtask-bindgen", "--profile", "tool"]))
}

fn assemble(place: &Place, build: Build) -> Outcome<()> {
    let wasm = place.web_target().join(toolchain::WASM).join(build.cargo_profile()).join("frontend.wasm");
    let sources = ["static", "frontend/editor", "xtask/assets.mjs", "xtask/bindgen"].map(|path| place.at(path));
    let inputs: Vec<PathBuf> = sources.into_iter().chain([wasm.clone()]).collect();
    let fingerprint = format!("{} {}", build.name(), fingerprint::of(&inputs)?);
    create_dir_all(place.at("dist")).while_trying("make the folder dist")?;
    fingerprint::unless_done(&place.at("dist/web.stamp"), &place.at("dist/web/index.html"), &fingerprint, || {
        make_assets(place, &wasm, build)
    })
}

fn make_assets(place: &Place, wasm: &Path, build: Build) -> Outcome<()> {
    let glue = place.at("dist/glue");
    process::run(program(place.native_target().join("tool/xtask-bindgen")).args([wasm, &glue]).arg(build.name()))?;
    let mut assets = program("node");
    process::run(assets.arg(place.at("xtask/assets.mjs")).args([&place.root, &glue, &place.at("dist/web")]).arg(build.name()))
}
