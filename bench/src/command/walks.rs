//! `walks`: random walks through the masks of a pack's schemas, every finished document put to a validator.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use grammask::json_schema::JsonSchemaOptions;
use grammask::{CompiledGrammar, Compiler, TokenId, TokenMask, Vocabulary, VocabularyOptions};
use grammask_corpus::documents::{is_judged_rightly, sorted};
use grammask_oracle::random::Rng;
use indicatif::ProgressBar;
use regex::Regex;
use serde_json::Value;

use crate::engine::tokenizer::LoadedTokenizer;
use crate::engine::{KeyOrder, ours};
use crate::report::table::Table;
use crate::run::pack::{self, Choice, Item};
use crate::run::python::dumps;

/// Arguments of `walks`.
#[derive(Debug, Args)]
pub(crate) struct WalksArgs {
    /// The pack.
    #[arg(long)]
    pack: PathBuf,
    /// A `tokenizer.json`, or the folder that holds it; without one the tokens are single bytes.
    #[arg(long)]
    tokenizer: Option<PathBuf>,
    /// The end token, if no `tokenizer_config.json` beside the tokenizer names it.
    #[arg(long)]
    end: Option<String>,
    /// How many schemas to draw, 0 for all.
    #[arg(long, default_value_t = 2000)]
    sample: usize,
    /// Seed of the sample and of the walks.
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Only ids that this regular expression matches.
    #[arg(long)]
    only: Option<Regex>,
    /// Walks through each schema.
    #[arg(long, default_value_t = 6)]
    walks: usize,
    /// Tokens after which a walk takes the shortest way to an end.
    #[arg(long, default_value_t = 60)]
    tokens: usize,
    /// The order of an object's members: as declared, or any.
    #[arg(long, default_value = "declared")]
    key_order: KeyOrder,
    /// File for the documents that the validator refuses.
    #[arg(long)]
    failures: Option<PathBuf>,
}

/// Bytes that an ending may have.
const MAX_COMPLETION_BYTES: usize = 1 << 16;

#[derive(Default)]
struct Counts {
    compiled: usize,
    refused: usize,
    /// Schemas that the validator does not take.
    without_judge: usize,
    walks: usize,
    /// Walks whose end is too far, by what stopped them.
    unfinished: BTreeMap<String, usize>,
    /// Documents with numbers that the validator does not judge exactly.
    unjudged: usize,
    valid: usize,
    bytes: usize,
    failures: Vec<String>,
}

/// Walks, judges and prints the counts; fails if a document is refused.
pub(crate) fn run(args: &WalksArgs) -> Result<()> {
    let choice = Choice { only: args.only.clone(), sample: args.sample, seed: args.seed };
    let lines = pack::read(&args.pack, &choice)?;
    let walker = Walker::new(args)?;
    let mut counts = Counts::default();
    let bar = ProgressBar::new(lines.len() as u64);
    for line in &lines {
        bar.inc(1);
        let item: Item = serde_json::from_str(&line.text)?;
        walker.schema(&item, &mut counts);
    }
    bar.finish_and_clear();
    print(&counts, lines.len());
    if let Some(path) = &args.failures {
        let text = counts.failures.join("\n");
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let wrong = counts.failures.len();
    anyhow::ensure!(wrong == 0, "{wrong} documents are wrong; --failures lists them");
    Ok(())
}

fn print(counts: &Counts, schemas: usize) {
    let mut table = Table::new(["what", "count"]);
    let unfinished: usize = counts.unfinished.values().sum();
    let rows = [
        ("schemas", schemas),
        ("refused", counts.refused),
        ("without a judge", counts.without_judge),
        ("walked", counts.compiled),
        ("walks", counts.walks),
        ("unfinished", unfinished),
        ("not judged", counts.unjudged),
        ("valid", counts.valid),
        ("bytes of valid documents", counts.bytes),
        ("invalid", counts.failures.len()),
    ];
    for (what, count) in rows {
        table.row([what.to_owned(), count.to_string()]);
    }
    println!("{}", table.render());
    for (reason, count) in &counts.unfinished {
        println!("{count:>5}  {reason}");
    }
}

struct Walker<'a> {
    args: &'a WalksArgs,
    compiler: Compiler,
    options: JsonSchemaOptions,
    /// How a token begins, by id.
    kinds: Vec<Kind>,
}

/// The kinds among which a walk chooses first. Drawn one by one, nearly all tokens of a large vocabulary are
/// words, and walks would never leave the first string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quote,
    Blank,
    Other,
    /// Without bytes.
    Special,
}

