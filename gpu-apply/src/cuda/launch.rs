//! Batches in device memory, and the kernels put on streams.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::Arc;

use super::device::{Device, RawStream};
use super::driver::{Handle, check};
use super::memory::DeviceMemory;
use crate::error::ApplyError;
use crate::layout::{Layout, Padding, Plan, Rows};
use crate::sample::Sampling;

/// The types of logits, for memory that has no Rust type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogitType {
    /// 32-bit floating point.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    Bf16,
}

impl LogitType {
    fn index(self) -> usize {
        self as usize
    }

    /// Bytes of one logit.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    fn negative_infinity(self) -> u32 {
        match self {
            Self::F32 => 0xff80_0000,
            Self::F16 => 0xfc00,
            Self::Bf16 => 0xff80,
        }
    }
}

/// Which rows take part. Lists are addresses of 32-bit signed row numbers in device memory. A number that is
/// no row is skipped when a mask is applied, and allows nothing when a token is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceRows {
    /// All of them, each with the mask row of the same number.
    #[default]
    All,
    /// The listed rows of logits, each with the mask row of the same number.
    Same {
        /// Address of the list.
        list: u64,
        /// Numbers in the list.
        count: u32,
    },
    /// Mask row `i` belongs to the row of logits that is number `i` of the list.
    Packed {
        /// Address of the list.
        list: u64,
        /// Numbers in the list.
        count: u32,
    },
}

/// Logits and masks in device memory.
#[derive(Debug, Clone, Copy)]
pub struct DeviceBatch {
    /// The type of the logits.
    pub logit: LogitType,
    /// Address of the first logit of row 0, a multiple of the logit's size. Rows need no other alignment.
    pub logits: u64,
    /// Address of the first word of mask row 0, a multiple of 4.
    pub masks: u64,
    /// Shapes and strides; its own selection must be [`Rows::All`].
    pub layout: Layout<'static>,
    /// Which rows take part.
    pub rows: DeviceRows,
}

impl DeviceBatch {
    fn selected(&self) -> usize {
        match self.rows {
            DeviceRows::All => self.layout.selected(),
            DeviceRows::Same { count, .. } | DeviceRows::Packed { count, .. } => count as usize,
        }
    }

    /// The arguments of the kernels, once it is known that they are possible. A block of threads works on `tile` bytes of
    /// a row.
    fn resolve(&self, tile: u32) -> Result<Batch, ApplyError> {
        let plan = Plan::new(&self.layout)?;
        if plan.selection != Rows::All {
            return Err(ApplyError::layout("select rows in device memory by a list in device memory"));
        }
        if !self.logits.is_multiple_of(self.logit.size() as u64) || !self.masks.is_multiple_of(4) {
            return Err(ApplyError::layout("logits and masks must be aligned to their own size"));
        }
        // Ids are given back as signed numbers, and a block of threads is counted in 31 bits.
        let columns = u32::try_from(plan.columns).ok().filter(|&columns| columns < 1 << 30);
        let columns = columns.ok_or_else(|| ApplyError::layout("rows must be shorter than 2^30 logits"))?;
        let tiles = tiles(columns, tile, self.logit);
        let selected = self.selected() as u64;
        if selected * u64::from(tiles) >= 1 << 31 {
            return Err(ApplyError::layout("the batch is too large for one call; give it in parts"));
        }
        let (logit_rows, mask_rows) = match self.rows {
            DeviceRows::All => (0, 0),
            DeviceRows::Same { list, .. } => (list, list),
            DeviceRows::Packed { list, .. } => (list, 0),
        };
        Ok(Batch {
            logits: self.logits,
            masks: self.masks,
            logit_rows,
            mask_rows,
            row_stride: plan.row_stride as i64,
            column_stride: plan.column_stride as i64,
            mask_stride: plan.mask_stride as u64,
            // Both are below 2^32 by the checks of the plan and of the product above.
            rows: plan.count as u32,
            selected: selected as u32,
            columns,
            masked: plan.masked as u32,
            padding: if plan.padding == Padding::Keep { u32::MAX } else { 0 },
            tiles,
        })
    }

