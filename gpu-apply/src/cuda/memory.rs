//! Device memory, pinned memory, streams and events: the driver hands them out and takes them back.

use std::ffi::c_void;

use super::device::{Device, RawStream};
use super::driver::{Handle, check};
use crate::error::ApplyError;

/// Something of the driver's that is given back when this goes.
pub(super) struct Owned<T: Copy> {
    value: T,
    give_back: unsafe extern "C" fn(T) -> i32,
    device: Device,
}

impl<T: Copy> Owned<T> {
    fn new(
        device: &Device,
        empty: T,
        give_back: unsafe extern "C" fn(T) -> i32,
        make: impl FnOnce(*mut T) -> i32,
        doing: &str,
    ) -> Result<Self, ApplyError> {
        let _current = device.enter()?;
        let mut value = empty;
        check(make(&raw mut value), doing)?;
        Ok(Self { value, give_back, device: device.clone() })
    }

    pub(super) fn value(&self) -> T {
        self.value
    }
}

impl<T: Copy> Drop for Owned<T> {
    fn drop(&mut self) {
        // Where the context is lost, what belongs to it is, too.
        if let Ok(_current) = self.device.enter() {
            // SAFETY: it was made once and is given back once. The driver waits for what still needs it.
            let _refused = unsafe { (self.give_back)(self.value) };
        }
    }
}

/// A stream that does not wait for the default stream.
pub(super) fn stream(device: &Device) -> Result<Owned<Handle>, ApplyError> {
    /// `CU_STREAM_NON_BLOCKING`
    const NON_BLOCKING: u32 = 1;
    let driver = device.inner.driver;
    // SAFETY: writes one handle to where it is told.
    let make = |place: *mut Handle| unsafe { (driver.create_stream)(place, NON_BLOCKING) };
    Owned::new(device, Handle::NULL, driver.destroy_stream, make, "no stream can be made")
}

/// An event without times.
pub(super) fn event(device: &Device) -> Result<Owned<Handle>, ApplyError> {
    /// `CU_EVENT_DISABLE_TIMING`
    const NO_TIMES: u32 = 2;
    let driver = device.inner.driver;
    // SAFETY: writes one handle to where it is told.
    let make = |place: *mut Handle| unsafe { (driver.create_event)(place, NO_TIMES) };
    Owned::new(device, Handle::NULL, driver.destroy_event, make, "no event can be made")
}

/// Words of the host's memory that the device reads by itself.
pub(super) struct Pinned {
    memory: Owned<Handle>,
    count: usize,
}

impl Pinned {
    /// Zeros. `count` is at least 1.
    pub(super) fn zeroed(device: &Device, count: usize) -> Result<Self, ApplyError> {
        let driver = device.inner.driver;
        // SAFETY: writes one pointer to where it is told.
        let make = |place: *mut Handle| unsafe { (driver.allocate_pinned)(place, count * size_of::<u32>()) };
        let memory = Owned::new(device, Handle::NULL, driver.free_pinned, make, "no pinned memory")?;
        // SAFETY: the memory is ours, aligned for any number, and has this many words.
        unsafe { std::ptr::write_bytes(memory.value().0.cast::<u32>(), 0, count) };
        Ok(Self { memory, count })
    }

    pub(super) fn words(&mut self) -> &mut [u32] {
        // SAFETY: this many words were written when the memory was made, and nobody else has the pointer.
        unsafe { std::slice::from_raw_parts_mut(self.memory.value().0.cast(), self.count) }
    }
}

/// Bytes of a device's memory. Freed when it goes, after what was put on the device before.
pub struct DeviceMemory {
    memory: Owned<u64>,
    bytes: usize,
}

