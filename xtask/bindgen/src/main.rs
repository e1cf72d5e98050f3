//! `xtask-bindgen INPUT.wasm OUT_DIR release|dev`: the glue between the frontend's WASM and the page, as ES modules.
//! Invariant: knows nothing of the project but these three arguments.

use std::env::args_os;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let given: Vec<OsString> = args_os().skip(1).collect();
    let [input, out_dir, mode] = given.as_slice() else {
        eprintln!("usage: xtask-bindgen INPUT.wasm OUT_DIR release|dev");
        return ExitCode::from(2);
    };
    match write_glue(Path::new(input), Path::new(out_dir), mode == "release") {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("wasm-bindgen: {message}");
            ExitCode::FAILURE
        }
    }
}

fn write_glue(input: &Path, out_dir: &Path, is_release: bool) -> Result<(), String> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(input)
        .out_name("frontend")
        .typescript(false)
        .omit_default_module_path(true)
        .remove_name_section(is_release)
        .remove_producers_section(is_release);
    bindgen.web(true).map_err(|error| format!("{error:#}"))?;
    bindgen.generate(out_dir).map_err(|error| format!("{error:#}"))
}
