//! A device, its context and the kernels on it.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use super::driver::{Driver, Handle, check};
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
    pub(super) driver: &'static Driver,
    device: i32,
    /// The device's primary context, retained until the last clone goes.
    context: Handle,
    /// Null where the driver did not take the kernels, which is an error of [`Device::new`].
    module: Handle,
    pub(super) kernels: Kernels,
    name: String,
}

/// Handles of kernels, valid as long as the module.
pub(super) struct Kernels {
    pub(super) apply: [Handle; 2],
    pub(super) apply_strided: [Handle; 2],
    pub(super) argmax: Handle,
    /// By type of logits: [`LogitType::index`](super::launch::LogitType).
    pub(super) best: [Handle; 3],
    pub(super) cut: [Handle; 3],
    pub(super) sum: [Handle; 3],
    pub(super) draw: [Handle; 3],
}

impl Device {
    /// Opens the driver if nobody did, and the device of this number (0 for the first).
    ///
    /// # Errors
    ///
    /// [`NoDriver`](crate::ApplyErrorKind::NoDriver) without a driver or with one that is too old,
    /// [`NoDevice`](crate::ApplyErrorKind::NoDevice) without a device of this number,
    /// [`OutOfMemory`](crate::ApplyErrorKind::OutOfMemory) where the device has no memory for a context.
    pub fn new(ordinal: u32) -> Result<Self, ApplyError> {
        Self::open(Driver::get()?, ordinal)
    }

    pub(super) fn open(driver: &'static Driver, ordinal: u32) -> Result<Self, ApplyError> {
        let ordinal = i32::try_from(ordinal).unwrap_or(i32::MAX);
        let (mut device, mut context) = (0, Handle::NULL);
        // SAFETY: writes one number to where it is told.
        check(unsafe { (driver.device)(&raw mut device, ordinal) }, "no such device")?;
        let name = name_of(driver, device)?;
        // SAFETY: writes one handle to where it is told.
        let retained = unsafe { (driver.retain_context)(&raw mut context, device) };
        check(retained, "the device's context cannot be had")?;
        let kernels = Kernels::none();
        // From here on dropping gives back whatever there is.
        let mut inner = Inner { driver, device, context, module: Handle::NULL, kernels, name };
        inner.load()?;
        Ok(Self { inner: Arc::new(inner) })
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
        check(unsafe { (self.inner.driver.synchronize)(Handle(stream)) }, "the stream failed")
    }

    /// Makes the context current until the guard goes.
    pub(super) fn enter(&self) -> Result<Current, ApplyError> {
        self.inner.enter()
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.inner.name).finish_non_exhaustive()
    }
}

fn name_of(driver: &Driver, device: i32) -> Result<String, ApplyError> {
    let mut name = [0_u8; 256];
    // SAFETY: the driver writes at most 256 bytes, the last of them 0.
    check(unsafe { (driver.device_name)(name.as_mut_ptr().cast(), 256, device) }, "the device has no name")?;
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

impl Inner {
    fn enter(&self) -> Result<Current, ApplyError> {
        Current::push(self.driver, self.context)
    }

    fn load(&mut self) -> Result<(), ApplyError> {
        let refused = "the driver does not take the kernels";
        let text = CString::new(KERNELS).map_err(|_| ApplyError::no_driver(refused.to_owned()))?;
        let _current = self.enter()?;
        // SAFETY: writes one handle to where it is told, and reads a text that ends with 0.
        check(unsafe { (self.driver.load_module)(&raw mut self.module, text.as_ptr().cast()) }, refused)?;
        self.kernels = Kernels::of(self.driver, self.module)?;
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Where the context is lost its modules are, too. Nobody can be told of what the driver refuses here.
        if let (Ok(_current), true) = (self.enter(), self.module != Handle::NULL) {
            // SAFETY: kernels hold this structure, so none of them is launched any more.
            let _refused = unsafe { (self.driver.unload_module)(self.module) };
        }
        // SAFETY: retained once, when the device was opened.
        let _refused = unsafe { (self.driver.release_context)(self.device) };
    }
}

impl Kernels {
    fn none() -> Self {
        let (two, three) = ([Handle::NULL; 2], [Handle::NULL; 3]);
        let argmax = Handle::NULL;
        Self { apply: two, apply_strided: two, argmax, best: three, cut: three, sum: three, draw: three }
    }

    fn of(driver: &Driver, module: Handle) -> Result<Self, ApplyError> {
        let one = |name: &str| {
            let missing = || format!("the kernel `{name}` is missing");
            let text = CString::new(name).map_err(|_| ApplyError::no_driver(missing()))?;
            let mut kernel = Handle::NULL;
            // SAFETY: the module is loaded; writes one handle to where it is told.
            check(unsafe { (driver.kernel)(&raw mut kernel, module, text.as_ptr()) }, &missing())?;
            Ok(kernel)
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

/// Puts back the context that was current when it was made, if that was another one.
pub(super) struct Current {
    driver: &'static Driver,
    before: Option<Handle>,
}

impl Current {
    fn push(driver: &'static Driver, context: Handle) -> Result<Self, ApplyError> {
        let mut before = Handle::NULL;
        // SAFETY: writes one handle to where it is told.
        check(unsafe { (driver.current_context)(&raw mut before) }, "there is no current context")?;
        let before = (before != context).then_some(before);
        if before.is_some() {
            // SAFETY: the context is retained by the device that it comes from.
            check(unsafe { (driver.set_current_context)(context) }, "the device's context is lost")?;
        }
        Ok(Self { driver, before })
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: it was current on this thread before. A context that has gone since is refused, which harms
            // nobody.
            let _refused = unsafe { (self.driver.set_current_context)(before) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorder;
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

    #[test]
    fn a_device_gives_back_what_it_took() {
        let device = recorder::device();
        assert_eq!(device.name(), recorder::NAME);
        let clone = device.clone();
        drop(device);
        assert!(!recorder::calls().iter().any(|call| call.starts_with("release")));
        drop(clone);
        let calls = recorder::calls();
        assert_eq!(calls.first().map(String::as_str), Some("retain"));
        assert_eq!(calls[calls.len() - 2..], ["unload", "release"]);
        assert_eq!(recorder::current(), Handle::NULL);
    }

    #[test]
    fn a_driver_that_takes_no_kernels_gets_its_context_back() {
        unsafe extern "C" fn refuse(_: *mut Handle, _: *const c_void) -> i32 {
            218
        }
        let driver = Box::leak(Box::new(Driver { load_module: refuse, ..recorder::driver() }));
        let error = Device::open(driver, 0).unwrap_err();
        assert!(error.to_string().contains("too old"), "{error}");
        assert_eq!(recorder::calls(), ["retain", "release"]);
    }

    #[test]
    fn the_callers_context_is_current_again() {
        let device = recorder::device();
        recorder::set_current(Handle(std::ptr::without_provenance_mut(99)));
        // SAFETY: the default stream always exists.
        unsafe { device.synchronize(std::ptr::null_mut()) }.unwrap();
        drop(device);
        assert_eq!(recorder::current(), Handle(std::ptr::without_provenance_mut(99)));
    }
}
