//! Compiling in the background, and stopping it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use grammask_grammar_frontends::ebnf::EbnfOptions;
use grammask_grammar_frontends::json_schema::JsonSchemaOptions;
use grammask_grammar_frontends::lark::LarkOptions;
use grammask_grammar_frontends::regex::RegexOptions;
use grammask_grammar_frontends::structural_tag::StructuralTagOptions;
use grammask_grammar_ir::{Interrupt, Interrupted};
use grammask_mask_cache::{TokenId, Vocabulary, VocabularyOptions};
use grammask_matcher::{
    BackgroundCompile, CompileCache, CompileError, CompiledGrammar, Compiler, StopTokens, Threads,
};

fn compiler(threads: usize) -> Compiler {
    let tokens = (0..=255u8).map(|byte| Some(vec![byte])).chain([None]);
    let vocabulary = Vocabulary::from_tokens(tokens, &VocabularyOptions::default().stop_ids([256])).unwrap();
    Compiler::builder(vocabulary).threads(Arc::new(Threads::new(threads))).build()
}

fn regex(compiler: &Compiler) -> Result<CompiledGrammar, CompileError> {
    compiler.regex("ab*", &RegexOptions::default())
}

/// Something that a thread of the pool compiles, which does not go on before it is allowed to.
fn held(compiler: &Compiler) -> (BackgroundCompile, mpsc::Sender<()>) {
    let ((go, wait), (begun, has_begun)) = (mpsc::channel(), mpsc::channel());
    let pending = compiler.compile_in_background(move |compiler| {
        begun.send(()).unwrap();
        let _ = wait.recv();
        regex(compiler)
    });
    has_begun.recv().unwrap();
    (pending, go)
}

#[test]
fn a_matcher_begins_before_its_grammar_is_there() {
    let compiler = compiler(1);
    assert!(!compiler.threads().is_started());
    let (pending, go) = held(&compiler);
    let stop = StopTokens::Own([TokenId::new(99).unwrap()].into());
    let mut matcher = pending.matcher().with_stop_tokens(stop.clone());
    let other = matcher.clone();
    assert!(compiler.threads().is_started());
    assert!(matcher.try_get().is_none() && pending.try_get().is_none() && !pending.is_ready());
    go.send(()).unwrap();
    let matcher = matcher.get().unwrap();
    matcher.accept_bytes(b"abb").unwrap();
    assert_eq!(matcher.stop_tokens(), &stop);
    assert!(pending.is_ready() && pending.try_get().unwrap().is_ok());
    assert!(other.with_stop_tokens(StopTokens::None).try_get().unwrap().is_ok());
}

#[test]
fn who_waits_compiles_what_nobody_has_begun() {
    let none = compiler(0);
    let pending = none.compile_in_background(regex);
    assert!(!pending.is_ready() && !none.threads().is_started());
    assert!(pending.wait().is_ok() && pending.is_ready());
    // The only thread is busy for as long as the first one is held.
    let one = compiler(1);
    let (held, go) = held(&one);
    let second = one.compile_in_background(regex);
    assert!(second.wait().is_ok());
    assert!(!held.is_ready());
    go.send(()).unwrap();
    assert!(held.wait().is_ok());
}

#[test]
fn cancelling_releases_who_waits() {
    let compiler = compiler(1);
    let (pending, go) = held(&compiler);
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            barrier.wait();
            pending.wait()
        });
        barrier.wait();
        pending.cancel();
        assert_eq!(waiting.join().unwrap().unwrap_err().interrupted(), Some(Interrupted::Cancelled));
    });
    drop(go);
    assert_eq!(pending.try_get().unwrap().unwrap_err().interrupted(), Some(Interrupted::Cancelled));
    assert!(compiler.compile_in_background(regex).wait().is_ok(), "the compiler goes on");
}

#[test]
fn a_deadline_that_passed_before_the_work_began() {
    let compiler = compiler(0).with_interrupt(Interrupt::when(|| true));
    let pending = compiler.compile_in_background(regex);
    assert_eq!(pending.try_get().unwrap().unwrap_err().interrupted(), Some(Interrupted::Deadline));
    assert_eq!(pending.wait().unwrap_err().interrupted(), Some(Interrupted::Deadline));
    assert_eq!(regex(&compiler).unwrap_err().interrupted(), Some(Interrupted::Deadline));
}

