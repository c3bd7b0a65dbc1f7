"""Grammars, compilers, tokenizers: what they take, what they refuse, what they are equal to."""

from __future__ import annotations

import concurrent.futures
import copy
import json
import os
import pickle
import subprocess
import sys
import threading

import pytest
from conftest import STOP, VOCAB_SIZE

import grammask
from grammask.testing import _is_grammar_accept_string as accepts


def test_grammars_print_and_read_back():
    schema = {"type": "object", "properties": {"é": {"enum": [1, "x"]}, "n": {"type": "number"}}}
    grammars = [
        grammask.Grammar.from_ebnf('root ::= "a" x\nx ::= [^b-d]+ | "é"'),
        grammask.Grammar.from_ebnf('main ::= "a" root\nroot ::= "b"', root_rule_name="main"),
        grammask.Grammar.from_regex(r"(ab?){2,5}\d"),
        grammask.Grammar.from_json_schema(schema),
        grammask.Grammar.builtin_json_grammar(),
        grammask.Grammar.from_choices(["yes", "no"]),
    ]
    for grammar in grammars:
        again = grammask.Grammar.from_ebnf(str(grammar))
        assert str(again) == str(grammar)
        assert grammask.Grammar.deserialize_json(grammar.serialize_json()) == grammar
        assert pickle.loads(pickle.dumps(grammar)) == grammar
        assert copy.deepcopy(grammar) == grammar and hash(copy.copy(grammar)) == hash(grammar)
    assert len(set(grammars)) == len(grammars)
    assert accepts(grammars[1], "ab") and not accepts(grammars[1], "b")


def test_grammars_combine():
    one, two = grammask.Grammar.from_regex("a+"), grammask.Grammar.from_ebnf('root ::= "b" root | "c"')
    assert accepts(grammask.Grammar.concat(one, two, one), "aabbca")
    assert not accepts(grammask.Grammar.concat(one, two), "aa")
    assert accepts(grammask.Grammar.union(one, two), "bc") and accepts(grammask.Grammar.union(one, two), "aa")
    with pytest.raises(TypeError):
        grammask.Grammar.concat(one, "b")


def test_errors_know_their_place():
    with pytest.raises(grammask.InvalidGrammarError) as caught:
        grammask.Grammar.from_ebnf('root ::= "a"\n  missing\n')
    error = caught.value
    assert isinstance(error, RuntimeError)
    assert error.line is not None and error.column is not None and error.diagnostics
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.code) == (str(error), error.line, error.code)
    with pytest.raises(grammask.InvalidGrammarError):
        grammask.Grammar.from_regex("(a")
    with pytest.raises(grammask.InvalidSchemaError):
        grammask.Grammar.from_json_schema("{")
    with pytest.raises(grammask.InvalidSchemaError) as caught:
        grammask.Grammar.from_json_schema({"properties": {"a": {"type": "no type"}}})
    assert caught.value.pointer == "/properties/a/type"


def test_refusals_of_automata_name_the_place_in_the_schema(compiler):
    length = {"type": "string", "pattern": "^(?:ab)*$", "minLength": 5001, "maxLength": 5001}
    items = {"type": "object", "properties": {"a": length}, "required": ["a"]}
    with pytest.raises(grammask.InvalidSchemaError, match="no value satisfies this part") as caught:
        compiler.compile_json_schema({"type": "array", "minItems": 1, "items": items})
    assert (caught.value.code, caught.value.pointer) == ("json-schema/unsatisfiable", "/items")
    # The limit on states grows with the schema.
    long = compiler.compile_json_schema({"const": "a" * 2_600_000})
    assert grammask.GrammarMatcher(long).find_jump_forward_string()[:4] == '"aaa'


