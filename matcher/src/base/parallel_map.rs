//! One caller's work, done by the caller and by whichever threads are free.
//!
//! A parallel iterator of the pool would wait for its halves by taking on other work of the pool, some of
//! which may wait for the caller. A scope of the pool would wait for threads that have not begun. Here the
//! caller takes one item after the other itself, and threads that come along take some as well. At the end
//! some items may be with threads that the system does not run, because other processes have the cores. So
//! the caller begins these, too, and the first that finishes stops the other: no call takes longer than the
//! caller would take alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use grammask_grammar_ir::Interrupt;

use super::threads::Threads;

/// The results of `work` for each item, in the order of the items. Fewer than `2 * min_items_per_thread` of
/// them are not worth a thread. Work whose interrupt comes has become useless: another thread has its result.
pub(crate) fn parallel_map<T, R>(
    threads: &Threads,
    items: Vec<T>,
    min_items_per_thread: usize,
    work: impl Fn(&T, &Interrupt) -> R + Send + Sync + 'static,
) -> Vec<R>
where
    T: Send + Sync + 'static,
    R: Send + 'static,
{
    let helpers = (items.len() / min_items_per_thread.max(1)).saturating_sub(1).min(threads.count());
    if helpers == 0 {
        return items.iter().map(|item| work(item, &Interrupt::never())).collect();
    }
    let results = items.iter().map(|_| None).collect();
    let done = items.iter().map(|_| Interrupt::new()).collect();
    let shared =
        Arc::new(SharedItems { items, done, work, state: Mutex::new(Progress { next: 0, results }) });
    for _ in 0..helpers {
        let shared = Arc::clone(&shared);
        if !threads.spawn(move || shared.help()) {
            break;
        }
    }
    // The caller works, too. If all threads are busy it does everything, and never waits for a thread.
    shared.help();
    // Some items are still with a thread, and some were left by a thread that panicked. If their work panics here, too,
    // the caller panics.
    for index in 0..shared.items.len() {
        if shared.lock().results[index].is_none() {
            shared.run(index);
        }
    }
    let results = std::mem::take(&mut shared.lock().results);
    results.into_iter().flatten().collect()
}

/// As [`parallel_map`], until an item fails: the first error in the order of the items. Those after it are left out as soon
/// as it is known, since nobody asks for them.
pub(crate) fn try_parallel_map<T, R, E>(
    threads: &Threads,
    items: Vec<T>,
    min_items_per_thread: usize,
    work: impl Fn(&T) -> Result<R, E> + Send + Sync + 'static,
) -> Result<Vec<R>, E>
where
    T: Send + Sync + 'static,
    R: Send + 'static,
    E: Send + 'static,
{
    let failed = AtomicUsize::new(usize::MAX);
    let items = items.into_iter().enumerate().collect();
    let made = parallel_map(threads, items, min_items_per_thread, move |(index, item), _| {
        // A thread that does not see the latest failure does work in vain, and nothing else depends on it.
        if failed.load(Ordering::Relaxed) < *index {
            return None;
        }
        let made = work(item);
        if made.is_err() {
            failed.fetch_min(*index, Ordering::Relaxed);
        }
        Some(made)
    });
    // An item is left out only after one that failed.
    made.into_iter().map_while(|made| made).collect()
}

struct SharedItems<T, R, F> {
    items: Vec<T>,
    /// For each item what comes when it has its result.
    done: Vec<Interrupt>,
    work: F,
    state: Mutex<Progress<R>>,
}

struct Progress<R> {
    /// The first item that was not taken.
    next: usize,
    /// Empty when the caller has them.
    results: Vec<Option<R>>,
}

impl<T, R, F: Fn(&T, &Interrupt) -> R> SharedItems<T, R, F> {
    fn help(&self) {
        while let Some(index) = self.take() {
            self.run(index);
        }
    }

    fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        let index = state.next;
        state.next += 1;
        (index < self.items.len()).then_some(index)
    }

    /// Does the work of an item, and sets its result if no other thread was faster.
    fn run(&self, index: usize) {
        let result = (self.work)(&self.items[index], &self.done[index]);
        // The first result counts. The other one that works on the same item is told to stop.
        if let Some(place @ None) = self.lock().results.get_mut(index) {
            *place = Some(result);
            self.done[index].cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Progress<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
