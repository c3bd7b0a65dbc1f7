//! Which texts options leave of a rule's body. All operators are for regular bodies, and checked to be when the
//! grammar is finished.

use grammask_grammar_ir::{ExprId, GrammarBuilder, GrammarError, RuleId, TokenRef};

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

/// Defines rules whose texts are those of a language with at most this many characters. The languages may hold tokens, which are
/// no characters. The rest of the grammar has been made, so that it is known whether there are any.
pub(crate) fn define_bounded(
    builder: &mut GrammarBuilder,
    rules: &[(RuleId, ExprId, u32)],
) -> Result<(), GrammarError> {
    let holds_tokens = !rules.is_empty() && builder.reads_tokens();
    for &(rule, language, characters) in rules {
        let texts = match holds_tokens {
            false => at_most(builder, language, characters),
            true => {
                let token = builder.exclude_token(std::iter::empty::<TokenRef>());
                let tokens = builder.repeat(token, 0, None);
                let any = builder.any_char();
                let counted = builder.sequence([any, tokens]);
                let counted = builder.repeat(counted, 0, Some(characters));
                let short = builder.sequence([tokens, counted]);
                builder.intersection([language, short])
            }
        };
        builder.define(rule, texts)?;
    }
    Ok(())
}
