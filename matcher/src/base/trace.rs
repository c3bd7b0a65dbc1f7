//! Spans for the feature `tracing`; nothing without it.

/// Opens a span of level debug until the end of the block.
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)*) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::debug_span!(target: "grammask", $name $(, $field = $value)*).entered();
    };
}

pub(crate) use span;
