//! Engines by their names.

use std::sync::Arc;

use grammask::{Compiler, Vocabulary, pda};

use super::interface::{Engine, EngineId, KeyOrder};
use super::tokenizer::LoadedTokenizer;
use super::{llguidance, ours};

/// Loads an engine.
pub(crate) fn load(
    id: EngineId,
    tokenizer: &LoadedTokenizer,
    key_order: KeyOrder,
) -> anyhow::Result<Box<dyn Engine>> {
    Ok(match id {
        EngineId::Grammask => Box::new(ours::Grammask::new(id, ours::builder(tokenizer)?, key_order)),
        EngineId::GrammaskPda => {
            Box::new(ours::Grammask::new(id, ours::builder(tokenizer)?.backend::<pda::Engine>(), key_order))
        }
        EngineId::Llguidance => llguidance::engine(&llguidance::environment(tokenizer)?)?,
    })
}

/// Our engine over a vocabulary, with a parser backend.
pub(crate) fn over(id: EngineId, vocabulary: &Arc<Vocabulary>) -> Box<dyn Engine> {
    let builder = Compiler::builder(Arc::clone(vocabulary));
    match id {
        EngineId::GrammaskPda => {
            Box::new(ours::Grammask::new(id, builder.backend::<pda::Engine>(), KeyOrder::Declared))
        }
        _ => Box::new(ours::Grammask::new(id, builder, KeyOrder::Declared)),
    }
}
