//! Puts every hostile shape to both backends and holds each call to the rule: `cargo xtask hostile`.
//!
//! Each input runs in a process of its own, with limits on its time and memory. It measures its calls itself, in user time
//! of the processor, and writes them to its standard output; a process that dies has named the call that it died in. Other
//! programs disturb measurements, so that a figure over the rule is measured up to five times, and the best counts.
#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use grammask_corpus::hostile::{
    Calls, End, Input, MAX_POWER, Meter, SEED, Shape, largest, longest, power, run, shapes, vocabulary,
};
use grammask_matcher::Compiler;
use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};

/// Holds hostile inputs to the rule of SECURITY.md.
#[derive(Parser)]
#[command(name = "hostile")]
struct Arguments {
    /// Only the shapes whose names contain one of these.
    parts: Vec<String>,
    /// Only one backend.
    #[arg(long)]
    backend: Option<Backend>,
    /// Only one size; it need not be one of the shape's own.
    #[arg(long)]
    size: Option<usize>,
    /// How many of the shapes are left out at the beginning.
    #[arg(long, default_value_t = 0)]
    skip: usize,
    /// How many shapes are tried at most.
    #[arg(long, default_value_t = usize::MAX)]
    count: usize,
    /// The seed of random parts.
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// How often a figure over the rule is measured at most.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Rows of the table of the dearest calls.
    #[arg(long, default_value_t = 30)]
    worst: usize,
    /// Prints the names and sizes of the shapes, and runs nothing.
    #[arg(long)]
    list: bool,
    /// Prints the source of the one shape and size.
    #[arg(long, requires = "size")]
    source: bool,
    /// Runs one input in this process.
    #[arg(long, hide = true, requires = "size", requires = "backend")]
    child: bool,
    /// Cargo says so to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Backend {
    Earley,
    Pda,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if arguments.child {
        return child(&arguments);
    }
    let is_meant =
        |name: &str| arguments.parts.is_empty() || arguments.parts.iter().any(|part| name.contains(part));
    let mut meant: Vec<Shape> = shapes().into_iter().filter(|shape| is_meant(&shape.name)).collect();
    meant = meant.into_iter().skip(arguments.skip).take(arguments.count).collect();
    ensure!(!meant.is_empty(), "no shape has a name that contains one of {:?}", arguments.parts);
    if arguments.list {
        meant.iter().for_each(|shape| println!("{} {:?}", shape.name, shape.sizes));
        println!("{} shapes", meant.len());
        return Ok(());
    }
    if let (true, Some(size)) = (arguments.source, arguments.size) {
        print!("{}", meant[0].input(size, arguments.seed).source);
        return Ok(());
    }
    let mut judge = Judge::default();
    for shape in &meant {
        for backend in [Backend::Earley, Backend::Pda] {
            if arguments.backend.is_none_or(|only| only == backend) {
                try_shape(shape, backend, &arguments, &mut judge)?;
            }
        }
    }
    println!("{}", judge.table(arguments.worst));
    println!("{} shapes, {} inputs", meant.len(), judge.inputs);
    ensure!(judge.problems == 0, "the rule is broken {} times, see above", judge.problems);
    Ok(())
}

// ---- The process of one input ----

/// Address space of the process of one input.
const MAX_MEMORY: u64 = 3 << 30;

fn child(arguments: &Arguments) -> Result<()> {
    let name = arguments.parts.first().context("a name is needed")?;
    let shape = shapes().into_iter().find(|shape| shape.name == *name).context("there is no such shape")?;
    let input = shape.input(arguments.size.unwrap_or(shape.sizes[0]), arguments.seed);
    let seconds = processor_seconds(&input);
    setrlimit(Resource::RLIMIT_CPU, seconds, seconds)?;
    setrlimit(Resource::RLIMIT_AS, MAX_MEMORY, MAX_MEMORY)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    let mut meter = ProcessMeter::default();
    let builder = Compiler::builder(vocabulary()?);
    let end = match arguments.backend {
        Some(Backend::Pda) => run(&builder.backend::<grammask_pda::Engine>().build(), &input, &mut meter),
        _ => run(&builder.build(), &input, &mut meter),
    };
    for (name, figures) in &meter.calls {
        let Figures { calls, slowest, total, written, peak } = figures;
        let (slowest, total) = (slowest.as_micros(), total.as_micros());
        println!("call\t{name}\t{calls}\t{slowest}\t{total}\t{written}\t{peak}");
    }
    match end {
        End::Answered => println!("end\tanswered\t"),
        End::Refused(message) => println!("end\trefused\t{message}"),
        End::Limit(call, message) => println!("end\tlimit\t{call}: {message}"),
    }
    Ok(())
}

/// The processor time of a whole process, in seconds. The process makes several calls, each of which may take the longest
/// time that is allowed, and repeats some calls along a text.
fn processor_seconds(input: &Input) -> u64 {
    let calls = if input.calls == Calls::Visit { 4 } else { 12 };
    calls * longest(input.source.len() + input.text.len()).as_secs() + ENOUGH.as_secs() + 6
}

