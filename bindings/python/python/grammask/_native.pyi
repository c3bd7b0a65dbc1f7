"""The native half of grammask. Use the names of the package `grammask`."""

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, SupportsIndex, final

from typing_extensions import disjoint_base

from ._support import CompileFuture, ForcedTokens, Rejection, VocabType

__all__ = [
    "BatchGrammarMatcher",
    "Budget",
    "CompiledGrammar",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "Interrupt",
    "PendingCompile",
    "TokenizerInfo",
    "after_fork",
    "apply_bitmask",
    "apply_bitmask_array",
    "apply_bitmask_cuda",
    "before_fork",
    "choose_tokens",
    "default_limits",
    "finish_background",
    "forget_deliveries",
    "model_structural_tag",
    "process_metrics",
    "set_listener",
    "schema_report",
    "set_compat",
]

_Schema = Any
"""JSON text, a dict, a pydantic model, or what pydantic makes a schema of: `list[int]`, a dataclass, an `Enum`."""
_Limits = dict[str, int] | None
_Options = dict[str, Any] | None
_Retriever = Callable[[str], Any] | None

def after_fork() -> None: ...
def before_fork() -> None: ...
def set_compat(on: bool) -> None: ...
def apply_bitmask(
    dtype: str,
    logits: tuple[Any, int, int, int, int],
    masks: tuple[Any, int],
    width: int,
    rows: list[int] | None,
) -> None: ...
def apply_bitmask_array(logits: Any, bitmask: Any, width: int, rows: list[int] | None) -> bool: ...
def finish_background() -> None: ...
def forget_deliveries() -> None: ...
def apply_bitmask_cuda(
    dtype: str,
    place: tuple[int, int],
    logits: tuple[int, int, int, int, int],
    masks: tuple[int, int],
    width: int,
    rows: tuple[int, int] | None,
) -> str | None: ...
@final
class PendingCompile:
    def cancel(self) -> None: ...

@disjoint_base
class TokenizerInfo:
    def __new__(
        cls,
        encoded_vocab: Sequence[str | bytes],
        vocab_type: VocabType | None = None,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | list[int] | None = None,
        add_prefix_space: bool = False,
        special_token_ids: list[int] | None = None,
        max_tokens: int = 1 << 22,
        max_bytes: int = 64 << 20,
    ) -> Self: ...
    def __init__(
        self,
        encoded_vocab: Sequence[str | bytes],
        vocab_type: VocabType | None = None,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | list[int] | None = None,
        add_prefix_space: bool = False,
        special_token_ids: list[int] | None = None,
        max_tokens: int = 1 << 22,
        max_bytes: int = 64 << 20,
    ) -> None: ...
    @staticmethod
    def from_huggingface(
        tokenizer: Any, *, vocab_size: int | None = None, stop_token_ids: int | list[int] | None = None
    ) -> TokenizerInfo: ...
    @staticmethod
    def from_tiktoken(
        encoding: Any, *, vocab_size: int | None = None, stop_token_ids: int | list[int] | None = None
    ) -> TokenizerInfo: ...
    @staticmethod
    def from_sentencepiece(
        processor: Any, *, vocab_size: int | None = None, stop_token_ids: int | list[int] | None = None
    ) -> TokenizerInfo: ...
    @staticmethod
    def from_file(
        path: str | PathLike[str],
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | list[int] | None = None,
        special_token_ids: int | list[int] | None = None,
        special_tokens: dict[str, int] | None = None,
        vocab_type: VocabType | None = None,
        max_tokens: int = 1 << 22,
        max_bytes: int = 64 << 20,
    ) -> TokenizerInfo: ...
    @staticmethod
    def from_vocab_and_metadata(encoded_vocab: Sequence[str | bytes], metadata: str) -> TokenizerInfo: ...
    @staticmethod
    def _from_backend(
        text: str,
        vocabulary: dict[str, int],
        vocab_size: int,
        vocab_type: VocabType,
        stop_token_ids: int | list[int] | None,
        add_prefix_space: bool,
        special_token_ids: list[int],
        shown: dict[int, str],
    ) -> TokenizerInfo: ...
    @staticmethod
    def _from_sentencepiece(
        model: bytes, vocab_size: int, vocab_type: VocabType, stop_token_ids: int | list[int]
    ) -> TokenizerInfo: ...
    @staticmethod
    def _detect_metadata_from_hf(backend_str: str) -> dict[str, Any]: ...
    @staticmethod
    def _from_decoded(
        decoded: list[bytes],
        vocab_type: int,
        stop_token_ids: list[int],
        add_prefix_space: bool,
        special_token_ids: list[int],
    ) -> TokenizerInfo: ...
    @property
    def vocab_type(self) -> VocabType: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def add_prefix_space(self) -> bool: ...
    @property
    def prepend_space_in_tokenization(self) -> bool: ...
    @property
    def decoded_vocab(self) -> list[bytes]: ...
    @property
    def stop_token_ids(self) -> list[int]: ...
    @property
    def special_token_ids(self) -> list[int]: ...
    @property
    def missing_bytes(self) -> list[int]: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def _declared_special_token_ids(self) -> list[int]: ...
    def dump_metadata(self) -> str: ...
    def serialize_json(self) -> str: ...
    @staticmethod
    def deserialize_json(json_string: str) -> TokenizerInfo: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> TokenizerInfo: ...
    def __deepcopy__(self, _memo: Any) -> TokenizerInfo: ...

