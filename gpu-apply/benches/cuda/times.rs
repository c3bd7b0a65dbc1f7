//! How long the kernels take, beside a copy of the same rows from device memory to device memory.
//!
//! Calls walk through buffers that together are larger than any cache, so every figure is one of memory. Rows
//! that a model has just written may still be in a cache; copying or masking them is faster then.

#![expect(unsafe_code, reason = "kernels and copies take addresses")]

use std::fs;
use std::path::Path;
use std::time::Instant;

use fastrand::Rng;
use grammask_gpu_apply::cuda::{
    Device, DeviceBatch, DeviceMemory, DeviceRows, LogitType, RawStream, Workspace,
};
use grammask_gpu_apply::{Layout, Sampling};

use crate::memory::{Result, upload};

const BATCHES: [usize; 5] = [1, 4, 16, 64, 256];
const COLUMNS: [usize; 4] = [32_000, 128_256, 200_019, 256_000];
const PERCENTS: [u8; 3] = [1, 50, 99];
const TYPES: [(LogitType, &str); 3] =
    [(LogitType::F32, "f32"), (LogitType::F16, "f16"), (LogitType::Bf16, "bf16")];
const COLD_BYTES: usize = 512 << 20;
const ROUNDS: usize = 50;

/// One line of the table.
struct Time<'a> {
    what: &'a str,
    logit: &'a str,
    columns: usize,
    batch: usize,
    percent: u8,
    microseconds: f64,
    copy: f64,
}

pub(crate) fn run(device: &Device, folder: Option<&Path>) -> Result<()> {
    let mut table = String::from("what,type,columns,batch,percent allowed,microseconds,of a copy\n");
    let mut random = Rng::with_seed(1);
    for (logit, name) in TYPES {
        for columns in COLUMNS {
            for batch in BATCHES {
                measure(device, (logit, name), columns, batch, &mut random, &mut table)?;
            }
        }
    }
    let Some(folder) = folder else { return Ok(()) };
    let today = time::OffsetDateTime::now_utc().date();
    let path = folder.join(format!("{today}-gpu-apply.csv"));
    fs::create_dir_all(folder)?;
    fs::write(&path, format!("# {}\n{table}", device.name()))?;
    println!("wrote {}", path.display());
    Ok(())
}

fn measure(
    device: &Device,
    (logit, name): (LogitType, &str),
    columns: usize,
    batch: usize,
    random: &mut Rng,
    table: &mut String,
) -> Result<()> {
    let bytes = batch * columns * logit.size();
    let count = (COLD_BYTES / bytes).clamp(1, ROUNDS);
    let step = bytes.next_multiple_of(256);
    let (memory, target) = (device.memory(step * count)?, device.memory(step * count)?);
    let place = |memory: &DeviceMemory, index: usize| memory.address() + (step * (index % count)) as u64;
    let copy = average(device, |index, stream| {
        // SAFETY: both memories hold all parts and outlive the measurement, which waits.
        Ok(unsafe { device.copy(stream, place(&target, index), place(&memory, index), bytes) }?)
    })?;
    let mut add = |what: &str, percent: u8, microseconds: f64| {
        let time = Time { what, logit: name, columns, batch, percent, microseconds, copy };
        report(&time, table);
    };
    add("copy", 0, copy);
    let mut workspace = device.workspace(batch as u32, columns as u32, logit)?;
    let out = upload(device, &vec![0_i32; batch])?;
    for percent in PERCENTS {
        let bit = |random: &mut Rng| u32::from(random.u8(..100) < percent);
        let words: Vec<u32> = (0..batch * columns.div_ceil(32))
            .map(|_| (0..32).fold(0, |word, _| word << 1 | bit(random)))
            .collect();
        let masks = upload(device, &words)?;
        let one = |index: usize| DeviceBatch {
            logit,
            logits: place(&memory, index),
            masks: masks.address(),
            layout: Layout::new(batch, columns),
            rows: DeviceRows::All,
        };
        // SAFETY: everything is memory of this device and outlives the measurement, which waits.
        add(
            "apply",
            percent,
            average(device, |index, stream| Ok(unsafe { device.apply_mask(stream, &one(index)) }?))?,
        );
        // Logits that are all minus infinity have no best; what is timed does not depend on their values.
        let best = average(device, |index, stream| {
            // SAFETY: as above.
            Ok(unsafe { device.argmax(stream, &one(index), &mut workspace, out.address()) }?)
        })?;
        add("argmax", percent, best);
    }
    sampling(device, logit, columns, batch, &mut workspace, out.address(), &mut add)
}

/// Sampling on logits that look like a model's.
fn sampling(
    device: &Device,
    logit: LogitType,
    columns: usize,
    batch: usize,
    workspace: &mut Workspace,
    out: u64,
    add: &mut impl FnMut(&str, u8, f64),
) -> Result<()> {
    let mut random = Rng::with_seed(2);
    let mut bell = || (0..6).map(|_| random.f32() * 5.0 - 2.5).sum::<f32>();
    let row: Vec<f32> = (0..columns).map(|index| if index % 3000 == 0 { 12.0 } else { bell() }).collect();
    let bits: Vec<u8> = row
        .iter()
        .flat_map(|&value| match logit {
            LogitType::F32 => value.to_le_bytes().to_vec(),
            LogitType::F16 => grammask_gpu_apply::half::f16::from_f32(value).to_le_bytes().to_vec(),
            LogitType::Bf16 => grammask_gpu_apply::half::bf16::from_f32(value).to_le_bytes().to_vec(),
        })
        .collect();
    let logits = upload(device, &bits.repeat(batch))?;
    let masks = upload(device, &vec![u32::MAX; batch * columns.div_ceil(32)])?;
    let whole = DeviceBatch {
        logit,
        logits: logits.address(),
        masks: masks.address(),
        layout: Layout::new(batch, columns),
        rows: DeviceRows::All,
    };
    let ways = [
        ("sample", Sampling::default()),
        ("sample top_k 40", Sampling::default().top_k(40)),
        ("sample top_p 0.95", Sampling::default().top_p(0.95)),
    ];
    for (name, sampling) in ways {
        let settings = vec![sampling; batch];
        let time = average(device, |_, stream| {
            // SAFETY: everything is memory of this device and outlives the measurement, which waits.
            Ok(unsafe { device.sample(stream, &whole, &settings, workspace, out) }?)
        })?;
        add(name, 100, time);
    }
    Ok(())
}

fn report(time: &Time<'_>, table: &mut String) {
    let Time { what, logit, columns, batch, percent, microseconds, copy } = time;
    let ratio = microseconds / copy;
    println!(
        "{what:18} {logit:4} {columns:6} x {batch:3} {percent:3}% {microseconds:10.2} us, {ratio:.2} copies"
    );
    table.push_str(&format!("{what},{logit},{columns},{batch},{percent},{microseconds:.3},{ratio:.3}\n"));
}

/// Microseconds of one call, in a row of many on the default stream.
fn average(device: &Device, mut call: impl FnMut(usize, RawStream) -> Result<()>) -> Result<f64> {
    let stream = std::ptr::null_mut();
    let mut calls = |count: usize| -> Result<()> {
        (0..count).try_for_each(|index| call(index, stream))?;
        // SAFETY: the default stream always exists.
        Ok(unsafe { device.synchronize(stream) }?)
    };
    calls(3)?;
    let start = Instant::now();
    calls(ROUNDS)?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / ROUNDS as f64)
}