    /// [`resolve`](Self::resolve), for kernels that read rows 16 bytes at a time.
    fn resolve_contiguous(&self) -> Result<Batch, ApplyError> {
        let batch = self.resolve(TILE_BYTES)?;
        if batch.column_stride != 1 && batch.columns > 1 {
            return Err(ApplyError::layout(
                "choosing on a device needs the logits of a row side by side; copy them first",
            ));
        }
        Ok(batch)
    }
}

/// Bytes of logits that one block of threads works on: 256 threads with 4 times 16 bytes each.
const TILE_BYTES: u32 = 256 * 4 * 16;
/// The same where logits are written.
const WRITTEN_TILE_BYTES: u32 = 256 * 2 * 16;
const THREADS: u32 = 256;
const CUT_THREADS: u32 = 1024;

/// Tiles of a row. One more than its length takes, because a row may begin within 16 bytes.
fn tiles(columns: u32, tile: u32, logit: LogitType) -> u32 {
    columns.div_ceil(tile / logit.size() as u32) + 1
}

/// `Batch` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct Batch {
    logits: u64,
    masks: u64,
    logit_rows: u64,
    mask_rows: u64,
    row_stride: i64,
    column_stride: i64,
    mask_stride: u64,
    rows: u32,
    selected: u32,
    columns: u32,
    masked: u32,
    padding: u32,
    tiles: u32,
}

/// `Settings` of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct Settings {
    draw: f64,
    inverse_temperature: f32,
    top_p: f32,
    top_k: u32,
    unused: u32,
}

impl Settings {
    fn of(sampling: &Sampling) -> Result<Self, ApplyError> {
        sampling.check()?;
        let is_greedy = sampling.temperature == 0.0;
        Ok(Self {
            draw: sampling.draw(),
            inverse_temperature: if is_greedy { 1.0 } else { 1.0 / sampling.temperature },
            top_p: sampling.top_p,
            top_k: if is_greedy { 1 } else { sampling.top_k },
            unused: 0,
        })
    }
}

/// `Cut` of the kernels, in bytes.
const CUT_BYTES: usize = 16;

/// Device memory that choosing needs between its kernels: a few words for each 16 KiB of logits. Made once
/// for the largest batch; calls that use the same one must follow one another on one stream.
pub struct Workspace {
    memory: DeviceMemory,
    settings: Vec<Settings>,
    tiles: usize,
    rows: usize,
    device: Device,
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl Workspace {
    /// Addresses of the parts: settings, cuts, best keys of tiles, sums of tiles.
    fn parts(&self) -> [u64; 4] {
        let settings = self.memory.address();
        let cuts = settings + (self.rows * size_of::<Settings>()) as u64;
        let best = cuts + (self.rows * CUT_BYTES) as u64;
        [settings, cuts, best, best + self.tiles as u64 * 8]
    }

    fn check(&self, device: &Device, batch: &Batch) -> Result<(), ApplyError> {
        let tiles = batch.selected as usize * batch.tiles as usize;
        if !Arc::ptr_eq(&self.device.inner, &device.inner) {
            return Err(ApplyError::layout("the workspace was made for another device"));
        }
        if batch.selected as usize > self.rows || tiles > self.tiles {
            return Err(ApplyError::layout("the workspace is too small for this batch; make a larger one"));
        }
        Ok(())
    }
}

/// Results that [`Device::argmax`] and [`Device::sample`] left in device memory, once they were copied from
/// there.
///
/// # Errors
///
/// For the first row whose mask allows nothing, or nothing but minus infinity and NaN.
pub fn tokens_from_codes(codes: &[i32]) -> Result<Vec<u32>, ApplyError> {
    let token = |(row, &code): (usize, &i32)| match u32::try_from(code) {
        Ok(token) => Ok(token),
        Err(_) if code == -1 => Err(ApplyError::nothing_allowed().in_row(row)),
        Err(_) => Err(ApplyError::nothing_possible().in_row(row)),
    };
    codes.iter().enumerate().map(token).collect()
}

impl Device {
    /// Memory for batches of at most `rows` selected rows of `columns` logits.
    ///
    /// # Errors
    ///
    /// When the device has not enough memory.
    pub fn workspace(&self, rows: u32, columns: u32, logit: LogitType) -> Result<Workspace, ApplyError> {
        let rows = rows as usize;
        let tiles = rows * tiles(columns, TILE_BYTES, logit) as usize;
        let words = rows * (size_of::<Settings>() + CUT_BYTES) / 8 + 2 * tiles;
        let memory = self.memory(words * 8)?;
        Ok(Workspace { memory, settings: Vec::new(), tiles, rows, device: self.clone() })
    }

