//! The driver's functions, found when they are first needed.
//!
//! `cust` names functions of `libcuda.so.1` as a linker would resolve them, and a program linked so does not
//! start on a machine without that library. Here every such name is a jump through a table. The table's
//! entries say "not initialised" until [`load`] opens the library and fills them in. The names are hidden, so
//! that a library or a Python module that is built from this crate offers none of them to others.
//!
//! The empty archive in `cuda-link` satisfies the linker's `-lcuda`.

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::error::ApplyError;

/// The oldest driver that takes the kernels as they are checked in: CUDA 10.0, for PTX 6.3.
const OLDEST_DRIVER: i32 = 10_000;

/// Defines the jumps, the table and the list of names in the table's order.
macro_rules! driver_functions {
    ($first:ident $(, $name:ident)* $(,)?) => {
        const NAMES: &[&CStr] = &[
            to_c_str(concat!(stringify!($first), "\0")),
            $(to_c_str(concat!(stringify!($name), "\0")),)*
        ];

        #[cfg(target_arch = "x86_64")]
        std::arch::global_asm!(
            ".pushsection .text.grammask_cuda,\"ax\",@progbits",
            ".hidden grammask_cuda_absent",
            ".globl grammask_cuda_absent",
            ".type grammask_cuda_absent,@function",
            "grammask_cuda_absent:",
            // CUDA_ERROR_NOT_INITIALIZED
            "mov eax, 3",
            "ret",
            ".set grammask_cuda_slot, 0",
            jump!($first),
            $(jump!($name),)*
            ".popsection",
        );

        #[cfg(target_arch = "aarch64")]
        std::arch::global_asm!(
            ".pushsection .text.grammask_cuda,\"ax\",@progbits",
            ".p2align 2",
            ".hidden grammask_cuda_absent",
            ".globl grammask_cuda_absent",
            ".type grammask_cuda_absent,@function",
            "grammask_cuda_absent:",
            // CUDA_ERROR_NOT_INITIALIZED
            "mov w0, #3",
            "ret",
            ".set grammask_cuda_slot, 0",
            jump!($first),
            $(jump!($name),)*
            ".popsection",
        );

        std::arch::global_asm!(
            ".pushsection .data.grammask_cuda,\"aw\",@progbits",
            ".p2align 3",
            ".hidden grammask_cuda_table",
            ".globl grammask_cuda_table",
            ".type grammask_cuda_table,@object",
            "grammask_cuda_table:",
            entry!($first),
            $(entry!($name),)*
            ".size grammask_cuda_table, . - grammask_cuda_table",
            ".popsection",
        );
    };
}

/// A function that jumps to where its entry of the table points, all arguments untouched.
#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($name:ident) => {
        concat!(
            ".hidden ",
            stringify!($name),
            "\n.globl ",
            stringify!($name),
            "\n.type ",
            stringify!($name),
            ",@function\n",
            stringify!($name),
            ":\njmp qword ptr [rip + grammask_cuda_table + grammask_cuda_slot]\n",
            ".set grammask_cuda_slot, grammask_cuda_slot + 8"
        )
    };
}

/// The same through the register that calls may destroy.
#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    ($name:ident) => {
        concat!(
            ".hidden ",
            stringify!($name),
            "\n.globl ",
            stringify!($name),
            "\n.type ",
            stringify!($name),
            ",@function\n",
            stringify!($name),
            ":\nadrp x16, grammask_cuda_table\n",
            "add x16, x16, :lo12:grammask_cuda_table\nldr x16, [x16, #grammask_cuda_slot]\nbr x16\n",
            ".set grammask_cuda_slot, grammask_cuda_slot + 8"
        )
    };
}

macro_rules! entry {
    ($name:ident) => {
        ".quad grammask_cuda_absent"
    };
}

