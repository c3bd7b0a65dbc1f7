//! How many bytes a thread allocates: a figure of work that is the same on every machine.
#![allow(unsafe_code, reason = "an allocator cannot be written without; it hands everything to the system's")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static COUNTING: Counting = Counting;

struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that this thread has allocated so far, freed or not.
pub(crate) fn allocated() -> usize {
    ALLOCATED.get()
}

fn count(bytes: usize) {
    // A thread that is being taken down has no such variable any more.
    let _ = ALLOCATED.try_with(|allocated| allocated.set(allocated.get().wrapping_add(bytes)));
}

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing, because the thread-local cell is
// initialised in constant context and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract, and the pointer came from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller keeps `realloc`'s contract, and the pointer came from the system's allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