    /// Writes minus infinity over every logit that its mask forbids, in place. All others keep their bits.
    ///
    /// One pass: 16 bytes of logits that are all allowed are not touched, all forbidden they are written
    /// unread.
    ///
    /// # Errors
    ///
    /// When the layout is impossible whatever the memory, or the driver refuses the launch.
    ///
    /// # Safety
    ///
    /// The following holds until the work on `stream` is done. Every address of the batch must be valid on
    /// this device for the size that the layout gives. No list may name a row twice, and nothing else may use
    /// the selected rows. `stream` must be a stream of the device's primary context, or null.
    pub unsafe fn apply_mask(&self, stream: RawStream, batch: &DeviceBatch) -> Result<(), ApplyError> {
        let resolved = batch.resolve(WRITTEN_TILE_BYTES)?;
        if resolved.selected == 0 || resolved.columns == 0 {
            return Ok(());
        }
        let width = usize::from(batch.logit != LogitType::F32);
        let kernels = &self.inner.kernels;
        let kernel = match resolved.column_stride {
            1 => kernels.apply[width],
            _ => kernels.apply_strided[width],
        };
        let blocks = resolved.selected * resolved.tiles;
        let fill = batch.logit.negative_infinity();
        let arguments = Arguments::new().with(&resolved).with(&fill);
        // SAFETY: as the caller's; the arguments are those of the kernel.
        unsafe { self.launch(stream, kernel, blocks, THREADS, arguments) }
    }

    /// Writes the best allowed token of each selected row to `out`, an address of that many 32-bit signed
    /// numbers in device memory; [`tokens_from_codes`] reads them. Logits are not written.
    ///
    /// # Errors
    ///
    /// When the layout is impossible, the workspace too small, or the driver refuses the launch.
    ///
    /// # Safety
    ///
    /// As [`apply_mask`](Self::apply_mask), and `out` must be valid for writing.
    pub unsafe fn argmax(
        &self,
        stream: RawStream,
        batch: &DeviceBatch,
        workspace: &mut Workspace,
        out: u64,
    ) -> Result<(), ApplyError> {
        let resolved = batch.resolve_contiguous()?;
        workspace.check(self, &resolved)?;
        if resolved.selected == 0 {
            return Ok(());
        }
        let [_, _, best, _] = workspace.parts();
        // SAFETY: as the caller's; the arguments are those of the kernels.
        unsafe {
            self.find_best(stream, batch.logit, &resolved, best)?;
            let arguments = Arguments::new().with(&resolved).with(&best).with(&out);
            self.launch(stream, self.inner.kernels.argmax, resolved.selected, THREADS, arguments)
        }
    }

