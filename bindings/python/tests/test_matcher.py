"""Following a text: masks, accepting, endings, going back."""

from __future__ import annotations

import array
import copy
import pickle
import random
import warnings

import numpy as np
import pytest
from conftest import STOP, VOCAB_SIZE, allowed

import grammask
from grammask import testing

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def matcher(compiler, source="root ::= \"ab\"* \"c\"?", **kwargs):
    return grammask.GrammarMatcher(compiler.compile_grammar(source), **kwargs)


def bitmask(rows=1):
    return grammask.allocate_token_bitmask(rows, VOCAB_SIZE)


def test_a_mask_says_what_accept_token_does(compiler):
    rng = random.Random(1)
    compiled = compiler.compile_json_schema(SCHEMA)
    for _ in range(5):
        text = grammask.GrammarMatcher(compiled)
        mask = bitmask()
        while not text.is_terminated():
            assert text.fill_next_token_bitmask(mask)
            accepted = set()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for token in range(VOCAB_SIZE):
                    if text.accept_token(token):
                        accepted.add(token)
                        text.rollback()
            assert allowed(mask) == accepted
            assert sorted(accepted) == text.allowed_token_ids()
            choice = rng.choice(sorted(accepted - {ord(" "), ord("\n"), ord("\t"), ord("\r")}))
            assert text.accept_token(choice)


def test_only_the_row_is_written(compiler):
    mask = bitmask(3)
    matcher(compiler).fill_next_token_bitmask(mask, 1)
    assert (mask[[0, 2]] == -1).all()
    assert allowed(mask, 1) == {ord("a"), ord("c"), STOP}


def test_bitmasks_of_all_kinds(compiler, fake_tensor):
    words = grammask.get_bitmask_shape(1, VOCAB_SIZE)[1]
    want = allowed(_filled(compiler, bitmask()))
    assert allowed(_filled(compiler, np.zeros(words, np.int32))) == want
    assert allowed(_filled(compiler, np.zeros((1, words), np.uint32))) == want
    buffer = array.array("i", [0] * words)
    assert allowed(np.asarray(_filled(compiler, buffer))) == want
    tensor = fake_tensor(np.zeros((2, words), np.int32))
    text = matcher(compiler)
    text.fill_next_token_bitmask(tensor, 1)
    assert allowed(tensor.array, 1) == want
    tensor.array = np.zeros((2, words), np.int32)
    text.fill_next_token_bitmask(tensor, 0)
    assert allowed(tensor.array, 0) == want, "the memory of the tensor has moved"
    target = np.zeros((2, words), np.int32)
    text.fill_next_token_bitmask_ptr(target.ctypes.data, words, 1)
    assert allowed(target, 1) == want


def _filled(compiler, mask):
    matcher(compiler).fill_next_token_bitmask(mask)
    return mask


def test_bitmasks_that_do_not_fit(compiler, fake_tensor):
    words = grammask.get_bitmask_shape(1, VOCAB_SIZE)[1]
    text = matcher(compiler)
    read_only = np.zeros((1, words), np.int32)
    read_only.flags.writeable = False
    wrong = [
        np.zeros((1, words), np.int64),
        np.zeros((1, words), np.float32),
        np.zeros((1, words + 1), np.int32),
        np.zeros((1, words - 1), np.int32),
        np.zeros((1, 1, words), np.int32),
        np.zeros((1, words * 2), np.int32)[:, ::2],
        read_only,
        fake_tensor(np.zeros((1, words), np.int32), dtype="torch.float32"),
        fake_tensor(np.zeros((1, words), np.int32), device="cuda"),
        fake_tensor(np.zeros((1, words * 2), np.int32)[:, ::2]),
        object(),
        None,
    ]
    for mask in wrong:
        with pytest.raises(RuntimeError):
            text.fill_next_token_bitmask(mask)
    for row in (-1, 1, 2**40):
        with pytest.raises(RuntimeError):
            text.fill_next_token_bitmask(bitmask(), row)
    with pytest.raises(RuntimeError):
        text.fill_next_token_bitmask_ptr(0, words)
    with pytest.raises(TypeError):
        text.fill_next_token_bitmask()


def test_refused_tokens_change_nothing(compiler):
    text = matcher(compiler)
    assert not text.accept_token(ord("b"))
    assert text.num_steps == 0
    for token in (-1, VOCAB_SIZE, 2**40, 261, VOCAB_SIZE - 1):
        with pytest.warns(grammask.GrammaskWarning):
            assert not text.accept_token(token)
    with pytest.raises(TypeError):
        text.accept_token("a")
    assert text.accept_token(np.int64(ord("a")))


