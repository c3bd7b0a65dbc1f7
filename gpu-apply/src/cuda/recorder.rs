//! A driver for tests on machines without one: its device is the host's memory, and its streams do nothing until
//! somebody waits for them. So a test sees what a missing wait would do.
//!
//! Each thread has a device of its own.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ffi::{CStr, c_char, c_void};

use super::device::Device;
use super::driver::{Driver, Handle};

pub(super) const NAME: &str = "a device of tests";
/// Bytes that the device has.
pub(super) const MEMORY: usize = 1 << 20;

#[derive(Default)]
struct State {
    current: usize,
    calls: Vec<String>,
    memory: HashMap<u64, Box<[u64]>>,
    /// Names of kernels, whose handles are places in this list, counted from 1.
    kernels: Vec<String>,
    /// Work that has not happened, by stream.
    streams: HashMap<usize, VecDeque<Work>>,
    /// By event: how often it was recorded, how often that has happened, and the stream it was recorded on last.
    events: HashMap<usize, (usize, usize, usize)>,
    handles: usize,
}

enum Work {
    Copy {
        to: u64,
        from: u64,
        bytes: usize,
    },
    /// The kernel's name, and the address of the masks.
    Launch(String, u64),
    Record(usize),
    Wait(usize, usize),
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(act)
}

/// A device of a driver that has done nothing before.
pub(super) fn device() -> Device {
    with(|state| *state = State::default());
    Device::open(Box::leak(Box::new(driver())), 0).unwrap()
}

/// All that was done, in order: kernels when they run, by name and the first word of their masks.
pub(super) fn calls() -> Vec<String> {
    with(|state| state.calls.clone())
}

pub(super) fn current() -> Handle {
    with(|state| handle(state.current))
}

pub(super) fn set_current(context: Handle) {
    with(|state| state.current = context.0.addr());
}

/// Memory, streams and events that nobody gave back.
pub(super) fn left() -> usize {
    with(|state| {
        let streams = state.streams.keys().filter(|&&stream| stream != 0).count();
        state.memory.len() + streams + state.events.len()
    })
}

/// Which streams go on first where nothing makes them wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Streams that somebody made, before the default stream.
    UploadsFirst,
    UploadsLast,
}

/// Does all work that was put on streams.
pub(super) fn run(order: Order) {
    with(|state| {
        let mut streams: Vec<usize> = state.streams.keys().copied().collect();
        streams.sort_unstable();
        if order == Order::UploadsFirst {
            streams.reverse();
        }
        for stream in streams {
            state.run(stream, usize::MAX);
        }
    });
}

fn handle(number: usize) -> Handle {
    Handle(std::ptr::without_provenance_mut(number))
}

impl State {
    fn new_handle(&mut self) -> usize {
        self.handles += 16;
        self.handles
    }

    fn allocate(&mut self, bytes: usize) -> Option<u64> {
        let used: usize = self.memory.values().map(|memory| memory.len() * 8).sum();
        if used + bytes > MEMORY {
            return None;
        }
        // Not zeros, so that memory that is not cleared is seen.
        let mut memory = vec![u64::MAX; bytes.div_ceil(8)].into_boxed_slice();
        let address = memory.as_mut_ptr().expose_provenance() as u64;
        self.memory.insert(address, memory);
        Some(address)
    }

    /// Does the work of a stream up to an event, or all of it.
    fn run(&mut self, stream: usize, until: usize) {
        while let Some(work) = self.streams.get_mut(&stream).and_then(VecDeque::pop_front) {
            match work {
                Work::Copy { to, from, bytes } => {
                    let (to, from) = (pointer(to), pointer(from));
                    // SAFETY: what is tested vouches for both places.
                    unsafe { std::ptr::copy(from, to, bytes) };
                }
                Work::Launch(name, masks) => {
                    // SAFETY: as above.
                    let word = unsafe { pointer(masks).cast::<u32>().read() };
                    self.calls.push(format!("{name} {word}"));
                }
                Work::Record(event) => {
                    if let Some((_, happened, _)) = self.events.get_mut(&event) {
                        *happened += 1;
                    }
                    if event == until {
                        return;
                    }
                }
                Work::Wait(event, time) => {
                    while let Some(&(_, happened, recorded_on)) = self.events.get(&event)
                        && happened < time
                    {
                        self.run(recorded_on, event);
                    }
                }
            }
        }
    }

    fn put(&mut self, stream: Handle, work: Work) {
        self.streams.entry(stream.0.addr()).or_default().push_back(work);
    }
}

fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

unsafe fn write<T>(place: *mut T, value: T) -> i32 {
    // SAFETY: the caller's.
    unsafe { place.write(value) };
    0
}

/// The functions. None of them fails but for want of memory.
pub(super) fn driver() -> Driver {
    Driver {
        initialise,
        version,
        device: choose_device,
        device_name,
        retain_context,
        release_context,
        current_context,
        set_current_context,
        load_module,
        unload_module,
        kernel,
        launch,
        create_stream,
        destroy_stream,
        synchronize,
        wait_for_event,
        create_event,
        destroy_event,
        record_event,
        allocate,
        free,
        fill,
        allocate_pinned,
        free_pinned,
        upload,
        download,
        copy,
    }
}

unsafe extern "C" fn initialise(_: u32) -> i32 {
    0
}

unsafe extern "C" fn version(place: *mut i32) -> i32 {
    // SAFETY: the caller's place, here and in all functions below.
    unsafe { write(place, 12_040) }
}

unsafe extern "C" fn choose_device(place: *mut i32, ordinal: i32) -> i32 {
    if ordinal == 0 { unsafe { write(place, 7) } } else { 101 }
}

