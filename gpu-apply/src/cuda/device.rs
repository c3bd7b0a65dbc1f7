//! A device, its context and the kernels on it.

use std::ffi::c_void;
use std::sync::Arc;

use cust::context::Context;
use cust::error::CudaError;
use cust::module::Module;
use cust::sys::{self, CUcontext, CUfunction, CUresult};

use super::driver;
use crate::error::ApplyError;

/// A stream of the driver's or of the run-time library's (they are the same), or null for the default stream.
pub type RawStream = *mut c_void;

/// The kernels, as `cargo xtask codegen ptx` makes them.
pub(super) const KERNELS: &str = include_str!("../../kernels/grammask.ptx");

/// One CUDA device with the kernels of this crate loaded. Clones share both.
#[derive(Clone)]
pub struct Device {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    context: Context,
    /// Taken when the last clone goes, while the context is current.
    module: Option<Module>,
    pub(super) functions: Functions,
    name: String,
}

/// Handles of kernels, valid as long as the module.
pub(super) struct Functions {
    pub(super) apply: [CUfunction; 2],
    pub(super) apply_strided: [CUfunction; 2],
    pub(super) argmax: CUfunction,
    /// By type of logits: [`LogitType::index`](super::launch::LogitType).
    pub(super) best: [CUfunction; 3],
    pub(super) cut: [CUfunction; 3],
    pub(super) sum: [CUfunction; 3],
    pub(super) draw: [CUfunction; 3],
}

// SAFETY: the driver's handles may be used from any thread; they are written once.
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

impl Device {
    /// Opens the driver if nobody did, and the device of this number (0 for the first).
    ///
    /// # Errors
    ///
    /// [`NoDriver`](crate::ApplyErrorKind::NoDriver) without a driver or with one that is too old,
    /// [`NoDevice`](crate::ApplyErrorKind::NoDevice) without a device of this number,
    /// [`OutOfMemory`](crate::ApplyErrorKind::OutOfMemory) where the device has no memory for a context.
    pub fn new(ordinal: u32) -> Result<Self, ApplyError> {
        driver::load()?;
        let device =
            cust::device::Device::get_device(ordinal).map_err(|error| failed(error, "no such device"))?;
        let name = device.name().map_err(|error| failed(error, "the device has no name"))?;
        // `Context::new` makes the context current, which is the caller's business.
        let before = Current::save()?;
        let opened = Self::open(device, name);
        drop(before);
        opened
    }

    fn open(device: cust::device::Device, name: String) -> Result<Self, ApplyError> {
        let context =
            Context::new(device).map_err(|error| failed(error, "the device's context cannot be had"))?;
        let module = Module::from_ptx(KERNELS, &[])
            .map_err(|error| failed(error, "the driver does not take the kernels"))?;
        let functions = Functions::of(&module)?;
        Ok(Self { inner: Arc::new(Inner { context, module: Some(module), functions, name }) })
    }

    /// The device's name, such as "NVIDIA H100 80GB HBM3".
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Waits until everything that was put on a stream has happened.
    ///
    /// # Errors
    ///
    /// Those of what happened on the stream, which may be anybody's.
    ///
    /// # Safety
    ///
    /// `stream` must be a stream of this device's primary context, or null.
    pub unsafe fn synchronize(&self, stream: RawStream) -> Result<(), ApplyError> {
        let _current = self.enter()?;
        // SAFETY: the caller vouches for the stream.
        check(unsafe { sys::cuStreamSynchronize(stream.cast()) }, "the stream failed")
    }

    /// Makes the context current until the guard goes.
    pub(super) fn enter(&self) -> Result<Current, ApplyError> {
        Current::push(self.inner.context.as_raw())
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.inner.name).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Without a current context nothing can be unloaded; the driver does it when the context goes.
        let _current = Current::push(self.context.as_raw());
        self.module.take();
    }
}

impl Functions {
    fn of(module: &Module) -> Result<Self, ApplyError> {
        let one = |name: &str| {
            module
                .get_function(name)
                .map(|function| function.to_raw())
                .map_err(|error| failed(error, &format!("the kernel `{name}` is missing")))
        };
        let each = |name: &str| {
            Ok([one(&format!("{name}_f32"))?, one(&format!("{name}_f16"))?, one(&format!("{name}_bf16"))?])
        };
        Ok(Self {
            apply: [one("grammask_apply_32")?, one("grammask_apply_16")?],
            apply_strided: [one("grammask_apply_strided_32")?, one("grammask_apply_strided_16")?],
            argmax: one("grammask_argmax")?,
            best: each("grammask_best")?,
            cut: each("grammask_cut")?,
            sum: each("grammask_sum")?,
            draw: each("grammask_draw")?,
        })
    }
}

/// Puts back the context that was current when it was made.
pub(super) struct Current {
    before: CUcontext,
}

impl Current {
    fn save() -> Result<Self, ApplyError> {
        let mut before = std::ptr::null_mut();
        // SAFETY: writes one handle to where it is told.
        check(unsafe { sys::cuCtxGetCurrent(&mut before) }, "there is no current context")?;
        Ok(Self { before })
    }

    fn push(context: CUcontext) -> Result<Self, ApplyError> {
        let saved = Self::save()?;
        if saved.before != context {
            // SAFETY: the context is retained by the device that it comes from.
            check(unsafe { sys::cuCtxSetCurrent(context) }, "the device's context is lost")?;
        }
        Ok(saved)
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        // SAFETY: it was current on this thread before. A context that has gone since is refused, which harms
        // nobody.
        let _refused = unsafe { sys::cuCtxSetCurrent(self.before) };
    }
}

pub(super) fn check(result: CUresult, doing: &str) -> Result<(), ApplyError> {
    match result as i32 {
        0 => Ok(()),
        code => Err(ApplyError::from_code(code, doing)),
    }
}

/// `cust`'s errors print through the driver, which may be absent, so their numbers are taken alone.
pub(super) fn failed(error: CudaError, doing: &str) -> ApplyError {
    ApplyError::from_code(error as i32, doing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_for_old_drivers_and_all_there() {
        assert!(KERNELS.contains("\n.version 6.3\n") && KERNELS.contains("\n.target sm_75\n"));
        let mut names = vec!["grammask_argmax".to_owned()];
        for width in ["32", "16"] {
            names.extend([format!("grammask_apply_{width}"), format!("grammask_apply_strided_{width}")]);
        }
        for kernel in ["best", "cut", "sum", "draw"] {
            names.extend(["f32", "f16", "bf16"].map(|logit| format!("grammask_{kernel}_{logit}")));
        }
        for name in names {
            assert!(KERNELS.contains(&format!(".entry {name}(")), "{name}");
        }
    }

    #[test]
    fn devices_are_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Device>();
    }
}
