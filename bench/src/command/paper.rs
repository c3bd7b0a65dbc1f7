//! The figures of the first XGrammar paper for its JSON grammar over Llama 3.1's vocabulary (sections 3.1 to
//! 3.3), beside those of this engine with such a grammar.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use grammask::parser_backend::Fuel;
use grammask::tuning::{MaskOptions, Toggle};
use grammask::{
    Backend, Compiler, EbnfOptions, Interrupt, StepError, TokenId, Vocabulary, VocabularyOptions, earley,
    words_for,
};

use crate::engine::ours::vocabulary;
use crate::engine::tokenizer::LoadedTokenizer;
use crate::report::table::Table;

/// JSON with any whitespace.
const JSON: &str = r##"root ::= blank value blank
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" blank (member blank ("," blank member blank)*)? "}"
member ::= string blank ":" blank value
array ::= "[" blank (value blank ("," blank value blank)*)? "]"
string ::= "\"" character* "\""
character ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
blank ::= [ \t\n\r]*
"##;

/// A document for the walks.
const DOCUMENT: &str = r#"{"name": "A chair", "tags": ["used", "größe 4"], "price": 17.5, "stock": {"here": true, "there": null}}"#;

/// Masks around the beginning of a text, whose memory is counted.
const MASKS: usize = 10_000;

/// A table of the paper's figures and ours.
pub(crate) fn figures(tokenizer: &LoadedTokenizer) -> Result<String> {
    let vocabulary = vocabulary(tokenizer)?;
    let mut table = Table::new([
        "the JSON grammar of the first XGrammar paper",
        "the paper, before",
        "after",
        "here, before",
        "after",
    ]);
    let [before, after] = uncertain(&vocabulary)?;
    table.row([
        "context-dependent tokens inside a string, context expansion",
        "1,134",
        "120",
        &before.to_string(),
        &after.to_string(),
    ]);
    let (masks, dense, adaptive) = memory(&vocabulary)?;
    let mib = |bytes: usize| format!("{:.2} MiB", bytes as f64 / f64::from(1 << 20));
    table.row([
        &format!("memory of masks, dense and adaptive ({masks} masks)"),
        "160 MB",
        "0.46 MB",
        &mib(dense),
        &mib(adaptive),
    ]);
    let [shared, dropped] = walked(&vocabulary)?;
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    table.row([
        "share of the vocabulary's bytes that is walked, common beginnings once",
        "100%",
        "30%",
        "100%",
        &percent(shared),
    ]);
    table.row(["the same, without what lies below a byte that is refused", "", "", "", &percent(dropped)]);
    Ok(table.render())
}

/// Uncertain tokens inside of a string, before context expansion and after.
fn uncertain(vocabulary: &Arc<Vocabulary>) -> Result<[u64; 2]> {
    let mut options = MaskOptions::none();
    options.memo = Toggle::On;
    options.slices = Toggle::On;
    options.local_parts = Toggle::On;
    options.context_expansion = Toggle::On;
    let compiler = Compiler::builder(Arc::clone(vocabulary)).masks(options).build();
    let grammar = compiler.ebnf(JSON, &EbnfOptions::default())?;
    // A local part gets its mask when it is met for the second time: in lists of two depths.
    for text in ["[\"a", "[[\"a"] {
        let mut matcher = grammar.matcher();
        matcher.accept_bytes(text.as_bytes())?;
        matcher.mask()?;
    }
    let masks = grammar.stats().masks;
    ensure!(masks.uncertain > 0, "no local part was made inside of a string");
    Ok([masks.uncertain, masks.uncertain_left])
}

/// How many masks there are around the beginning of a text, and their bytes with one bit for each token, and as stored.
fn memory(vocabulary: &Arc<Vocabulary>) -> Result<(usize, usize, usize)> {
    let grammar = Compiler::builder(Arc::clone(vocabulary)).build().ebnf(JSON, &EbnfOptions::default())?;
    grammar.warm_up(MASKS, &Interrupt::new());
    let usage = grammar.usage();
    Ok((usage.masks, usage.masks * words_for(vocabulary.len()) * size_of::<u32>(), usage.mask_bytes))
}

/// The share of the vocabulary's bytes that is left if common beginnings are walked once. The second number
/// also leaves out bytes below a refused one, in the mean of all places of a document.
fn walked(vocabulary: &Vocabulary) -> Result<[f64; 2]> {
    let ids = (0..vocabulary.len()).filter_map(|id| u32::try_from(id).ok().and_then(TokenId::new));
    let bytes: usize = ids.map(|id| vocabulary.token_bytes(id).len()).sum();
    let grammar =
        Compiler::new(Vocabulary::from_tokens([Some("a")], &VocabularyOptions::default().stop_ids([]))?)
            .ebnf(JSON, &EbnfOptions::default())?;
    let program = grammar.program().context("a compiled grammar has automata")?;
    let engine = earley::Engine::new(Arc::clone(program), earley::Config::default())?;
    let mut state = engine.start();
    let mut nodes = 0;
    for byte in DOCUMENT.bytes() {
        nodes += walk(&engine, state, vocabulary)?;
        state = engine.step(state, byte, &mut Fuel::unlimited())?.context("the document is JSON")?;
    }
    let whole = bytes as f64;
    Ok([vocabulary.trie().nodes().len() as f64 / whole, nodes as f64 / DOCUMENT.len() as f64 / whole])
}

/// How many bytes are stepped from a state for the whole vocabulary.
fn walk(engine: &earley::Engine, state: earley::State, vocabulary: &Vocabulary) -> Result<usize, StepError> {
    let nodes = vocabulary.trie().nodes();
    let mut path = vec![state];
    let (mut at, mut walked) = (0, 0);
    while let Some(node) = nodes.get(at) {
        walked += 1;
        path.truncate(usize::from(node.depth()));
        let before = path.last().copied().unwrap_or(state);
        match engine.step(before, node.byte(), &mut Fuel::unlimited())? {
            Some(next) => {
                path.push(next);
                at += 1;
            }
            None => at = node.skip() as usize,
        }
    }
    Ok(walked)
}