unsafe extern "C" fn device_name(place: *mut c_char, room: i32, device: i32) -> i32 {
    assert!(device == 7 && room as usize > NAME.len());
    unsafe {
        std::ptr::copy(NAME.as_ptr(), place.cast(), NAME.len());
        write(place.add(NAME.len()), 0)
    }
}

unsafe extern "C" fn retain_context(place: *mut Handle, _: i32) -> i32 {
    with(|state| state.calls.push("retain".to_owned()));
    unsafe { write(place, handle(1)) }
}

unsafe extern "C" fn release_context(_: i32) -> i32 {
    with(|state| state.calls.push("release".to_owned()));
    0
}

unsafe extern "C" fn current_context(place: *mut Handle) -> i32 {
    unsafe { write(place, current()) }
}

unsafe extern "C" fn set_current_context(context: Handle) -> i32 {
    set_current(context);
    0
}

unsafe extern "C" fn load_module(place: *mut Handle, _: *const c_void) -> i32 {
    assert_eq!(current(), handle(1), "a module is loaded into the device's context");
    unsafe { write(place, handle(2)) }
}

unsafe extern "C" fn unload_module(_: Handle) -> i32 {
    with(|state| state.calls.push("unload".to_owned()));
    0
}

unsafe extern "C" fn kernel(place: *mut Handle, _: Handle, name: *const c_char) -> i32 {
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    let number = with(|state| {
        state.kernels.push(name);
        state.kernels.len()
    });
    unsafe { write(place, handle(number)) }
}

unsafe extern "C" fn launch(
    kernel: Handle,
    _: u32,
    _: u32,
    _: u32,
    _: u32,
    _: u32,
    _: u32,
    _: u32,
    stream: Handle,
    arguments: *mut *mut c_void,
    _: *mut *mut c_void,
) -> i32 {
    // The first argument of every kernel is the batch, whose second field is the address of the masks.
    let masks = unsafe { (*arguments).cast::<u64>().add(1).read() };
    with(|state| {
        let name = state.kernels[kernel.0.addr() - 1].clone();
        state.put(stream, Work::Launch(name, masks));
    });
    0
}

unsafe extern "C" fn create_stream(place: *mut Handle, _: u32) -> i32 {
    let stream = with(|state| {
        let stream = state.new_handle();
        state.streams.insert(stream, VecDeque::new());
        stream
    });
    unsafe { write(place, handle(stream)) }
}

unsafe extern "C" fn destroy_stream(stream: Handle) -> i32 {
    with(|state| state.streams.remove(&stream.0.addr()));
    0
}

unsafe extern "C" fn synchronize(stream: Handle) -> i32 {
    with(|state| state.run(stream.0.addr(), usize::MAX));
    0
}

unsafe extern "C" fn wait_for_event(stream: Handle, event: Handle, _: u32) -> i32 {
    with(|state| {
        let recorded = state.events[&event.0.addr()].0;
        state.put(stream, Work::Wait(event.0.addr(), recorded));
    });
    0
}

unsafe extern "C" fn create_event(place: *mut Handle, _: u32) -> i32 {
    let event = with(|state| {
        let event = state.new_handle();
        state.events.insert(event, (0, 0, 0));
        event
    });
    unsafe { write(place, handle(event)) }
}

unsafe extern "C" fn destroy_event(event: Handle) -> i32 {
    with(|state| state.events.remove(&event.0.addr()));
    0
}

unsafe extern "C" fn record_event(event: Handle, stream: Handle) -> i32 {
    with(|state| {
        if let Some((recorded, _, recorded_on)) = state.events.get_mut(&event.0.addr()) {
            *recorded += 1;
            *recorded_on = stream.0.addr();
        }
        state.put(stream, Work::Record(event.0.addr()));
    });
    0
}

unsafe extern "C" fn allocate(place: *mut u64, bytes: usize) -> i32 {
    assert_eq!(current(), handle(1), "memory belongs to the device's context");
    match with(|state| state.allocate(bytes)) {
        Some(address) => unsafe { write(place, address) },
        None => 2,
    }
}

unsafe extern "C" fn free(address: u64) -> i32 {
    with(|state| {
        // The driver waits for the whole device.
        let streams: Vec<usize> = state.streams.keys().copied().collect();
        streams.into_iter().for_each(|stream| state.run(stream, usize::MAX));
        state.memory.remove(&address);
    });
    0
}

unsafe extern "C" fn fill(address: u64, byte: u8, bytes: usize) -> i32 {
    unsafe { std::ptr::write_bytes(pointer(address), byte, bytes) };
    0
}

unsafe extern "C" fn allocate_pinned(place: *mut Handle, bytes: usize) -> i32 {
    match with(|state| state.allocate(bytes)) {
        Some(address) => unsafe { write(place, Handle(pointer(address).cast())) },
        None => 2,
    }
}

unsafe extern "C" fn free_pinned(memory: Handle) -> i32 {
    with(|state| state.memory.remove(&(memory.0.addr() as u64)));
    0
}

unsafe extern "C" fn upload(to: u64, from: *const c_void, bytes: usize, stream: Handle) -> i32 {
    let from = from.expose_provenance() as u64;
    with(|state| state.put(stream, Work::Copy { to, from, bytes }));
    0
}

unsafe extern "C" fn download(to: *mut c_void, from: u64, bytes: usize) -> i32 {
    with(|state| state.run(0, usize::MAX));
    unsafe { std::ptr::copy(pointer(from), to.cast(), bytes) };
    0
}

unsafe extern "C" fn copy(to: u64, from: u64, bytes: usize, stream: Handle) -> i32 {
    with(|state| state.put(stream, Work::Copy { to, from, bytes }));
    0
}