REFUSED = {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{3}$"}, "uniqueItems": True}


def test_exact_mode_refuses_and_compat_mode_warns(compiler):
    with pytest.raises(grammask.UnsupportedError) as caught:
        compiler.compile_json_schema(REFUSED)
    assert isinstance(caught.value, NotImplementedError) and caught.value.pointer == "/uniqueItems"
    with pytest.raises(grammask.UnsupportedError, match="uniqueItems"):
        compiler.compile_lark(f"start: %json {json.dumps(REFUSED)}")
    grammask.config.set_compat(True)
    with pytest.warns(grammask.GrammaskWarning, match="uniqueItems"):
        compiler.compile_json_schema(REFUSED)
    with pytest.raises(RuntimeError, match="EBNF parser error at line 1, column"):
        compiler.compile_grammar("root ::= x")


@pytest.mark.parametrize("style", ["json", "qwen_xml"])
def test_schemas_of_tags_are_read_in_the_same_manner(compiler, style):
    schema = {"type": "object", "properties": {"a": REFUSED}}
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema, "style": style}}
    for make in (compiler.compile_structural_tag, grammask.Grammar.from_structural_tag):
        grammask.config.set_compat(False)
        with pytest.raises(grammask.UnsupportedError, match="uniqueItems"):
            make(tag)
        grammask.config.set_compat(True)
        for _ in range(2):
            with pytest.warns(grammask.GrammaskWarning, match="`/format/json_schema/properties/a/uniqueItems` is ignored"):
                make(tag)
        with pytest.raises(grammask.UnsupportedError, match="uniqueItems"):
            make(tag, json_options={"unsupported": "refuse"})


def test_a_malformed_pattern_is_an_error_in_both_manners(compiler):
    for compat in (False, True):
        grammask.config.set_compat(compat)
        with pytest.raises(grammask.InvalidSchemaError, match="group is not closed") as raised:
            compiler.compile_json_schema({"properties": {"a": {"pattern": "("}}})
        assert raised.value.pointer == "/properties/a/pattern"


def test_schemas_in_lark_are_read_in_the_same_manner(compiler):
    source = f"start: %json {json.dumps(REFUSED)}"
    with pytest.raises(RuntimeError, match="uniqueItems"):
        compiler.compile_lark(source)
    grammask.config.set_compat(True)
    with pytest.warns(grammask.GrammaskWarning, match="uniqueItems"):
        compiler.compile_lark(source)
    with pytest.raises(RuntimeError, match="uniqueItems"):
        compiler.compile_lark(source, json_options={"unsupported": "refuse"})


def test_keywords_of_other_drafts_are_warned_of_everywhere(compiler):
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "unevaluatedItems": False}
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}}
    lark = f"start: %json {json.dumps(schema)}\n"
    calls = [
        lambda: compiler.compile_json_schema(schema),
        lambda: grammask.Grammar.from_json_schema(schema),
        lambda: compiler.compile_structural_tag(tag),
        lambda: compiler.compile_structural_tag_async(tag).result(),
        lambda: grammask.Grammar.from_structural_tag(tag),
        lambda: compiler.compile_lark(lark),
        lambda: grammask.Grammar.from_lark(lark),
    ]
    for call in calls:
        with pytest.warns(grammask.GrammaskWarning, match="`unevaluatedItems` at `.*` asserts nothing"):
            call()


def test_lark(compiler):
    number = grammask.Grammar.from_regex("[0-9]+")
    source = 'start: "n" @number @list\n%ignore " "\n'
    named = {"number": number, "list": 'start: "[" @number "]"'}
    grammar = grammask.Grammar.from_lark(source, named_grammars=named)
    for compiled in [
        compiler.compile_grammar(grammar),
        compiler.compile_lark(source, named_grammars=named),
    ]:
        matcher = grammask.GrammarMatcher(compiled, terminate_without_stop_token=True)
        assert matcher.accept_string("n 12 [3] ")
        assert not matcher.accept_string("x")
    assert compiler.compile_lark("start: /a/").grammar == grammask.Grammar.from_lark("start: /a/")
    for info in [None, compiler.tokenizer_info]:
        assert grammask.Grammar.from_lark("start: /a/", tokenizer_info=info)
    with pytest.raises(TypeError, match="tokenizer_info"):
        grammask.Grammar.from_lark("start: /a/", tokenizer_info=5)
    with pytest.raises(grammask.InvalidGrammarError) as caught:
        compiler.compile_lark("start: NUMBER\n")
    assert (caught.value.line, caught.value.column) == (1, 8)
    with pytest.raises(grammask.UnsupportedError, match="priorities"):
        compiler.compile_lark('start.2: "a"')


