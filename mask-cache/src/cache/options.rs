//! Which of the ways to a mask are taken.

use grammask_grammar_ir::Toggle;

/// Which of the ways to a mask a [`MaskMemo`](crate::MaskMemo) takes. By default all but context expansion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MaskOptions {
    /// Masks are kept, and found again by their keys.
    pub memo: Toggle,
    /// Tokens of a class over which any text passes are taken as a whole (XGrammar, section 3.3, stores such
    /// masks by the tokens that they refuse).
    pub slices: Toggle,
    /// Masks of the inside of one rule are kept apart from those of its continuation (the adaptive token mask
    /// cache of XGrammar, section 3.1).
    pub local_parts: Toggle,
    /// Uncertain tokens of a local part that nothing in the grammar lets pass are dropped once for all its places
    /// (context expansion: XGrammar, section 3.2, algorithm 2). Off by default: it costs more than it saves.
    pub context_expansion: Toggle,
    /// Masks that differ from a known one in a few tokens are found by walking both side by side.
    pub differences: Toggle,
    /// Masks of local parts are shared between the grammars of one compiler (XGrammar 2, section 3.3).
    pub cross_grammar: Toggle,
}

impl Default for MaskOptions {
    fn default() -> Self {
        let on = Toggle::On;
        Self {
            memo: on,
            slices: on,
            local_parts: on,
            context_expansion: Toggle::Off,
            differences: on,
            cross_grammar: on,
        }
    }
}

impl MaskOptions {
    /// None of the ways: every mask is walked for, every time.
    pub fn none() -> Self {
        let off = Toggle::Off;
        Self {
            memo: off,
            slices: off,
            local_parts: off,
            context_expansion: off,
            differences: off,
            cross_grammar: off,
        }
    }
}
