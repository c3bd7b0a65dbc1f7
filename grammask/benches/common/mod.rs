//! The subject of the benches: the hot paths, over the vocabulary that each brings.

use std::sync::Arc;

use grammask::{
    BatchMatcher, CompiledGrammar, Compiler, JsonSchemaOptions, Matcher, Threads, TokenId, TokenMask,
    Vocabulary, words_for,
};

pub(crate) const SCHEMA: &str = r#"{"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 80},
    "tags": {"type": "array", "items": {"enum": ["new", "used", "broken", "sold"]}, "maxItems": 20},
    "price": {"type": "number"},
    "notes": {"type": "string"},
    "place": {"type": "object", "properties": {"street": {"type": "string"}, "number": {"type": "integer"}},
              "required": ["street"]}
}, "required": ["name", "price"]}"#;

const TEXT: &str = r#"{"name": "A chair, not very old", "tags": ["used", "broken"], "price": 17.5, "notes":
"One leg is missing; größer als der Tisch.", "place": {"street": "Elm \"old\" Street", "number": 12}}"#;

pub(crate) fn compiler() -> Compiler {
    Compiler::builder(crate::vocabulary()).build()
}

pub(crate) fn compile(compiler: &Compiler) -> CompiledGrammar {
    compiler.json_schema(SCHEMA, &JsonSchemaOptions::default()).expect("the schema is sound")
}

/// The longest tokens from the left on, which is near to what a tokenizer makes.
fn tokens(vocabulary: &Vocabulary) -> Vec<TokenId> {
    let mut left = TEXT.as_bytes();
    let mut tokens = Vec::new();
    while !left.is_empty() {
        let longest = left.len().min(vocabulary.max_token_len());
        let found =
            (1..=longest).rev().find_map(|length| Some((length, vocabulary.text_token(&left[..length])?)));
        let (length, token) = found.expect("every byte is a token");
        tokens.push(token);
        left = &left[length..];
    }
    tokens
}

/// A matcher at the beginning of the text.
pub(crate) struct Text {
    pub(crate) matcher: Matcher,
    pub(crate) mask: TokenMask,
    pub(crate) words: Vec<u32>,
    pub(crate) tokens: Vec<TokenId>,
}

impl Text {
    /// On a grammar that no text was on.
    pub(crate) fn cold() -> Self {
        let grammar = compile(&compiler());
        let vocabulary: &Arc<Vocabulary> = grammar.vocabulary();
        let (mask, tokens) = (TokenMask::new(vocabulary.len()), tokens(vocabulary));
        let words = vec![0; words_for(vocabulary.len())];
        Self { matcher: grammar.matcher(), mask, words, tokens }
    }

    /// As [`cold`](Self::cold), this many tokens in; their masks are not known.
    pub(crate) fn cold_after(tokens: usize) -> Self {
        let mut text = Self::cold();
        for at in 0..tokens {
            text.matcher.accept_token(text.tokens[at]).expect("the text obeys the schema");
        }
        text
    }

    /// On a grammar that the text was on before, twice.
    pub(crate) fn warm() -> Self {
        let text = Self::cold().masks().masks();
        Self { matcher: text.matcher.grammar().matcher(), ..text }
    }

    /// As [`warm`](Self::warm), at the end of the text.
    pub(crate) fn warm_at_end() -> Self {
        Self::warm().accept()
    }

    /// The mask of this place.
    pub(crate) fn mask(mut self) -> Self {
        self.matcher.fill_mask(&mut self.mask).expect("there is a mask");
        self
    }

    /// All masks and tokens from the beginning.
    pub(crate) fn masks(mut self) -> Self {
        self.matcher.reset();
        for &token in &self.tokens {
            self.matcher.fill_mask(&mut self.mask).expect("there is a mask");
            self.matcher.accept_token(token).expect("the text obeys the schema");
        }
        self
    }

    /// As [`masks`](Self::masks), each written in full.
    pub(crate) fn masks_as_words(mut self) -> Self {
        self.matcher.reset();
        for &token in &self.tokens {
            self.matcher.fill_mask_words(&mut self.words).expect("there is a mask");
            self.matcher.accept_token(token).expect("the text obeys the schema");
        }
        self
    }

    /// All tokens from the beginning.
    pub(crate) fn accept(mut self) -> Self {
        self.matcher.reset();
        for &token in &self.tokens {
            self.matcher.accept_token(token).expect("the text obeys the schema");
        }
        self
    }

    /// A fork that takes back half of the text.
    pub(crate) fn fork_and_roll_back(self) -> (Self, Matcher) {
        let mut fork = self.matcher.fork();
        fork.rollback(self.tokens.len() / 2).expect("there are as many steps");
        (self, fork)
    }
}

/// Rows at all places of the text whose masks are known, and room for them.
pub(crate) struct Batch {
    rows: Vec<Matcher>,
    words: Vec<u32>,
    stride: usize,
    batch: BatchMatcher,
}

impl Batch {
    pub(crate) fn known(rows: usize) -> Self {
        let text = Text::warm();
        let stride = text.words.len();
        let rows: Vec<Matcher> = (0..rows)
            .map(|row| {
                let mut matcher = text.matcher.grammar().matcher();
                for &token in &text.tokens[..row % text.tokens.len()] {
                    matcher.accept_token(token).expect("the text obeys the schema");
                }
                matcher
            })
            .collect();
        let words = vec![0; stride * rows.len()];
        Self { rows, words, stride, batch: BatchMatcher::new(Arc::new(Threads::new(0))) }.fill()
    }

    pub(crate) fn fill(mut self) -> Self {
        let answers = self.batch.fill_rows(&mut self.rows, &mut self.words, self.stride);
        assert!(answers.is_ok_and(|answers| answers.iter().all(Result::is_ok)), "every row has a mask");
        self
    }
}
