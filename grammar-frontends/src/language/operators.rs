//! Which texts options leave of a rule's body. Both operators are for regular bodies, and checked to be when the
//! grammar is finished.

use grammask_grammar_ir::{ExprId, GrammarBuilder};

/// The texts of a language that go on no other text of it: those, less every text of it that more was added to.
pub(crate) fn shortest(builder: &mut GrammarBuilder, language: ExprId) -> ExprId {
    let any = builder.any_char();
    let more = builder.repeat(any, 1, None);
    let longer = builder.sequence([language, more]);
    let others = builder.complement(longer);
    builder.intersection([language, others])
}

/// The texts of a language of at most this many characters.
pub(crate) fn at_most(builder: &mut GrammarBuilder, language: ExprId, characters: u32) -> ExprId {
    let any = builder.any_char();
    let short = builder.repeat(any, 0, Some(characters));
    builder.intersection([language, short])
}