#[test]
fn a_mistake_in_the_work_is_told_to_who_waits() {
    let compiler = compiler(1);
    let pending = compiler.compile_in_background(move |_| panic!("on purpose"));
    while !pending.is_ready() {
        std::thread::yield_now();
    }
    let error = pending.wait().unwrap_err();
    assert!(error.to_string().contains("without an answer"), "{error}");
    let (other, go) = held(&compiler);
    drop(go);
    assert!(other.wait().is_ok(), "the threads go on");
}

#[test]
fn equal_requests_compile_once() {
    let (compiler, compiled) = (compiler(3), Arc::new(AtomicUsize::new(0)));
    let cache = Arc::new(CompileCache::new(None));
    let pending: Vec<BackgroundCompile> = (0..12)
        .map(|_| {
            let (cache, compiled) = (Arc::clone(&cache), Arc::clone(&compiled));
            compiler.compile_in_background(move |compiler| {
                let make = || {
                    compiled.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(5));
                    regex(compiler)
                };
                cache.get_or_compile("ab*", |_: &CompiledGrammar| 1, make)
            })
        })
        .collect();
    assert!(pending.iter().all(|pending| pending.wait().is_ok()));
    assert_eq!(compiled.load(Ordering::Relaxed), 1);
}

/// A cancelled caller does not spoil the compilation for others that want the same.
#[test]
fn a_cancelled_request_leaves_equal_ones_alone() {
    let compiler = compiler(2);
    let cache = Arc::new(CompileCache::new(None));
    let (started, has_started) = mpsc::channel();
    let in_cache = Arc::clone(&cache);
    let first = compiler.compile_in_background(move |compiler| {
        let make = || {
            let _ = started.send(());
            while compiler.interrupt().check().is_ok() {
                std::thread::yield_now();
            }
            regex(compiler)
        };
        in_cache.get_or_compile("ab*", |_: &CompiledGrammar| 1, make)
    });
    has_started.recv().unwrap();
    let second = compiler.compile_in_background(move |compiler| {
        cache.get_or_compile("ab*", |_: &CompiledGrammar| 1, || regex(compiler))
    });
    first.cancel();
    assert!(first.wait().is_err());
    assert!(second.wait().is_ok());
}

type Compile = Box<dyn Fn(&Compiler) -> Result<CompiledGrammar, CompileError>>;

