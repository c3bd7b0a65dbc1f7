//! Masks on their way to the device, during the forward pass.
//!
//! The naive way copies all masks from ordinary memory just before they are applied: the driver copies them
//! to pinned memory first, and the stream waits. Here masks are written to pinned memory while the model
//! computes, and changed rows are copied on a stream of their own. The caller's stream waits for an event
//! that has long happened.

use super::device::{Device, RawStream};
use super::driver::{Handle, check};
use super::memory::{DeviceMemory, Owned, Pinned, event, stream};
use crate::error::ApplyError;

/// Rows of masks in pinned memory and on the device.
///
/// For each step: [`set_row`](Self::set_row) for every row, [`upload`](Self::upload), [`wait`](Self::wait) on
/// the stream of the logits, apply the masks at [`device_address`](Self::device_address),
/// [`used`](Self::used).
///
/// ```no_run
/// use grammask_gpu_apply::Layout;
/// use grammask_gpu_apply::cuda::{Device, DeviceBatch, DeviceRows, LogitType};
///
/// # fn example(stream: *mut std::ffi::c_void, logits: u64, mask: &[u32]) -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new(0)?;
/// let mut masks = device.mask_upload(1, mask.len())?;
/// masks.set_row(0, mask)?;
/// masks.upload()?;
/// let layout = Layout::new(1, mask.len() * 32);
/// let batch =
///     DeviceBatch { logit: LogitType::F32, logits, masks: masks.device_address(), layout, rows: DeviceRows::All };
/// // SAFETY: the caller owns the stream and the logits.
/// unsafe {
///     masks.wait(stream)?;
///     device.apply_mask(stream, &batch)?;
///     masks.used(stream)?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct MaskUpload {
    pinned: Pinned,
    memory: DeviceMemory,
    stream: Owned<Handle>,
    /// The last upload is done.
    uploaded: Owned<Handle>,
    /// The last use is done.
    used: Owned<Handle>,
    /// Rows that differ from what was uploaded last.
    changed: Vec<bool>,
    rows: usize,
    words: usize,
    device: Device,
}

impl std::fmt::Debug for MaskUpload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MaskUpload")
            .field("rows", &self.rows)
            .field("words", &self.words)
            .finish_non_exhaustive()
    }
}

impl Drop for MaskUpload {
    fn drop(&mut self) {
        // Pinned memory must not go while it is copied from.
        let _failed_before = self.wait_for_upload();
    }
}

impl Device {
    /// Memory for `rows` masks of `words` words each, all 0 and uploaded.
    ///
    /// # Errors
    ///
    /// When pinned memory or the device's is used up.
    pub fn mask_upload(&self, rows: usize, words: usize) -> Result<MaskUpload, ApplyError> {
        let count = rows.checked_mul(words).filter(|count| count.checked_mul(4).is_some());
        let count = count.ok_or_else(|| ApplyError::layout("that many masks cannot be addressed"))?.max(1);
        Ok(MaskUpload {
            pinned: Pinned::zeroed(self, count)?,
            memory: self.memory(count * size_of::<u32>())?,
            stream: stream(self)?,
            uploaded: event(self)?,
            used: event(self)?,
            changed: vec![false; rows],
            rows,
            words,
            device: self.clone(),
        })
    }
}

impl MaskUpload {
    /// Words from one row to the next, for [`Layout::mask_stride`](crate::Layout::mask_stride).
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Address of the masks in device memory.
    #[must_use]
    pub fn device_address(&self) -> u64 {
        self.memory.address()
    }

    /// Takes a mask over. One that is equal to the row's last costs a comparison and no transfer.
    ///
    /// Waits for the last [`upload`](Self::upload), which by then is usually long over.
    ///
    /// # Errors
    ///
    /// When there is no such row, the mask has not [`words`](Self::words) words, or the last upload failed.
    pub fn set_row(&mut self, row: usize, mask: &[u32]) -> Result<(), ApplyError> {
        if row >= self.rows || mask.len() != self.words {
            let (rows, words) = (self.rows, self.words);
            return Err(ApplyError::layout(format!(
                "there are {rows} rows of masks with {words} words each"
            )));
        }
        let start = row * self.words;
        let range = start..start + self.words;
        if self.pinned.words()[range.clone()] == *mask {
            return Ok(());
        }
        if !self.changed.contains(&true) {
            // The first change since the last upload, which may still be reading.
            self.wait_for_upload()?;
        }
        self.pinned.words()[range].copy_from_slice(mask);
        self.changed[row] = true;
        Ok(())
    }

