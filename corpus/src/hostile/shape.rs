//! A shape, and the input that it makes at a size.

use grammask_oracle::random::Rng;

use super::template::expand;

/// The seed of the inputs that are checked in.
pub const SEED: u64 = 20;

/// The notation of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON Schema.
    Schema,
    /// JSON Schema whose members come in any order.
    AnyOrder,
    /// Our EBNF.
    Ebnf,
    /// GBNF.
    Gbnf,
    /// Lark's notation.
    Lark,
    /// A regular expression.
    Regex,
    /// A structural tag.
    Tag,
    /// A request with tools, for the model family of that name.
    Tools(&'static str),
}

/// The calls for a source that compiles, and for the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// The text at once, and at either end of it what a server asks for: masks, some tokens, forced text, an ending.
    Visit,
    /// The text byte by byte, each as a token, with the mask before each; then all of it taken back, and read again.
    Read,
    /// As many tokens as the size says, each out of its mask at random.
    Walk,
    /// The text; then tokens are taken back and accepted again, as often as the size says.
    Seesaw,
    /// The text byte by byte; then copies of the matcher, half of which go on with a token of their own.
    Fork,
    /// Forced text, an explanation, an ending and a look ahead by the whole text, at some places of the text.
    Ask,
    /// A batch of matchers that walk as [`Walk`](Self::Walk) does, each on its own way.
    Batch,
}

impl Calls {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Visit, Self::Read, Self::Walk, Self::Seesaw, Self::Fork, Self::Ask, Self::Batch];
}

/// A kind of hostile input, of any size.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Unique among all shapes.
    pub name: String,
    /// The sizes that it is made at, the smallest first.
    pub sizes: [usize; 3],
    /// The notation of the source.
    pub syntax: Syntax,
    /// The calls for it.
    pub calls: Calls,
    source: String,
    text: String,
    /// Whether each of its operands has as many states as there are operands.
    has_counted_operands: bool,
}

/// The input of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The notation of the source.
    pub syntax: Syntax,
    /// The source that is compiled.
    pub source: String,
    /// The text that is read. It may be refused at any byte.
    pub text: String,
    /// The calls.
    pub calls: Calls,
    /// The size it was made at.
    pub size: usize,
    /// States that counts of operands stand for. They are written out, and count as if they were in the source.
    pub states: usize,
    /// The seed of random tokens.
    pub seed: u64,
}

/// Keywords about members contain one of these.
const MEMBERS: [&str; 4] = ["propert", "Propert", "required", "dependent"];

impl Shape {
    /// A shape of templates.
    pub(super) fn new(name: impl Into<String>, syntax: Syntax, sizes: [usize; 3], source: &str) -> Self {
        let (source, text) = (source.to_owned(), String::new());
        let (name, calls) = (name.into(), Calls::Visit);
        Self { name, sizes, syntax, calls, source, text, has_counted_operands: false }
    }

    pub(super) fn counted_operands(mut self) -> Self {
        self.has_counted_operands = true;
        self
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.text = text.to_owned();
        self
    }

    pub(super) fn calls(mut self, calls: Calls) -> Self {
        self.calls = calls;
        self
    }

    /// The same schema with members in any order; `None` where it does not speak of members.
    pub(super) fn in_any_order(&self) -> Option<Self> {
        let is_about_members = MEMBERS.iter().any(|keyword| self.source.contains(keyword));
        let name = self.name.replacen("schema/", "any order/", 1);
        is_about_members.then(|| Self { name, syntax: Syntax::AnyOrder, ..self.clone() })
    }

    /// The input of a size. The same seed makes the same input.
    pub fn input(&self, size: usize, seed: u64) -> Input {
        let mut random = Rng::new(seed);
        let source = expand(&self.source, size, &mut random);
        let text = expand(&self.text, size, &mut random);
        let states = if self.has_counted_operands { size * size / 2 } else { 0 };
        Input { syntax: self.syntax.clone(), source, text, calls: self.calls, size, states, seed }
    }
}
