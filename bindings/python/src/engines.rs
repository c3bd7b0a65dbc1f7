//! The two backends: which one a compiler was made with is known when the program runs.
//!
//! Types that know their backend are pairs of types here. A call looks once which of the two it has, so that what follows,
//! byte by byte, is made for that backend.

use grammask::{BuildBackend, CompiledGrammar, earley, pda};

/// A thing that exists for either backend.
#[derive(Clone)]
pub(crate) enum Either<E, P> {
    Earley(E),
    Pda(P),
}

/// A compiled grammar of either backend.
pub(crate) type AnyGrammar = Either<CompiledGrammar<earley::Engine>, CompiledGrammar<pda::Engine>>;

/// A matcher of either backend.
pub(crate) type AnyMatcher = Either<grammask::Matcher<earley::Engine>, grammask::Matcher<pda::Engine>>;

/// The same expression for whichever backend it is.
macro_rules! each {
    ($either:expr, $one:ident => $result:expr) => {
        match $either {
            $crate::engines::Either::Earley($one) => $result,
            $crate::engines::Either::Pda($one) => $result,
        }
    };
}

pub(crate) use each;

/// A backend that Python can choose.
pub(crate) trait Engine: BuildBackend + 'static {
    /// One of its grammars as one of either.
    fn wrap(grammar: CompiledGrammar<Self>) -> AnyGrammar;
}

impl Engine for earley::Engine {
    fn wrap(grammar: CompiledGrammar<Self>) -> AnyGrammar {
        Either::Earley(grammar)
    }
}

impl Engine for pda::Engine {
    fn wrap(grammar: CompiledGrammar<Self>) -> AnyGrammar {
        Either::Pda(grammar)
    }
}

impl AnyGrammar {
    /// A matcher at the beginning of a text.
    pub(crate) fn matcher(&self) -> AnyMatcher {
        match self {
            Either::Earley(grammar) => Either::Earley(grammar.matcher()),
            Either::Pda(grammar) => Either::Pda(grammar.matcher()),
        }
    }

    pub(crate) fn vocabulary(&self) -> &std::sync::Arc<grammask::Vocabulary> {
        each!(self, grammar => grammar.vocabulary())
    }
}

impl AnyMatcher {
    pub(crate) fn vocabulary(&self) -> &std::sync::Arc<grammask::Vocabulary> {
        each!(self, matcher => matcher.grammar().vocabulary())
    }
}