def test_options_of_schemas():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    grammar = grammask.Grammar.from_json_schema
    assert not accepts(grammar(schema), '{"a": 1, "b": 2}')
    assert accepts(grammar(schema, strict_mode=False), '{"a": 1, "b": 2}')
    assert accepts(grammar(schema), '{ \n"a"\t:1}')
    assert not accepts(grammar(schema, max_whitespace_cnt=1), '{  "a":1}')
    fixed = grammar(schema, any_whitespace=False)
    assert accepts(fixed, '{"a": 1}') and not accepts(fixed, '{"a":1}')
    tight = grammar(schema, any_whitespace=False, separators=(",", ":"))
    assert accepts(tight, '{"a":1}') and not accepts(tight, '{"a": 1}')
    assert accepts(grammar(json.dumps(schema)), '{"a":1}')
    assert accepts(grammar(schema, indent=2), '{"a":1}'), "free whitespace takes any indentation"
    printed = grammar(schema, spelling="printed")
    assert accepts(printed, '{\n  "a": 64\n}') and not accepts(printed, '{  "a":1}')
    assert accepts(grammar(schema, spelling="any"), '{"\\u0061":1.00}')
    assert not accepts(grammar(schema), '{"\\u0061":1}') and not accepts(grammar(schema), '{"a":1.00}')
    assert accepts(grammar(schema, around_root=1), '\n{"a":1}\n') and not accepts(grammar(schema), '{"a":1}\n')
    with pytest.raises(RuntimeError):
        grammar(schema, spelling="odd")
    for separators in ((";", ":"), ("", ""), (",", "x:")):
        with pytest.raises(RuntimeError):
            grammar(schema, any_whitespace=False, separators=separators)
    with pytest.raises(RuntimeError):
        grammar(schema, max_whitespace_cnt=0)
    with pytest.raises(ValueError):
        grammar(3)


@pytest.mark.parametrize("indent", [0, 1, 2, 4])
@pytest.mark.parametrize("separators", [None, (",", ":"), (" ,", " : ")])
def test_indented_text_is_what_json_writes(indent, separators):
    value = {"a": [1, [], {}, {"b": None, "c": [[2, 3]]}], "d": "x"}
    grammar = grammask.Grammar.from_json_schema({}, any_whitespace=False, indent=indent, separators=separators)
    written = json.dumps(value, indent=indent, separators=separators)
    assert accepts(grammar, written)
    assert not accepts(grammar, written.replace("\n", "\n ", 1))
    assert not accepts(grammar, json.dumps(value))
    deep = json.loads("[" * 32 + "]" * 32)
    assert accepts(grammar, json.dumps(deep, indent=indent, separators=separators))
    assert not accepts(grammar, json.dumps([deep], indent=indent, separators=separators)), "32 levels at most"


@pytest.mark.parametrize("indent", [-1, 65, 1 << 40])
def test_indentation_of_no_sense(indent):
    with pytest.raises(grammask.GrammaskError, match="from 0 to 64"):
        grammask.Grammar.from_json_schema({}, any_whitespace=False, indent=indent)


def test_members_in_any_order(compiler):
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "null"}},
        "required": ["a", "b"],
    }
    free = grammask.Grammar.from_json_schema(schema, any_order=True)
    for text in ('{"a": 1, "b": true}', '{"b": true, "a": 1}', '{"c": null, "b": true, "a": 1}'):
        assert accepts(free, text)
    for text in ('{"b": true}', '{"b": true, "a": 1, "a": 1}', '{"b": 1, "a": 1}', '{"b": true, "a": 1, "d": 1}'):
        assert not accepts(free, text)
    assert not accepts(grammask.Grammar.from_json_schema(schema), '{"b": true, "a": 1}')
    assert compiler.compile_json_schema(schema, any_order=True).grammar == free


def test_pydantic_models_are_schemas():
    class Model:
        @staticmethod
        def model_json_schema():
            return {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}

    assert accepts(grammask.Grammar.from_json_schema(Model), '{"a": 1}')


def test_compilers_remember_by_content(info):
    compiler = grammask.GrammarCompiler(info)
    assert compiler.get_cache_size_bytes() == 0
    one = compiler.compile_json_schema('{"type": "integer"}')
    two = compiler.compile_json_schema('{"type": "integer"}')
    other = compiler.compile_json_schema('{"type": "integer"}', any_whitespace=False)
    assert one == two and hash(one) == hash(two) and one.grammar == two.grammar
    assert one.memory_size_bytes > 0 and other is not one
    assert compiler.get_cache_size_bytes() > 0
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0
    assert grammask.GrammarMatcher(one).accept_string("12"), "what is in use stays"
    small = grammask.GrammarCompiler(info, cache_limit_bytes=1)
    assert small.compile_regex("a") == small.compile_regex("a")
    assert small.cache_limit_bytes == 1 and small.get_cache_size_bytes() <= 1


