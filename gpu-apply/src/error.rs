//! The one error of this crate.

/// Why logits could not be masked or a token could not be chosen.
///
/// It cannot be taken apart; [`kind`](Self::kind) says what a program may want to tell apart, and the text
/// says what to change.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ApplyError {
    kind: ApplyErrorKind,
    row: Option<usize>,
    message: String,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApplyErrorKind {
    /// Shapes, strides or row numbers do not fit the memory that was given.
    Layout,
    /// A setting of sampling is outside its range.
    Setting,
    /// The mask of a row allows no token at all.
    NothingAllowed,
    /// Every allowed logit of a row is minus infinity or not a number.
    NothingPossible,
    /// There is no CUDA driver, or one that is too old or broken.
    NoDriver,
    /// There is a driver and no device that can be used.
    NoDevice,
    /// The device or pinned host memory is used up.
    OutOfMemory,
    /// Any other failure that the driver reports.
    Device,
}

impl ApplyError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ApplyErrorKind {
        self.kind
    }

    /// The row of logits that it happened in, where it is one row's matter.
    #[must_use]
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    pub(crate) fn layout(message: impl Into<String>) -> Self {
        Self { kind: ApplyErrorKind::Layout, row: None, message: message.into() }
    }

    pub(crate) fn setting(message: impl Into<String>) -> Self {
        Self { kind: ApplyErrorKind::Setting, row: None, message: message.into() }
    }

    pub(crate) fn nothing_allowed() -> Self {
        let message = "the mask allows no token; end the text or take back the last token".to_owned();
        Self { kind: ApplyErrorKind::NothingAllowed, row: None, message }
    }

    pub(crate) fn nothing_possible() -> Self {
        let message = "every allowed logit is minus infinity or not a number; \
                       look for an earlier step that masks the same logits, or for an overflow in the model"
            .to_owned();
        Self { kind: ApplyErrorKind::NothingPossible, row: None, message }
    }

    /// The same error, with the row that it happened in.
    pub(crate) fn in_row(self, row: usize) -> Self {
        Self { message: format!("row {row}: {}", self.message), row: Some(row), ..self }
    }
}

#[cfg(all(feature = "cuda", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
impl ApplyError {
    pub(crate) fn no_driver(message: String) -> Self {
        Self { kind: ApplyErrorKind::NoDriver, row: None, message }
    }

    /// A result code of the driver other than success.
    pub(crate) fn from_code(code: i32, doing: &str) -> Self {
        let (kind, advice) = match code {
            2 => (ApplyErrorKind::OutOfMemory, "out of memory; free some, or use fewer rows"),
            3 | 34 | 803 => {
                (ApplyErrorKind::NoDriver, "the driver is not usable; install one that fits the device")
            }
            35 | 218 | 222 => (ApplyErrorKind::NoDriver, "the driver is too old; install a newer one"),
            46 => (ApplyErrorKind::NoDevice, "the device is busy or unavailable; see who uses it"),
            100 => (ApplyErrorKind::NoDevice, "there is no CUDA device; use the CPU"),
            101 => (ApplyErrorKind::NoDevice, "there is no device of this number; count from 0"),
            804 => (ApplyErrorKind::NoDriver, "the driver does not support this device"),
            _ => (ApplyErrorKind::Device, "look the code up among the results of the CUDA driver"),
        };
        Self { kind, row: None, message: format!("{doing} (CUDA result {code}): {advice}") }
    }
}