// All functions that `cust` 0.3.2 names, whether or not anything here calls them: what is linked decides the
// compiler.
driver_functions! {
    cuArray3DCreate_v2, cuArray3DGetDescriptor_v2, cuArrayDestroy, cuCtxCreate_v2, cuCtxDestroy_v2,
    cuCtxGetApiVersion, cuCtxGetCacheConfig, cuCtxGetCurrent, cuCtxGetDevice, cuCtxGetFlags, cuCtxGetLimit,
    cuCtxGetSharedMemConfig, cuCtxGetStreamPriorityRange, cuCtxPopCurrent_v2, cuCtxPushCurrent_v2,
    cuCtxSetCacheConfig, cuCtxSetCurrent, cuCtxSetLimit, cuCtxSetSharedMemConfig, cuCtxSynchronize,
    cuDestroyExternalMemory, cuDeviceGet, cuDeviceGetAttribute, cuDeviceGetCount, cuDeviceGetName,
    cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxRetain,
    cuDevicePrimaryCtxSetFlags_v2, cuDeviceTotalMem_v2, cuDriverGetVersion, cuEventCreate,
    cuEventDestroy_v2, cuEventElapsedTime, cuEventQuery, cuEventRecord, cuEventSynchronize,
    cuExternalMemoryGetMappedBuffer, cuFuncGetAttribute, cuFuncSetCacheConfig, cuFuncSetSharedMemConfig,
    cuGetErrorString, cuGraphAddKernelNode, cuGraphCreate, cuGraphDebugDotPrint, cuGraphDestroy,
    cuGraphGetEdges, cuGraphGetNodes, cuGraphKernelNodeGetParams, cuGraphNodeGetType,
    cuImportExternalMemory, cuInit, cuLaunchHostFunc, cuLaunchKernel, cuLinkAddData_v2, cuLinkComplete,
    cuLinkCreate_v2, cuLinkDestroy, cuMemAdvise, cuMemAllocAsync, cuMemAllocHost_v2, cuMemAllocManaged,
    cuMemAlloc_v2, cuMemFreeAsync, cuMemFreeHost, cuMemFree_v2, cuMemGetInfo_v2, cuMemPrefetchAsync,
    cuMemcpy2D_v2, cuMemcpyAtoH_v2, cuMemcpyDtoDAsync_v2, cuMemcpyDtoD_v2, cuMemcpyDtoHAsync_v2,
    cuMemcpyDtoH_v2, cuMemcpyHtoA_v2, cuMemcpyHtoDAsync_v2, cuMemcpyHtoD_v2, cuMemsetD16Async,
    cuMemsetD16_v2, cuMemsetD32Async, cuMemsetD32_v2, cuMemsetD8Async, cuMemsetD8_v2, cuModuleGetFunction,
    cuModuleGetGlobal_v2, cuModuleLoad, cuModuleLoadData, cuModuleLoadDataEx, cuModuleUnload,
    cuOccupancyAvailableDynamicSMemPerBlock, cuOccupancyMaxActiveBlocksPerMultiprocessor,
    cuOccupancyMaxPotentialBlockSize, cuStreamCreateWithPriority, cuStreamDestroy_v2, cuStreamGetFlags,
    cuStreamGetPriority, cuStreamSynchronize, cuStreamWaitEvent, cuSurfObjectCreate, cuSurfObjectDestroy,
    cuSurfObjectGetResourceDesc, cuTexObjectCreate, cuTexObjectDestroy, cuTexObjectGetResourceDesc,
    cuTexObjectGetResourceViewDesc,
}

unsafe extern "C" {
    /// The entries of [`NAMES`], in its order.
    #[link_name = "grammask_cuda_table"]
    static TABLE: [AtomicPtr<c_void>; NAMES.len()];

    // Declared anew with a plain number for the result: codes of newer drivers are no values of the
    // enumeration that `cust` declares.
    fn cuInit(flags: u32) -> i32;
    fn cuDriverGetVersion(version: *mut i32) -> i32;
}

/// Makes the driver usable, once for the whole program.
pub(super) fn load() -> Result<(), ApplyError> {
    static LOADED: OnceLock<Result<(), ApplyError>> = OnceLock::new();
    LOADED.get_or_init(|| open(c"libcuda.so.1").and_then(|()| initialise())).clone()
}

fn open(library: &CStr) -> Result<(), ApplyError> {
    // SAFETY: the name ends with 0. The library stays open for as long as the program runs.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        let (name, why) = (library.to_string_lossy(), last_error());
        let message = format!("{name} cannot be opened ({why}); install NVIDIA's driver, or use the CPU");
        return Err(ApplyError::no_driver(message));
    }
    for (name, slot) in NAMES.iter().zip(table()) {
        // SAFETY: the handle is open and the name ends with 0.
        let function = unsafe { libc::dlsym(handle, name.as_ptr()) };
        // A function that this driver lacks goes on to say that it is not initialised.
        if !function.is_null() {
            slot.store(function, Ordering::Release);
        }
    }
    Ok(())
}

fn table() -> &'static [AtomicPtr<c_void>; NAMES.len()] {
    // SAFETY: the table above has an entry of this size and alignment for each name, and is written only
    // through these atomics.
    unsafe { &TABLE }
}

fn last_error() -> String {
    // SAFETY: the text belongs to this thread and is copied before another call could change it.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            return "no reason given".to_owned();
        }
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

fn initialise() -> Result<(), ApplyError> {
    // SAFETY: takes no memory of ours.
    let code = unsafe { cuInit(0) };
    if code != 0 {
        return Err(ApplyError::from_code(code, "the driver does not start"));
    }
    let mut version = 0;
    // SAFETY: writes one number to where it is told.
    let code = unsafe { cuDriverGetVersion(&mut version) };
    if code != 0 || version < OLDEST_DRIVER {
        let (major, minor) = (version / 1000, version % 1000 / 10);
        let message = format!("the driver is for CUDA {major}.{minor}; install one for CUDA 10.0 or newer");
        return Err(ApplyError::no_driver(message));
    }
    Ok(())
}

/// The name as the dynamic linker wants it. Called in constants, where a mistake fails the build.
const fn to_c_str(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ApplyErrorKind;

    #[test]
    fn all_functions_have_a_name_and_an_entry() {
        assert!(NAMES.iter().all(|name| name.to_bytes().starts_with(b"cu")));
        assert!(table().iter().all(|entry| !entry.load(Ordering::Relaxed).is_null()));
    }

    #[test]
    fn calls_jump_to_the_driver_or_say_that_there_is_none() {
        let mut version = 0;
        // SAFETY: writes one number to where it is told, or nothing.
        let code = unsafe { cuDriverGetVersion(&mut version) };
        assert!((code == 3 && version == 0) || (code == 0 && version > 0), "{code} {version}");
    }

    #[test]
    fn a_missing_library_is_an_ordinary_error() {
        let error = open(c"libcuda-of-no-machine.so").unwrap_err();
        assert_eq!(error.kind(), ApplyErrorKind::NoDriver);
        assert!(error.to_string().contains("libcuda-of-no-machine.so"), "{error}");
    }
}
