//! Keeps workers busy and replaces those that are lost.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::pack::Line;
use super::protocol::{Caches, Clock, Compile, Depth, Event, Job, Loss, Record, Stage};
use crate::engine::{EngineId, KeyOrder};

/// How workers are started and how long they may take.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) tokenizer: PathBuf,
    pub(crate) end: Option<String>,
    /// The core that workers are pinned to.
    pub(crate) core: Option<usize>,
    /// Seconds of one stage of one schema.
    pub(crate) timeout: u64,
    /// Address space of a worker beyond what it holds when it is ready, GiB.
    pub(crate) memory_gib: u64,
    pub(crate) key_order: KeyOrder,
    pub(crate) caches: Caches,
    pub(crate) depth: Depth,
    pub(crate) clock: Clock,
}

/// Loading a tokenizer and an engine takes seconds; this is the limit.
const START_SECONDS: u64 = 180;

/// The results of one group of engines, in one chain of workers.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) records: Vec<Record>,
    /// Resident memory before and after loading the engines, KiB.
    pub(crate) loaded_kib: (u64, u64),
}

/// Runs engines in turns over the schemas, the first turn going round.
pub(crate) fn run(
    engines: &[EngineId],
    lines: &[Line],
    settings: &Settings,
    mut progress: impl FnMut(&Record),
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut worker: Option<Worker> = None;
    for (number, line) in lines.iter().enumerate() {
        let mut todo = engines.to_vec();
        todo.rotate_left(number % engines.len().max(1));
        while !todo.is_empty() {
            let current = match worker.as_mut() {
                Some(current) => current,
                None => {
                    let (started, loaded_kib) = Worker::start(engines, settings)?;
                    outcome.loaded_kib = loaded_kib;
                    worker.insert(started)
                }
            };
            let job = Job {
                engines: todo.clone(),
                line: line.text.clone(),
                caches: settings.caches,
                depth: settings.depth,
                clock: settings.clock,
            };
            let lost = current.run_job(&job, settings.timeout, &mut |record| {
                todo.retain(|&engine| engine != record.engine);
                progress(&record);
                outcome.records.push(record);
            })?;
            let Some((engine, stage, loss)) = lost else { break };
            let mut finished = worker.take();
            let loss = finished.as_mut().map_or(loss.clone(), |worker| worker.end(loss));
            let record = lost_record(engine, &line.id, stage, loss);
            todo.retain(|&other| other != engine);
            progress(&record);
            outcome.records.push(record);
        }
    }
    Ok(outcome)
}

fn lost_record(engine: EngineId, id: &str, stage: Stage, loss: Loss) -> Record {
    Record {
        engine,
        id: id.to_owned(),
        schema_bytes: 0,
        instances: 0,
        compile: Compile::Lost { loss, stage },
        replays: Vec::new(),
        peak_kib: 0,
    }
}

struct Worker {
    child: Child,
    input: ChildStdin,
    events: Receiver<Event>,
    /// The last lines of the worker's standard error, for the reason of a crash.
    complaints: Receiver<String>,
}

type Lost = (EngineId, Stage, Loss);

impl Worker {
    fn start(engines: &[EngineId], settings: &Settings) -> Result<(Self, (u64, u64))> {
        let mut child = spawn(engines, settings)?;
        let input = child.stdin.take().context("the worker has no standard input")?;
        let output = child.stdout.take().context("the worker has no standard output")?;
        let errors = child.stderr.take().context("the worker has no standard error")?;
        let (sender, events) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Ok(event) = serde_json::from_str(&line) else { continue };
                if sender.send(event).is_err() {
                    break;
                }
            }
        });
        let (sender, complaints) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut worker = Self { child, input, events, complaints };
        match worker.events.recv_timeout(Duration::from_secs(START_SECONDS)) {
            Ok(Event::Ready { before_kib, after_kib }) => Ok((worker, (before_kib, after_kib))),
            _ => {
                let loss = worker.end(Loss::Crash(String::new()));
                bail!("the worker did not start: {loss:?}")
            }
        }
    }

    /// Runs a job; says who was lost where, if the worker was.
    fn run_job(&mut self, job: &Job, timeout: u64, finished: &mut dyn FnMut(Record)) -> Result<Option<Lost>> {
        let mut place = (job.engines[0], Stage::Compile);
        let mut text = serde_json::to_string(job)?;
        text.push('\n');
        if self.input.write_all(text.as_bytes()).and_then(|()| self.input.flush()).is_err() {
            return Ok(Some((place.0, place.1, Loss::Crash(String::new()))));
        }
        loop {
            match self.events.recv_timeout(Duration::from_secs(timeout)) {
                Ok(Event::Enter { engine, stage }) => place = (engine, stage),
                Ok(Event::Finished(record)) => {
                    if let Some(&next) = job.engines.iter().skip_while(|&&e| e != record.engine).nth(1) {
                        place = (next, Stage::Compile);
                    }
                    finished(*record);
                }
                Ok(Event::JobDone) => return Ok(None),
                Ok(Event::Unreadable(reason)) => bail!("the worker cannot read its job: {reason}"),
                Ok(Event::Ready { .. }) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(Some((place.0, place.1, Loss::Timeout))),
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Some((place.0, place.1, Loss::Crash(String::new()))));
                }
            }
        }
    }

    /// Ends the process and adds to a crash what is known of it.
    fn end(&mut self, loss: Loss) -> Loss {
        if loss == Loss::Timeout {
            // It may have ended by itself in the meantime.
            let _ = self.child.kill();
        }
        let status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        if loss == Loss::Timeout {
            return loss;
        }
        let complaints: Vec<String> = self.complaints.iter().collect();
        let told = complaints.iter().filter(|line| !line.starts_with("note:") && !line.trim().is_empty());
        let last: Vec<&str> = told.map(String::as_str).rev().take(4).collect();
        Loss::Crash(format!("{status}: {}", last.into_iter().rev().collect::<Vec<_>>().join(" ")))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A worker that has ended already cannot be killed or waited for again, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts this very program as a worker, at the highest priority that the system grants.
fn spawn(engines: &[EngineId], settings: &Settings) -> Result<Child> {
    let program = std::env::current_exe()?;
    let build = |mut command: Command| {
        command.arg("worker").arg("--tokenizer").arg(&settings.tokenizer);
        if let Some(end) = &settings.end {
            command.arg("--end").arg(end);
        }
        if let Some(core) = settings.core {
            command.arg("--core").arg(core.to_string());
        }
        command.arg("--memory-gib").arg(settings.memory_gib.to_string());
        command.arg("--key-order").arg(settings.key_order.to_string());
        for engine in engines {
            command.arg("--engine").arg(engine.to_string());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    };
    let mut nice = Command::new("nice");
    nice.args(["-n", "-20"]).arg(&program);
    // `nice` goes on without priority where it is not granted; where there is no `nice`, do without it.
    build(nice).or_else(|_| build(Command::new(&program))).context("cannot start a worker")
}