impl<'a> Walker<'a> {
    fn new(args: &'a WalksArgs) -> Result<Self> {
        let vocabulary = match &args.tokenizer {
            Some(path) => ours::vocabulary(&LoadedTokenizer::load(path, args.end.as_deref())?)?,
            None => {
                let tokens = (0..=255u8).map(|byte| Some(vec![byte])).chain([None]);
                let options = VocabularyOptions::default().stop_ids([256]);
                Arc::new(Vocabulary::from_tokens(tokens, &options)?)
            }
        };
        let kinds = (0..vocabulary.len() as u32)
            .map(|id| match vocabulary.id(id).and_then(|id| vocabulary.token_bytes(id).first().copied()) {
                None => Kind::Special,
                Some(b'"') => Kind::Quote,
                Some(b' ' | b'\t' | b'\n' | b'\r') => Kind::Blank,
                Some(_) => Kind::Other,
            })
            .collect();
        let options = JsonSchemaOptions::default().key_order(args.key_order.into());
        Ok(Self { args, compiler: Compiler::builder(vocabulary).build(), options, kinds })
    }

    fn schema(&self, item: &Item, counts: &mut Counts) {
        let Ok(grammar) = self.compiler.json_schema(&item.schema.to_string(), &self.options) else {
            counts.refused += 1;
            return;
        };
        let options = jsonschema::options().should_validate_formats(true);
        let Ok(validator) = options.build(&sorted(&item.schema)) else {
            counts.without_judge += 1;
            return;
        };
        counts.compiled += 1;
        // The walks through a schema are the same whatever else is drawn.
        let id = item.id.bytes().fold(u64::from(self.args.seed), |hash, byte| {
            hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte)
        });
        let mut rng = Rng::new(id);
        let examples: Vec<String> =
            item.tests.iter().filter(|test| test.valid).map(|test| dumps(&test.data)).collect();
        for _ in 0..self.args.walks {
            counts.walks += 1;
            let along = if rng.percent(50) { rng.pick(&examples).map_or("", String::as_str) } else { "" };
            let text = match self.walk(&grammar, along.as_bytes(), &mut rng) {
                Ok(text) => text,
                Err(reason) => {
                    *counts.unfinished.entry(reason).or_default() += 1;
                    continue;
                }
            };
            self.judge(item, &validator, &text, counts);
        }
    }

    fn judge(&self, item: &Item, validator: &jsonschema::Validator, text: &[u8], counts: &mut Counts) {
        let problem = match serde_json::from_slice::<Value>(text) {
            Err(error) => format!("no JSON: {error}"),
            Ok(value) if !is_judged_rightly(&item.schema, &value) => {
                counts.unjudged += 1;
                return;
            }
            Ok(value) => match validator.validate(&sorted(&value)) {
                Ok(()) => {
                    counts.valid += 1;
                    counts.bytes += text.len();
                    return;
                }
                Err(error) => format!("at {:?} by {:?}", error.instance_path(), error.schema_path()),
            },
        };
        let mut failure = format!("{}\t{problem}\t", item.id);
        // Writing to a string cannot fail.
        let _ = write!(failure, "{}\t{}", String::from_utf8_lossy(text), item.schema);
        counts.failures.push(failure);
    }

    /// A finished document; it begins as `along` does.
    fn walk(&self, grammar: &CompiledGrammar, along: &[u8], rng: &mut Rng) -> Result<Vec<u8>, String> {
        let mut matcher = grammar.matcher();
        let mut text = Vec::new();
        let followed = rng.below(along.len() + 1);
        for &byte in &along[..followed] {
            if matcher.accept_bytes(&[byte]).is_err() {
                break;
            }
            text.push(byte);
        }
        let mut mask = TokenMask::new(grammar.vocabulary().len());
        for _ in 0..rng.below(self.args.tokens + 1) {
            if matcher.is_completed() && rng.percent(20) {
                break;
            }
            matcher.fill_mask(&mut mask).map_err(|error| error.to_string())?;
            let Some(id) = self.choose(&mask, grammar.vocabulary(), rng) else { break };
            matcher.accept_token(id).map_err(|error| format!("a token of the mask is refused: {error}"))?;
            text.extend_from_slice(grammar.vocabulary().token_bytes(id));
        }
        let ending = matcher.shortest_ending(MAX_COMPLETION_BYTES).map_err(|error| error.to_string())?;
        text.extend(ending.ok_or("the shortest ending is too long")?);
        Ok(text)
    }

    fn choose(&self, mask: &TokenMask, vocabulary: &Vocabulary, rng: &mut Rng) -> Option<TokenId> {
        let mut allowed: [Vec<u32>; 3] = Default::default();
        for (index, &word) in mask.as_words().iter().enumerate() {
            let mut left = word;
            while left != 0 {
                let id = index as u32 * 32 + left.trailing_zeros();
                left &= left - 1;
                match self.kinds.get(id as usize) {
                    Some(Kind::Quote) => allowed[0].push(id),
                    Some(Kind::Blank) => allowed[1].push(id),
                    Some(Kind::Other) => allowed[2].push(id),
                    Some(Kind::Special) | None => {}
                }
            }
        }
        let weights = [8, 1, 10];
        let present: Vec<u32> = allowed
            .iter()
            .zip(weights)
            .map(|(ids, weight)| if ids.is_empty() { 0 } else { weight })
            .collect();
        let ids = &allowed[rng.weighted(&present)?];
        vocabulary.id(*rng.pick(ids)?)
    }
}
