//! Masks on their way to the device, during the forward pass.
//!
//! The naive way copies all masks from ordinary memory just before they are applied: the driver copies them
//! to pinned memory first, and the stream waits. Here masks are written to pinned memory while the model
//! computes, and changed rows are copied on a stream of their own. The caller's stream waits for an event
//! that has long happened.

use cust::memory::{DeviceBuffer, LockedBuffer};
use cust::stream::{Stream, StreamFlags};
use cust::sys::{self, CUevent};

use super::device::{Device, RawStream, check, failed};
use super::launch::address;
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
    parts: Option<Parts>,
    /// Rows that differ from what was uploaded last.
    changed: Vec<bool>,
    rows: usize,
    words: usize,
    device: Device,
}

struct Parts {
    pinned: LockedBuffer<u32>,
    memory: DeviceBuffer<u32>,
    stream: Stream,
    /// The last upload is done.
    uploaded: Event,
    /// The last use is done.
    used: Event,
}

/// An event without times. `cust`'s events can be recorded on its own streams only.
struct Event(CUevent);

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    fn new() -> Result<Self, ApplyError> {
        /// `CU_EVENT_DISABLE_TIMING`
        const NO_TIMES: u32 = 2;
        let mut event = std::ptr::null_mut();
        // SAFETY: writes one handle to where it is told.
        check(unsafe { sys::cuEventCreate(&mut event, NO_TIMES) }, "no event can be made")?;
        Ok(Self(event))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: nobody else has the handle. The driver waits for what still needs the event.
        let _refused = unsafe { sys::cuEventDestroy_v2(self.0) };
    }
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
        let Ok(_current) = self.device.enter() else { return };
        if let Some(parts) = self.parts.take() {
            // Pinned memory must not go while it is copied from.
            let _failed_before = parts.stream.synchronize();
        }
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
        let _current = self.enter()?;
        let parts = Parts {
            pinned: LockedBuffer::new(&0_u32, count).map_err(|error| failed(error, "no pinned memory"))?,
            memory: DeviceBuffer::zeroed(count).map_err(|error| failed(error, "no memory for masks"))?,
            stream: Stream::new(StreamFlags::NON_BLOCKING, None)
                .map_err(|error| failed(error, "no stream can be made"))?,
            uploaded: Event::new()?,
            used: Event::new()?,
        };
        // Zeros are written on the default stream, for which a stream that does not block would not wait.
        // SAFETY: the default stream always exists.
        check(
            unsafe { sys::cuStreamSynchronize(std::ptr::null_mut()) },
            "memory for masks cannot be cleared",
        )?;
        Ok(MaskUpload { parts: Some(parts), changed: vec![false; rows], rows, words, device: self.clone() })
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
        self.parts.as_ref().map_or(0, |parts| address(parts.memory.as_device_ptr()))
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
        let parts = parts(&mut self.parts)?;
        let place = &mut parts.pinned[start..start + self.words];
        if place == mask {
            return Ok(());
        }
        if !self.changed.contains(&true) {
            // The first change since the last upload, which may still be reading.
            let _current = self.device.enter()?;
            parts.stream.synchronize().map_err(|error| failed(error, "the last upload failed"))?;
        }
        place.copy_from_slice(mask);
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
        let words = self.words;
        let parts = parts(&mut self.parts)?;
        let _current = self.device.enter()?;
        let stream = parts.stream.as_inner();
        // SAFETY: both handles are ours and alive.
        check(unsafe { sys::cuStreamWaitEvent(stream, parts.used.0, 0) }, "the upload cannot wait")?;
        let mut copies = 0;
        for (start, end) in runs(&self.changed) {
            let source = &parts.pinned[start * words..end * words];
            let place = address(parts.memory.as_device_ptr()) + (start * words * 4) as u64;
            // SAFETY: the buffers are equally long and outlive the copy: `set_row` and `drop` wait for it.
            let result = unsafe {
                sys::cuMemcpyHtoDAsync_v2(place, source.as_ptr().cast(), size_of_val(source), stream)
            };
            check(result, "masks cannot be copied to the device")?;
            copies += 1;
        }
        // SAFETY: both handles are ours and alive.
        check(unsafe { sys::cuEventRecord(parts.uploaded.0, stream) }, "the upload cannot be marked")?;
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
        let parts = parts(&mut self.parts)?;
        let _current = self.device.enter()?;
        // SAFETY: the event is ours, the caller vouches for the stream.
        check(unsafe { sys::cuStreamWaitEvent(stream.cast(), parts.uploaded.0, 0) }, "the stream cannot wait")
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
        let parts = parts(&mut self.parts)?;
        let _current = self.device.enter()?;
        // SAFETY: the event is ours, the caller vouches for the stream.
        check(unsafe { sys::cuEventRecord(parts.used.0, stream.cast()) }, "the use cannot be marked")
    }
}

fn parts(parts: &mut Option<Parts>) -> Result<&mut Parts, ApplyError> {
    parts.as_mut().ok_or_else(|| ApplyError::layout("the masks were given back"))
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
    use super::runs;

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
}
