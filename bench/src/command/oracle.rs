//! `oracle`: random steps through the corpus grammars with a whole vocabulary, every mask compared bit by bit
//! with the naive recogniser's.
//!
//! The judge shares nothing with the engine but the grammar: the bytes of tokens come from another reader of
//! the tokenizer file, and which tokens may follow from [`grammask_oracle`].

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use grammask::{BuildBackend, Compiler, Grammar, Matcher, TokenMask, pda};
use grammask_corpus::{Case, Expectation};
use grammask_oracle::{Chart, Recogniser};
use indicatif::ProgressBar;
use serde_json::Value;

use crate::engine::tokenizer::LoadedTokenizer;
use crate::engine::{Backend, llguidance, ours};
use crate::judge::{SortedVocabulary, differences};
use crate::run::python::Random;

/// Arguments of `oracle`.
#[derive(Debug, Args)]
pub(crate) struct OracleArgs {
    /// A `tokenizer.json`, or the folder that holds it.
    #[arg(long)]
    tokenizer: PathBuf,
    /// The end token, if no `tokenizer_config.json` beside the tokenizer names it.
    #[arg(long)]
    end: Option<String>,
    /// How many masks to compare.
    #[arg(long, default_value_t = 2000)]
    steps: usize,
    /// Seed of the walk.
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Only cases whose ids contain this.
    #[arg(long, default_value = "")]
    only: String,
    /// The parser backend of our own engine.
    #[arg(long, default_value = "earley")]
    backend: Backend,
    /// Stop after this many seconds, however many masks have been compared.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
}

/// Longest text of one walk: the recogniser's time grows with it.
const MAX_BYTES: usize = 160;
/// Tokens outside of each mask that the matcher is asked about.
const PROBES: usize = 16;

/// Compares until the steps or the time are used up; fails on the first difference.
pub(crate) fn run(args: &OracleArgs) -> Result<()> {
    let tokenizer = LoadedTokenizer::load(&args.tokenizer, args.end.as_deref())?;
    let bytes = token_bytes(&tokenizer)?;
    let sorted = SortedVocabulary::new((0..).zip(bytes.iter().cloned()));
    let compiler = Compiler::builder(ours::vocabulary(&tokenizer)?);
    let mut cases: Vec<Case> = grammask_corpus::cases()?;
    cases.retain(|case| {
        case.id().contains(&args.only) && matches!(case.expectation(), Expectation::Texts { .. })
    });
    if cases.is_empty() {
        bail!("no case of the corpus has an id that contains {:?}", args.only);
    }
    let mut judge = Judge {
        tokenizer: &tokenizer,
        bytes: &bytes,
        sorted: &sorted,
        random: Random::new(args.seed),
        steps_left: args.steps,
        until: Instant::now() + Duration::from_secs(args.seconds),
        bar: ProgressBar::new(args.steps as u64),
    };
    let (walks, skipped) = match args.backend {
        Backend::Earley => judge.compare_all(&compiler.build(), &cases, args.seed)?,
        Backend::Pda => judge.compare_all(&compiler.backend::<pda::Engine>().build(), &cases, args.seed)?,
    };
    judge.bar.finish_and_clear();
    let compared = args.steps - judge.steps_left;
    println!(
        "{compared} masks of {} tokens agree bit by bit with the recogniser, in {walks} walks over {} cases; \
         {skipped} times a case was drawn that does not compile, or bounds more than texts",
        tokenizer.size,
        cases.len(),
    );
    if compared < args.steps {
        println!("the time was used up before {} masks; raise --seconds for more", args.steps);
    }
    Ok(())
}

struct Judge<'v> {
    tokenizer: &'v LoadedTokenizer,
    bytes: &'v [Vec<u8>],
    sorted: &'v SortedVocabulary,
    random: Random,
    steps_left: usize,
    until: Instant,
    bar: ProgressBar,
}