    /// Draws a token for each selected row, as [`sample`](crate::sample) does, and writes it to `out` as
    /// [`argmax`](Self::argmax) does. Logits are not written.
    ///
    /// Weights have the same bits as on the CPU, and their sums differ by rounding. So for the same seed and
    /// step, a draw that falls on the border between two tokens may choose the other one.
    ///
    /// # Errors
    ///
    /// When the layout is impossible, the workspace too small, a setting out of its range, or the driver
    /// refuses.
    ///
    /// # Safety
    ///
    /// As [`argmax`](Self::argmax).
    pub unsafe fn sample(
        &self,
        stream: RawStream,
        batch: &DeviceBatch,
        settings: &[Sampling],
        workspace: &mut Workspace,
        out: u64,
    ) -> Result<(), ApplyError> {
        let resolved = batch.resolve_contiguous()?;
        workspace.check(self, &resolved)?;
        if settings.len() != resolved.selected as usize {
            return Err(ApplyError::setting("give settings for each of the selected rows"));
        }
        if resolved.selected == 0 {
            return Ok(());
        }
        workspace.settings.clear();
        for sampling in settings {
            workspace.settings.push(Settings::of(sampling)?);
        }
        let [place, cuts, best, sums] = workspace.parts();
        let kernels = &self.inner.kernels;
        let index = batch.logit.index();
        let blocks = resolved.selected * resolved.tiles;
        // SAFETY: as the caller's; the arguments are those of the kernels, and the workspace was found large
        // enough.
        unsafe {
            self.upload_settings(stream, &workspace.settings, place)?;
            self.find_best(stream, batch.logit, &resolved, best)?;
            let arguments = Arguments::new().with(&resolved).with(&place).with(&best).with(&cuts);
            self.launch(stream, kernels.cut[index], resolved.selected, CUT_THREADS, arguments)?;
            let arguments = Arguments::new().with(&resolved).with(&place).with(&cuts).with(&sums);
            self.launch(stream, kernels.sum[index], blocks, THREADS, arguments)?;
            let arguments = Arguments::new().with(&resolved).with(&place).with(&cuts).with(&sums).with(&out);
            self.launch(stream, kernels.draw[index], resolved.selected, THREADS, arguments)
        }
    }

    /// # Safety
    ///
    /// As [`argmax`](Self::argmax), with room for all tiles at `best`.
    unsafe fn find_best(
        &self,
        stream: RawStream,
        logit: LogitType,
        batch: &Batch,
        best: u64,
    ) -> Result<(), ApplyError> {
        let arguments = Arguments::new().with(batch).with(&best);
        let kernel = self.inner.kernels.best[logit.index()];
        // SAFETY: the caller's.
        unsafe { self.launch(stream, kernel, batch.selected * batch.tiles, THREADS, arguments) }
    }

    /// # Safety
    ///
    /// There must be room at `place`, which nothing on another stream uses.
    unsafe fn upload_settings(
        &self,
        stream: RawStream,
        settings: &[Settings],
        place: u64,
    ) -> Result<(), ApplyError> {
        let _current = self.enter()?;
        // Memory that is not pinned is copied before the call returns.
        let source = settings.as_ptr().cast();
        let upload = self.inner.driver.upload;
        // SAFETY: the source is a slice of this many bytes, the caller vouches for the rest.
        let result = unsafe { upload(place, source, size_of_val(settings), Handle(stream)) };
        check(result, "settings cannot be copied to the device")
    }

    /// # Safety
    ///
    /// The arguments must be those that the kernel declares, and what they point to valid until it is done.
    unsafe fn launch(
        &self,
        stream: RawStream,
        kernel: Handle,
        blocks: u32,
        threads: u32,
        mut arguments: Arguments<'_>,
    ) -> Result<(), ApplyError> {
        let _current = self.enter()?;
        let (launch, pointers) = (self.inner.driver.launch, arguments.pointers.as_mut_ptr());
        let nothing = std::ptr::null_mut();
        // SAFETY: the caller's; the pointers are read before the call returns.
        let result =
            unsafe { launch(kernel, blocks, 1, 1, threads, 1, 1, 0, Handle(stream), pointers, nothing) };
        check(result, "the kernel cannot be launched")
    }
}

/// Pointers to the arguments of a kernel, which outlive them.
struct Arguments<'a> {
    pointers: [*mut c_void; 6],
    count: usize,
    lives: PhantomData<&'a ()>,
}