def test_arguments_of_compilers(info, compiler):
    with pytest.raises(ValueError):
        grammask.GrammarCompiler("no tokenizer")
    for wrong in ({"max_threads": 0}, {"cache_limit_bytes": -2}):
        with pytest.raises(RuntimeError):
            grammask.GrammarCompiler(info, **wrong)
    with pytest.raises(ValueError):
        compiler.compile_grammar(3)
    again = pickle.loads(pickle.dumps(grammask.GrammarCompiler(info, cache_limit_bytes=9)))
    assert again.cache_limit_bytes == 9 and again.tokenizer_info == info


def test_compiled_grammars_travel(compiler, info):
    compiled = compiler.compile_json_schema({"type": "array", "items": {"type": "boolean"}})
    for again in (
        pickle.loads(pickle.dumps(compiled)),
        copy.deepcopy(compiled),
        grammask.CompiledGrammar.deserialize_json(compiled.serialize_json(), info),
    ):
        assert again == compiled and hash(again) == hash(compiled)
        assert grammask.GrammarMatcher(again).accept_string("[true, false]")
        assert again.fingerprint == compiled.fingerprint
    make, (text, _) = compiled.__reduce__()
    another = compiler.compile_json_schema({"type": "null"})
    _, (others_text, _) = another.__reduce__()
    read, others = json.loads(text), json.loads(others_text)
    for pair in ((read, others), (others, read)):
        with pytest.raises(grammask.DeserializeFormatError):
            make(json.dumps(pair[0] | {"automata": pair[1]["automata"]}), info)
    assert make(others_text, info) == another
    other = grammask.TokenizerInfo([b"a", b"</s>"])
    read = grammask.CompiledGrammar.deserialize_json
    with pytest.raises(grammask.DeserializeFormatError):
        read(compiled.serialize_json(), other)
    for text in ("{", "[" * 100_000):
        with pytest.raises(grammask.InvalidJSONError, match="^Invalid JSON error: "):
            read(text, info)
    with pytest.raises(grammask.DeserializeVersionError, match="^Deserialize version error: "):
        read(json.dumps({"__VERSION__": "v16"}), info)
    with pytest.raises(grammask.DeserializeVersionError, match="missing"):
        read("{}", info)
    with pytest.raises(grammask.DeserializeFormatError, match="^Deserialize format error: "):
        read("[]", info)
    with pytest.raises(grammask.DeserializeFormatError, match="^Deserialize format error: "):
        grammask.Grammar.deserialize_json(json.dumps({"__VERSION__": "grammask-1", "ebnf": "root"}))


def test_choices(compiler):
    text = grammask.GrammarMatcher(compiler.compile_choices(["yes", 'a "quote"\n', "no"]))
    assert text.accept_string('a "quote"\n') and text.is_completed()
    with pytest.raises(TypeError):
        compiler.compile_choices([])


def test_futures(compiler):
    future = compiler.compile_json_schema_async({"type": "null"}, any_whitespace=False)
    assert isinstance(future, concurrent.futures.Future)
    assert grammask.GrammarMatcher(future.result()).accept_string("null")
    assert isinstance(compiler.compile_grammar_async("root ::= x").exception(), grammask.InvalidGrammarError)
    assert compiler.compile_regex_async("a").result() == compiler.compile_regex("a")
    compiler.compile_builtin_json_grammar_async().result()
    assert compiler.compile_lark_async("start: /a/").result() == compiler.compile_lark("start: /a/")
    tag = {"format": {"type": "const_string", "value": "x"}}
    assert compiler.compile_structural_tag_async(tag).result() == compiler.compile_structural_tag(tag)
    with pytest.raises(ValueError):
        compiler.compile_json_schema_async(3)
    with pytest.raises(TypeError):
        compiler.compile_json_schema_async({}, no_option=True)