def test_the_end_of_a_text(compiler):
    text = matcher(compiler, 'root ::= "a"')
    assert not text.accept_token(STOP), "the text is not whole"
    assert text.accept_token(ord("a"))
    assert text.is_completed() and not text.is_terminated()
    assert text.accept_token(STOP)
    assert text.is_terminated()
    with pytest.raises(RuntimeError):
        text.fill_next_token_bitmask(bitmask())
    with pytest.raises(RuntimeError):
        text.find_jump_forward_string()
    with pytest.warns(grammask.GrammaskWarning):
        assert not text.accept_token(ord("a"))
    text.rollback(0)
    assert text.is_terminated()
    text.rollback(1)
    assert not text.is_terminated()
    assert text.accept_token(STOP)


def test_stop_tokens_of_a_request(compiler):
    text = matcher(compiler, override_stop_tokens=[ord("x"), ord("c")])
    assert text.stop_token_ids == sorted([ord("x"), ord("c")])
    mask = bitmask()
    text.fill_next_token_bitmask(mask)
    assert allowed(mask) == {ord("a"), ord("c"), ord("x")}
    assert text.accept_token(ord("a"))
    text.fill_next_token_bitmask(mask)
    assert allowed(mask) == {ord("b")}
    assert not text.accept_token(STOP)
    assert text.accept_token(ord("b"))
    assert text.accept_token(ord("c"))
    assert text.is_terminated()
    with pytest.raises(RuntimeError):
        matcher(compiler, override_stop_tokens=VOCAB_SIZE)


def test_a_text_that_no_token_could_end(compiler):
    info = grammask.TokenizerInfo([b"a", b"b"], stop_token_ids=[])
    assert info.stop_token_ids == []
    compiled = grammask.GrammarCompiler(info).compile_regex("ab*")
    with pytest.raises(grammask.MatcherError, match="`stop_token_ids`.*`override_stop_tokens`"):
        grammask.GrammarMatcher(compiled)
    for same in (compiled, compiler.compile_regex("ab*")):
        with pytest.raises(grammask.MatcherError, match="must not be empty"):
            grammask.GrammarMatcher(same, override_stop_tokens=[])
    assert grammask.GrammarMatcher(compiled, terminate_without_stop_token=True).accept_token(0)
    text = grammask.GrammarMatcher(compiled, override_stop_tokens=1)
    assert text.accept_token(0) and text.accept_token(1) and text.is_terminated()
    grammask.config.set_compat(True)
    with pytest.warns(grammask.GrammaskWarning, match="no stop token"):
        text = grammask.GrammarMatcher(compiled)
    assert text.accept_token(0) and not text.is_terminated()


def test_ending_without_a_stop_token(compiler):
    text = matcher(compiler, 'root ::= "ab"', terminate_without_stop_token=True)
    assert text.accept_string("a") and not text.is_terminated()
    assert text.accept_string(b"b") and text.is_terminated() and text.stop_token_ids == [STOP]
    # Stop tokens of a request are never allowed then, though their bytes would fit.
    c, d = ord("c"), ord("d")
    text = matcher(compiler, 'root ::= "c" | "d"', terminate_without_stop_token=True, override_stop_tokens=c)
    mask = bitmask(1)
    text.fill_next_token_bitmask(mask)
    assert text.stop_token_ids == [c] and allowed(mask) == {d}
    assert not text.accept_token(c) and text.accept_token(d) and text.is_terminated()


def test_strings_are_one_step(compiler):
    text = matcher(compiler)
    assert text.accept_string("abab")
    assert not text.accept_string("abx")
    assert text.num_steps == 1
    text.rollback()
    assert text.num_steps == 0
    with pytest.raises(RuntimeError):
        text.rollback()
    with pytest.raises(RuntimeError):
        text.rollback(-1)
    with pytest.raises(TypeError):
        text.accept_string(3)


def test_forks_are_independent(compiler):
    text = matcher(compiler)
    text.accept_token(ord("a"))
    branches = [text.fork(), copy.copy(text), copy.deepcopy(text)]
    for branch in branches:
        assert branch.accept_token(ord("b"))
    assert text.num_steps == 1
    text.reset()
    assert text.num_steps == 0
    assert [branch.num_steps for branch in branches] == [2, 2, 2]
    with pytest.raises(TypeError):
        pickle.dumps(text)