@disjoint_base
class Grammar:
    @staticmethod
    def from_ebnf(
        ebnf_string: str,
        *,
        root_rule_name: str = "root",
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> Grammar: ...
    @staticmethod
    def from_gbnf(
        gbnf_string: str,
        *,
        root_rule_name: str = "root",
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> Grammar: ...
    @staticmethod
    def from_json_schema(
        schema: _Schema,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        print_converted_ebnf: bool = False,
        any_order: bool = False,
        spelling: Literal["printed", "any", "compact", "canonical"] | None = None,
        around_root: int = 0,
        indent_depth: int = 32,
        key_order: Literal["declared", "required_first", "any"] | None = None,
        free_names: Literal["may_repeat", "unique"] = "may_repeat",
        escapes: Literal["printed", "any", "needed", "ascii"] | None = None,
        numbers: Literal["printed", "any", "canonical"] | int | None = None,
        formats: Literal["enforced", "annotation"] = "enforced",
        unsupported: Literal["refuse", "ignore"] | None = None,
        retriever: _Retriever = None,
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> Grammar: ...
    @staticmethod
    def from_regex(
        regex_string: str,
        *,
        print_converted_ebnf: bool = False,
        dialect: Literal["ecma", "perl"] = "ecma",
        matching: Literal["whole", "search"] = "whole",
        letter_case: Literal["exact", "ignored"] = "exact",
        groups: Literal["plain", "captured"] = "plain",
        limits: _Limits = None,
    ) -> Grammar: ...
    @staticmethod
    def from_lark(
        lark_string: str,
        *,
        tokenizer_info: TokenizerInfo | None = None,
        named_grammars: dict[str, Grammar | str] | None = None,
        start_rule_name: str = "start",
        json_options: _Options = None,
        regex_limits: _Limits = None,
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> Grammar: ...
    @staticmethod
    def from_structural_tag(
        structural_tag: Any = None,
        triggers: Any = None,
        *,
        tags: Any = None,
        json_options: _Options = None,
        ebnf_options: _Options = None,
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> Grammar: ...
    @staticmethod
    def builtin_json_grammar() -> Grammar: ...
    @staticmethod
    def concat(*grammars: Grammar) -> Grammar: ...
    @staticmethod
    def union(*grammars: Grammar) -> Grammar: ...
    @staticmethod
    def from_choices(choices: list[str]) -> Grammar: ...
    def serialize_json(self) -> str: ...
    @staticmethod
    def deserialize_json(json_string: str) -> Grammar: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Grammar: ...
    def __deepcopy__(self, _memo: Any) -> Grammar: ...

@disjoint_base
class CompiledGrammar:
    @property
    def grammar(self) -> Grammar: ...
    @property
    def tokenizer_info(self) -> TokenizerInfo: ...
    @property
    def memory_size_bytes(self) -> int: ...
    @property
    def fingerprint(self) -> int | None: ...
    def stats(self) -> dict[str, Any]: ...
    def warm_up(self, masks: int, *, interrupt: Interrupt | None = None) -> int: ...
    @property
    def backend(self) -> str: ...
    def _spelling_gaps(self) -> tuple[str, str]: ...
    def _to_bytes(self, ebnf: str) -> bytes: ...
    def _limits(self) -> dict[str, int]: ...
    def serialize_json(self) -> str: ...
    @staticmethod
    def deserialize_json(json_str: str, tokenizer_info: TokenizerInfo) -> CompiledGrammar: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> CompiledGrammar: ...
    def __deepcopy__(self, _memo: Any) -> CompiledGrammar: ...

@final
class Budget:
    def __new__(cls, max_bytes: int) -> Budget: ...
    @property
    def max_bytes(self) -> int: ...
    @property
    def used_bytes(self) -> int: ...
    @property
    def evicted(self) -> int: ...

@final
class Interrupt:
    def __new__(cls, timeout: float | None = None) -> Interrupt: ...
    def cancel(self) -> None: ...
    @property
    def has_come(self) -> bool: ...

@disjoint_base
class GrammarCompiler:
    def __new__(
        cls,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
        cache_dir: str | PathLike[str] | None = None,
        cache_dir_limit_bytes: int = 1 << 30,
        limits: _Limits = None,
        budget: Budget | None = None,
        backend: Literal["earley", "pda"] = "earley",
        automata: _Options = None,
        masks: dict[str, bool] | None = None,
    ) -> Self: ...
    def __init__(
        self,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
        cache_dir: str | PathLike[str] | None = None,
        cache_dir_limit_bytes: int = 1 << 30,
        limits: _Limits = None,
        budget: Budget | None = None,
        backend: Literal["earley", "pda"] = "earley",
        automata: _Options = None,
        masks: dict[str, bool] | None = None,
    ) -> None: ...
    def compile_json_schema(
        self,
        schema: _Schema,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        any_order: bool = False,
        spelling: Literal["printed", "any", "compact", "canonical"] | None = None,
        around_root: int = 0,
        indent_depth: int = 32,
        key_order: Literal["declared", "required_first", "any"] | None = None,
        free_names: Literal["may_repeat", "unique"] = "may_repeat",
        escapes: Literal["printed", "any", "needed", "ascii"] | None = None,
        numbers: Literal["printed", "any", "canonical"] | int | None = None,
        formats: Literal["enforced", "annotation"] = "enforced",
        unsupported: Literal["refuse", "ignore"] | None = None,
        retriever: _Retriever = None,
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompiledGrammar: ...
    def compile_json_schema_async(
        self,
        schema: _Schema,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        any_order: bool = False,
        spelling: Literal["printed", "any", "compact", "canonical"] | None = None,
        around_root: int = 0,
        indent_depth: int = 32,
        key_order: Literal["declared", "required_first", "any"] | None = None,
        free_names: Literal["may_repeat", "unique"] = "may_repeat",
        escapes: Literal["printed", "any", "needed", "ascii"] | None = None,
        numbers: Literal["printed", "any", "canonical"] | int | None = None,
        formats: Literal["enforced", "annotation"] = "enforced",
        unsupported: Literal["refuse", "ignore"] | None = None,
        retriever: _Retriever = None,
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompileFuture: ...
    def compile_builtin_json_grammar(self, *, interrupt: Interrupt | None = None) -> CompiledGrammar: ...
    def compile_builtin_json_grammar_async(self, *, interrupt: Interrupt | None = None) -> CompileFuture: ...
    def compile_regex(
        self,
        regex: str,
        *,
        dialect: Literal["ecma", "perl"] = "ecma",
        matching: Literal["whole", "search"] = "whole",
        letter_case: Literal["exact", "ignored"] = "exact",
        groups: Literal["plain", "captured"] = "plain",
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompiledGrammar: ...
    def compile_regex_async(
        self,
        regex: str,
        *,
        dialect: Literal["ecma", "perl"] = "ecma",
        matching: Literal["whole", "search"] = "whole",
        letter_case: Literal["exact", "ignored"] = "exact",
        groups: Literal["plain", "captured"] = "plain",
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompileFuture: ...
    def compile_grammar(
        self,
        grammar: Grammar | str,
        *,
        root_rule_name: str = "root",
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompiledGrammar: ...
    def compile_grammar_async(
        self,
        grammar: Grammar | str,
        *,
        root_rule_name: str = "root",
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompileFuture: ...
    def compile_gbnf(
        self,
        gbnf_string: str,
        *,
        root_rule_name: str = "root",
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompiledGrammar: ...
    def compile_gbnf_async(
        self,
        gbnf_string: str,
        *,
        root_rule_name: str = "root",
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompileFuture: ...
    def compile_choices(
        self,
        choices: list[str],
        *,
        interrupt: Interrupt | None = None,
    ) -> CompiledGrammar: ...
    def compile_choices_async(
        self,
        choices: list[str],
        *,
        interrupt: Interrupt | None = None,
    ) -> CompileFuture: ...
    def compile_lark(
        self,
        lark_string: str,
        *,
        named_grammars: dict[str, Grammar | str] | None = None,
        start_rule_name: str = "start",
        json_options: _Options = None,
        regex_limits: _Limits = None,
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompiledGrammar: ...
    def compile_lark_async(
        self,
        lark_string: str,
        *,
        named_grammars: dict[str, Grammar | str] | None = None,
        start_rule_name: str = "start",
        json_options: _Options = None,
        regex_limits: _Limits = None,
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompileFuture: ...
    def compile_structural_tag(
        self,
        structural_tag: Any = None,
        triggers: Any = None,
        *,
        tags: Any = None,
        json_options: _Options = None,
        ebnf_options: _Options = None,
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompiledGrammar: ...
    def compile_structural_tag_async(
        self,
        structural_tag: Any = None,
        triggers: Any = None,
        *,
        tags: Any = None,
        json_options: _Options = None,
        ebnf_options: _Options = None,
        limits: _Limits = None,
        interrupt: Interrupt | None = None,
    ) -> CompileFuture: ...
    def warm_up_in_background(self, compiled_grammar: CompiledGrammar, masks: int) -> bool: ...
    def stats(self) -> dict[str, Any]: ...
    def save_cache(self) -> None: ...
    def cache_dir_usage(self) -> dict[str, Any] | None: ...
    @property
    def cache_dir(self) -> Path | None: ...
    def clear_cache(self) -> None: ...
    def get_cache_size_bytes(self) -> int: ...
    def _load(self, bytes: bytes, ebnf: str) -> CompiledGrammar | None: ...
    @property
    def cache_limit_bytes(self) -> int: ...
    @property
    def tokenizer_info(self) -> TokenizerInfo: ...
    def __deepcopy__(self, _memo: Any) -> GrammarCompiler: ...

@disjoint_base
class GrammarMatcher:
    def __new__(
        cls,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: int | list[int] | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        default_temperature: float | None = None,
    ) -> Self: ...
    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: int | list[int] | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        default_temperature: float | None = None,
    ) -> None: ...
    def accept_token(self, token_id: SupportsIndex, *, debug_print: bool = False) -> bool: ...
    def accept_string(self, input_str: str | bytes | bytearray, *, debug_print: bool = False) -> bool: ...
    def fill_next_token_bitmask(
        self, bitmask: Any, index: SupportsIndex = 0, *, debug_print: bool = False
    ) -> bool: ...
    def fill_next_token_bitmask_ptr(self, address: int, words: int, index: int = 0) -> bool: ...
    def fill_mask_kind(
        self, bitmask: Any, index: SupportsIndex = 0
    ) -> Literal["all", "single", "some", "unchanged"]: ...
    def warm_next(self, masks: int) -> int: ...
    def set_interrupt(self, interrupt: Interrupt | None) -> None: ...
    def stats(self) -> dict[str, int]: ...
    def allowed_token_ids(self) -> list[int]: ...
    def traverse_draft_tree(
        self,
        retrieve_next_token: Any,
        retrieve_next_sibling: Any,
        draft_tokens: Any,
        token_bitmask: Any,
        time_threshold: float = -1.0,
        temperatures: Any = None,
    ) -> bool: ...
    def find_jump_forward_string(self) -> str: ...
    def find_jump_forward_tokens(
        self, encode: Callable[[str], Sequence[int]], context: Sequence[int] = ()
    ) -> ForcedTokens: ...
    def find_shortest_ending(self, max_bytes: int = 1 << 20) -> bytes | None: ...
    def next_bytes(self) -> list[int]: ...
    def validate_tokens(self, token_ids: Sequence[int]) -> int: ...
    def explain_rejection(self, token_id: int) -> Rejection | None: ...
    def rollback(self, num_tokens: int = 1) -> None: ...
    def reset(self) -> None: ...
    def switch_to(
        self, compiled_grammar: CompiledGrammar, *, replay: Literal["all", "since_return"] | int = "all"
    ) -> bool: ...
    def fork(self) -> GrammarMatcher: ...
    def is_terminated(self) -> bool: ...
    def is_completed(self) -> bool: ...
    def get_captures(self, *, deduplicate: bool = True) -> list[tuple[str, bytes]]: ...
    @property
    def max_rollback_tokens(self) -> int: ...
    @property
    def temperature(self) -> float | None: ...
    @property
    def stop_token_ids(self) -> list[int]: ...
    @property
    def num_steps(self) -> int: ...
    def _debug_print_internal_state(self) -> str: ...
    def __copy__(self) -> GrammarMatcher: ...
    def __deepcopy__(self, _memo: Any) -> GrammarMatcher: ...

@disjoint_base
class BatchGrammarMatcher:
    def __new__(cls, max_threads: int | str = "auto") -> Self: ...
    def __init__(self, max_threads: int | str = "auto") -> None: ...
    def batch_fill_next_token_bitmask(
        self,
        matchers: Iterable[GrammarMatcher],
        bitmask: Any,
        indices: Iterable[int] | None = None,
        debug_print: bool = False,
    ) -> None: ...
    def batch_fill_mask_kinds(
        self, matchers: Iterable[GrammarMatcher], bitmask: Any, indices: Iterable[int] | None = None
    ) -> list[Literal["all", "single", "some", "unchanged"]]: ...
    @staticmethod
    def batch_fill_temperature(
        matchers: Iterable[GrammarMatcher], temperatures: Any, indices: Iterable[int] | None = None
    ) -> None: ...
    @staticmethod
    def batch_accept_token(
        matchers: Iterable[GrammarMatcher], tokens: Iterable[int], debug_print: bool = False
    ) -> list[bool]: ...
    @staticmethod
    def batch_accept_string(
        matchers: Iterable[GrammarMatcher], strings: Iterable[str | bytes | bytearray], debug_print: bool = False
    ) -> list[bool]: ...
    @staticmethod
    def batch_rollback(matchers: Iterable[GrammarMatcher], num_tokens: int | Iterable[int] = 1) -> None: ...

def model_structural_tag(
    model: str,
    request: str,
    *,
    reasoning: str = "enabled",
    max_reasoning_chars: int | None = None,
    exclude_special_tokens: bool = True,
    max_whitespace_cnt: int | None = None,
    any_order: bool = False,
    spelling: str | None = None,
) -> str: ...
def choose_tokens(
    dtype: str,
    logits: tuple[Any, int, int, int],
    masks: tuple[Any, int, int],
    width: int,
    rows: list[int] | None,
    draws: list[tuple[Any, ...]],
) -> list[int]: ...
def default_limits() -> dict[str, int]: ...
def process_metrics() -> dict[str, Any]: ...
def set_listener(listener: Callable[[str, float], object] | None) -> None: ...
def schema_report(
    schema: _Schema,
    *,
    any_whitespace: bool = True,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    strict_mode: bool = True,
    max_whitespace_cnt: int | None = None,
    any_order: bool = False,
    spelling: Literal["printed", "any", "compact", "canonical"] | None = None,
    around_root: int = 0,
    indent_depth: int = 32,
    key_order: Literal["declared", "required_first", "any"] | None = None,
    free_names: Literal["may_repeat", "unique"] = "may_repeat",
    escapes: Literal["printed", "any", "needed", "ascii"] | None = None,
    numbers: Literal["printed", "any", "canonical"] | int | None = None,
    formats: Literal["enforced", "annotation"] = "enforced",
    unsupported: Literal["refuse", "ignore"] | None = None,
    retriever: _Retriever = None,
    limits: _Limits = None,
    interrupt: Interrupt | None = None,
) -> list[dict[str, str]]: ...