impl Judge<'_> {
    fn is_done(&self) -> bool {
        self.steps_left == 0 || Instant::now() >= self.until
    }

    /// Walks through cases at random until it is done. Returns how many walks that were, and how many cases drawn
    /// were left out.
    fn compare_all<B: BuildBackend>(
        &mut self,
        compiler: &Compiler<B>,
        cases: &[Case],
        seed: u32,
    ) -> Result<(usize, usize)> {
        let (mut walks, mut skipped) = (0, 0);
        while !self.is_done() {
            let case = &cases[self.random.below(cases.len())];
            self.bar.set_message(case.id().to_owned());
            let Ok(grammar) = case.grammar() else {
                skipped += 1;
                continue;
            };
            if !is_language_of_texts(&grammar) {
                skipped += 1;
                continue;
            }
            let Ok(compiled) = compiler.grammar(&grammar) else {
                skipped += 1;
                continue;
            };
            let recogniser = Recogniser::new(&grammar);
            let goal = self.goal(case);
            self.walk(compiled.matcher(), recogniser.begin(), &goal)
                .with_context(|| format!("case {} (seed {seed})", case.id()))?;
            walks += 1;
        }
        Ok((walks, skipped))
    }

    /// An accepted text of the case to walk along, or nothing: then the walk is at random. A walk at random
    /// soon drowns in free text; one along a text sees what comes after it.
    fn goal(&mut self, case: &Case) -> Vec<u8> {
        match case.expectation() {
            Expectation::Texts { accepted, .. } if !accepted.is_empty() && self.random.below(3) > 0 => {
                accepted[self.random.below(accepted.len())].clone()
            }
            _ => Vec::new(),
        }
    }

    fn walk<B: grammask::Backend>(
        &mut self,
        mut matcher: Matcher<B>,
        mut chart: Chart<'_>,
        goal: &[u8],
    ) -> Result<()> {
        let words = self.tokenizer.size.div_ceil(32);
        // One mask for the whole walk, as servers keep one: filling it builds on what it held.
        let (mut ours, mut theirs) = (TokenMask::new(self.tokenizer.size), vec![0; words]);
        while !self.is_done() && chart.len() < MAX_BYTES {
            matcher.fill_mask(&mut ours)?;
            self.sorted.mask(&mut chart, &mut theirs);
            if chart.is_complete() {
                theirs[(self.tokenizer.end / 32) as usize] |= 1 << (self.tokenizer.end % 32);
            }
            self.compare(ours.as_words(), &theirs, chart.len())?;
            self.probe(&matcher, &theirs)?;
            self.steps_left -= 1;
            self.bar.inc(1);
            let Some(token) = self.choose(&theirs, goal.get(chart.len()..).unwrap_or(&[])) else {
                return Ok(());
            };
            let id = matcher.grammar().vocabulary().id(token).context("a token outside the vocabulary")?;
            matcher.accept_token(id)?;
            for &byte in &self.bytes[token as usize] {
                if !chart.push(byte) {
                    bail!("the recogniser takes back token {token}");
                }
            }
        }
        Ok(())
    }

    fn compare(&self, ours: &[u32], theirs: &[u32], at: usize) -> Result<()> {
        let different = differences(ours, theirs);
        if different.is_empty() {
            return Ok(());
        }
        let shown: Vec<String> = different
            .iter()
            .take(8)
            .map(|&id| {
                let spelled = String::from_utf8_lossy(&self.bytes[id as usize]).into_owned();
                let side =
                    if theirs[(id / 32) as usize] >> (id % 32) & 1 == 1 { "missing" } else { "too many" };
                format!("{id} {spelled:?} {side}")
            })
            .collect();
        bail!("after {at} bytes {} bits differ: {}", different.len(), shown.join(", "))
    }

    /// Asks the matcher about tokens at random: it must accept those of the mask and no others.
    fn probe<B: grammask::Backend>(&mut self, matcher: &Matcher<B>, mask: &[u32]) -> Result<()> {
        for _ in 0..PROBES {
            let token = self.random.below(self.tokenizer.size) as u32;
            let Some(id) = matcher.grammar().vocabulary().id(token) else { continue };
            let allowed = mask[(token / 32) as usize] >> (token % 32) & 1 == 1;
            if matcher.fork().accept_token(id).is_ok() != allowed {
                bail!(
                    "token {token} is {}in the mask, and accept says otherwise",
                    if allowed { "" } else { "not " }
                );
            }
        }
        Ok(())
    }

    /// A token that goes on with the goal, else any token with bytes of the mask.
    fn choose(&mut self, mask: &[u32], goal: &[u8]) -> Option<u32> {
        let allowed: Vec<u32> = (0..self.tokenizer.size as u32)
            .filter(|&id| mask[(id / 32) as usize] >> (id % 32) & 1 == 1)
            .filter(|&id| !self.bytes[id as usize].is_empty())
            .collect();
        let along: Vec<u32> = allowed
            .iter()
            .copied()
            .filter(|&id| !goal.is_empty() && goal.starts_with(&self.bytes[id as usize]))
            .collect();
        let choice = if along.is_empty() { &allowed } else { &along };
        (!choice.is_empty()).then(|| choice[self.random.below(choice.len())])
    }
}

/// Whether nothing but the bytes read decides: bounds on tokens, and what must differ, are not the recogniser's.
fn is_language_of_texts(grammar: &Grammar) -> bool {
    grammar.rule_ids().all(|rule| {
        let options = grammar.rule(rule).options();
        options.max_tokens.is_none() && options.distinct.is_none()
    })
}

/// The bytes of every token, none for special tokens, as another reader than ours finds them. It takes all added tokens for
/// special ones; those that the file does not call special are text.
fn token_bytes(tokenizer: &LoadedTokenizer) -> Result<Vec<Vec<u8>>> {
    let mut bytes = llguidance::token_bytes(tokenizer)?;
    bytes.resize(tokenizer.size, Vec::new());
    let file: Value = serde_json::from_slice(&tokenizer.json)?;
    for added in file["added_tokens"].as_array().into_iter().flatten() {
        let place = added["id"].as_u64().and_then(|id| bytes.get_mut(usize::try_from(id).ok()?));
        if let (Some(place), Some(content), Some(false)) =
            (place, added["content"].as_str(), added["special"].as_bool())
        {
            *place = content.as_bytes().to_vec();
        }
    }
    Ok(bytes)
}