def test_forced_text(compiler):
    text = matcher(compiler, r'root ::= "{\"ok\": " ("true" | "false") "}"')
    assert text.find_jump_forward_string() == '{"ok": '
    partial = matcher(compiler, 'root ::= "é" | "è"')
    assert partial.find_jump_forward_string() == "", "half a character is no text"


def longest_match(info):
    """An encoder that takes the longest token each time."""
    ids = {token: number for number, token in enumerate(info.decoded_vocab) if token and number != STOP}

    def encode(text):
        left, tokens = text.encode(), []
        while left:
            length = next(size for size in range(len(left), 0, -1) if left[:size] in ids)
            tokens.append(ids[left[:length]])
            left = left[length:]
        return tokens

    return encode


def test_forced_tokens(compiler, info):
    encode = longest_match(info)
    text = matcher(compiler, r'root ::= "{\"ok\": " ("true" | "false") "}"')
    # Nothing in the vocabulary begins with `": ` and goes on, so that all of it is certain.
    assert text.find_jump_forward_tokens(encode) == ([256, ord("o"), ord("k"), 257], 0)
    assert text.num_steps == 0
    assert text.accept_string('{"ok": tru')
    assert text.find_jump_forward_tokens(encode).tokens == [ord("e"), ord("}")]
    # `"` may be merged with the `}` that follows or not: nobody knows before it is written.
    text = matcher(compiler, r'root ::= "a\"" ("}" | "x")')
    assert text.find_jump_forward_tokens(encode).tokens == [ord("a")]
    # `{` was written as a token of its own, where the tokenizer would have merged it with the quote.
    text = matcher(compiler, r'root ::= "{" "\"a"')
    assert text.accept_token(ord("{"))
    assert text.find_jump_forward_tokens(encode, [ord("{")]) == ([], 0), "the first of the context is kept"
    text = matcher(compiler, r'root ::= "a{" "\"a"')
    assert text.accept_token(ord("a")) and text.accept_token(ord("{"))
    forced = text.find_jump_forward_tokens(encode, context=[ord("a"), ord("{")])
    assert (forced.tokens, forced.rollback) == ([256, ord("a")], 1)
    assert matcher(compiler).find_jump_forward_tokens(encode) == ([], 0), "there is a choice"


def test_encoders_that_fail(compiler):
    text = matcher(compiler, 'root ::= "abc"')

    def fail(_):
        raise KeyError("no encoder")

    with pytest.raises(KeyError):
        text.find_jump_forward_tokens(fail)
    for wrong in (lambda _: [-1], lambda _: [2**40], lambda _: [ord("x")], lambda _: []):
        assert text.find_jump_forward_tokens(wrong).tokens == []
    for broken in (lambda _: None, lambda _: "ab", lambda _: [None], 3):
        with pytest.raises((TypeError, RuntimeError)):
            text.find_jump_forward_tokens(broken)
    with pytest.raises(RuntimeError):
        text.find_jump_forward_tokens(lambda _: text.reset())
    with pytest.raises(RuntimeError):
        text.find_jump_forward_tokens(lambda _: [], [VOCAB_SIZE])
    assert text.accept_string("abc") and text.accept_token(STOP)
    with pytest.raises(RuntimeError):
        text.find_jump_forward_tokens(lambda _: [])


def test_drafts(compiler):
    text = matcher(compiler)
    assert text.validate_tokens([ord("a"), ord("b"), ord("x"), ord("a")]) == 2
    assert text.validate_tokens([-1]) == 0
    assert text.validate_tokens([STOP, ord("a")]) == 1
    assert text.num_steps == 0


