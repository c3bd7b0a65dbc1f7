//! The calls of generic types for this crate's own engines.
//!
//! A crate that is not optimised, or only a little, holds the code of the generic functions that it uses. Crates that
//! link it share that code. Without this list every program and every test compiles the whole engine once more. Optimised
//! builds inline instead of sharing, and leave the list out. A call that is missing here costs time, and nothing else.

use std::hint::black_box;

use crate::{BackgroundCompile, BackgroundMatcher, BatchMatcher, BuildBackend};
use crate::{CompiledGrammar, Compiler, CompilerBuilder, Matcher};

#[used]
static EARLEY: fn() = calls::<grammask_earley::Engine>;
#[cfg(feature = "pda")]
#[used]
static PDA: fn() = calls::<grammask_pda::Engine>;

fn calls<B: BuildBackend>() {
    compiling::<B>();
    serving::<B>();
    matching::<B>();
    #[cfg(feature = "store")]
    storing::<B>();
}

fn compiling<B: BuildBackend>() {
    black_box(CompilerBuilder::<B>::build as fn(_) -> _);
    black_box(Compiler::<B>::grammar as fn(_, _) -> _);
    black_box(Compiler::<B>::program as fn(_, _) -> _);
    black_box(Compiler::<B>::stats as fn(_) -> _);
    black_box(Compiler::<B>::clear_cache as fn(_));
    black_box(CompiledGrammar::<B>::stats as fn(_) -> _);
    black_box(CompiledGrammar::<B>::usage as fn(_) -> _);
    black_box(CompiledGrammar::<B>::spelling_gaps as fn(_) -> _);
    black_box(CompiledGrammar::<B>::matcher as fn(_) -> _);
    #[cfg(feature = "json-schema")]
    black_box(Compiler::<B>::json_schema as fn(_, _, _) -> _);
    #[cfg(feature = "json-schema")]
    black_box(Compiler::<B>::json_schema_with_report as fn(_, _, _) -> _);
    #[cfg(feature = "ebnf")]
    black_box(Compiler::<B>::ebnf as fn(_, _, _) -> _);
    #[cfg(feature = "ebnf")]
    black_box(Compiler::<B>::gbnf as fn(_, _, _) -> _);
    #[cfg(feature = "lark")]
    black_box(Compiler::<B>::lark as fn(_, _, _) -> _);
    #[cfg(feature = "regex")]
    black_box(Compiler::<B>::regex as fn(_, _, _) -> _);
    #[cfg(feature = "structural-tag")]
    black_box(Compiler::<B>::structural_tag as fn(_, _, _) -> _);
    #[cfg(feature = "structural-tag")]
    black_box(Compiler::<B>::tag as fn(_, _, _) -> _);
    #[cfg(feature = "tool-formats")]
    black_box(Compiler::<B>::tools as fn(_, _, _, _) -> _);
}

fn serving<B: BuildBackend>() {
    black_box(Compiler::<B>::warm_up_in_background as fn(_, _, _) -> _);
    black_box(CompiledGrammar::<B>::warm_up as fn(_, _, _) -> _);
    black_box(BackgroundCompile::<B>::matcher as fn(_) -> _);
    black_box(BackgroundCompile::<B>::wait as fn(_) -> _);
    black_box(BackgroundCompile::<B>::try_get as fn(_) -> _);
    black_box(BackgroundMatcher::<B>::get as fn(_) -> _);
    black_box(BackgroundMatcher::<B>::try_get as fn(_) -> _);
    black_box(BatchMatcher::fill::<B> as fn(_, _) -> _);
    black_box(BatchMatcher::fill_rows::<B, Matcher<B>> as fn(_, _, _, _) -> _);
    black_box(BatchMatcher::accept::<B, Matcher<B>> as fn(_, _, _) -> _);
}

fn matching<B: BuildBackend>() {
    black_box(Matcher::<B>::fill_mask as fn(_, _) -> _);
    black_box(Matcher::<B>::fill_mask_words as fn(_, _) -> _);
    black_box(Matcher::<B>::fill_draft_masks as fn(_, _, _, _, _, _) -> _);
    black_box(Matcher::<B>::mask as fn(_) -> _);
    black_box(Matcher::<B>::cached_mask as fn(_) -> _);
    black_box(Matcher::<B>::warm_next as fn(_, _) -> _);
    black_box(Matcher::<B>::accept_token as fn(_, _) -> _);
    black_box(Matcher::<B>::accept_bytes as fn(_, _) -> _);
    black_box(Matcher::<B>::validate_tokens as fn(_, _) -> _);
    black_box(Matcher::<B>::rollback as fn(_, _) -> _);
    black_box(Matcher::<B>::reset as fn(_));
    black_box(Matcher::<B>::fork as fn(_) -> _);
    black_box(Matcher::<B>::switch_to as fn(_, _, _) -> _);
    black_box(Matcher::<B>::stats as fn(_) -> _);
    black_box(Matcher::<B>::explain as fn(_, _) -> _);
    black_box(Matcher::<B>::captures as fn(_, _) -> _);
    black_box(Matcher::<B>::temperature as fn(_) -> _);
    black_box(Matcher::<B>::draft_temperatures as fn(_, _) -> _);
    black_box(Matcher::<B>::jump_forward as fn(_) -> _);
    black_box(Matcher::<B>::shortest_ending as fn(_, _) -> _);
    black_box(Matcher::<B>::next_bytes as fn(_) -> _);
}

#[cfg(feature = "store")]
fn storing<B: BuildBackend>() {
    black_box(Compiler::<B>::load as fn(_, _) -> _);
    black_box(Compiler::<B>::load_with_source as fn(_, _, _) -> _);
    black_box(Compiler::<B>::pool_to_bytes as fn(_) -> _);
    black_box(Compiler::<B>::load_pool as fn(_, _) -> _);
    black_box(CompilerBuilder::<B>::store as fn(_, _) -> _);
    black_box(CompiledGrammar::<B>::to_bytes as fn(_) -> _);
    black_box(CompiledGrammar::<B>::to_bytes_with_source as fn(_, _) -> _);
}