    /// Begins to copy the rows that changed, neighbours in one go, after all uses that [`used`](Self::used)
    /// was told of. Gives the number of copies begun.
    ///
    /// # Errors
    ///
    /// When the driver refuses.
    pub fn upload(&mut self) -> Result<usize, ApplyError> {
        let (words, driver, stream) = (self.words, self.device.inner.driver, self.stream.value());
        let _current = self.device.enter()?;
        // SAFETY: both handles are ours and alive.
        check(unsafe { (driver.wait_for_event)(stream, self.used.value(), 0) }, "the upload cannot wait")?;
        let mut copies = 0;
        for (start, end) in runs(&self.changed) {
            let source = &self.pinned.words()[start * words..end * words];
            let place = self.memory.address() + (start * words * size_of::<u32>()) as u64;
            // SAFETY: both places are equally long and outlive the copy: `set_row` and `drop` wait for it.
            let result =
                unsafe { (driver.upload)(place, source.as_ptr().cast(), size_of_val(source), stream) };
            check(result, "masks cannot be copied to the device")?;
            copies += 1;
        }
        // SAFETY: both handles are ours and alive.
        check(
            unsafe { (driver.record_event)(self.uploaded.value(), stream) },
            "the upload cannot be marked",
        )?;
        self.changed.fill(false);
        Ok(copies)
    }

    /// Makes a stream wait for the last [`upload`](Self::upload). The caller's thread does not wait.
    ///
    /// # Errors
    ///
    /// When the driver refuses.
    ///
    /// # Safety
    ///
    /// `stream` must be a stream of this device's primary context, or null.
    pub unsafe fn wait(&mut self, stream: RawStream) -> Result<(), ApplyError> {
        let _current = self.device.enter()?;
        let wait = self.device.inner.driver.wait_for_event;
        // SAFETY: the event is ours, the caller vouches for the stream.
        check(unsafe { wait(Handle(stream), self.uploaded.value(), 0) }, "the stream cannot wait")
    }

    /// Says that what uses the masks is on this stream, so that the next upload does not overwrite them
    /// before.
    ///
    /// # Errors
    ///
    /// When the driver refuses.
    ///
    /// # Safety
    ///
    /// `stream` must be a stream of this device's primary context, or null.
    pub unsafe fn used(&mut self, stream: RawStream) -> Result<(), ApplyError> {
        let _current = self.device.enter()?;
        let record = self.device.inner.driver.record_event;
        // SAFETY: the event is ours, the caller vouches for the stream.
        check(unsafe { record(self.used.value(), Handle(stream)) }, "the use cannot be marked")
    }

    fn wait_for_upload(&self) -> Result<(), ApplyError> {
        let _current = self.device.enter()?;
        let synchronize = self.device.inner.driver.synchronize;
        // SAFETY: the stream is ours and alive.
        check(unsafe { synchronize(self.stream.value()) }, "the last upload failed")
    }
}

/// Runs of marked rows, as starts and ends.
fn runs(changed: &[bool]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + changed[from..].iter().position(|&one| one)?;
        let length = changed[start..].iter().position(|&one| !one).unwrap_or(changed.len() - start);
        from = start + length;
        Some((start, from))
    })
}

#[cfg(test)]
mod tests {
    use super::super::recorder;
    use super::super::{DeviceBatch, DeviceRows, LogitType};
    use super::*;
    use crate::layout::Layout;

    #[test]
    fn neighbours_are_copied_together() {
        let check = |changed: &[bool], expected: &[(usize, usize)]| {
            assert_eq!(runs(changed).collect::<Vec<_>>(), expected);
        };
        check(&[], &[]);
        check(&[false, false], &[]);
        check(&[true, true, false, true], &[(0, 2), (3, 4)]);
        check(&[false, true, false], &[(1, 2)]);
    }

    /// The device does nothing before it must, and then first what is least expected.
    #[test]
    fn each_step_sees_its_own_mask() {
        for order in [recorder::Order::UploadsFirst, recorder::Order::UploadsLast] {
            let device = recorder::device();
            let mut masks = device.mask_upload(2, 1).unwrap();
            let default = std::ptr::null_mut();
            for step in 0..4 {
                masks.set_row(0, &[step]).unwrap();
                assert_eq!(masks.upload().unwrap(), usize::from(step > 0));
                let batch = DeviceBatch {
                    logit: LogitType::F32,
                    logits: 16,
                    masks: masks.device_address(),
                    layout: Layout::new(2, 32),
                    rows: DeviceRows::All,
                };
                // SAFETY: the default stream always exists; this device does not look at logits.
                unsafe {
                    masks.wait(default).unwrap();
                    device.apply_mask(default, &batch).unwrap();
                    masks.used(default).unwrap();
                }
            }
            recorder::run(order);
            let applied: Vec<String> =
                recorder::calls().into_iter().filter(|call| call.starts_with("grammask")).collect();
            assert_eq!(applied, ["0", "1", "2", "3"].map(|word| format!("grammask_apply_32 {word}")));
            drop(masks);
            drop(device);
            assert_eq!(recorder::left(), 0);
        }
    }

    #[test]
    fn a_mask_of_another_width_is_refused() {
        let device = recorder::device();
        let mut masks = device.mask_upload(2, 3).unwrap();
        assert!(masks.set_row(0, &[0]).is_err());
        assert!(masks.set_row(2, &[0; 3]).is_err());
        assert!(device.mask_upload(usize::MAX, 2).is_err());
    }
}
