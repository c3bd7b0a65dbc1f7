//! Device memory for tests, and the one context that all of it belongs to.

#![expect(unsafe_code, reason = "buffers are filled right after they are made")]

use std::error::Error;

use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Makes the device's context current on this thread, as the run-time library would.
pub(crate) fn enter() -> Result<cust::context::Context> {
    let device = cust::device::Device::get_device(0).map_err(plain)?;
    cust::context::Context::new(device).map_err(plain)
}

pub(crate) fn upload<T: DeviceCopy>(values: &[T]) -> Result<DeviceBuffer<T>> {
    // An empty buffer has no address.
    if values.is_empty() {
        // SAFETY: nobody reads it.
        return unsafe { DeviceBuffer::uninitialized(1) }.map_err(plain);
    }
    DeviceBuffer::from_slice(values).map_err(plain)
}

pub(crate) fn download<T: DeviceCopy + Default>(buffer: &DeviceBuffer<T>) -> Result<Vec<T>> {
    let mut values: Vec<T> = std::iter::repeat_with(T::default).take(buffer.len()).collect();
    buffer.copy_to(&mut values[..]).map_err(plain)?;
    Ok(values)
}

pub(crate) fn address<T: DeviceCopy>(buffer: &DeviceBuffer<T>) -> u64 {
    buffer.as_device_ptr().as_raw()
}

/// `cust`'s errors print through the driver; their names are enough.
pub(crate) fn plain(error: cust::error::CudaError) -> Box<dyn Error> {
    format!("CUDA: {error:?}").into()
}
