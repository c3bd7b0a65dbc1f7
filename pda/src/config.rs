//! Settings for users.

/// Settings of an [`Engine`](crate::Engine). Every limit leads to a
/// [`StepError`](grammask_parser_backend::StepError), never to a wrong answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The greatest number of bytes of a token for which masks are computed. Mask keys distinguish counts
    /// within this number of bytes of a bound. Default 128.
    pub longest_token: u32,
    /// Bytes that stacks and transitions may hold together. Default 256 MiB.
    pub max_bytes: usize,
    /// Stacks that may be alive at once. Default 100,000.
    pub max_stacks: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { longest_token: 128, max_bytes: 256 << 20, max_stacks: 100_000 }
    }
}
