//! The kernels against the CPU, which the tests hold against definitions.

#![expect(unsafe_code, reason = "kernels take addresses")]

use fastrand::Rng;
use grammask_gpu_apply::cuda::{Device, DeviceBatch, DeviceRows, LogitType, tokens_from_codes};
use grammask_gpu_apply::half::{bf16, f16};
use grammask_gpu_apply::{
    ApplyError, Layout, Logit, Padding, Processor, Rows, Sampling, apply_mask, argmax, sample,
};

use crate::memory::{Plain, Result, download, upload};

trait Element: Logit {
    const TYPE: LogitType;
    type Plain: Plain + Eq + std::fmt::Debug + std::fmt::LowerHex;
    fn make(value: f32) -> Self;
    fn plain(self) -> Self::Plain;
}

impl Element for f32 {
    const TYPE: LogitType = LogitType::F32;
    type Plain = u32;
    fn make(value: f32) -> Self {
        value
    }
    fn plain(self) -> u32 {
        self.to_bits()
    }
}

impl Element for f16 {
    const TYPE: LogitType = LogitType::F16;
    type Plain = u16;
    fn make(value: f32) -> Self {
        f16::from_f32(value)
    }
    fn plain(self) -> u16 {
        self.to_bits()
    }
}

impl Element for bf16 {
    const TYPE: LogitType = LogitType::Bf16;
    type Plain = u16;
    fn make(value: f32) -> Self {
        bf16::from_f32(value)
    }
    fn plain(self) -> u16 {
        self.to_bits()
    }
}

pub(crate) fn run(device: &Device, rounds: usize) -> Result<()> {
    let draws = [
        check::<f32>(device, 1, rounds)?,
        check::<f16>(device, 2, rounds)?,
        check::<bf16>(device, 3, rounds)?,
    ];
    check_upload(device)?;
    println!("correct: apply, argmax and sample in f32, f16 and bf16, {rounds} random shapes each; uploads");
    for (name, draws) in ["f32", "f16", "bf16"].iter().zip(draws) {
        println!(
            "draws in {name}: {} of {} are on the border of two tokens and differ",
            draws.different, draws.all
        );
    }
    Ok(())
}

fn check<T: Element>(device: &Device, seed: u64, rounds: usize) -> Result<Draws> {
    let mut random = Rng::with_seed(seed);
    let mut draws = Draws::default();
    for round in 0..rounds {
        let case = Case::<T>::random(&mut random, if round % 8 == 0 { 140_000 } else { 3000 });
        case.check_apply(device).map_err(|error| format!("{:?}, round {round}: {error}", T::TYPE))?;
        if case.column_stride == 1 {
            let checked = case.check_choice(device, &mut random, &mut draws);
            checked.map_err(|error| format!("{:?}, round {round}: {error}", T::TYPE))?;
        }
    }
    // A draw on the border of two tokens may fall to the other side, which is rare.
    if draws.different * 50 > draws.all {
        return Err(format!("{} of {} draws differ from the CPU's", draws.different, draws.all).into());
    }
    Ok(draws)
}

#[derive(Default)]
struct Draws {
    all: usize,
    different: usize,
}

/// A random batch.
struct Case<T> {
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
    vocabulary: usize,
    padding: Padding,
    /// Packed or not, and the rows.
    selection: Option<(bool, Vec<u32>)>,
    logits: Vec<T>,
    masks: Vec<u32>,
}

impl<T: Element> Case<T> {
    fn random(random: &mut Rng, most: usize) -> Self {
        let (rows, columns) = (random.usize(1..6), random.usize(1..most));
        let vocabulary = if random.bool() { columns } else { random.usize(1..columns + 70) };
        let column_stride = if random.u8(..5) == 0 { 2 } else { 1 };
        let row_stride = columns * column_stride + random.usize(..9);
        let mut list: Vec<u32> = (0..rows as u32).collect();
        random.shuffle(&mut list);
        list.truncate(random.usize(1..=rows));
        let percent = [0, 1, 50, 99, 100][random.usize(..5)];
        let bit = |random: &mut Rng| u32::from(random.u8(..100) < percent);
        let words = rows * vocabulary.div_ceil(32);
        let masks = (0..words).map(|_| (0..32).fold(0, |word, _| word << 1 | bit(random))).collect();
        let rare = if random.u8(..4) == 0 { f32::INFINITY } else { f32::NEG_INFINITY };
        let logits = (0..rows * row_stride)
            .map(|_| match random.u8(..) {
                0 => T::make(f32::NAN),
                1 => T::make(rare),
                2..20 => T::make(4.0),
                _ => T::make(random.f32() * 30.0 - 25.0),
            })
            .collect();
        let selection = match random.u8(..3) {
            0 => None,
            1 => Some((false, list)),
            _ => Some((true, list)),
        };
        let padding = if random.bool() { Padding::Forbid } else { Padding::Keep };
        Self { rows, columns, row_stride, column_stride, vocabulary, padding, selection, logits, masks }
    }

