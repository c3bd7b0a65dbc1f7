"""Imports xgrammar in this process and in others that it starts; the first argument says whose it has to be.

Run by `test_engines.py`, in an environment where grammask is installed.
"""

import multiprocessing
import os
import subprocess
import sys

before = set(sys.modules)


def whose():
    import xgrammar
    import xgrammar.structural_tag
    from xgrammar.matcher import GrammarMatcher

    assert sys.modules["xgrammar"] is xgrammar
    assert GrammarMatcher is xgrammar.GrammarMatcher
    return xgrammar.__name__


def check_in_child(wanted):
    assert whose() == wanted


if __name__ == "__main__":
    wanted = sys.argv[1]
    assert not before & {"grammask", "numpy", "xgrammar"}, "nothing is imported before it is needed"
    if wanted == "xgrammar":
        import xgrammar

        assert xgrammar.__name__ == "xgrammar" and "grammask" not in sys.modules
        import grammask
        from grammask._plugins import vllm

        vllm()
        # A variable that is set too late.
        os.environ["GRAMMASK_AS_XGRAMMAR"] = "1"
        for call in (vllm, grammask.install_as_xgrammar):
            try:
                call()
            except RuntimeError as error:
                assert "before Python starts" in str(error)
            else:
                raise AssertionError("classes of xgrammar are in use")
        assert sys.modules["xgrammar"] is xgrammar
    else:
        assert whose() == wanted
        # One that ends before it needs a grammar, and processes of both kinds that need one.
        subprocess.run([sys.executable, "-c", "import sys; assert 'grammask' not in sys.modules"], check=True)
        for kind in ("spawn", "fork"):
            child = multiprocessing.get_context(kind).Process(target=check_in_child, args=(wanted,))
            child.start()
            child.join()
            assert child.exitcode == 0
    print("ok")
