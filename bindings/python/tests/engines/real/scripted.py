"""A logits processor of vLLM that makes a model say what its request asks for, as far as masks allow it.

A request gives the ids in its extra argument `script`. Masks are applied before it, and it only adds to logits, so a
token that is forbidden stays so.
"""

from vllm.v1.sample.logits_processor import AdapterLogitsProcessor


class Scripted(AdapterLogitsProcessor):
    def is_argmax_invariant(self):
        return False

    def new_req_logits_processor(self, params):
        script = (params.extra_args or {}).get("script")
        if not script:
            return None

        def apply(output, logits):
            if len(output) < len(script):
                logits[int(script[len(output)])] += 1e4
            return logits

        return apply