def test_draft_trees(compiler):
    # 0 - a(1) - b(2) - c(4)
    #   \ x(3)
    text = matcher(compiler)
    tokens = [0, ord("a"), ord("b"), ord("x"), ord("c")]
    child, sibling = [1, 2, 4, -1, -1], [-1, 3, -1, -1, -1]
    mask = bitmask(5)
    assert text.traverse_draft_tree(np.array(child), np.array(sibling), np.array(tokens), mask)
    assert text.num_steps == 0
    assert allowed(mask, 0) == allowed(mask, 2) == {ord("a"), ord("c"), STOP}
    assert allowed(mask, 1) == {ord("b")}
    assert (mask[3] == -1).all(), "a refused node's row is left alone"
    assert allowed(mask, 4) == {STOP}
    again = bitmask(5)
    assert testing._traverse_draft_tree(child, sibling, tokens, text, allocate_token_bitmask=again)
    assert (again == mask).all()
    assert not text.traverse_draft_tree(child, sibling, tokens, mask, 1e-9)
    assert text.traverse_draft_tree(child, sibling, tokens, mask, 0.0)
    for row in range(5):
        text.fill_next_token_bitmask(mask, row)
    assert text.traverse_draft_tree([-1] * 5, [-1] * 5, tokens, mask)
    temperatures = np.zeros(5)
    warm = matcher(compiler, default_temperature=0.5)
    assert warm.traverse_draft_tree(child, sibling, tokens, mask, temperatures=temperatures)
    assert temperatures.tolist() == [0.5, 0.5, 0.5, -1.0, 0.5]
    ended = [0, STOP, ord("a")]
    mask = bitmask(3)
    assert text.traverse_draft_tree([1, 2, -1], [-1] * 3, ended, mask)
    assert (mask[1:] == -1).all(), "nothing follows the stop token"
    assert text.traverse_draft_tree([], [], [], mask)
    with pytest.raises(grammask.BitmaskError):
        text.traverse_draft_tree(child, sibling, tokens, bitmask(4))
    for bad in ([1, 2, 4, -1, 0], [1, 2, 4, -1, 9], [1, 1, 4, -1, -1], [1]):
        with pytest.raises(RuntimeError):
            text.traverse_draft_tree(bad, sibling, tokens, mask)
    assert text.num_steps == 0


def test_why_a_token_is_refused(compiler):
    text = grammask.GrammarMatcher(compiler.compile_json_schema(SCHEMA, any_whitespace=False))
    assert text.explain_rejection(256) is None
    assert text.explain_rejection(STOP).reason == "too_early_to_stop"
    assert text.explain_rejection(261).reason == "no_bytes"
    text.accept_string('{"ok": t')
    rejection = text.explain_rejection(ord("x"))
    assert (rejection.reason, rejection.offset, rejection.possible) == ("byte_refused", 0, [ord("r")])
    assert "expected 'r'" in str(rejection)
    with pytest.raises(RuntimeError):
        text.explain_rejection(VOCAB_SIZE)


def test_batches(compiler, info):
    batch = grammask.BatchGrammarMatcher(max_threads=2)
    sources = ['root ::= "a"', 'root ::= "b"', 'root ::= [0-9]+'] * 10
    texts = [matcher(compiler, source) for source in sources]
    mask, rows = bitmask(40), [39 - row for row in range(30)]
    batch.batch_fill_next_token_bitmask(texts, mask, rows)
    single = bitmask()
    for text, row in zip(texts, rows, strict=True):
        text.fill_next_token_bitmask(single)
        assert (mask[row] == single[0]).all()
    assert (mask[:10] == -1).all()
    assert batch.batch_accept_token(texts, [ord("a")] * 30) == [True, False, False] * 10
    assert batch.batch_accept_string(texts[2:4], ["12", "a"]) == [True, False]
    batch.batch_rollback(texts[2:3])
    batch.batch_rollback([texts[0], texts[3]], [1, 0])
    with pytest.raises(OverflowError):
        batch.batch_rollback(texts[:1], 2**63)
    temperatures = np.zeros(2)
    batch.batch_fill_temperature([texts[0], matcher(compiler, default_temperature=0.5)], temperatures)
    assert temperatures.tolist() == [-1.0, 0.5]
    with pytest.raises(TypeError, match="must hold floats, not int64"):
        batch.batch_fill_temperature(texts[:1], np.zeros(1, np.int64))
    with pytest.raises(RuntimeError):
        batch.batch_fill_next_token_bitmask(texts, mask, [0])
    with pytest.raises(RuntimeError):
        batch.batch_fill_next_token_bitmask(texts[:2], mask, [1, 1])
    with pytest.raises(RuntimeError):
        batch.batch_fill_next_token_bitmask([texts[0], texts[0]], mask)
    with pytest.raises(RuntimeError):
        batch.batch_accept_token(texts, [1])
    with pytest.raises(RuntimeError):
        grammask.BatchGrammarMatcher(0)
    assert grammask.BatchGrammarMatcher("auto") is not None
    assert grammask.BatchGrammarMatcher() is not None


def test_an_empty_vocabulary():
    info = grammask.TokenizerInfo([], stop_token_ids=[])
    text = grammask.GrammarMatcher(
        grammask.GrammarCompiler(info).compile_grammar('root ::= "a"'), terminate_without_stop_token=True
    )
    assert text.accept_string("a") and text.is_terminated()
    with pytest.raises(RuntimeError):
        text.fill_next_token_bitmask(np.zeros((1, 0), np.int32))


