//! Settings for users.

/// Settings of an [`Engine`](crate::Engine). Every limit leads to a
/// [`StepError`](grammask_parser_backend::StepError), never to a wrong answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The greatest number of bytes of a token for which masks are computed. Mask keys distinguish counts
    /// within this number of bytes of a bound. Default 128, at most 8,191.
    pub longest_token: u32,
    /// Bytes that sets, contexts and transitions may hold together. Default 256 MiB.
    pub max_bytes: usize,
    /// Items of one set. Default 100,000.
    pub max_items_per_set: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { longest_token: 128, max_bytes: 256 << 20, max_items_per_set: 100_000 }
    }
}

/// Mask keys keep distances to a bound in 13 bits.
pub(crate) const MAX_TOKEN: u32 = (1 << 13) - 1;
