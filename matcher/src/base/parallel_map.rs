//! One caller's work, done by the caller and by whichever threads are free.
//!
//! A parallel iterator of the pool would wait for its halves by taking on other work of the pool, some of which may
//! wait for the caller. Here the caller takes one item after the other itself, threads that come along take some as
//! well, and at the end the caller waits only for items that a thread is working on.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::threads::Threads;

/// The results of `work` for each item, in the order of the items. Fewer than `2 * min_items_per_thread` of them are not
/// worth a thread.
pub(crate) fn parallel_map<T, R>(
    threads: &Threads,
    items: Vec<T>,
    min_items_per_thread: usize,
    work: impl Fn(&T) -> R + Send + Sync + 'static,
) -> Vec<R>
where
    T: Send + Sync + 'static,
    R: Send + 'static,
{
    let helpers = (items.len() / min_items_per_thread.max(1)).saturating_sub(1).min(threads.count());
    if helpers == 0 {
        return items.iter().map(work).collect();
    }
    let results = items.iter().map(|_| None).collect();
    let state = Progress { next: 0, open: 0, results };
    let shared = Arc::new(SharedItems { items, work, state: Mutex::new(state), settled: Condvar::new() });
    for _ in 0..helpers {
        let shared = Arc::clone(&shared);
        if !threads.spawn(move || shared.help()) {
            break;
        }
    }
    shared.help();
    let mut state = shared.lock();
    while state.open > 0 {
        state = shared.settled.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    let results = std::mem::take(&mut state.results);
    drop(state);
    // A thread that panicked left nothing; what it was at is tried again here, where a panic is the caller's.
    let results = results.into_iter().zip(&shared.items);
    results.map(|(result, item)| result.unwrap_or_else(|| (shared.work)(item))).collect()
}

struct SharedItems<T, R, F> {
    items: Vec<T>,
    work: F,
    state: Mutex<Progress<R>>,
    settled: Condvar,
}

struct Progress<R> {
    /// The first item that nobody took.
    next: usize,
    /// How many items someone is at.
    open: usize,
    results: Vec<Option<R>>,
}

impl<T, R, F: Fn(&T) -> R> SharedItems<T, R, F> {
    fn help(&self) {
        while let Some(index) = self.take() {
            let mut taken = TakenItem { shared: self, index, result: None };
            taken.result = Some((self.work)(&self.items[index]));
        }
    }

    fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        let index = state.next;
        if index == self.items.len() {
            return None;
        }
        state.next += 1;
        state.open += 1;
        Some(index)
    }

    fn lock(&self) -> MutexGuard<'_, Progress<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An item that someone is at; settled when this goes, with a result or, after a panic, without.
struct TakenItem<'s, T, R, F: Fn(&T) -> R> {
    shared: &'s SharedItems<T, R, F>,
    index: usize,
    result: Option<R>,
}

impl<T, R, F: Fn(&T) -> R> Drop for TakenItem<'_, T, R, F> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.open -= 1;
        // The caller takes the results only when nothing is open.
        if let Some(place) = state.results.get_mut(self.index) {
            *place = self.result.take();
        }
        drop(state);
        self.shared.settled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for count in [0, 1, 4] {
            let threads = Threads::new(count);
            let made = parallel_map(&threads, (0..1000).collect(), 8, |&item: &u64| item * item);
            assert!(made.into_iter().eq((0..1000).map(|item| item * item)), "{count} threads");
        }
    }

    #[test]
    fn busy_threads_are_not_waited_for() {
        let threads = Threads::new(1);
        let (release, gate) = std::sync::mpsc::channel::<()>();
        assert!(threads.spawn(move || {
            let _ = gate.recv();
        }));
        let made = parallel_map(&threads, vec![1, 2, 3, 4], 1, |&item: &i32| item + 1);
        assert_eq!(made, [2, 3, 4, 5]);
        drop(release);
    }
}
