//! A spinner for what takes long enough to be noticed.

use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

/// Runs `work` under a spinner on standard error, which is gone when the work is done. Nothing is shown where
/// standard error is no terminal, nor for work that takes less than a moment.
pub(crate) fn spin<T>(message: impl Into<String>, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        spinner.set_style(style);
    }
    spinner.set_message(message.into());
    spinner.enable_steady_tick(Duration::from_millis(120));
    let result = work();
    spinner.finish_and_clear();
    result
}
