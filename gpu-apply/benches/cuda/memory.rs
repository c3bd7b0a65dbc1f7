//! Values in device memory, for tests and measurements.

#![expect(unsafe_code, reason = "numbers are copied as bytes")]

use std::error::Error;

use grammask_gpu_apply::cuda::{Device, DeviceMemory};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Numbers whose every pattern of bits is a value.
pub(crate) trait Plain: Copy + Default {}

impl Plain for u8 {}
impl Plain for u16 {}
impl Plain for u32 {}
impl Plain for i32 {}

pub(crate) fn upload<T: Plain>(device: &Device, values: &[T]) -> Result<DeviceMemory> {
    let mut memory = device.memory(size_of_val(values))?;
    // SAFETY: a slice of numbers is as many bytes, without gaps.
    memory.write(unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) })?;
    Ok(memory)
}

pub(crate) fn download<T: Plain>(memory: &DeviceMemory, count: usize) -> Result<Vec<T>> {
    let mut values = vec![T::default(); count];
    let bytes = size_of_val(values.as_slice());
    // SAFETY: as above, and any bytes are numbers.
    memory.read(unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), bytes) })?;
    Ok(values)
}