/// Structures that take long to compile, each for another reason.
fn long() -> Vec<(&'static str, Compile)> {
    let schema = |schema: String| {
        Box::new(move |compiler: &Compiler| compiler.json_schema(&schema, &JsonSchemaOptions::default()))
            as Compile
    };
    // Schemas that say the same are read once: these say something else about strings.
    let objects = |count: usize, least: usize| {
        let one = |number| {
            let properties = format!(r#"{{"p{number}": {{"type": "integer"}}, "q": {{"const": {number}}}}}"#);
            format!(r#"{{"properties": {properties}, "minLength": {least}}}"#)
        };
        (0..count).map(one).collect::<Vec<_>>().join(",")
    };
    let distinct = |before: &str, after: &str| {
        (10_000..14_000).map(|number| format!("{before}{number}{after}")).collect::<Vec<_>>().join(",")
    };
    let rules: String = (0..2_000).fold("root ::= r0\n".to_owned(), |text, number| {
        let next = (number + 1) % 2_000;
        text + &format!("r{number} ::= \"x{number}\" r{next}? | \"y\" [a-f]{{3,9}}\n")
    });
    let in_lark: String = (0..4_000).fold("start: r0\n".to_owned(), |text, number| {
        text + &format!("r{number}: \"x{number}\" r{}? | /y[a-f]{{3,9}}/\n", (number + 1) % 4_000)
    });
    vec![
        ("branches", schema(format!(r#"{{"oneOf": [{}]}}"#, objects(120, 0)))),
        (
            "products",
            schema(format!(
                r#"{{"allOf": [{}]}}"#,
                (0..4)
                    .map(|least| format!(r#"{{"anyOf": [{}]}}"#, objects(24, least)))
                    .collect::<Vec<_>>()
                    .join(",")
            )),
        ),
        (
            "automata",
            schema(
                r#"{"allOf": [{"pattern": "a.{8}$"}, {"not": {"pattern": "b.{7}$"}}, {"pattern": "c.{6}"}]}"#
                    .into(),
            ),
        ),
        ("words", schema(format!(r#"{{"enum": [{}]}}"#, distinct(r#""constant number "#, r#"""#)))),
        ("numbers", schema(format!(r#"{{"enum": [{}]}}"#, distinct("0.50", "")))),
        ("one text", schema(format!(r#"{{"const": "{}"}}"#, "text ".repeat(40_000)))),
        // The place of the refusal is looked for in the schema.
        (
            "refused",
            schema(format!(
                r#"{{"properties": {{{}, "z": {{"not": {{"pattern": "a[ab]{{20}}$"}}}}}}}}"#,
                distinct(r#""p"#, r#"": {"minimum": 2}"#)
            )),
        ),
        ("rules", Box::new(move |compiler| compiler.ebnf(&rules, &EbnfOptions::default()))),
        ("rules in Lark", Box::new(move |compiler| compiler.lark(&in_lark, &LarkOptions::default()))),
    ]
}

/// A schema inside of another source is read under the deadline as one by itself is.
#[test]
fn interrupts_reach_schemas_in_other_sources() {
    let objects =
        (0..300).map(|at| format!(r#""p{at}": {{"anyOf": [{{"const": {at}}}, {{"type": "null"}}]}}"#));
    let schema = format!(r#"{{"properties": {{{}}}}}"#, objects.collect::<Vec<_>>().join(","));
    let tag = format!(
        r#"{{"type": "structural_tag", "format": {{"type": "json_schema", "json_schema": {schema}}}}}"#
    );
    let lark = format!("start: %json {schema}");
    let checks = |compile: &dyn Fn(&Compiler) -> Result<CompiledGrammar, CompileError>| {
        let checks = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&checks);
        let interrupt = Interrupt::when(move || counted.fetch_add(1, Ordering::Relaxed) == usize::MAX);
        compile(&compiler(0).with_interrupt(interrupt)).unwrap();
        checks.load(Ordering::Relaxed)
    };
    let alone = checks(&|compiler| compiler.json_schema(&schema, &JsonSchemaOptions::default()));
    assert!(alone > 10, "{alone} checks");
    let in_lark = checks(&|compiler| compiler.lark(&lark, &LarkOptions::default()));
    assert!(in_lark * 10 >= alone * 9, "{in_lark} checks, {alone} without Lark");
    let in_tag = checks(&|compiler| compiler.structural_tag(&tag, &StructuralTagOptions::default()));
    assert!(in_tag * 10 >= alone * 9, "{in_tag} checks, {alone} without a tag");
}

/// Whenever the deadline passes, the work ends with an error that says so, and never with another answer.
#[test]
fn interrupts_reach_into_long_work() {
    for (name, compile) in long() {
        let checks = Arc::new(AtomicUsize::new(0));
        let run = |most: usize| {
            checks.store(0, Ordering::Relaxed);
            let checks = Arc::clone(&checks);
            let interrupt = Interrupt::when(move || checks.fetch_add(1, Ordering::Relaxed) >= most);
            compile(&compiler(0).with_interrupt(interrupt))
        };
        let alone = run(usize::MAX).err().map(|error| error.to_string());
        let all = checks.load(Ordering::Relaxed);
        assert!(all > 30, "{name}: only {all} checks");
        for most in [0, 1, 2, all / 3, all / 2, all - 1] {
            let error = run(most).unwrap_err();
            assert_eq!(
                error.interrupted(),
                Some(Interrupted::Deadline),
                "{name} at {most} of {all}: {error}"
            );
            assert!(error.to_string().contains("deadline"), "{error}");
            assert_eq!(checks.load(Ordering::Relaxed), most + 1, "{name}: it ends at once");
        }
        assert_eq!(run(all).err().map(|error| error.to_string()), alone, "{name}");
    }
}