impl std::fmt::Debug for DeviceMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceMemory").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Device {
    /// Memory of this many bytes, all 0. Nothing waits for anything but the default stream here.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ApplyErrorKind::OutOfMemory) when the device has not enough of it.
    pub fn memory(&self, bytes: usize) -> Result<DeviceMemory, ApplyError> {
        let driver = self.inner.driver;
        // The driver knows no memory of 0 bytes, and whoever asks for none gets an address all the same.
        let room = bytes.max(1);
        // SAFETY: writes one address to where it is told.
        let make = |place: *mut u64| unsafe { (driver.allocate)(place, room) };
        let memory = Owned::new(self, 0, driver.free, make, "no device memory")?;
        let _current = self.enter()?;
        // SAFETY: all of it is ours.
        check(unsafe { (driver.fill)(memory.value(), 0, room) }, "device memory cannot be cleared")?;
        // A stream that does not wait for the default stream may use it at once.
        // SAFETY: the default stream always exists.
        check(unsafe { (driver.synchronize)(Handle::NULL) }, "device memory cannot be cleared")?;
        Ok(DeviceMemory { memory, bytes })
    }

    /// Copies bytes from device memory to device memory, on a stream.
    ///
    /// # Errors
    ///
    /// When the driver refuses.
    ///
    /// # Safety
    ///
    /// Both addresses must be valid on this device for that many bytes until the work on `stream` is done, and
    /// nothing else may use those at `to`. `stream` must be a stream of the device's primary context, or null.
    pub unsafe fn copy(&self, stream: RawStream, to: u64, from: u64, bytes: usize) -> Result<(), ApplyError> {
        let _current = self.enter()?;
        // SAFETY: the caller's.
        check(unsafe { (self.inner.driver.copy)(to, from, bytes, Handle(stream)) }, "memory cannot be copied")
    }
}

impl DeviceMemory {
    /// The address of the first byte, a multiple of 256.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.memory.value()
    }

    /// Writes bytes at the beginning, and waits until they are there.
    ///
    /// # Errors
    ///
    /// When there are more bytes than memory, or the driver refuses.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ApplyError> {
        self.fits(bytes.len())?;
        let device = &self.memory.device;
        let (driver, _current) = (device.inner.driver, device.enter()?);
        // SAFETY: both places have this many bytes; the call below waits until they were read.
        let result =
            unsafe { (driver.upload)(self.address(), bytes.as_ptr().cast(), bytes.len(), Handle::NULL) };
        check(result, "memory cannot be copied to the device")?;
        // SAFETY: the default stream always exists.
        check(unsafe { (driver.synchronize)(Handle::NULL) }, "memory cannot be copied to the device")
    }

    /// Reads bytes from the beginning, once the default stream has done what was put on it.
    ///
    /// # Errors
    ///
    /// When more bytes are asked for than there are, or the driver refuses.
    pub fn read(&self, bytes: &mut [u8]) -> Result<(), ApplyError> {
        self.fits(bytes.len())?;
        let device = &self.memory.device;
        let _current = device.enter()?;
        let place = bytes.as_mut_ptr().cast::<c_void>();
        // SAFETY: both places have this many bytes.
        let result = unsafe { (device.inner.driver.download)(place, self.address(), bytes.len()) };
        check(result, "memory cannot be copied from the device")
    }

    fn fits(&self, bytes: usize) -> Result<(), ApplyError> {
        if bytes > self.bytes {
            let message = format!("there are {} bytes of device memory, not {bytes}", self.bytes);
            return Err(ApplyError::layout(message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorder;

    #[test]
    fn bytes_go_to_the_device_and_come_back() {
        let device = recorder::device();
        let mut memory = device.memory(5).unwrap();
        let mut found = [9; 5];
        memory.read(&mut found).unwrap();
        assert_eq!(found, [0; 5]);
        memory.write(b"abc").unwrap();
        memory.read(&mut found).unwrap();
        assert_eq!(&found, b"abc\0\0");
        assert!(memory.write(b"abcdef").unwrap_err().to_string().contains("5 bytes"));
        assert!(memory.read(&mut [0; 6]).unwrap_err().to_string().contains("5 bytes"));
        let other = device.memory(5).unwrap();
        // SAFETY: both have 5 bytes, and reading waits.
        unsafe { device.copy(std::ptr::null_mut(), other.address(), memory.address(), 5) }.unwrap();
        other.read(&mut found).unwrap();
        assert_eq!(&found, b"abc\0\0");
    }

    #[test]
    fn no_memory_is_an_error_and_nothing_stays_behind() {
        let device = recorder::device();
        let error = device.memory(recorder::MEMORY + 1).unwrap_err();
        assert_eq!(error.kind(), crate::ApplyErrorKind::OutOfMemory);
        drop(device.memory(16).unwrap());
        drop(device);
        assert_eq!(recorder::left(), 0);
    }
}
