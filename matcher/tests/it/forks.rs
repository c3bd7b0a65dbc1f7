//! A process that was forked has one thread: locks of the others are never released, and their work is never done.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use grammask_grammar_frontends::json_schema::JsonSchemaOptions;
use grammask_grammar_frontends::regex::RegexOptions;
use grammask_mask_cache::{TokenSets, Vocabulary, VocabularyOptions};
use grammask_matcher::{
    BatchMatcher, BatchRow, CompileCache, CompileError, CompiledGrammar, Compiler, Threads,
};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

/// A child that takes longer hangs.
const SECONDS: u32 = 20;

/// Whether work that is done in a child is done, and said to be right.
#[expect(unsafe_code, reason = "forking is the matter of the test")]
fn is_right_in_child(work: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs the library's code, and the allocator survives a fork.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            // SAFETY: a signal that nobody handles ends the process.
            unsafe { nix::libc::alarm(SECONDS) };
            let status = i32::from(!work());
            // SAFETY: it ends the process, without what the tests have to clean up.
            unsafe { nix::libc::_exit(status) }
        }
        ForkResult::Parent { child } => waitpid(child, None).unwrap() == WaitStatus::Exited(child, 0),
    }
}

fn compiler() -> Compiler {
    let tokens = (0..=255u8).map(|byte| Some(vec![byte])).chain([None]);
    let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([256])).unwrap();
    Compiler::builder(vocabulary).threads(Arc::new(Threads::new(2))).build()
}

fn regex(compiler: &Compiler) -> Result<CompiledGrammar, CompileError> {
    compiler.regex("ab*", &RegexOptions::default())
}

fn reads_ab(grammar: &CompiledGrammar) -> bool {
    grammar.matcher().accept_bytes(b"ab").is_ok()
}

#[test]
fn a_child_compiles_what_its_parent_was_compiling() {
    let (compiler, cache) = (compiler(), Arc::new(CompileCache::new(None)));
    let get = |cache: &CompileCache<CompiledGrammar>, compile: &dyn Fn() -> _| {
        cache.get_or_compile::<CompileError>("ab*", |grammar| grammar.usage().table_bytes, compile)
    };
    let ((go, wait), (begun, has_begun)) = (mpsc::channel(), mpsc::channel());
    let parent = {
        let (compiler, cache) = (compiler.clone(), Arc::clone(&cache));
        std::thread::spawn(move || {
            let compile = || {
                begun.send(()).unwrap();
                let _ = wait.recv();
                regex(&compiler)
            };
            get(&cache, &compile).is_ok()
        })
    };
    has_begun.recv().unwrap();
    let is_right = is_right_in_child(|| {
        let fresh = get(&cache, &|| regex(&compiler)).is_ok_and(|grammar| reads_ab(&grammar));
        // The second time it is there.
        fresh && get(&cache, &|| unreachable!()).is_ok_and(|grammar| reads_ab(&grammar))
    });
    go.send(()).unwrap();
    assert!(parent.join().unwrap() && is_right);
}

#[test]
fn a_child_starts_threads_of_its_own() {
    let compiler = compiler();
    assert!(reads_ab(&compiler.compile_in_background(regex).wait().unwrap()));
    let batch = BatchMatcher::new(Arc::clone(compiler.threads()));
    assert!(compiler.threads().is_started());
    assert!(is_right_in_child(|| {
        if compiler.threads().is_started() {
            return false;
        }
        let (send, receive) = mpsc::channel();
        let pending = compiler.compile_in_background(move |compiler| {
            send.send(std::thread::current().name().map(str::to_owned)).unwrap();
            compiler.json_schema(r#"{"type": "string"}"#, &JsonSchemaOptions::default())
        });
        // Not asked for: a thread has to come by itself.
        let name = receive.recv().unwrap();
        let grammars = [regex(&compiler).unwrap(), pending.wait().unwrap()];
        let mut matchers = grammars.map(|grammar| grammar.matcher());
        let mut words = [[0; 9]; 2];
        let rows = matchers.iter_mut().zip(&mut words);
        let mut rows: Vec<_> = rows.map(|(matcher, words)| BatchRow { matcher, words }).collect();
        let filled = batch.fill(&mut rows).iter().all(Result::is_ok);
        name.is_some_and(|name| name.starts_with("grammask-")) && filled
    }));
}

#[test]
fn a_child_does_not_wait_for_threads_of_its_parent() {
    let compiler = compiler();
    let ((go, wait), (begun, has_begun)) = (mpsc::channel::<()>(), mpsc::channel());
    let running = compiler.compile_in_background(move |compiler| {
        begun.send(()).unwrap();
        let _ = wait.recv();
        regex(compiler)
    });
    has_begun.recv().unwrap();
    let is_right = is_right_in_child(|| {
        let error = running.wait().map(drop).unwrap_err();
        error.to_string().contains("compile it here") && regex(&compiler).is_ok()
    });
    go.send(()).unwrap();
    assert!(is_right && running.wait().is_ok());
}

/// Forks while another thread does something for the first time: whether the child can do it.
fn is_right_beside(
    first: impl FnOnce() + Send + 'static,
    later: Duration,
    in_child: impl FnOnce() -> bool,
) -> bool {
    let thread = std::thread::spawn(first);
    std::thread::sleep(later);
    is_right_in_child(in_child) && thread.join().is_ok()
}

#[test]
fn a_child_makes_what_its_parent_was_making_for_the_process() {
    let compiler = compiler();
    let compile = move |format: &str| {
        let schema = format!(r#"{{"type": "string", "format": "{format}"}}"#);
        assert!(compiler.json_schema(&schema, &JsonSchemaOptions::default()).is_ok());
    };
    // No other test has these formats, whose grammars are made once for a process.
    for format in ["iri", "iri-reference", "uri-template"] {
        let (in_parent, in_child) = (compile.clone(), compile.clone());
        let is_right = is_right_beside(
            move || in_parent(format),
            Duration::from_micros(500),
            || {
                in_child(format);
                true
            },
        );
        assert!(is_right, "{format}");
    }
}

#[test]
fn a_child_makes_what_its_parent_was_making_for_the_vocabulary() {
    let words = (0..30_000u32).map(|id| Some(format!("{id:x}\",").into_bytes()));
    let tokens: Vec<_> = words.chain((0..=255u8).map(|byte| Some(vec![byte]))).chain([None]).collect();
    let options = VocabularyOptions::default().stop_ids([30_256]);
    for round in 0..8 {
        let vocabulary = Arc::new(Vocabulary::from_tokens(tokens.iter().cloned(), &options).unwrap());
        let sets = TokenSets::shared(&vocabulary);
        let in_parent = Arc::clone(&sets);
        let is_right = is_right_beside(
            move || in_parent.prepare(),
            Duration::from_micros(400 * round),
            || {
                sets.prepare();
                true
            },
        );
        assert!(is_right, "after {round}");
    }
}