def test_futures_can_be_waited_for_together(info):
    compiler = grammask.GrammarCompiler(info, max_threads=2)
    futures = [compiler.compile_regex_async(f"[a-z]{{{count}}}x?") for count in range(1, 40)]
    seen = []
    for future in futures:
        future.add_done_callback(lambda future: seen.append(future.result()))
    done, waiting = concurrent.futures.wait(futures, timeout=60)
    assert len(done) == len(futures) == len(seen) and not waiting
    assert futures[3].result() == compiler.compile_regex("[a-z]{4}x?")


def test_futures_can_be_cancelled(info):
    compiler = grammask.GrammarCompiler(info, max_threads=1)
    slow = compiler.compile_json_schema_async(
        {"type": "object", "properties": {f"p{n}": {"pattern": f"^[a-{'xyz'[n % 3]}]*b.{{0,40}}$"} for n in range(400)}}
    )
    others = [compiler.compile_regex_async(f"a{count}") for count in range(20)]
    assert others[-1].cancel() and others[-1].cancelled() and others[-1].cancel()
    cancelled = slow.cancel()
    assert cancelled == slow.cancelled() and slow.done()
    with pytest.raises(concurrent.futures.CancelledError):
        others[-1].result()
    assert others[0].result(timeout=60) == compiler.compile_regex("a0")
    done, _ = concurrent.futures.wait(others, timeout=60)
    assert others[-1] in done
    assert not others[0].cancel()


