//! Puts an input to a compiler, and says of each call how it ended.

use grammask_grammar_frontends::ebnf::EbnfOptions;
use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, KeyOrder};
use grammask_grammar_frontends::lark::LarkOptions;
use grammask_grammar_frontends::regex::RegexOptions;
use grammask_grammar_frontends::structural_tag::StructuralTagOptions;
use grammask_grammar_frontends::tool_formats::{ToolFormat, ToolRequest};
use grammask_mask_cache::{TokenId, TokenMask, words_for};
use grammask_matcher::{
    BatchMatcher, BuildBackend, CaptureEnds, CompileError, CompiledGrammar, Compiler, MatchError, Matcher,
};
use grammask_oracle::random::Rng;

use super::shape::{Calls, Input, Syntax};

/// Sees every call, and may measure it.
pub trait Meter {
    /// Runs something that stands for this many calls of that name. Calls of one name are alike.
    fn measure<T>(&mut self, name: &'static str, calls: usize, run: impl FnOnce() -> T) -> T;

    /// The last call answered with a text of this many bytes. Its length counts as that of a text that is read.
    fn written(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// Whether enough was seen of calls that are repeated along a text: no further one has to follow.
    fn is_full(&self) -> bool {
        false
    }
}

/// How an input ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Every call was answered. A text may have been refused at some byte.
    Answered,
    /// The source was refused, with the beginning of the message.
    Refused(String),
    /// A limit was reached in the call of that name.
    Limit(&'static str, String),
}

/// Characters of a message that are kept.
const MESSAGE: usize = 120;

/// Runs all calls of an input.
///
/// # Panics
///
/// Where a token of a mask is refused, or another call breaks its promise.
pub fn run<B: BuildBackend>(compiler: &Compiler<B>, input: &Input, meter: &mut impl Meter) -> End {
    let grammar = match meter.measure("compile", 1, || compile(compiler, input)) {
        Ok(grammar) => grammar,
        Err(error) => return refused(error, input, meter),
    };
    let matcher = grammar.matcher();
    let mask = TokenMask::new(grammar.vocabulary().len());
    let random = Rng::new(input.seed);
    let mut visitor = Visitor { matcher, mask, random, meter, text: input.text.as_bytes() };
    let result = match input.calls {
        Calls::Visit => visitor.visit(),
        Calls::Read => visitor.read(),
        Calls::Walk => visitor.walk(input.size),
        Calls::Seesaw => visitor.seesaw(input.size),
        Calls::Fork => visitor.fork(input.size),
        Calls::Ask => visitor.ask(),
        Calls::Batch => batch(compiler, &grammar, input, visitor.meter),
    };
    match result {
        Ok(()) => End::Answered,
        Err((name, error)) => End::Limit(name, beginning(&error.to_string())),
    }
}

fn compile<B: BuildBackend>(
    compiler: &Compiler<B>,
    input: &Input,
) -> Result<CompiledGrammar<B>, CompileError> {
    let source = input.source.as_str();
    match &input.syntax {
        Syntax::Schema => compiler.json_schema(source, &JsonSchemaOptions::default()),
        Syntax::AnyOrder => {
            compiler.json_schema(source, &JsonSchemaOptions::default().key_order(KeyOrder::Any))
        }
        Syntax::Ebnf => compiler.ebnf(source, &EbnfOptions::default()),
        Syntax::Gbnf => compiler.gbnf(source, &EbnfOptions::default()),
        Syntax::Lark => compiler.lark(source, &LarkOptions::default()),
        Syntax::Regex => compiler.regex(source, &RegexOptions::default()),
        Syntax::Tag => compiler.structural_tag(source, &StructuralTagOptions::default()),
        Syntax::Tools(family) => {
            let format = ToolFormat::named(family)?;
            compiler.tools(format, &ToolRequest::parse(source)?, &StructuralTagOptions::default())
        }
    }
}

/// The report of an error is made within bounds, too.
fn refused(error: CompileError, input: &Input, meter: &mut impl Meter) -> End {
    let message = meter.measure("report", 1, || {
        if let Some(diagnostics) = error.diagnostics() {
            let color = grammask_grammar_frontends::Color::Never;
            diagnostics.render(&input.source, "source", color);
        }
        error.to_string()
    });
    let is_limit = ["limit", "more than", "too many", "too large"].iter().any(|word| message.contains(word));
    match is_limit {
        true => End::Limit("compile", beginning(&message)),
        false => End::Refused(beginning(&message)),
    }
}

fn beginning(message: &str) -> String {
    message.chars().take(MESSAGE).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The name of a call that reached a limit.
type Reached = (&'static str, MatchError);

/// A limit ends the run; a refusal is an answer.
fn answered<T>(name: &'static str, result: Result<T, MatchError>) -> Result<Option<T>, Reached> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error @ MatchError::Limit(_)) => Err((name, error)),
        Err(_) => Ok(None),
    }
}

struct Visitor<'r, B: BuildBackend, M> {
    matcher: Matcher<B>,
    mask: TokenMask,
    random: Rng,
    meter: &'r mut M,
    text: &'r [u8],
}

impl<B: BuildBackend, M: Meter> Visitor<'_, B, M> {
    fn call<T>(
        &mut self,
        name: &'static str,
        run: impl FnOnce(&mut Matcher<B>) -> Result<T, MatchError>,
    ) -> Result<Option<T>, Reached> {
        let matcher = &mut self.matcher;
        answered(name, self.meter.measure(name, 1, || run(matcher)))
    }

    fn fill(&mut self) -> Result<(), Reached> {
        let Self { matcher, mask, meter, .. } = self;
        let filled = meter.measure("mask", 1, || matcher.fill_mask(mask));
        answered("mask", filled).map(|_| ())
    }

    /// Accepts a random token of the mask.
    fn accept_any(&mut self) -> Result<(), Reached> {
        let Some(id) = pick(&self.mask, &mut self.random) else { return Ok(()) };
        let accepted = self.call("accept", |matcher| matcher.accept_token(id))?;
        assert!(accepted.is_some(), "token {} of the mask is refused", id.index());
        if self.matcher.is_terminated() {
            self.call("rollback", |matcher| matcher.rollback(1))?;
        }
        Ok(())
    }

    fn walk(&mut self, tokens: usize) -> Result<(), Reached> {
        for _ in 0..tokens {
            if self.meter.is_full() {
                break;
            }
            self.fill()?;
            self.accept_any()?;
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), Reached> {
        let forced = self.call("forced", Matcher::jump_forward)?;
        self.meter.written(forced.map_or(0, |forced| forced.len()));
        let ending = self.call("ending", |matcher| matcher.shortest_ending(100_000))?;
        self.meter.written(ending.flatten().map_or(0, |ending| ending.len()));
        let captures = self.call("captures", |matcher| matcher.captures(CaptureEnds::All))?;
        self.meter.written(captures.map_or(0, |all| all.iter().map(|one| one.bytes.len()).sum()));
        let id = pick(&self.mask, &mut self.random);
        if let Some(id) = id {
            self.call("explain", |matcher| matcher.explain(id))?;
        }
        Ok(())
    }

    fn visit(&mut self) -> Result<(), Reached> {
        self.walk(4)?;
        self.look()?;
        self.call("reset", |matcher| {
            matcher.reset();
            Ok(())
        })?;
        let text = self.text;
        // As much of it as is accepted there.
        match self.meter.measure("text", 1, || self.matcher.accept_bytes(text)) {
            Err(MatchError::ByteRefused { offset, .. }) => {
                self.call("text", |matcher| matcher.accept_bytes(&text[..offset]))?;
            }
            whole => drop(answered("text", whole)?),
        }
        self.walk(4)?;
        self.look()
    }

    /// The text byte by byte, up to where it is refused. Answers how many bytes that is.
    fn read_bytes(&mut self, with_masks: bool) -> Result<usize, Reached> {
        let text = self.text;
        for (at, &byte) in text.iter().enumerate() {
            if self.meter.is_full() {
                return Ok(at);
            }
            if with_masks {
                self.fill()?;
            }
            let Some(id) = TokenId::new(u32::from(byte)) else { return Ok(at) };
            if self.call("accept", |matcher| matcher.accept_token(id))?.is_none() {
                return Ok(at);
            }
        }
        Ok(text.len())
    }

    fn read(&mut self) -> Result<(), Reached> {
        let read = self.read_bytes(true)?;
        self.call("rollback", |matcher| matcher.rollback(read))?;
        let again = self.read_bytes(false)?;
        assert!(read == again || self.meter.is_full(), "the text is read otherwise after a rollback");
        self.fill()
    }

    fn seesaw(&mut self, times: usize) -> Result<(), Reached> {
        let read = self.read_bytes(false)?;
        let text = self.text;
        for _ in 0..times {
            if self.meter.is_full() {
                break;
            }
            let back = self.random.below(read + 1).min(64);
            self.call("rollback", |matcher| matcher.rollback(back))?;
            for &byte in &text[read - back..read] {
                let Some(id) = TokenId::new(u32::from(byte)) else { continue };
                self.call("accept", |matcher| matcher.accept_token(id))?;
            }
            self.fill()?;
        }
        Ok(())
    }

    fn fork(&mut self, times: usize) -> Result<(), Reached> {
        self.read_bytes(false)?;
        self.fill()?;
        let mut kept = Vec::new();
        for at in 0..times {
            if self.meter.is_full() {
                break;
            }
            let forked = self.meter.measure("fork", 1, || self.matcher.fork());
            if at % 2 == 1 {
                kept.push(forked);
                continue;
            }
            let whole = std::mem::replace(&mut self.matcher, forked);
            self.accept_any()?;
            kept.push(std::mem::replace(&mut self.matcher, whole));
        }
        Ok(())
    }

    fn ask(&mut self) -> Result<(), Reached> {
        let tokens: Vec<TokenId> =
            self.text.iter().filter_map(|&byte| TokenId::new(u32::from(byte))).collect();
        for &id in tokens.iter().take(PLACES) {
            self.fill()?;
            self.look()?;
            self.call("validate", |matcher| matcher.validate_tokens(&tokens))?;
            self.call("forced tokens", |matcher| {
                let bytes = |text: &[u8]| text.iter().map(|&byte| TokenId::new(u32::from(byte))).collect();
                matcher.forced_tokens(&[], bytes)
            })?;
            if self.call("accept", |matcher| matcher.accept_token(id))?.is_none() {
                self.accept_any()?;
            }
        }
        Ok(())
    }
}

/// Places of a text that are asked about.
const PLACES: usize = 10;

/// Matchers of a batch.
const ROWS: usize = 16;

fn batch<B: BuildBackend, M: Meter>(
    compiler: &Compiler<B>,
    grammar: &CompiledGrammar<B>,
    input: &Input,
    meter: &mut M,
) -> Result<(), Reached> {
    let batch = BatchMatcher::new(compiler.threads().clone());
    let mut random = Rng::new(input.seed);
    let stride = words_for(grammar.vocabulary().len());
    let mut words = vec![0; ROWS * stride];
    let mut matchers: Vec<Matcher<B>> = (0..ROWS).map(|_| grammar.matcher()).collect();
    for _ in 0..input.size {
        if meter.is_full() {
            break;
        }
        let filled = meter.measure("batch", ROWS, || batch.fill_rows(&mut matchers, &mut words, stride));
        for answer in filled.into_iter().flatten() {
            answered("batch", answer)?;
        }
        for (matcher, row) in matchers.iter_mut().zip(words.chunks(stride)) {
            let Some(id) = pick_of_words(row, &mut random) else { continue };
            answered("accept", meter.measure("accept", 1, || matcher.accept_token(id)))?;
            if matcher.is_terminated() {
                matcher.reset();
            }
        }
    }
    Ok(())
}

fn pick(mask: &TokenMask, random: &mut Rng) -> Option<TokenId> {
    let count = mask.count();
    if count == 0 {
        return None;
    }
    mask.iter().nth(random.below(count))
}

fn pick_of_words(words: &[u32], random: &mut Rng) -> Option<TokenId> {
    let set: Vec<u32> = (0..)
        .zip(words)
        .flat_map(|(at, &word)| (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 32 * at + bit))
        .collect();
    random.pick(&set).and_then(|&id| TokenId::new(id))
}
