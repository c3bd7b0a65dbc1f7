"""The numbers of grammask where Prometheus finds them: a collector for `prometheus_client`."""

import sys

import grammask
from grammask.operation import metrics

try:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
except ImportError:
    print("this example needs prometheus_client: pip install prometheus_client")
    sys.exit()

GAUGES = ("cache_entries", "memory_bytes")


class GrammaskCollector:
    """Asks for the numbers whenever they are scraped."""

    def __init__(self, *compilers):
        self.compilers = compilers

    def collect(self):
        for name, value in metrics(*self.compilers).items():
            text = name.replace("_", " ")
            if isinstance(value, dict):
                yield HistogramMetricFamily(
                    f"grammask_{name}", text, buckets=list(value["buckets"].items()), sum_value=value["sum"]
                )
            elif name in GAUGES:
                yield GaugeMetricFamily(f"grammask_{name}", text, value=value)
            else:
                yield CounterMetricFamily(f"grammask_{name}", text, value=value)


info = grammask.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"])
compiler = grammask.GrammarCompiler(info)
registry = CollectorRegistry()
registry.register(GrammaskCollector(compiler))

for schema in ({"type": "integer"}, {"type": "integer"}, {"type": "no type"}):
    try:
        matcher = grammask.GrammarMatcher(compiler.compile_json_schema(schema))
    except grammask.GrammaskError:
        continue
    matcher.fill_next_token_bitmask(grammask.allocate_token_bitmask(1, info.vocab_size))

page = generate_latest(registry).decode()
assert "grammask_cache_hits_total 1.0" in page and "grammask_compile_refused_total 1.0" in page
assert 'grammask_mask_seconds_bucket{le="+Inf"} 1.0' in page
print("\n".join(line for line in page.splitlines() if not line.startswith("#") and "bucket" not in line))
