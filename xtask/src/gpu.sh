#!/bin/sh
# The tests and measurements of gpu-apply that need an NVIDIA device. `cargo xtask gpu` builds what stands beside this
# file; nothing of Rust is needed to run it.
#
# Usage: sh run.sh [--require-device] [--skip-cpu] [--python PYTHON] [--record FOLDER] [--tokenizer FOLDER]

here=$(cd "$(dirname "$0")" && pwd)
python=python3 record=$here/record device="" cpu=yes tokenizer="" status=0
while [ $# -gt 0 ]; do
    case $1 in
        --require-device) device=--require-device ;;
        --skip-cpu) cpu="" ;;
        --python) python=$2; shift ;;
        --record) record=$2; shift ;;
        --tokenizer) tokenizer=$2; shift ;;
        *) echo "unknown argument: $1" >&2; exit 2 ;;
    esac
    shift
done

# Runs one command, and remembers that it failed.
step() {
    echo "\$ $*"
    start=$(date +%s)
    "$@" || { status=1; echo "failed: $*"; }
    echo "($(($(date +%s) - start)) s)"
}

python_has() {
    "$python" -c "import torch, $1; raise SystemExit(not torch.cuda.is_available())" >/dev/null 2>&1
}

step "$here/grammask_gpu_apply" --quiet
step "$here/it" --quiet
[ -z "$cpu" ] || step "$here/logits"
step "$here/cuda" $device --record "$record"

if command -v compute-sanitizer >/dev/null 2>&1; then
    for tool in memcheck racecheck initcheck synccheck; do
        step compute-sanitizer --tool $tool --error-exitcode 1 "$here/cuda" $device --rounds 40 --no-times
    done
else
    echo "skipped: there is no compute-sanitizer to watch the kernels' accesses to memory"
fi

if python_has grammask; then
    step "$python" -m pytest -q -p no:cacheprovider "$here/test_device.py" "$here/test_tensors.py"
else
    echo "skipped: tensors need $python with torch, grammask and a device"
fi
if python_has grammask || python_has xgrammar; then
    step "$python" "$here/python_kernels.py" "$record"
else
    echo "skipped: the kernels in Python need $python with torch, grammask or xgrammar, and a device"
fi
if [ -z "$tokenizer" ]; then
    echo "skipped: a decoding loop needs the folder of a tokenizer (--tokenizer)"
elif python_has transformers; then
    step "$python" "$here/python_loop.py" "$record" "$tokenizer"
else
    echo "skipped: a decoding loop needs $python with torch, transformers and a device"
fi
exit $status
