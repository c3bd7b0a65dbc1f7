//! The same on NVIDIA devices, by the functions of their driver.
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
//! later. Drivers for CUDA 11.0 and later take them. The driver compiles it for the device once and keeps
//! the result on its disk.
//!
//! # In this folder
//!
//! Addresses of device memory come in, and work on a stream goes out. `driver` opens the library and `device` holds
//! context and kernels. `memory` gives back what the driver hands out, and `launch` and `masks` put work on streams. The
//! structures in `launch` must be as the kernels read them. `recorder` is a driver for tests. Imports `error`, `layout`
//! and `sample`.

#![expect(unsafe_code, reason = "device memory and streams are addresses that only the caller can vouch for")]

mod driver;
mod device;
mod memory;
mod launch;
mod masks;
#[cfg(test)]
mod recorder;

pub use device::{Device, RawStream};
pub use launch::{DeviceBatch, DeviceRows, LogitType, Workspace, tokens_from_codes};
pub use masks::MaskUpload;
pub use memory::DeviceMemory;
