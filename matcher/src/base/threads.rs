//! The threads of a process for work in the background: one bounded pool, started when it is first needed.

use std::sync::OnceLock;

use grammask_grammar_ir::PerProcess;

/// At most this number of threads, shared by all holders of the same `Arc<Threads>`: compiling in the
/// background, batches, warming up. Making one starts nothing; the threads start with the first work that
/// pays for them, and end when the last holder goes. A process that was forked after that starts its own.
#[derive(Debug)]
pub struct Threads {
    count: usize,
    pool: PerProcess<OnceLock<ProcessPool>>,
}

/// The pool of one process. Another process, which has its memory and not its threads, leaves it as it is.
#[derive(Debug)]
struct ProcessPool {
    process: u32,
    pool: Option<rayon::ThreadPool>,
}

impl Drop for ProcessPool {
    fn drop(&mut self) {
        // To end a pool takes locks that its threads may have held when the process was forked.
        if self.process != std::process::id() {
            std::mem::forget(self.pool.take());
        }
    }
}

/// The threads could not be started.
#[derive(Debug, thiserror::Error)]
#[error("could not start {threads} threads; ask for fewer")]
pub struct ThreadsError {
    threads: usize,
    #[source]
    source: rayon::ThreadPoolBuildError,
}

impl Threads {
    /// The number that a compiler takes by default.
    pub const DEFAULT_COUNT: usize = 4;

    /// A pool of at most `count` threads, none of which runs yet. With 0, callers do all work themselves.
    pub fn new(count: usize) -> Self {
        // The threads' queues share what is made once for a process. If the first thread made it during a fork, threads of
        // the child would wait for that one.
        if count > 0 {
            crossbeam_epoch::default_collector();
        }
        Self { count, pool: PerProcess::default() }
    }

    /// The most threads.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether they run.
    pub fn is_started(&self) -> bool {
        self.pool.own().get().is_some()
    }

    /// Starts the threads now, so that the first work does not wait for them.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses. Work that finds no threads is done by the callers that wait for it.
    pub fn start(&self) -> Result<(), ThreadsError> {
        if self.count == 0 || self.is_started() {
            return Ok(());
        }
        // A panic is a mistake of ours and ends one piece of work, not the process; waiting callers are told.
        let build = rayon::ThreadPoolBuilder::new()
            .num_threads(self.count)
            .thread_name(|place| format!("grammask-{place}"))
            .panic_handler(|_| {})
            .build();
        let pool = build.map_err(|source| ThreadsError { threads: self.count, source })?;
        // If another thread was faster, its pool is the one, and this one ends.
        // The process is noted because a fork has the memory of the pool but none of its threads.
        let _ = self.pool.own().set(ProcessPool { process: std::process::id(), pool: Some(pool) });
        Ok(())
    }

    /// Does something in the background, the oldest first. False where there are no threads or they could not be
    /// started: nothing happens then.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) -> bool {
        self.pool().map(|pool| pool.spawn_fifo(job)).is_some()
    }

    /// The pool, if there are threads and they could be started.
    pub(crate) fn pool(&self) -> Option<&rayon::ThreadPool> {
        self.start().ok().and_then(|()| self.pool.own().get()?.pool.as_ref())
    }
}

impl Default for Threads {
    fn default() -> Self {
        Self::new(Self::DEFAULT_COUNT)
    }
}