def test_settings_of_a_matcher(compiler):
    with pytest.warns(DeprecationWarning):
        matcher(compiler, max_rollback_tokens=3)
    text = matcher(compiler, default_temperature=0.5)
    assert text.temperature == 0.5 and text.max_rollback_tokens == -1 and text.get_captures() == []
    with pytest.raises(ValueError):
        grammask.GrammarMatcher("no grammar")


def test_rules_capture_what_they_read(compiler):
    grammar = '''
    root ::= key "=" value
    key[capture] ::= [a-z]+
    value[capture="the value"] ::= digit+
    digit[capture] ::= [0-9]
    '''
    text = grammask.GrammarMatcher(compiler.compile_grammar(grammar))
    assert text.get_captures() == []
    assert text.accept_string("ab=12")
    assert text.get_captures() == [
        ("key", b"ab"), ("digit", b"1"), ("digit", b"2"), ("the value", b"12")
    ]
    assert ("the value", b"1") not in text.get_captures(deduplicate=False)
    fork = text.fork()
    text.rollback()
    assert text.get_captures() == [] and len(fork.get_captures()) == 4


def test_rules_have_temperatures(compiler):
    grammar = 'root ::= a "b"\na[temperature=0.7] ::= "x"{2}'
    text = grammask.GrammarMatcher(compiler.compile_grammar(grammar), default_temperature=1.5)
    assert text.temperature == 0.7
    temperatures = np.zeros(3)
    tokens = [0, ord("x"), ord("x")]
    mask = bitmask(3)
    assert text.traverse_draft_tree([1, 2, -1], [-1] * 3, tokens, mask, temperatures=temperatures)
    assert temperatures.tolist() == [0.7, 0.7, 1.5]
    assert text.accept_string("xx") and text.temperature == 1.5
    several = np.zeros(2)
    grammask.BatchGrammarMatcher.batch_fill_temperature([text, text.fork()], several)
    assert several.tolist() == [1.5, 1.5]


def test_tokens_of_a_rule_are_counted(compiler):
    grammar = 'root ::= think "."\nthink[max_tokens=2] ::= [a-z]*'
    tag = '''{"type": "structural_tag", "format": {"type": "tag", "begin": "", "end": ".",
        "content": {"type": "any_text", "max_tokens": 2}}}'''
    for compiled in (compiler.compile_grammar(grammar), compiler.compile_structural_tag(tag)):
        text = grammask.GrammarMatcher(compiled)
        mask = bitmask()
        for letter in "ab":
            text.fill_next_token_bitmask(mask)
            assert {ord("a"), ord(".")} <= allowed(mask)
            assert text.accept_token(ord(letter))
        text.fill_next_token_bitmask(mask)
        assert allowed(mask) == {ord(".")}
        assert not text.accept_token(ord("a")) and text.accept_token(ord("."))


def test_macros_of_ebnf(compiler):
    grammar = r'root ::= Regex("[a-c]+\\d", flags="i") Substring("one ", "two ")'
    compiled = compiler.compile_grammar(grammar)
    assert grammask.GrammarMatcher(compiled).accept_string("aBc1one two ")
    assert not grammask.GrammarMatcher(compiled).accept_string("abc1two one")


def test_captures_of_a_whole_text(compiler):
    text = grammask.GrammarMatcher(compiler.compile_lark('start: "<a>" body "</a>"\nbody[capture]: /(.|\\n)*/'))
    assert text.accept_string("<a>hi</a>") and text.get_captures() == [("body", b"hi</a>")]
    assert text.accept_token(text.stop_token_ids[0]) and text.get_captures() == [("body", b"hi")]


def test_captures_come_by_where_they_end(compiler):
    source = 'start: a b\na[capture]: /[a-z]+/\nb[capture="n", suffix=";", stop_capture="s"]: /[0-9]*/'
    text = grammask.GrammarMatcher(compiler.compile_lark(source))
    assert text.accept_string("abc12;") and text.get_captures() == [("a", b"abc"), ("s", b";"), ("n", b"12")]


def test_bounds_on_characters_over_tokens(compiler):
    text = grammask.GrammarMatcher(compiler.compile_lark('start: a "!"\na[max_chars=2]: (/[a-z]/ | <[0]>)*'))
    steps = ["accept_token", "accept_string"]
    told = [getattr(text, steps[isinstance(step, str)])(step) for step in (0, "a", 0, "b", 0, "c", "!")]
    assert told == [True] * 5 + [False, True]