/// Calls along a text are repeated until they took so long together: thousands of masks of some milliseconds obey the rule.
const ENOUGH: Duration = Duration::from_secs(15);

/// The figures of the calls of one name.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    calls: usize,
    slowest: Duration,
    total: Duration,
    /// Bytes of the texts that they answered with.
    written: usize,
    /// Memory of the process after them at most, in bytes.
    peak: u64,
}

/// Measures with the figures that the system keeps of this process.
#[derive(Default)]
struct ProcessMeter {
    calls: BTreeMap<&'static str, Figures>,
    last: &'static str,
    total: Duration,
}

impl Meter for ProcessMeter {
    fn measure<T>(&mut self, name: &'static str, calls: usize, run: impl FnOnce() -> T) -> T {
        if !self.calls.contains_key(name) {
            println!("begin\t{name}");
            // Where nobody reads any more there is nobody to tell.
            let _ = std::io::stdout().flush();
        }
        let (before, _) = usage();
        let result = run();
        let (after, peak) = usage();
        let taken = after.saturating_sub(before);
        self.total += taken;
        self.last = name;
        let figures = self.calls.entry(name).or_default();
        figures.calls += calls;
        figures.slowest = figures.slowest.max(taken / u32::try_from(calls).unwrap_or(1).max(1));
        figures.total += taken;
        figures.peak = figures.peak.max(peak);
        result
    }

    fn written(&mut self, bytes: usize) {
        self.calls.entry(self.last).or_default().written += bytes;
    }

    fn is_full(&self) -> bool {
        self.total > ENOUGH
    }
}

/// User time, and the most memory so far in bytes.
fn usage() -> (Duration, u64) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return (Duration::ZERO, 0) };
    let time = usage.user_time();
    let microseconds = time.tv_sec() * 1_000_000 + time.tv_usec();
    let peak = u64::try_from(usage.max_rss()).unwrap_or(0) * 1024;
    (Duration::from_micros(u64::try_from(microseconds).unwrap_or(0)), peak)
}

// ---- The process that starts the others ----

/// How one input went.
#[derive(Clone, Debug, Default)]
struct Outcome {
    calls: BTreeMap<String, Figures>,
    /// `answered`, `refused` or `limit`; anything else is how the process died.
    end: String,
    message: String,
}

impl Outcome {
    fn died(&self) -> bool {
        !["answered", "refused", "limit"].contains(&self.end.as_str())
    }

    /// Keeps the lower figures of two runs.
    fn merge(&mut self, other: &Self) {
        for (name, figures) in &mut self.calls {
            if let Some(again) = other.calls.get(name) {
                figures.slowest = figures.slowest.min(again.slowest);
                figures.total = figures.total.min(again.total);
                figures.peak = figures.peak.min(again.peak);
            }
        }
    }
}

/// A process that neither works nor ends is stopped after so long. Others may keep the processor busy: its own time is
/// bounded by the system.
const PATIENCE: Duration = Duration::from_secs(900);

/// The number of the signal that a process cannot catch.
const KILLED: i32 = 9;

fn try_input(shape: &Shape, input: &Input, backend: Backend) -> Result<Outcome> {
    let (seconds, size, seed) = (processor_seconds(input), input.size, input.seed);
    let backend = backend.to_possible_value().context("every backend has a name")?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--child", "--backend", backend.get_name(), "--size", &size.to_string()]);
    command.args(["--seed", &seed.to_string(), "--", &shape.name]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let lines = lines_of(&mut child)?;
    let mut outcome = Outcome::default();
    let mut last = String::new();
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                if let Some(name) = line.strip_prefix("begin\t") {
                    last = name.to_owned();
                }
                read_line(&line, &mut outcome);
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                child.kill()?;
                outcome.end = "hangs".to_owned();
            }
        }
    }
    let status = child.wait()?;
    if !status.success() {
        let mut complaint = String::new();
        child.stderr.take().context("standard error was asked for")?.read_to_string(&mut complaint)?;
        let told = complaint.lines().find(|line| !line.trim().is_empty() && !line.starts_with("thread"));
        if outcome.end != "hangs" {
            outcome.end = match status.signal() {
                // The system's way of saying that the time is up; nobody else sends it.
                Some(KILLED) => format!("is stopped after {seconds} s"),
                _ => format!("dies of {status}"),
            };
        }
        outcome.message = format!("in `{last}`: {}", told.unwrap_or_default());
    }
    Ok(outcome)
}

/// The lines that a process writes, from a thread of their own so that one can stop waiting.
fn lines_of(child: &mut Child) -> Result<Receiver<String>> {
    let output = child.stdout.take().context("standard output was asked for")?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(receiver)
}

fn read_line(line: &str, outcome: &mut Outcome) {
    let fields: Vec<&str> = line.split('\t').collect();
    match fields[..] {
        ["call", name, calls, slowest, total, written, peak] => {
            let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
            let figures = Figures {
                calls: calls.parse().unwrap_or(0),
                slowest: Duration::from_micros(number(slowest)),
                total: Duration::from_micros(number(total)),
                written: written.parse().unwrap_or(0),
                peak: number(peak),
            };
            outcome.calls.insert(name.to_owned(), figures);
        }
        ["end", end, ref message @ ..] => {
            outcome.end = end.to_owned();
            outcome.message = message.join(" ");
        }
        _ => {}
    }
}

