//! Judging whole texts, and beginning charts.

use crate::chart::Chart;
use crate::recogniser::Recogniser;

impl Recogniser {
    /// A chart that has read nothing.
    pub fn begin(&self) -> Chart<'_> {
        Chart::new(self)
    }

    /// A chart that has read a text, or `None` if no sentence begins with it.
    pub fn read(&self, text: &[u8]) -> Option<Chart<'_>> {
        let mut chart = self.begin();
        let viable = !self.is_language_empty() && text.iter().all(|&byte| chart.push(byte));
        viable.then_some(chart)
    }

    /// Whether the text is a sentence.
    pub fn accepts(&self, text: &[u8]) -> bool {
        self.read(text).is_some_and(|chart| chart.is_complete())
    }

    /// Whether some sentence begins with the text.
    pub fn is_prefix(&self, text: &[u8]) -> bool {
        self.read(text).is_some()
    }
}
