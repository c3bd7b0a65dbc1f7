//! Texts written with tokens.

use crate::chart::Chart;
use crate::recogniser::Recogniser;

/// Every way to read a text that is written with tokens: each token as itself, or as its bytes.
///
/// Up to twice as many charts with every token, so for short texts only.
#[derive(Clone, Debug)]
pub struct Derivations<'r> {
    charts: Vec<Chart<'r>>,
}

impl<'r> Derivations<'r> {
    /// Nothing read.
    pub fn new(recogniser: &'r Recogniser) -> Self {
        Self { charts: vec![recogniser.begin()] }
    }

    /// Reads a token if it may come next; otherwise nothing changes. Special tokens have no bytes. Returns whether
    /// it was read.
    pub fn push(&mut self, id: u32, bytes: &[u8]) -> bool {
        let after = self.after(id, bytes);
        let is_read = !after.is_empty();
        if is_read {
            self.charts = after;
        }
        is_read
    }

    /// Whether a token may come next.
    pub fn allows(&self, id: u32, bytes: &[u8]) -> bool {
        !self.after(id, bytes).is_empty()
    }

    /// Whether a token may come next that is taken as a whole.
    pub fn allows_as_itself(&self, id: u32) -> bool {
        self.charts.iter().any(|chart| chart.can_push_token(id))
    }

    /// Whether what has been read is a sentence.
    pub fn is_complete(&self) -> bool {
        self.charts.iter().any(Chart::is_complete)
    }

    fn after(&self, id: u32, bytes: &[u8]) -> Vec<Chart<'r>> {
        let mut after = Vec::new();
        for chart in &self.charts {
            if bytes.first().is_some_and(|&byte| chart.can_push(byte)) {
                let mut by_bytes = chart.clone();
                if bytes.iter().all(|&byte| by_bytes.push(byte)) {
                    after.push(by_bytes);
                }
            }
            if chart.can_push_token(id) {
                let mut as_itself = chart.clone();
                as_itself.push_token(id);
                after.push(as_itself);
            }
        }
        after
    }
}
