//! Work of one call, shared out between threads that live as long as the call.
//!
//! The usual way is a pool, whose threads wait for work. But a pool outlives the call, and a process that is forked
//! in between has the pool without its threads: the next call would wait for ever. A thread of the call's own costs some
//! ten microseconds more than one that is woken, and leaves nothing behind.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// More threads would take longer to start, one after the other, than they save: by then memory is the limit.
const MAX_THREADS: usize = 16;

/// The number of threads for `items` that take `bytes` together, where each thread gets at least `min_bytes`. With 1,
/// the caller works alone.
pub(crate) fn thread_count(items: usize, bytes: usize, min_bytes: usize) -> usize {
    /// 0 until the system was asked, which takes longer than many calls.
    static CORES: AtomicUsize = AtomicUsize::new(0);
    let most = items.min(bytes / min_bytes).min(MAX_THREADS);
    if most < 2 {
        return 1;
    }
    let mut cores = CORES.load(Ordering::Relaxed);
    if cores == 0 {
        cores = thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        CORES.store(cores, Ordering::Relaxed);
    }
    most.min(cores)
}

/// Does the work for every item on at most `threads` threads. Each thread has a state of its own.
///
/// # Errors
///
/// One of those of `work`. A thread takes no further items after its work failed.
pub(crate) fn share_out<T: Send, S, E: Send>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let queue = Mutex::new(items);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut state = state();
        std::iter::from_fn(next).try_for_each(|item| work(&mut state, item))
    };
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, run).ok();
        // Where the system has no more threads, those that there are do all.
        let helpers: Vec<_> = (1..threads).map_while(start).collect();
        let own = run();
        helpers.into_iter().fold(own, |outcome, helper| match helper.join() {
            Ok(helped) => outcome.and(helped),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}
