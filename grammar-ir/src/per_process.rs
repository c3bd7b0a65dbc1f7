//! State that every forked process has for itself.
//!
//! A fork copies the memory of all threads and one thread. So a lock that another thread held stays locked
//! for good in the child, the value below it may be half written, and a pool has no threads. A child that
//! waited would hang; here it begins with a value of its own. Only a system call can tell whether a process
//! is another one. So it is made only where the answer matters: when a lock is not free, or for a value that
//! never outlives a fork.
//!
//! Values that are made once for a process or a vocabulary stand in cells of `once_cell::race`, because nobody
//! waits there. Threads that need one at the same time each make it, and the first is kept.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// A value, followed by those of processes that were forked from the one that made it.
#[derive(Debug)]
pub struct PerProcess<T> {
    process: u32,
    value: T,
    after_fork: OnceLock<Box<Self>>,
}

impl<T> PerProcess<T> {
    /// A value of this process.
    pub fn new(value: T) -> Self {
        Self { process: std::process::id(), value, after_fork: OnceLock::new() }
    }

    /// The newest value. It may belong to another process, from which this one was forked.
    fn last(&self) -> &Self {
        let mut last = self;
        while let Some(next) = last.after_fork.get() {
            last = next;
        }
        last
    }
}

impl<T: Default> PerProcess<T> {
    /// The value of this process; a new one where it was forked since the last was made.
    pub fn own(&self) -> &T {
        let last = self.last();
        if last.process == std::process::id() {
            return &last.value;
        }
        // Two threads of a child may both come here, and the first one's value is taken.
        let _ = last.after_fork.set(Box::default());
        &last.last().value
    }
}

impl<T: Default> PerProcess<Mutex<T>> {
    /// Locks the value. The value from before a fork is still in use if its lock is free. If a thread that
    /// this process does not have holds the lock, a new value takes its place.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // Nearly always true: no fork since, and the lock is free.
        if self.after_fork.get().is_none()
            && let Ok(guard) = self.value.try_lock()
        {
            return guard;
        }
        self.lock_of_last()
    }

    #[cold]
    fn lock_of_last(&self) -> MutexGuard<'_, T> {
        let free = free(&self.last().value);
        free.unwrap_or_else(|| self.own().lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// As [`lock`](Self::lock), without waiting.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        free(&self.last().value).or_else(|| free(self.own()))
    }
}

/// The lock, if it is free.
fn free<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl<T: Default> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}
