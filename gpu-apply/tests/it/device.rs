//! CUDA where there is none.

use grammask_gpu_apply::ApplyErrorKind;
use grammask_gpu_apply::cuda::Device;

/// With a device or without, asking for one that cannot exist is an ordinary error, however often it is
/// asked.
#[test]
fn a_missing_driver_or_device_is_an_ordinary_error() {
    for _ in 0..2 {
        let error = Device::new(1_000_000).unwrap_err();
        let is_absent = matches!(error.kind(), ApplyErrorKind::NoDriver | ApplyErrorKind::NoDevice);
        assert!(is_absent && !error.to_string().is_empty(), "{error:?}");
    }
}

/// The program that runs these tests was linked with the kernels' launches, and starts without CUDA's
/// libraries.
#[test]
fn the_program_needs_no_library_of_the_driver() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let needed = needed_libraries(&program);
    // That the list was read at all; a program with static libraries has none.
    let is_static = !cfg!(target_env = "gnu");
    assert!(is_static || needed.iter().any(|name| name.starts_with("libc.so")), "{needed:?}");
    assert!(!needed.iter().any(|name| name.contains("cuda")), "{needed:?}");
}

/// The entries `DT_NEEDED` of a 64-bit little-endian ELF file.
fn needed_libraries(file: &[u8]) -> Vec<String> {
    let number = |at: usize, bytes: usize| {
        file[at..at + bytes].iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte)) as usize
    };
    let (headers, size, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
    // Type, offset in the file, address, size in the file.
    let segments: Vec<[usize; 4]> = (0..count)
        .map(|index| headers + index * size)
        .map(|at| [number(at, 4), number(at + 8, 8), number(at + 16, 8), number(at + 32, 8)])
        .collect();
    let Some(dynamic) = segments.iter().find(|segment| segment[0] == 2) else { return Vec::new() };
    let entries: Vec<(usize, usize)> = (dynamic[1]..dynamic[1] + dynamic[3])
        .step_by(16)
        .map(|at| (number(at, 8), number(at + 8, 8)))
        .collect();
    let strings = entries.iter().find(|entry| entry.0 == 5).unwrap().1;
    let load = segments
        .iter()
        .find(|segment| segment[0] == 1 && (segment[2]..segment[2] + segment[3]).contains(&strings))
        .unwrap();
    let strings = strings - load[2] + load[1];
    let name = |offset: usize| {
        let text = &file[strings + offset..];
        let end = text.iter().position(|&byte| byte == 0).unwrap();
        String::from_utf8_lossy(&text[..end]).into_owned()
    };
    entries.iter().filter(|entry| entry.0 == 1).map(|entry| name(entry.1)).collect()
}
