//! Hostile input is answered within a second and 500 MiB, on a small stack, and leaves nothing broken.
//!
//! Full sizes are tested in release builds, and in others if `GRAMMASK_FULL_BOUNDS` is set; otherwise smaller
//! ones, so that the suite takes seconds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use grammask::ebnf::EbnfOptions;
use grammask::gbnf::GbnfOptions;
use grammask::json_schema::JsonSchemaOptions;
use grammask::regex::RegexOptions;
use grammask::{
    Color, CompileError, CompiledGrammar, Compiler, MatchError, Matcher, TokenId, TokenMask, Vocabulary,
    VocabularyOptions,
};

use crate::common::{compiler, ids, vocabulary};
use crate::memory::peak_of;

const MEBIBYTE: usize = 1 << 20;
const MOST_MEMORY: usize = 500 * MEBIBYTE;
/// Servers run requests on threads whose stacks are small; the standard library's default is 2 MiB.
const STACK: usize = 512 << 10;

fn is_full() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("GRAMMASK_FULL_BOUNDS").is_some()
}

/// The size to test with: the full one, or a tenth.
fn sized(full: usize) -> usize {
    if is_full() { full } else { full / 10 }
}

/// Unoptimised code is about ten times slower, and machines that run tests are shared.
fn longest() -> Duration {
    Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 })
}

/// The time that this thread has run, where the system says so. Other processes cannot make a test fail then.
fn thread_time(start: Instant) -> Duration {
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Runs something on a thread with a small stack, and asserts that it takes no more than it may.
fn bounded<T: Send>(what: &str, run: impl FnOnce() -> T + Send) -> T {
    let measured = || {
        let start = Instant::now();
        let before = thread_time(start);
        let (result, peak) = peak_of(run);
        (result, thread_time(start).saturating_sub(before), peak)
    };
    let (result, time, peak) = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, measured).unwrap();
        thread.join().unwrap_or_else(|_| panic!("{what}: panicked"))
    });
    println!("{:>9.1} ms {:>7.1} MiB  {what}", time.as_secs_f64() * 1e3, peak as f64 / MEBIBYTE as f64);
    assert!(time < longest(), "{what} took {time:?}");
    assert!(peak < MOST_MEMORY, "{what} took {peak} bytes");
    result
}

#[derive(Clone, Copy, Debug)]
enum Syntax {
    Ebnf,
    Gbnf,
    Regex,
    Schema,
}

const SYNTAXES: [Syntax; 4] = [Syntax::Ebnf, Syntax::Gbnf, Syntax::Regex, Syntax::Schema];

fn compile(syntax: Syntax, source: &str) -> Result<CompiledGrammar, CompileError> {
    match syntax {
        Syntax::Ebnf => compiler().ebnf(source, &EbnfOptions::default()),
        Syntax::Gbnf => compiler().gbnf(source, &GbnfOptions::default()),
        Syntax::Regex => compiler().regex(source, &RegexOptions::default()),
        Syntax::Schema => compiler().json_schema(source, &JsonSchemaOptions::default()),
    }
}

/// The first characters of a source, for messages.
fn title(syntax: Syntax, source: &str) -> String {
    let start: String = source.chars().take(50).map(|c| if c.is_control() { '?' } else { c }).collect();
    format!("{syntax:?} {} bytes {start}", source.len())
}

/// Compiles within bounds; an error renders within bounds, too.
fn attempt(syntax: Syntax, source: &str) -> Result<CompiledGrammar, String> {
    let title = title(syntax, source);
    let result = bounded(&title, || compile(syntax, source));
    still_works();
    result.map_err(|error| {
        let report = bounded(&format!("report of {title}"), || {
            let message = error.to_string();
            match error.diagnostics() {
                Some(diagnostics) => {
                    let rendered = diagnostics.render(source, "source", Color::Never);
                    assert!(rendered.len() < 100_000, "a report is for reading: {}", rendered.len());
                    rendered
                }
                None => message,
            }
        });
        println!("{}", error.to_string().chars().take(300).collect::<String>());
        report
    })
}

/// The shared compiler serves others as before.
fn still_works() {
    let grammar = compile(Syntax::Regex, "[0-9]{3}").unwrap();
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(b"12").unwrap();
    let mask = matcher.mask().unwrap().to_mask(grammar.vocabulary());
    assert_eq!(mask.count(), 12, "ten digits as bytes, and `0` and `1` once more as words");
}