    fn layout(&self) -> Layout<'static> {
        Layout::new(self.rows, self.columns)
            .row_stride(self.row_stride as isize)
            .column_stride(self.column_stride as isize)
            .vocabulary(self.vocabulary)
            .padding(self.padding)
    }

    fn host_layout(&self) -> Layout<'_> {
        self.layout().select(match &self.selection {
            None => Rows::All,
            Some((false, list)) => Rows::Same(list),
            Some((true, list)) => Rows::Packed(list),
        })
    }

    fn plain(&self) -> Vec<T::Plain> {
        self.logits.iter().map(|logit| logit.plain()).collect()
    }

    /// Calls `launch` with the batch in device memory; gives what the logits are then.
    fn on_device(
        &self,
        device: &Device,
        launch: impl FnOnce(&DeviceBatch) -> std::result::Result<(), ApplyError>,
    ) -> Result<Vec<T::Plain>> {
        let (logits, masks) = (upload(device, &self.plain())?, upload(device, &self.masks)?);
        let numbers = self.selection.as_ref().map_or(&[][..], |(_, list)| list);
        let list: Vec<i32> = numbers.iter().map(|&row| row as i32).collect();
        let list = upload(device, &list)?;
        let (place, count) = (list.address(), numbers.len() as u32);
        let batch = DeviceBatch {
            logit: T::TYPE,
            logits: logits.address(),
            masks: masks.address(),
            layout: self.layout(),
            rows: match self.selection {
                None => DeviceRows::All,
                Some((false, _)) => DeviceRows::Same { list: place, count },
                Some((true, _)) => DeviceRows::Packed { list: place, count },
            },
        };
        launch(&batch)?;
        download(&logits, self.logits.len())
    }

    fn check_apply(&self, device: &Device) -> Result<()> {
        let mut expected = self.logits.clone();
        apply_mask(Processor::default(), &mut expected, &self.masks, &self.host_layout())?;
        // SAFETY: the batch is in memory of this device, and reading it back waits for the default stream.
        let found =
            self.on_device(device, |batch| unsafe { device.apply_mask(std::ptr::null_mut(), batch) })?;
        let expected: Vec<T::Plain> = expected.iter().map(|logit| logit.plain()).collect();
        if let Some(at) = found.iter().zip(&expected).position(|(found, expected)| found != expected) {
            return Err(format!("apply: element {at} is {:x?}, not {:x?}", found[at], expected[at]).into());
        }
        Ok(())
    }

    fn check_choice(&self, device: &Device, random: &mut Rng, draws: &mut Draws) -> Result<()> {
        let (stream, layout) = (std::ptr::null_mut(), self.host_layout());
        let count = layout.selected();
        let settings: Vec<Sampling> = (0..count)
            .map(|_| {
                Sampling::default()
                    .temperature([0.0, 0.01, 0.7, 1.0, 30.0][random.usize(..5)])
                    .top_k([0, 1, 5, 60, 1000, 20_000][random.usize(..6)])
                    .top_p([1.0, 0.999, 0.95, 0.5, 1e-6][random.usize(..5)])
                    .seed(random.u64(..))
                    .step(0)
            })
            .collect();
        let mut workspace = device.workspace(count as u32, self.columns as u32, T::TYPE)?;
        let out = upload(device, &vec![i32::MIN; count])?;

        let mut expected = vec![0; count];
        let result = argmax(Processor::default(), &self.logits, &self.masks, &layout, &mut expected);
        // SAFETY: the batch is in memory of this device, and reading it back waits for the default stream.
        self.on_device(device, |batch| unsafe {
            device.argmax(stream, batch, &mut workspace, out.address())
        })?;
        let found = tokens_from_codes(&download(&out, count)?);
        same("argmax", &result.clone().map(|()| expected.clone()), &found)?;

        let result =
            sample(Processor::default(), &self.logits, &self.masks, &layout, &settings, &mut expected);
        // SAFETY: as above.
        self.on_device(device, |batch| unsafe {
            device.sample(stream, batch, &settings, &mut workspace, out.address())
        })?;
        let found = tokens_from_codes(&download(&out, count)?);
        match (&result, &found) {
            (Ok(()), Ok(found)) => {
                draws.all += count;
                draws.different += found.iter().zip(&expected).filter(|(found, one)| found != one).count();
                Ok(())
            }
            _ => same("sample", &result.map(|()| expected), &found),
        }
    }
}

/// Equal tokens, or errors of the same kind; numbers of rows are counted differently where rows are selected.
fn same(
    what: &str,
    expected: &std::result::Result<Vec<u32>, ApplyError>,
    found: &std::result::Result<Vec<u32>, ApplyError>,
) -> Result<()> {
    let is_same = match (expected, found) {
        (Ok(expected), Ok(found)) => expected == found,
        (Err(_), Err(_)) => true,
        _ => false,
    };
    if is_same { Ok(()) } else { Err(format!("{what}: {found:?}, not {expected:?}").into()) }
}

/// Masks that change from step to step arrive before they are used.
fn check_upload(device: &Device) -> Result<()> {
    let (mut random, stream) = (Rng::with_seed(4), std::ptr::null_mut());
    let (rows, words) = (8, 4008);
    let mut masks = device.mask_upload(rows, words)?;
    let mut current = vec![0_u32; rows * words];
    let layout = Layout::new(rows, words * 32);
    for _ in 0..50 {
        let row = random.usize(..rows);
        current[row * words..(row + 1) * words].fill_with(|| random.u32(..));
        let logits = upload(device, &vec![0_u32; rows * words * 32])?;
        for (row, mask) in current.chunks(words).enumerate() {
            masks.set_row(row, mask)?;
        }
        if masks.upload()? > 1 {
            return Err("more was copied than the one row that changed".into());
        }
        let batch = DeviceBatch {
            logit: LogitType::F32,
            logits: logits.address(),
            masks: masks.device_address(),
            layout,
            rows: DeviceRows::All,
        };
        // SAFETY: everything is memory of this device, and reading it back waits for the default stream.
        unsafe {
            masks.wait(stream)?;
            device.apply_mask(stream, &batch)?;
            masks.used(stream)?;
        }
        let mut expected = vec![0.0_f32; rows * words * 32];
        apply_mask(Processor::default(), &mut expected, &current, &layout)?;
        let found: Vec<u32> = download(&logits, expected.len())?;
        if found.iter().zip(&expected).any(|(found, expected)| *found != expected.to_bits()) {
            return Err("an uploaded mask differs".into());
        }
    }
    Ok(())
}
