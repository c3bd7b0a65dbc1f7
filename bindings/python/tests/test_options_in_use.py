"""Options that change numbers, speed or bounds alone, each with an answer that it changes; and that no option lacks one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from conftest import VOCAB_SIZE
from test_options import ABSENT, PYTHON, SAME, rust_options

import grammask

OBJECT = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
OTHER = {"type": "object", "properties": {"c": {"type": "string"}, "b": {"type": "integer"}}}


def walk(compiled, text):
    """The numbers of a grammar after masks for a text."""
    matcher = grammask.GrammarMatcher(compiled)
    row = grammask.allocate_token_bitmask(1, VOCAB_SIZE, backend="numpy")
    for byte in text:
        matcher.fill_next_token_bitmask(row)
        if not matcher.accept_token(byte):
            pytest.fail(f"{byte} is refused")
    # A text adds its numbers to those of the grammar when it goes.
    del matcher
    return compiled.stats()


def walks(compiler):
    """The numbers of two grammars that have strings in common, one after the other."""
    one = walk(compiler.compile_json_schema(OBJECT), b'{"a": "some words", "b": 1}')
    return one, walk(compiler.compile_json_schema(OTHER), b'{"c": "some words", "b": 1}')


@pytest.mark.parametrize("name", ["pattern_bytes", "nesting", "unicode_classes", "folded_characters", "expressions"])
def test_bounds_of_patterns_in_lark(compiler, name):
    source = "start: /((\\p{L}))/i"
    assert compiler.compile_lark(source, regex_limits={name: 1 << 30}) == compiler.compile_lark(source)
    for read in (compiler.compile_lark, grammask.Grammar.from_lark):
        with pytest.raises(grammask.InvalidGrammarError) as caught:
            read(source, regex_limits={name: 0})
        assert caught.value.code == "lark/limit"
        assert caught.value.line == 1 and (name in str(caught.value) or "more than 0 levels" in str(caught.value))


def test_names_of_grammars_that_begin_with_the_sign():
    with pytest.raises(grammask.InvalidGrammarError, match="without the `@`") as caught:
        grammask.Grammar.from_lark("start: @number", named_grammars={"@number": "start: /[0-9]+/"})
    assert (caught.value.line, caught.value.column) == (1, 8)


def test_bounds_of_masks(info):
    plain = grammask.GrammarCompiler(info)
    one, _ = walks(plain)
    assert one["usage"]["mask_bytes"] > 0 and one["texts"]["hits"] > 0 and plain.stats()["pool"]["masks"] > 0
    one, _ = walks(grammask.GrammarCompiler(info, limits={"max_mask_bytes": 0}))
    assert one["usage"]["mask_bytes"] == 0 and one["texts"]["hits"] == 0
    without = grammask.GrammarCompiler(info, limits={"max_pool_bytes": 0})
    walks(without)
    assert without.stats()["pool"]["masks"] == 0


def test_the_bound_of_what_is_kept(info):
    schema = {"type": "json_schema", "json_schema": OBJECT}
    for limits, hits in (({}, 1), ({"max_cache_bytes": 0}, 0)):
        compiler = grammask.GrammarCompiler(info, limits=limits)
        for mark in "ab":
            tag = {"type": "tag", "begin": f"<{mark}>", "content": schema, "end": f"</{mark}>"}
            compiler.compile_structural_tag({"type": "structural_tag", "format": tag})
        assert compiler.stats()["schemas"]["hits"] == hits


def test_masks_that_grammars_share(info):
    assert walks(grammask.GrammarCompiler(info))[1]["masks"]["local_parts"]["masks"] == 1
    alone = grammask.GrammarCompiler(info, masks={"cross_grammar": False})
    assert walks(alone)[1]["masks"]["local_parts"]["masks"] == 0 and alone.stats()["pool"]["masks"] == 0


def test_tokens_that_nothing_lets_pass():
    tokens = [bytes([byte]) for byte in range(256)] + [b'",@', b"</s>"]
    info = grammask.TokenizerInfo(tokens, vocab_size=VOCAB_SIZE)
    for masks, dropped in (({}, 0), ({"context_expansion": True}, 1)):
        found = walks(grammask.GrammarCompiler(info, masks=masks))[1]["masks"]
        assert found["uncertain"] - found["uncertain_left"] == dropped


TWICE = 'root ::= x y | x z\nx ::= "a"\ny ::= "b" x\nz ::= "c" root'
ENDS = 'root ::= "a" root "c" | "b" root "c"| "d"'


@pytest.mark.parametrize(("name", "source"), [("prefix_merging", TWICE), ("suffix_merging", ENDS), ("shared_rules", OBJECT)])
def test_passes_that_change_automata(info, name, source):
    def compiled(**options):
        compiler = grammask.GrammarCompiler(info, **options)
        return compiler.compile_grammar(source) if isinstance(source, str) else compiler.compile_json_schema(source)

    plain, other = compiled(), compiled(automata={name: False})
    assert plain == other and plain.fingerprint != other.fingerprint


def test_parts_that_wait(info):
    def parts(compile, **automata):
        return compile(grammask.GrammarCompiler(info, automata=automata)).stats()["sub_programs"]

    tag = {"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": OBJECT}, "end": "</a>"}
    one = {"type": "structural_tag", "format": tag}
    assert parts(lambda compiler: compiler.compile_structural_tag(one)) == {"all": 1, "compiled": 0}
    at_once = parts(lambda compiler: compiler.compile_structural_tag(one), deferred_programs=False)
    assert at_once == {"all": 1, "compiled": 1}
    pattern = {"type": "string", "pattern": "^[a-z]{3}-[0-9]{4}$"}
    many = {"anyOf": [{"properties": {f"n{i}_{k}": pattern for i in range(30)}, "type": "object"} for k in range(40)]}
    for states, is_deferred in ((0, True), (1 << 30, False)):
        found = parts(lambda compiler: compiler.compile_json_schema(many), deferred_min_states=states)
        assert (found["all"] > 0) == is_deferred


# Tables of names in the tests exercise nothing.
TABLES = {"PYTHON", "SAME", "ABSENT", "METHODS", "ENUMS", "TAG_OPTIONS", "SIGNATURES"}


def names_in_use():
    """Names of arguments, and strings, in the statements of the tests that are no tables of names."""
    found = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", None) in TABLES:
                continue
            for node in ast.walk(statement):
                if isinstance(node, ast.keyword) and node.arg is not None:
                    found.add(node.arg)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    return found


def test_every_option_is_used_by_a_test():
    options = rust_options()
    wanted = {name for fields in PYTHON.values() for names in fields.values() for name in names.split()}
    for struct in SAME:
        prefix = "text_" if struct == "TextLimits" else ""
        wanted |= {prefix + field for field in options[struct] if field not in ("interrupt", "text")}
    assert not ABSENT.keys() & SAME.keys() and wanted - names_in_use() == set()