/// Follows a grammar for some steps: each call within bounds. Calls may fail with a limit, and then leave the
/// matcher usable.
fn follow(what: &str, grammar: &CompiledGrammar, text: &[u8]) {
    let mut matcher = grammar.matcher();
    let mut mask = TokenMask::new(grammar.vocabulary().len());
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..2 {
        if round == 1 {
            let accepted = bounded(&format!("{what}: text"), || matcher.accept_bytes(text));
            println!("{accepted:?}");
        }
        for step in 0..8 {
            let kind = bounded(&format!("{what}: mask {step}"), || matcher.fill_mask(&mut mask));
            let Ok(_) = kind else {
                println!("{kind:?}");
                assert!(matches!(kind, Err(MatchError::Limit(_))), "{what}: {kind:?}");
                break;
            };
            let allowed: Vec<TokenId> = mask.iter().collect();
            let token = allowed[random.usize(..allowed.len())];
            let accepted = bounded(&format!("{what}: accept"), || matcher.accept_token(token));
            assert!(accepted.is_ok(), "{what}: {accepted:?}");
            if matcher.is_terminated() {
                matcher.rollback(1).unwrap();
                break;
            }
        }
        let forced = bounded(&format!("{what}: jump"), || matcher.jump_forward());
        println!("forced {:?}", forced.map(|forced| forced.len()));
        let ending = bounded(&format!("{what}: ending"), || matcher.shortest_ending(100_000));
        println!("ending {:?}", ending.map(|ending| ending.map(|ending| ending.len())));
        let _ = bounded(&format!("{what}: explain"), || {
            matcher.explain(mask.iter().next().unwrap_or(TokenId::new(0).unwrap()))
        });
        matcher.reset();
    }
    println!("usage {:?}", grammar.usage());
}

/// Compiles, and follows what compiles.
fn survive(syntax: Syntax, source: &str, text: &[u8]) {
    if let Ok(grammar) = attempt(syntax, source) {
        follow(&title(syntax, source), &grammar, text);
    }
}

fn noise(length: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(length as u64);
    (0..length).map(|_| random.u8(..)).collect()
}

#[test]
fn random_bytes() {
    let bytes = noise(sized(MEBIBYTE));
    let text = String::from_utf8_lossy(&bytes);
    let printable: String = bytes.iter().map(|&byte| char::from(b' ' + byte % 95)).collect();
    for syntax in SYNTAXES {
        assert!(attempt(syntax, &text).is_err());
        assert!(attempt(syntax, &printable).is_err());
    }
    for json in [&bytes, text.as_bytes(), printable.as_bytes()] {
        let error =
            bounded("tokenizer", || Vocabulary::from_tokenizer_json(json, &VocabularyOptions::default()));
        println!("{error:?}");
        assert!(error.is_err());
    }
}

#[test]
fn nested_brackets() {
    let depth = sized(100_000);
    for (open, middle, close) in [
        ("(", "\"a\"", ")"),
        ("[", "a", "]"),
        ("{", "1", "}"),
        ("(\"a\" |", "\"a\"", ")*"),
        ("(=", "\"a\"", ")"),
        ("Complement(", "\"a\"", ")"),
        ("Intersection(\"a\", ", "\"a\"", ")"),
        ("(?:", "a", ")"),
        ("(a|", "a", ")*"),
        ("(?=", "a", ")"),
        ("[^", "a", "]"),
        ("a{1,", "2", "}"),
    ] {
        let whole = format!("{}{middle}{}", open.repeat(depth), close.repeat(depth));
        for source in [whole, open.repeat(depth), close.repeat(depth)] {
            survive(Syntax::Regex, &source, b"a");
            for syntax in [Syntax::Ebnf, Syntax::Gbnf] {
                survive(syntax, &format!("root ::= {source}"), b"a");
            }
        }
    }
    for (open, close) in [
        ("{\"a\":", "}"),
        ("[", "]"),
        ("{\"items\":", "}"),
        ("{\"not\":", "}"),
        ("{\"properties\":{\"a\":", "}}"),
        ("{\"allOf\":[", "]}"),
        ("{\"const\":[", "]}"),
        ("{\"type\":", "}"),
    ] {
        for depth in [60, 100, depth] {
            survive(Syntax::Schema, &format!("{}true{}", open.repeat(depth), close.repeat(depth)), b"a");
            survive(Syntax::Schema, &open.repeat(depth), b"a");
            let json = format!("{}true{}", open.repeat(depth), close.repeat(depth));
            for json in [json.clone(), format!("{{\"model\":{json}}}"), format!("{{\"decoder\":{json}}}")] {
                let options = VocabularyOptions::default();
                bounded("tokenizer", || Vocabulary::from_tokenizer_json(json.as_bytes(), &options))
                    .unwrap_err();
            }
        }
    }
}

#[test]
fn nested_instances() {
    let depth = sized(100_000);
    let any = attempt(Syntax::Schema, "true").unwrap();
    let nested = attempt(Syntax::Ebnf, "root ::= \"[\" root* \"]\"").unwrap();
    let mixed =
        attempt(Syntax::Ebnf, "root ::= \"\" | \"(\" root \")\" | \"[\" root \"]\" | root root").unwrap();
    for (grammar, open, middle, close) in [
        (&any, "[", "", "]"),
        (&any, "[1,", "2", "]"),
        (&any, "{\"a\":", "true", "}"),
        (&nested, "[", "", "]"),
        (&nested, "[][[]", "", "]"),
        (&mixed, "([", "", "])"),
    ] {
        for depth in [10_000, depth] {
            let text = format!("{}{middle}{}", open.repeat(depth), close.repeat(depth));
            let mut matcher = grammar.matcher();
            let name = format!("{depth} x {open}");
            let result = bounded(&name, || matcher.accept_bytes(text.as_bytes()));
            println!("{result:?} {:?}", grammar.usage());
            if result.is_ok() {
                assert!(matcher.is_completed());
            }
            matcher.reset();
            follow(&name, grammar, open.repeat(depth).as_bytes());
        }
    }
}
