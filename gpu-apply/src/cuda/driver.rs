//! The driver's functions, found when they are first needed.
//!
//! Programs do not link `libcuda.so.1`, so that they build and start on machines without it. The first [`Driver::get`]
//! opens the library and looks up every function of the table. Results are plain numbers, because newer drivers have
//! codes that no enumeration of today names.

use std::error::Error;
use std::ffi::{CStr, c_char, c_void};

use libloading::Library;
use once_cell::race::OnceBox;

use crate::error::ApplyError;

/// The oldest driver that has all functions below: CUDA 11.0.
const OLDEST_DRIVER: i32 = 11_000;

/// Something of the driver's: a context, a module, a kernel, a stream, an event, or pinned memory.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Handle(pub(super) *mut c_void);

// SAFETY: the driver takes its handles from any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub(super) const NULL: Self = Self(std::ptr::null_mut());
}

/// Defines the table, and the lookup of each of its functions by the library's name for it.
macro_rules! driver_functions {
    ($($(#[$doc:meta])* $field:ident = $name:literal ($($argument:ty),*);)*) => {
        /// Functions of the driver by what they do here. Each gives 0, or a code that says what went wrong.
        pub(super) struct Driver {
            $($(#[$doc])* pub(super) $field: unsafe extern "C" fn($($argument),*) -> i32,)*
        }

        impl Driver {
            fn look_up(library: &Library) -> Result<Self, ApplyError> {
                Ok(Self {
                    $($field: {
                        // SAFETY: the driver declares a function of this type by this name.
                        let function = unsafe { library.get::<unsafe extern "C" fn($($argument),*) -> i32>($name) };
                        *function.map_err(|error| missing($name, &error))?
                    },)*
                })
            }
        }
    };
}

driver_functions! {
    initialise = c"cuInit" (u32);
    version = c"cuDriverGetVersion" (*mut i32);
    device = c"cuDeviceGet" (*mut i32, i32);
    device_name = c"cuDeviceGetName" (*mut c_char, i32, i32);
    retain_context = c"cuDevicePrimaryCtxRetain" (*mut Handle, i32);
    release_context = c"cuDevicePrimaryCtxRelease_v2" (i32);
    current_context = c"cuCtxGetCurrent" (*mut Handle);
    set_current_context = c"cuCtxSetCurrent" (Handle);
    load_module = c"cuModuleLoadData" (*mut Handle, *const c_void);
    unload_module = c"cuModuleUnload" (Handle);
    kernel = c"cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    /// The kernel, blocks in three dimensions, threads of a block in three, bytes shared by a block, the stream,
    /// addresses of the arguments, and nothing.
    launch = c"cuLaunchKernel" (Handle, u32, u32, u32, u32, u32, u32, u32, Handle, *mut *mut c_void, *mut *mut c_void);
    create_stream = c"cuStreamCreate" (*mut Handle, u32);
    destroy_stream = c"cuStreamDestroy_v2" (Handle);
    synchronize = c"cuStreamSynchronize" (Handle);
    /// The stream, the event, and 0.
    wait_for_event = c"cuStreamWaitEvent" (Handle, Handle, u32);
    create_event = c"cuEventCreate" (*mut Handle, u32);
    destroy_event = c"cuEventDestroy_v2" (Handle);
    /// The event and the stream.
    record_event = c"cuEventRecord" (Handle, Handle);
    allocate = c"cuMemAlloc_v2" (*mut u64, usize);
    free = c"cuMemFree_v2" (u64);
    /// The address, the byte and the number of bytes.
    fill = c"cuMemsetD8_v2" (u64, u8, usize);
    allocate_pinned = c"cuMemAllocHost_v2" (*mut Handle, usize);
    free_pinned = c"cuMemFreeHost" (Handle);
    /// To, from, bytes, and the stream.
    upload = c"cuMemcpyHtoDAsync_v2" (u64, *const c_void, usize, Handle);
    /// To, from, and bytes. Waits for the default stream.
    download = c"cuMemcpyDtoH_v2" (*mut c_void, u64, usize);
    /// To, from, bytes, and the stream.
    copy = c"cuMemcpyDtoDAsync_v2" (u64, u64, usize, Handle);
}

impl Driver {
    /// The driver of this machine, opened once for the whole program.
    pub(super) fn get() -> Result<&'static Self, ApplyError> {
        static OPENED: OnceBox<Result<Driver, ApplyError>> = OnceBox::new();
        OPENED.get_or_init(|| Box::new(Self::open("libcuda.so.1"))).as_ref().map_err(Clone::clone)
    }

    fn open(name: &str) -> Result<Self, ApplyError> {
        // SAFETY: what runs when the driver is loaded is the driver's.
        let library = unsafe { Library::new(name) }.map_err(|error| {
            let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            ApplyError::no_driver(format!(
                "{name} cannot be opened ({why}); install NVIDIA's driver, or use the CPU"
            ))
        })?;
        let driver = Self::look_up(&library)?;
        // The functions of the table are in it for as long as the program runs.
        std::mem::forget(library);
        driver.start()?;
        Ok(driver)
    }

    fn start(&self) -> Result<(), ApplyError> {
        // SAFETY: takes no memory of ours.
        check(unsafe { (self.initialise)(0) }, "the driver does not start")?;
        let mut version = 0;
        // SAFETY: writes one number to where it is told.
        check(unsafe { (self.version)(&raw mut version) }, "the driver has no version")?;
        if version < OLDEST_DRIVER {
            let (major, minor) = (version / 1000, version % 1000 / 10);
            let message =
                format!("the driver is for CUDA {major}.{minor}; install one for CUDA 11.0 or newer");
            return Err(ApplyError::no_driver(message));
        }
        Ok(())
    }
}

fn missing(name: &CStr, error: &libloading::Error) -> ApplyError {
    let name = name.to_string_lossy();
    ApplyError::no_driver(format!("the driver has no {name} ({error}); install one for CUDA 11.0 or newer"))
}

/// The error of a driver's code, unless that is 0.
pub(super) fn check(code: i32, doing: &str) -> Result<(), ApplyError> {
    match code {
        0 => Ok(()),
        _ => Err(ApplyError::from_code(code, doing)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorder;
    use super::*;
    use crate::error::ApplyErrorKind;

    #[test]
    fn a_missing_library_is_an_ordinary_error() {
        let error = Driver::open("libcuda-of-no-machine.so").err().unwrap();
        assert_eq!(error.kind(), ApplyErrorKind::NoDriver);
        assert!(error.to_string().contains("libcuda-of-no-machine.so"), "{error}");
    }

    #[test]
    fn a_library_that_is_no_driver_is_an_ordinary_error() {
        let error = Driver::open("libc.so.6").err().unwrap();
        assert_eq!(error.kind(), ApplyErrorKind::NoDriver);
        assert!(error.to_string().contains("cuInit"), "{error}");
    }

    #[test]
    fn an_old_driver_is_refused_and_a_failing_one_named() {
        let mut driver = recorder::driver();
        assert_eq!(driver.start(), Ok(()));
        unsafe extern "C" fn ten(version: *mut i32) -> i32 {
            // SAFETY: the caller's place for one number.
            unsafe { version.write(10_020) };
            0
        }
        driver.version = ten;
        let error = driver.start().unwrap_err();
        assert!(error.to_string().contains("CUDA 10.2"), "{error}");
        unsafe extern "C" fn no_device(_: u32) -> i32 {
            100
        }
        driver.initialise = no_device;
        assert_eq!(driver.start().unwrap_err().kind(), ApplyErrorKind::NoDevice);
    }
}