impl<'a> Arguments<'a> {
    fn new() -> Self {
        Self { pointers: [std::ptr::null_mut(); 6], count: 0, lives: PhantomData }
    }

    fn with<T>(mut self, argument: &'a T) -> Self {
        // The driver reads arguments and never writes them.
        self.pointers[self.count] = std::ptr::from_ref(argument).cast_mut().cast();
        self.count += 1;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_as_large_as_the_kernels_believe() {
        assert_eq!(size_of::<Batch>(), 80);
        assert_eq!(size_of::<Settings>(), 24);
        let kernels = super::super::device::KERNELS;
        assert!(kernels.contains("grammask_apply_32_param_0[80]"), "the parameter `Batch` has another size");
    }

    fn batch(layout: Layout<'static>) -> DeviceBatch {
        DeviceBatch { logit: LogitType::F16, logits: 32, masks: 4, layout, rows: DeviceRows::All }
    }

    #[test]
    fn impossible_batches_are_refused_before_the_driver_sees_them() {
        let message = |batch: DeviceBatch| batch.resolve_contiguous().err().map(|error| error.to_string());
        assert_eq!(message(batch(Layout::new(2, 100))), None);
        let check = |batch, expected: &str| assert!(message(batch).unwrap().contains(expected));
        check(batch(Layout::new(2, 100).row_stride(99)), "overlap");
        check(batch(Layout::new(2, 100).row_stride(1).column_stride(2)), "side by side");
        check(batch(Layout::new(2, 100).select(Rows::Same(&[1]))), "list in device memory");
        check(batch(Layout::new(1, 1 << 30)), "2^30");
        check(batch(Layout::new(1 << 20, 1 << 24)), "in parts");
        check(DeviceBatch { logits: 33, ..batch(Layout::new(1, 1)) }, "aligned");
        check(DeviceBatch { masks: 2, ..batch(Layout::new(1, 1)) }, "aligned");
    }

    #[test]
    fn codes_are_tokens_or_errors() {
        assert_eq!(tokens_from_codes(&[3, 0]).unwrap(), [3, 0]);
        assert_eq!(tokens_from_codes(&[3, -1]).unwrap_err(), ApplyError::nothing_allowed().in_row(1));
        assert_eq!(tokens_from_codes(&[-2]).unwrap_err(), ApplyError::nothing_possible().in_row(0));
    }

    #[test]
    fn a_draw_runs_its_kernels_in_order_and_its_memory_is_given_back() {
        use super::super::recorder;
        let device = recorder::device();
        let masks = device.memory(2 * 4).unwrap();
        let mut workspace = device.workspace(2, 32, LogitType::Bf16).unwrap();
        let batch = DeviceBatch {
            logit: LogitType::Bf16,
            logits: 16,
            masks: masks.address(),
            layout: Layout::new(2, 32),
            rows: DeviceRows::All,
        };
        let (stream, out) = (std::ptr::null_mut(), 0);
        // SAFETY: this device looks at masks alone, whose memory lives until the test ends.
        unsafe {
            device.sample(stream, &batch, &[Sampling::default(); 2], &mut workspace, out).unwrap();
            assert!(device.sample(stream, &batch, &[Sampling::default()], &mut workspace, out).is_err());
            device.argmax(stream, &batch, &mut workspace, out).unwrap();
            device.synchronize(stream).unwrap();
        }
        let kernels = ["best_bf16", "cut_bf16", "sum_bf16", "draw_bf16", "best_bf16", "argmax"];
        let calls = recorder::calls();
        assert_eq!(calls[1..], kernels.map(|kernel| format!("grammask_{kernel} 0")));
        let mut small = device.workspace(1, 32, LogitType::Bf16).unwrap();
        // SAFETY: refused before the driver sees it.
        let refused = unsafe { device.argmax(stream, &batch, &mut small, out) };
        assert!(refused.unwrap_err().to_string().contains("too small"));
        drop((masks, workspace, small));
        assert_eq!(recorder::left(), 0);
    }
}