def test_a_program_may_end_while_it_compiles():
    program = """
import grammask, threading
compiler = grammask.GrammarCompiler(grammask.TokenizerInfo([bytes([n]) for n in range(256)], stop_token_ids=[]), max_threads=4)
pattern = "(a|b|c){1,%d}d"
futures = [compiler.compile_regex_async(pattern % (count + 100)) for count in range(200)]
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_directory_keeps_what_was_compiled(info, tmp_path):
    schema = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}}, "required": ["a"]}
    first = grammask.GrammarCompiler(info, cache_dir=tmp_path / "cache")
    one = first.compile_json_schema(schema)
    assert first.cache_dir == tmp_path / "cache"
    mask = grammask.allocate_token_bitmask(1, info.vocab_size)
    text = grammask.GrammarMatcher(one)
    assert text.accept_string('{"a": "')
    text.fill_next_token_bitmask(mask)
    first.save_cache()
    assert first.cache_dir_usage()["misses"] == 1
    second = grammask.GrammarCompiler(info, cache_dir=str(tmp_path / "cache"))
    two = second.compile_json_schema(schema)
    usage = second.cache_dir_usage()
    assert (usage["hits"], usage["misses"], usage["last_error"]) == (1, 0, None)
    assert one.fingerprint == two.fingerprint and one == two and str(one.grammar) == str(two.grammar)
    again = grammask.allocate_token_bitmask(1, info.vocab_size)
    text = grammask.GrammarMatcher(two)
    assert text.accept_string('{"a": "')
    text.fill_next_token_bitmask(again)
    assert (again == mask).all()
    # Damage costs a compilation, and nothing else.
    for path in (tmp_path / "cache").iterdir():
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    third = grammask.GrammarCompiler(info, cache_dir=tmp_path / "cache")
    assert third.compile_json_schema(schema) == one
    assert third.cache_dir_usage()["unreadable"] > 0 and third.cache_dir_usage()["last_error"]
    # Another tokenizer, another file.
    other = grammask.GrammarCompiler(grammask.TokenizerInfo(["{", "}"], stop_token_ids=[]), cache_dir=tmp_path / "cache")
    assert other.compile_json_schema({"type": "object"}) is not None
    assert other.cache_dir_usage()["hits"] == 0
    assert pickle.loads(pickle.dumps(third)).cache_dir == tmp_path / "cache"
    assert grammask.GrammarCompiler(info).cache_dir is None is grammask.GrammarCompiler(info).cache_dir_usage()
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "file", ""):
        with pytest.raises(OSError):
            grammask.GrammarCompiler(info, cache_dir=wrong)


def test_a_pipe_in_a_directory_is_not_waited_for(info, tmp_path):
    first = grammask.GrammarCompiler(info, cache_dir=tmp_path)
    compiled = first.compile_regex("ab+")
    (file,) = tmp_path.iterdir()
    file.unlink()
    os.mkfifo(file)
    program = "signal.alarm(60); print(grammask.GrammarCompiler(info, cache_dir=path).compile_regex('ab+').fingerprint)"
    setup = "import grammask, pickle, signal, sys; path = sys.argv[1]; info = pickle.load(sys.stdin.buffer)"
    done = subprocess.run(
        [sys.executable, "-c", f"{setup}; {program}", str(tmp_path)], input=pickle.dumps(info), capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"") and int(done.stdout) == compiled.fingerprint
    assert file.is_file()


def test_options_behind_a_name_are_no_class(compiler):
    for source in ('root ::= x[capture] "a"\nx ::= "b"', 'root ::= x [lazy]\nx ::= "b"'):
        with pytest.raises(grammask.InvalidGrammarError) as refused:
            compiler.compile_grammar(source)
        assert refused.value.code == "ebnf/rule-options"
    assert grammask.GrammarMatcher(compiler.compile_grammar('root ::= x[alyz]\nx ::= "b"')).accept_string("by")


def test_messages_are_short(info, compiler):
    long = "word" * 250_000
    calls = [
        lambda: compiler.compile_grammar(f"root ::= {long}"),
        lambda: compiler.compile_grammar('a ::= "a"', root_rule_name=long),
        lambda: compiler.compile_regex(f"(?<{long}"),
        lambda: compiler.compile_json_schema({"type": long}),
        lambda: compiler.compile_lark(f"start: {long}"),
        lambda: compiler.compile_structural_tag({"format": {"type": long}}),
        lambda: grammask.apply_token_bitmask_inplace(None, None, backend=long),
        lambda: grammask.allocate_token_bitmask(1, 1, backend=long),
        lambda: grammask.Grammar.deserialize_json(json.dumps({"__VERSION__": long})),
        lambda: grammask.Grammar.deserialize_json(long),
        lambda: grammask.Grammar.deserialize_json(json.dumps({"__VERSION__": "1", "ebnf": f"root ::= {long}"})),
        lambda: grammask.TokenizerInfo.from_vocab_and_metadata([], json.dumps({"vocab_type": long})),
        lambda: grammask.TokenizerInfo.from_vocab_and_metadata([], long),
        lambda: grammask.TokenizerInfo.deserialize_json(json.dumps({"__VERSION__": long})),
        lambda: grammask.TokenizerInfo.deserialize_json(f"{long}"),
        lambda: grammask.TokenizerInfo([b"a"], long),
        lambda: grammask.TokenizerInfo([b"a"], stop_token_ids=long),
        lambda: grammask.TokenizerInfo(long, stop_token_ids=1 << 30),
        lambda: grammask.GrammarCompiler(info, max_threads=long),
        lambda: grammask.GrammarCompiler(info, cache_dir=long),
        lambda: grammask.GrammarMatcher(compiler.compile_regex("a")).fill_next_token_bitmask(long),
        lambda: grammask.GrammarMatcher(compiler.compile_regex("a")).accept_token(long),
        lambda: grammask.GrammarMatcher(compiler.compile_regex("a")).switch_to(compiler.compile_regex("b"), replay=long),
        lambda: grammask.BatchGrammarMatcher(long),
        lambda: grammask.get_model_structural_tag(long),
        lambda: grammask.normalize_tool_choice([], {"type": long}),
        lambda: grammask.config.set_max_recursion_depth(long),
    ]
    for call in calls:
        with pytest.raises(Exception) as refused:
            call()
        assert len(str(refused.value)) < 1_100, type(refused.value)


def test_warnings_are_short(compiler):
    """One for each keyword that is ignored, however long the path to it."""
    grammask.config.set_compat(True)
    long = "word" * 250_000
    with pytest.warns(grammask.GrammaskWarning) as warned:
        compiler.compile_json_schema({"properties": {long: REFUSED}})
    assert len(warned) == 1
    assert all(len(str(one.message)) < 1_100 for one in warned)


def test_a_directory_swallows_no_warning(info, tmp_path):
    grammask.config.set_compat(True)
    for _ in range(2):
        compiler = grammask.GrammarCompiler(info, cache_dir=tmp_path)
        with pytest.warns(grammask.GrammaskWarning, match="uniqueItems"):
            compiler.compile_json_schema(REFUSED)


def test_threads_share_a_compiler(info):
    compiler = grammask.GrammarCompiler(info)
    failures = []

    def work(seed: int) -> None:
        for number in range(20):
            kind = ["integer", "string", "boolean"][(seed + number) % 3]
            schema = {"type": "object", "properties": {f"p{number}": {"type": kind}}, "required": [f"p{number}"]}
            text = grammask.GrammarMatcher(compiler.compile_json_schema(schema))
            mask = grammask.allocate_token_bitmask(1, info.vocab_size)
            value = {"integer": 7, "string": "x", "boolean": True}[kind]
            for byte in json.dumps({f"p{number}": value}).encode():
                text.fill_next_token_bitmask(mask)
                if not mask[0, byte // 32] >> (byte % 32) & 1 or not text.accept_token(byte):
                    failures.append((seed, number, byte))
            if not text.is_completed():
                failures.append((seed, number))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_tokenizers(info):
    assert info.vocab_size == VOCAB_SIZE and info.stop_token_ids == [STOP]
    assert info.special_token_ids == [261, *range(263, VOCAB_SIZE)]
    assert info.decoded_vocab[256] == b'{"' and info.decoded_vocab[STOP] == b"</s>"
    assert len(info.decoded_vocab) == VOCAB_SIZE
    for again in (
        pickle.loads(pickle.dumps(info)),
        copy.deepcopy(info),
        grammask.TokenizerInfo.deserialize_json(info.serialize_json()),
        grammask.TokenizerInfo.from_vocab_and_metadata(info.decoded_vocab, info.dump_metadata()),
    ):
        assert again == info and hash(again) == hash(info)
    other = grammask.TokenizerInfo(info.decoded_vocab, stop_token_ids=1)
    assert other != info and other.stop_token_ids == [1]


def test_spellings_of_vocabularies():
    kinds = grammask.VocabType
    level = grammask.TokenizerInfo(["\u0120a", "\u010a", "</s>"], kinds.BYTE_LEVEL)
    assert level.decoded_vocab == [b" a", b"\n", b"</s>"] and level.vocab_type is kinds.BYTE_LEVEL
    fallback = grammask.TokenizerInfo(["\u2581a", "<0x0A>"], kinds.BYTE_FALLBACK, add_prefix_space=True, stop_token_ids=[])
    assert fallback.decoded_vocab == [b" a", b"\n"] and fallback.add_prefix_space
    mixed = grammask.TokenizerInfo(["é", b"\xff", b"\xc3"], kinds.RAW, stop_token_ids=[])
    assert mixed.decoded_vocab == ["é".encode(), b"\xff", b"\xc3"] and mixed.special_token_ids == []


def test_vocabularies_that_are_refused():
    for wrong in ({"vocab_size": 1}, {"stop_token_ids": [5]}, {"stop_token_ids": -1}):
        with pytest.raises(RuntimeError):
            grammask.TokenizerInfo(["a", "b"], **wrong)
    with pytest.raises(TypeError):
        grammask.TokenizerInfo([1])
    with pytest.raises(TypeError):
        grammask.TokenizerInfo(None)


class Token:
    def __init__(self, special, content=""):
        self.special, self.content = special, content


class HuggingFace:
    """A fast tokenizer of transformers, as far as it is looked at."""

    eos_token_id = 2
    added_tokens_decoder = {1: Token(True), 2: Token(True), 3: Token(False)}  # noqa: RUF012

    def get_vocab(self):
        return {"\u0120a": 0, "<|user|>": 1, "<end>": 2, "plain": 3, "b": 5}

    @property
    def backend_tokenizer(self):
        return self

    def to_str(self):
        decoder = {"type": "Sequence", "decoders": [{"type": "ByteLevel"}]}
        model = {"type": "BPE", "vocab": {}, "merges": []}
        pre_tokenizer = {"type": "ByteLevel", "add_prefix_space": True}
        return json.dumps({"model": model, "decoder": decoder, "pre_tokenizer": pre_tokenizer})


class NormalizingHuggingFace(HuggingFace):
    """One that decodes added tokens as its normalizer changes them, as `tokenizers` does from 0.23 on."""

    def get_vocab(self):
        return {"\u2581a": 0, "<|user|>": 1, "<end>": 2, "<call>": 3, "b": 5}

    def to_str(self):
        added = [{"id": 3, "content": "<call>", "special": False}]
        model = {"type": "BPE", "vocab": {}, "merges": []}
        decoder = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
        return json.dumps({"model": model, "decoder": decoder, "added_tokens": added})

    def get_added_tokens_decoder(self):
        return {1: Token(True, "<|user|>"), 3: Token(False, "<call>")}

    def id_to_token(self, number):
        return {1: "<|user|>", 3: "\u2581<call>"}[number]


class FastHuggingFace(HuggingFace):
    """One that writes its model last, as the package `tokenizers` does."""

    # A model takes Python most of the time to read; that this is none shows that nothing reads it for what xgrammar knows.
    text = '{"version":"1.0", "normalizer" : null,\n"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true},%s"model":{"merges":'

    def __init__(self, decoder):
        self.decoder = decoder

    def get_vocab(self, with_added_tokens=True):
        return super().get_vocab()

    def to_str(self):
        return self.text % (f'"decoder":{json.dumps(self.decoder)},' if self.decoder else "")


def test_tokenizers_of_files(tmp_path):
    # A SentencePiece model of two pieces: a space and `a`, and the control piece `</s>`.
    file = tmp_path / "tokenizer.model"
    file.write_bytes(b"\x0a\x06\x0a\x04\xe2\x96\x81a\x0a\x08\x0a\x04</s>\x18\x03\x12\x00")
    info = grammask.TokenizerInfo.from_file(file, vocab_size=4)
    assert info.decoded_vocab == [b" a", b"</s>", b"", b""] and info.stop_token_ids == [1]
    assert pickle.loads(pickle.dumps(info)) == info
    assert grammask.TokenizerInfo.from_file(str(file), stop_token_ids=0).stop_token_ids == [0]
    ranks = tmp_path / "cl100k_base.tiktoken"
    ranks.write_text("".join(f"YQ== {rank}\n" for rank in range(100_256)))
    info = grammask.TokenizerInfo.from_file(ranks)
    assert (info.vocab_size, info.stop_token_ids) == (100_277, [100_257])
    ranks.write_text("YQ== 0\n")
    with pytest.raises(grammask.TokenizerError, match="rank 1 is missing"):
        grammask.TokenizerInfo.from_file(ranks)
    ranks.write_text("YQ== 0\nYQ\n")
    with pytest.raises(grammask.TokenizerError, match="cl100k_base.tiktoken: rank file, line 2"):
        grammask.TokenizerInfo.from_file(ranks)
    with pytest.raises(FileNotFoundError):
        grammask.TokenizerInfo.from_file(tmp_path / "none.json")
    assert grammask.TokenizerInfo.from_file(file, stop_token_ids=[]).stop_token_ids == []


def test_tokenizers_of_transformers():
    info = grammask.TokenizerInfo.from_huggingface(HuggingFace(), vocab_size=8)
    assert (info.vocab_size, info.vocab_type, info.add_prefix_space) == (8, grammask.VocabType.BYTE_LEVEL, True)
    assert info.stop_token_ids == [2] and info.special_token_ids == [1, 4, 6, 7]
    assert info.decoded_vocab[:4] == [b" a", b"<|user|>", b"<end>", b"plain"]
    assert pickle.loads(pickle.dumps(info)) == info
    info = grammask.TokenizerInfo.from_huggingface(NormalizingHuggingFace())
    assert info.decoded_vocab[:4] == [b" a", b"<|user|>", b"<end>", b" <call>"]
    grammask.config.set_compat(True)
    info = grammask.TokenizerInfo.from_huggingface(FastHuggingFace({"type": "ByteLevel"}))
    assert (info.vocab_type, info.add_prefix_space) == (grammask.VocabType.BYTE_LEVEL, True)
    info = grammask.TokenizerInfo.from_huggingface(FastHuggingFace({"type": "Fuse"}))
    assert (info.vocab_type, info.add_prefix_space) == (grammask.VocabType.RAW, True)
    # Without a decoder before the model there may be one after it, so that all is read.
    with pytest.raises(grammask.InvalidJSONError, match="the tokenizer is no JSON"):
        grammask.TokenizerInfo.from_huggingface(FastHuggingFace(None))
    assert grammask.TokenizerInfo.from_huggingface(HuggingFace()).special_token_ids == [4]
    with pytest.raises(ValueError, match="Unsupported tokenizer type"):
        grammask.TokenizerInfo.from_huggingface(object())
