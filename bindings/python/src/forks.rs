//! Forks of the process (`os.fork`, `multiprocessing`).
//!
//! A child has one thread, and the memory of all as it was. Caches and threads mend themselves. The tables of a grammar
//! cannot: a child that needs them would wait for a thread that it does not have. So a fork waits until no thread writes to
//! them, some microseconds mostly; threads that hold the interpreter's lock do not while another one forks. `grammask._support`
//! has Python call what is here.

use std::cell::Cell;
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use pyo3::prelude::*;

/// Held for reading while tables are written without the interpreter's lock.
static TABLES: RwLock<()> = RwLock::new(());

thread_local! {
    /// The lock on the tables, which the forking thread holds during the fork.
    static HELD: Cell<Option<RwLockWriteGuard<'static, ()>>> = const { Cell::new(None) };
}

/// Gives up the interpreter's lock while `work` uses tables. A fork waits until the work is done, so the work must not
/// wait for the interpreter's lock.
pub(crate) fn detach<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let _tables = TABLES.read().unwrap_or_else(PoisonError::into_inner);
        work()
    })
}

/// Runs `work` with the interpreter's lock on a thread that Python did not start; not where the interpreter is at its end.
/// CPython makes a state for such a thread under a lock of its own, which a child that is forked meanwhile waits for without
/// end (seen with 3.11.7). So a fork waits until the state is made.
pub(crate) fn attach_apart_from_forks(work: impl FnOnce(Python<'_>)) {
    let tables = TABLES.read().unwrap_or_else(PoisonError::into_inner);
    Python::try_attach(|py| {
        // The forking thread needs the interpreter's lock, which is held here. The work may fork.
        drop(tables);
        work(py);
    });
}

/// Waits until no table is being written, and no thread comes to the interpreter.
#[pyfunction]
pub(crate) fn before_fork(py: Python<'_>) {
    // Threads that write to tables hold no interpreter's lock, so other threads may run while this one waits.
    py.detach(|| HELD.set(Some(TABLES.write().unwrap_or_else(PoisonError::into_inner))));
}

/// Lets work go on.
#[pyfunction]
pub(crate) fn after_fork() {
    HELD.set(None);
}
