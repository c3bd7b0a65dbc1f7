//! `cargo xtask vocabularies`: compares the tokens that `vocabularies` reads with those of the original libraries.
//!
//! It is run by hand, because it fetches Python packages (some 10 MB) and, if asked to, compiles llama.cpp. The
//! comparison itself is `vocabularies/compare/compare.py`; what is not there, it skips and says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::python;
use crate::shell::{cargo, run as run_command};
use crate::workspace::Workspace;

/// The original libraries, and what builds llama.cpp.
const REQUIREMENTS: [&str; 6] =
    ["cmake>=3.28", "gguf>=0.17", "mistral-common>=1.8", "ninja", "sentencepiece>=0.2", "tiktoken>=0.9"];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Sources of llama.cpp, as in `vendor/llama.cpp` of the source package of llama-cpp-python; its library is
    /// compiled (some minutes), and the models in its folder `models` are compared.
    #[arg(long, value_name = "FOLDER")]
    llama: Option<PathBuf>,
    /// A folder of tiktoken's rank files, as in `assets` of the crate `tiktoken-rs`.
    #[arg(long, value_name = "FOLDER")]
    ranks: Option<PathBuf>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let folder = workspace.root().join("vocabularies").join("compare");
    let environment = python::environment(workspace, "vocabularies-environment", &REQUIREMENTS)?;
    let work = workspace.target().join("vocabularies");
    fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;

    let example = ["--package", "grammask-vocabularies", "--example", "tokens"];
    run_command(&mut cargo(workspace, ["build", "--quiet"].iter().chain(&example)))?;

    let mut compare = Command::new(environment.join("bin/python"));
    compare.arg(folder.join("compare.py")).arg("--work").arg(&work);
    compare.arg("--tokens").arg(workspace.target().join("debug/examples/tokens"));
    if let Some(sources) = &arguments.llama {
        let pieces = build_pieces(&environment, sources, &folder.join("pieces.cpp"), &work)?;
        compare.arg("--llama").arg(sources).arg("--pieces").arg(pieces);
    }
    if let Some(ranks) = &arguments.ranks {
        compare.arg("--ranks").arg(ranks);
    }
    run_command(&mut compare)
}

/// Builds llama.cpp's library for this processor's family, and the program that asks it.
fn build_pieces(environment: &Path, sources: &Path, program: &Path, work: &Path) -> Result<PathBuf> {
    let build = work.join("llama");
    let tool = |name: &str| {
        let mut command = Command::new(environment.join("bin").join(name));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(environment.join("bin")).chain(std::env::split_paths(&path));
        std::env::join_paths(paths).map(|paths| command.env("PATH", paths)).context("PATH cannot be set")?;
        anyhow::Ok(command)
    };
    let off = [
        "BUILD_SHARED_LIBS",
        "GGML_LLAMAFILE",
        "GGML_NATIVE",
        "GGML_OPENMP",
        "LLAMA_BUILD_COMMON",
        "LLAMA_BUILD_EXAMPLES",
        "LLAMA_BUILD_SERVER",
        "LLAMA_BUILD_TESTS",
        "LLAMA_BUILD_TOOLS",
        "LLAMA_BUILD_UI",
        "LLAMA_CURL",
        "LLAMA_OPENSSL",
        "LLAMA_USE_PREBUILT_UI",
    ];
    let mut configure = tool("cmake")?;
    configure.args(["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-B"]).arg(&build).arg("-S").arg(sources);
    // Nothing is computed with it, so that it need not be fast.
    configure.args(["CXX", "C"].map(|language| format!("-DCMAKE_{language}_FLAGS_RELEASE=-O1")));
    configure.args(off.map(|option| format!("-D{option}=OFF")));
    run_command(&mut configure).context("llama.cpp cannot be configured")?;
    run_command(tool("ninja")?.arg("-C").arg(&build).arg("llama")).context("llama.cpp does not build")?;

    let pieces = work.join("pieces");
    let mut link = Command::new("c++");
    link.args(["-O1", "-std=c++17", "-o"]).arg(&pieces).arg(program);
    link.arg("-I").arg(sources.join("include")).arg("-I").arg(sources.join("ggml/include"));
    let libraries =
        ["src/libllama.a", "ggml/src/libggml.a", "ggml/src/libggml-cpu.a", "ggml/src/libggml-base.a"];
    link.arg("-Wl,--start-group").args(libraries.map(|library| build.join(library))).arg("-Wl,--end-group");
    run_command(link.args(["-lpthread", "-ldl"])).context("`pieces.cpp` does not build")?;
    Ok(pieces)
}