/// Times below this say little about how they grow.
const FLOOR: f64 = 0.02;

/// The findings.
#[derive(Default)]
struct Judge {
    inputs: usize,
    problems: usize,
    /// The dearest calls, as a share of what they may take.
    rows: Vec<(f64, String)>,
}

impl Judge {
    fn problem(&mut self, text: &str) {
        println!("{text}");
        self.problems += 1;
    }

    fn table(&mut self, rows: usize) -> String {
        self.rows.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut text = "\nshare of the rule, the dearest call of each input\n".to_owned();
        for (share, row) in self.rows.iter().take(rows) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:>5.0}%  {row}", share * 100.0);
        }
        text
    }
}

/// A size, with the length of its input and how it went.
type Tried = (usize, usize, Outcome);

fn try_shape(shape: &Shape, backend: Backend, arguments: &Arguments, judge: &mut Judge) -> Result<()> {
    let sizes: BTreeSet<usize> = arguments.size.map_or(shape.sizes.into(), |size| [size].into());
    let mut before: Option<Tried> = None;
    for size in sizes {
        let input = shape.input(size, arguments.seed);
        let bytes = input.source.len() + input.text.len();
        let length = bytes + input.states;
        let title = format!("{backend:?} {}, size {size} ({bytes} bytes)", shape.name);
        let mut outcome = try_input(shape, &input, backend)?;
        judge.inputs += 1;
        for _ in 1..arguments.runs {
            let grows =
                before.as_ref().is_some_and(|before| growth(before, size, length, &outcome).is_some());
            if outcome.died() || (over(&outcome, bytes).is_none() && !grows) {
                break;
            }
            outcome.merge(&try_input(shape, &input, backend)?);
        }
        let (share, dearest) = share(&outcome, bytes);
        judge.rows.push((share, format!("{title}: {dearest}, {} {}", outcome.end, outcome.message)));
        if outcome.died() {
            judge.problem(&format!("{title} {} {}", outcome.end, outcome.message));
            break;
        }
        if let Some(over) = over(&outcome, bytes) {
            judge.problem(&format!("{title} {over}, {} {}", outcome.end, outcome.message));
        }
        if let Some(growth) = before.as_ref().and_then(|before| growth(before, size, length, &outcome)) {
            judge.problem(&format!("{title} {growth}"));
        }
        // A call that was cut short by a limit says nothing about the rest.
        if outcome.end != "answered" {
            before = None;
            continue;
        }
        before = Some((size, length, outcome));
    }
    Ok(())
}

/// The largest share of the rule that a call took, and which call that was.
fn share(outcome: &Outcome, bytes: usize) -> (f64, String) {
    let mut dearest = (0.0, String::new());
    for (name, figures) in &outcome.calls {
        let share = f64::max(
            figures.slowest.as_secs_f64() / longest(bytes).as_secs_f64(),
            figures.peak as f64 / largest(bytes) as f64,
        );
        if share > dearest.0 {
            dearest = (share, format!("{name} {}", shown(figures)));
        }
    }
    dearest
}

fn shown(figures: &Figures) -> String {
    format!("{:.3} s and {} MiB", figures.slowest.as_secs_f64(), figures.peak >> 20)
}

/// The first call over the rule, if there is one.
fn over(outcome: &Outcome, bytes: usize) -> Option<String> {
    let (name, figures) = outcome
        .calls
        .iter()
        .find(|(_, figures)| figures.slowest > longest(bytes) || figures.peak > largest(bytes))?;
    Some(format!("takes {} in `{name}`", shown(figures)))
}

/// The first call that takes more than it may after a smaller input. A text of twice the length has twice the calls along
/// it, and the rule is one of calls: as many of them are compared as the smaller input had. A text that is written is as
/// long as it has to be, and counts like one that is read.
fn growth(before: &Tried, size: usize, length: usize, outcome: &Outcome) -> Option<String> {
    let (smaller, shorter, earlier) = before;
    outcome.calls.iter().find_map(|(name, figures)| {
        let before = earlier.calls.get(name)?;
        let with_texts =
            |length: usize, figures: &Figures| (length + figures.written / figures.calls.max(1)) as f64;
        // Where neither the source nor a text grows, a number in it does.
        let grown = with_texts(length, figures) / with_texts(*shorter, before);
        let grown = grown.max(size as f64 / *smaller as f64);
        let more_calls = (figures.calls as f64 / before.calls.max(1) as f64).max(1.0);
        let first = before.total.as_secs_f64();
        let last = figures.total.as_secs_f64() / more_calls;
        let found = power((1.0, grown), (first, last), FLOOR);
        (found > MAX_POWER).then(|| {
            let calls = before.calls;
            format!("grows with N^{found:.2} in `{name}`: {calls} calls take {first:.3} s, then {last:.3} s")
        })
    })
}
