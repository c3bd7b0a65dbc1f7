//! The same on NVIDIA devices, through [`cust`].
//!
//! Everything here is asynchronous and works on addresses of device memory, as tensors have them: it puts
//! work on a stream of the caller's and returns. Nothing is allocated on the way, and nothing is copied but
//! settings of sampling.
//!
//! A [`Device`] is made once and shared. It retains the device's primary context, which is the one that
//! PyTorch and everything else on CUDA's run-time library uses, and leaves its flags alone. Each call makes
//! that context current and puts back what was current before.
//!
//! Building needs no CUDA, and starting a program needs no driver: the library `libcuda.so.1` is opened by
//! the first [`Device::new`], whose error says what is missing.
//!
//! Kernels are compiled from `kernels/grammask.cu` to PTX for compute capability 7.5 (Turing, 2018) and
//! later, which drivers for CUDA 10.0 and later take. The driver compiles it for the device once and keeps
//! the result on its disk.
//!
//! # In this folder
//!
//! Addresses of device memory come in, and work on a stream goes out. `driver` opens the library, `device` holds context
//! and kernels, `launch` and `masks` put work on streams; the structures in `launch` must be as the kernels read them.
//! Imports `error`, `layout` and `sample`.

#![expect(unsafe_code, reason = "device memory and streams are addresses that only the caller can vouch for")]

mod device;
mod driver;
mod launch;
mod masks;

pub use device::{Device, RawStream};
pub use launch::{DeviceBatch, DeviceRows, LogitType, Workspace, tokens_from_codes};
pub use masks::MaskUpload;
