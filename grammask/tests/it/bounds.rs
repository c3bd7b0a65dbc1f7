//! Hostile input is answered within a second and 500 MiB, schemas of megabytes within two seconds and 1 GiB, on a small
//! stack, and leaves nothing broken.
//!
//! Full sizes are tested in release builds, and in others if `GRAMMASK_FULL_BOUNDS` is set; otherwise smaller
//! ones, so that the suite takes seconds.

mod batches;
mod schemas;
mod sources;
mod texts;

use std::sync::LazyLock;
use std::time::Duration;

use grammask::ebnf::EbnfOptions;
use grammask::json_schema::JsonSchemaOptions;
use grammask::regex::RegexOptions;
use grammask::tuning::CompileOptions;
use grammask::{
    Color, CompileError, CompiledGrammar, Compiler, Limits, MatchError, StructuralTagOptions, TokenId,
    TokenMask, Vocabulary, VocabularyOptions,
};
use nix::time::{ClockId, clock_gettime};

use crate::common;
use crate::memory::peak_of;

const MEBIBYTE: usize = 1 << 20;
const MAX_MEMORY: usize = 500 * MEBIBYTE;
/// Servers run requests on threads whose stacks are small; the standard library's default is 2 MiB.
const STACK: usize = 512 << 10;

fn is_full() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("GRAMMASK_FULL_BOUNDS").is_some()
}

/// The size to test with: the full one, or a twentieth.
fn sized(full: usize) -> usize {
    if is_full() { full } else { full / 20 }
}

/// Unoptimised code is about ten times slower, and machines that run tests are shared.
fn longest() -> Duration {
    Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 })
}

/// The time that this thread has run. Other processes cannot make a test fail then.
fn thread_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// Runs something on a thread with a small stack.
fn on_small_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name(SMALL.to_owned()).stack_size(STACK);
        builder
            .spawn_scoped(scope, run)
            .unwrap()
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

const SMALL: &str = "small";

/// Runs something on a small stack, and asserts that it takes no more time and memory than it may.
fn bounded<T: Send>(what: &str, run: impl FnOnce() -> T + Send) -> T {
    bounded_by(1, what, run)
}

/// As [`bounded`], with this many times the time and the memory.
fn bounded_by<T: Send>(times: u32, what: &str, run: impl FnOnce() -> T + Send) -> T {
    if std::thread::current().name() != Some(SMALL) {
        return on_small_stack(|| bounded_by(times, what, run));
    }
    let before = thread_time();
    let (result, peak) = peak_of(run);
    let time = thread_time() - before;
    println!("{:>9.1} ms {:>7.1} MiB  {what}", time.as_secs_f64() * 1e3, peak as f64 / MEBIBYTE as f64);
    assert!(time < times * longest(), "{what} took {time:?}");
    assert!(peak < times as usize * MAX_MEMORY, "{what} took {peak} bytes");
    result
}

/// One compiler for all tests, so that what one breaks another finds. Where sizes are smaller, so are the limits
/// on work; those on memory are the default.
fn compiler() -> &'static Compiler {
    static COMPILER: LazyLock<Compiler> = LazyLock::new(|| {
        let (mut limits, mut automata) = (Limits::default(), CompileOptions::default());
        if !is_full() {
            limits.max_work_per_call /= 20;
            automata.text.max_total_steps = 1_000_000;
        }
        Compiler::builder(common::vocabulary()).limits(limits).automata(automata).build()
    });
    &COMPILER
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
        Syntax::Gbnf => compiler().gbnf(source, &EbnfOptions::default()),
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
    // Limits on schemas grow with their size.
    let is_large = matches!(syntax, Syntax::Schema) && source.len() > sized(MEBIBYTE);
    let result = bounded_by(if is_large { 2 } else { 1 }, &title, || compile(syntax, source));
    still_works();
    result.map_err(|error| {
        bounded(&format!("report of {title}"), || {
            let message = error.to_string();
            match error.diagnostics() {
                Some(diagnostics) => {
                    let rendered = diagnostics.render(source, "source", Color::Never);
                    assert!(rendered.len() < 100_000, "a report is for reading: {}", rendered.len());
                    rendered
                }
                None => message,
            }
        })
    })
}

/// The shared compiler serves others as before.
fn still_works() {
    let grammar = compile(Syntax::Regex, "[0-9]{3}").unwrap();
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(b"12").unwrap();
    let mask = matcher.mask().unwrap().to_mask();
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
            let _ = bounded(&format!("{what}: text"), || matcher.accept_bytes(text));
        }
        for step in 0..if is_full() { 8 } else { 3 } {
            let kind = bounded(&format!("{what}: mask {step}"), || matcher.fill_mask(&mut mask));
            let Ok(_) = kind else {
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
        assert!(matches!(forced, Ok(_) | Err(MatchError::Limit(_))), "{what}: {forced:?}");
        let ending = bounded(&format!("{what}: ending"), || matcher.shortest_ending(100_000));
        assert!(matches!(ending, Ok(_) | Err(MatchError::Limit(_))), "{what}: {ending:?}");
        let _ = bounded(&format!("{what}: explain"), || {
            matcher.explain(mask.iter().next().unwrap_or(TokenId::new(0).unwrap()))
        });
        matcher.reset();
    }
}

/// Compiles, and follows what compiles.
fn survive(syntax: Syntax, source: &str, text: &[u8]) {
    on_small_stack(|| {
        if let Ok(grammar) = attempt(syntax, source) {
            follow(&title(syntax, source), &grammar, text);
        }
    });
}

/// `count` members of an object, with a number in the place of `#`.
fn numbered(count: usize, member: &str) -> String {
    let members: Vec<String> = (0..count).map(|number| member.replace('#', &number.to_string())).collect();
    members.join(",")
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

/// The deepest patterns that are read: those who walk over them recurse.
#[test]
fn nested_patterns() {
    for (open, middle, close) in [
        ("(", "a", ")"),
        ("(?:a|", "b", ")*"),
        ("(?:(?!b)", "[ab]", "(?<!b))+"),
        ("(?=a?", "a", ")"),
        ("(?<!a?", "a", "b)"),
        ("a(?<!b", "a", ")"),
        ("(a(?!b)|", "a", "(?<=a)){0,2}"),
        ("(?:\\\\b", "a", ")?"),
    ] {
        for depth in [80, 120, 248] {
            let pattern = format!("^{}{middle}{}", open.repeat(depth), close.repeat(depth));
            survive(Syntax::Schema, &format!(r#"{{"type":"string","pattern":"{pattern}"}}"#), b"\"a");
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
            if result.is_ok() {
                assert!(matcher.is_completed());
            }
            matcher.reset();
            follow(&name, grammar, open.repeat(depth).as_bytes());
        }
    }
}

/// Text without padding: every few bytes a token, up to the limits on the length of sources.
#[test]
fn dense_sources() {
    let length = if is_full() { 16 * MEBIBYTE } else { 256 << 10 } - 100;
    let fill = |part: &str| part.repeat(length / part.len());
    for part in [
        "\"a\" ",
        "\"a\"|",
        "a ",
        "a|",
        "[a]",
        "[a]* ",
        "(a)",
        "\"\"",
        "[^a]{2,} ",
        "\"\\x41\"",
        "()",
        "*",
        "\\",
        "?",
        "{",
        "\u{e9}",
        "#\n",
        "\n",
    ] {
        for syntax in [Syntax::Ebnf, Syntax::Gbnf] {
            survive(syntax, &format!("root ::= {} \"a\"\na ::= \"b\"", fill(part)), b"aaaa");
        }
    }
    let rules: String =
        (0..length / 40).map(|n| format!("r{n} ::= r{} | \"a\" r{}\n", n + 1, n / 2)).collect();
    survive(Syntax::Ebnf, &format!("{rules}root ::= r0\nr{} ::= \"b\"", length / 40), b"aaaa");
    let undefined: String = (0..length / 40).map(|n| format!("r{n} ::= undefined{n}\n")).collect();
    survive(Syntax::Ebnf, &format!("root ::= r0\n{undefined}"), b"aaaa");
    for part in ["[a-z]", r"\d", "a", "a|", "a{2}", "(a)", "(?i:k)", r"[^\D]", "[a&&b]", "."] {
        survive(Syntax::Regex, &part.repeat((64 << 10) / part.len() - 1), b"aaaa");
    }
    for (start, part, end) in [
        ("{\"const\":[", "[],", "0]}"),
        ("{\"const\":[", "{},", "0]}"),
        ("{\"enum\":[", "0,", "1]}"),
        ("{\"enum\":[", "[0],", "1]}"),
        ("{\"const\":\"", "a", "\"}"),
        ("{\"const\":\"", "\\u0000", "\"}"),
        ("{\"const\":\"", "\\u00e9", "\"}"),
        ("{\"enum\":[\"b\",\"", "a", "\"]}"),
        ("{\"prefixItems\":[", "{},", "0]}"),
        ("{\"prefixItems\":[", "{\"minLength\":1},", "true]}"),
        ("{\"prefixItems\":[", "true,", "true],\"items\":false,\"minItems\":1000}"),
        ("{\"allOf\":[", "true,", "true]}"),
        ("{\"anyOf\":[", "{\"minLength\":1},", "true]}"),
        ("{\"required\":[", "\"a\",", "\"b\"]}"),
        ("{\"type\":[", "\"string\",", "\"null\"]}"),
        ("{", "\"a\":0,", "\"b\":0}"),
        ("[", "0,", "0]"),
        ("\"", "a", "\""),
        ("{\"pattern\":\"", "a", "\"}"),
        ("{\"$ref\":\"#", "/a", "\"}"),
        ("{\"$ref\":\"", "a", "\"}"),
        ("{\"$id\":\"", "../", "\"}"),
        ("{\"format\":\"", "a", "\"}"),
        ("{\"type\":\"", "a", "\"}"),
    ] {
        survive(Syntax::Schema, &format!("{start}{}{end}", fill(part)), b"[[]");
    }
    for length in [length / 5, length / 10] {
        survive(Syntax::Schema, &format!(r#"{{"const":"{}"}}"#, "a".repeat(length)), b"");
        survive(Syntax::Regex, &"a".repeat(length.min(65_000)), b"a");
        survive(Syntax::Ebnf, &format!("root ::= \"{}\"", "a".repeat(length)), b"a");
    }
    let members = numbered(length / 80, r##""a#":{"b#":[#,"#"]}"##);
    survive(Syntax::Schema, &format!(r#"{{"const":{{{members}}}}}"#), b"{");
    let members = numbered(length / 80, r##"{"a#":[#,"#"]}"##);
    survive(Syntax::Schema, &format!(r#"{{"enum":[{members}]}}"#), b"{");
    let members = numbered(length / 80, r##""a#":{"enum":[#,"#"]}"##);
    survive(Syntax::Schema, &format!(r#"{{"properties":{{{members}}}}}"#), b"{");
    let members = numbered(length / 120, r##""a#":{"maxLength":#,"type":["string","array"],"maxItems":#}"##);
    survive(Syntax::Schema, &format!(r#"{{"properties":{{{members}}}}}"#), b"{");
}

#[test]
fn counts() {
    for pattern in [
        "a{1000000000}",
        "(a{1000}){1000}",
        "[^]{0,1000000000}",
        ".{0,1000000000}",
        "(a|b){0,1000000000}",
        "((a{0,1000}b){0,1000}c){0,1000}",
        "(a{0,4294967295}){0,4294967295}",
        "(a?){1000000000}",
        "(a*){1000000000}",
        "(a{0,1000000000}){1000000000}b",
        "(a{2,3}){1000000}",
        "((a|ab|abc){1,1000}(c|bc)?){1,1000}",
        "(a{1,1000}|a{5,2000}|(aa){3,500}){1,1000}",
        "(a{500}|a{501}|a{502}|a{503}|a{504}|a{505})*b",
        "((((a{1,9}){1,9}){1,9}){1,9}){1,9}",
        "((((((((((a?){9}){9}){9}){9}){9}){9}){9}){9}){9}){9}",
        r"(\p{L}{0,1000000}\s){0,1000000}",
        "(x+x+)+y",
        "(a|aa|aaa|aaaa)+{3,100000}",
        "(.{0,500}a){0,500}",
    ] {
        survive(Syntax::Regex, pattern, &b"a".repeat(3_000));
        survive(
            Syntax::Schema,
            &format!(r#"{{"type":"string","pattern":"^({})$"}}"#, pattern.replace('\\', r"\\")),
            b"\"aaaaaaaaa",
        );
        survive(
            Syntax::Schema,
            &format!(
                r#"{{"type":"string","maxLength":100000,"pattern":"{}"}}"#,
                pattern.replace('\\', r"\\")
            ),
            b"\"aaaaaaaaa",
        );
        survive(
            Syntax::Schema,
            &format!(r#"{{"type":"string","not":{{"pattern":"^({})$"}}}}"#, pattern.replace('\\', r"\\")),
            b"\"aaaaaaaaa",
        );
    }
    for body in [
        r#""a"{1000000000}"#,
        r#"("a"{1000}){1000}"#,
        "[^]{0,1000000000}",
        r#"(""){1000000000}"#,
        r#"("a"?){1000000000}"#,
        "root{0,1000000000}",
        r#"("a" root?){1,1000000000}"#,
        r#"("a" | root{2,1000000} "b")"#,
        r#"(x{1,1000} "c"){1,1000}
x ::= "a" | "a" y{2,500}
y ::= "b" | x{1,300}"#,
    ] {
        survive(Syntax::Ebnf, &format!("root ::= {body}"), &b"a".repeat(3_000));
        survive(Syntax::Gbnf, &format!("root ::= {body}"), &b"a".repeat(3_000));
    }
}

#[test]
fn determinisation() {
    let size = |full: usize| if is_full() { full } else { full / 4 };
    for pattern in [
        "(a|b)*a(a|b){200}".to_owned(),
        "(a|b)*a(a|b){12}".to_owned(),
        "(.*a.{20}){3}".to_owned(),
        format!("({})*", (1..200).map(|n| format!("a{{{n}}}b")).collect::<Vec<_>>().join("|")),
        format!("({})", (2..80).map(|n| format!("(a{{{n}}})*")).collect::<Vec<_>>().join("|")),
        ".*a.*".repeat(size(500)),
        "(a?)".repeat(size(1_000)) + &"a".repeat(size(1_000)),
        "[a-z]*".repeat(size(1_000)),
        r"\w+\s*".repeat(size(200)),
        "a|".repeat(size(30_000)) + "b",
        "(a|b|ab)*c".repeat(size(1_000)),
        "(?i)".to_owned() + &"straße".repeat(size(1_000)),
    ] {
        survive(Syntax::Regex, &pattern, &b"ab".repeat(1_000));
        survive(
            Syntax::Schema,
            &format!(r#"{{"pattern":"{}"}}"#, pattern.replace('\\', r"\\")),
            b"\"abababab",
        );
        survive(
            Syntax::Schema,
            &format!(r#"{{"type":"string","not":{{"pattern":"{}"}}}}"#, pattern.replace('\\', r"\\")),
            b"\"abababab",
        );
        survive(
            Syntax::Schema,
            &format!(r#"{{"patternProperties":{{"{}":false}}}}"#, pattern.replace('\\', r"\\")),
            b"{\"abababab",
        );
    }
    let hard = r#"([ab]* "a" [ab]{20})"#;
    for body in [
        format!("Complement({hard})"),
        format!("Intersection({hard}, {hard})"),
        format!("Intersection({hard}, [ab]* \"b\" [ab]{{21}})"),
        format!("JsonEscaped({hard})"),
        format!("{}{hard}{}", "Complement(".repeat(50), ")".repeat(50)),
        format!("{}[ab]* \"a\"{}", "Complement([ab] | ".repeat(50), ")".repeat(50)),
        format!("{}[ab]*{}", "Intersection([ab]* \"a\" [ab]{8}, ".repeat(30), ")".repeat(30)),
        format!("{}[ab]*{}", "JsonEscaped(".repeat(12), ")".repeat(12)),
        format!("{}[^]*{}", "JsonEscaped(".repeat(30), ")".repeat(30)),
        "Complement([ab]{1000000000})".to_owned(),
        "Intersection([ab]{0,100000}, [bc]{99999,})".to_owned(),
        "Intersection([ab]{7,}, Complement(([ab]{7})*), ([ab]{11})*, ([ab]{13})*, ([ab]{17})*)".to_owned(),
        (0..size(200)).map(|n| format!("Complement([ab]{{{n}}})")).collect::<Vec<_>>().join(" | "),
        (0..size(200)).map(|n| format!("Complement([ab]{{{n}}})")).collect::<Vec<_>>().join(" "),
    ] {
        survive(Syntax::Ebnf, &format!("root ::= {body}"), &b"ab".repeat(1_000));
    }
}

#[test]
fn many_hard_operators() {
    let count = sized(4_000);
    let rules = |body: &str| -> String {
        let calls: Vec<String> = (0..count).map(|n| format!("r{n}")).collect();
        let rules: Vec<String> =
            (0..count).map(|n| format!("r{n} ::= {}", body.replace('#', &n.to_string()))).collect();
        format!("root ::= {}\n{}", calls.join(" | "), rules.join("\n"))
    };
    for body in [
        r##"Intersection([ab]* "a" [ab]{13}, "ab#" | [ab]{20})"##,
        r##"Intersection(Complement([ab]* "a" [ab]{10}), "ab#")"##,
        r##"JsonEscaped([ab]* "a" [ab]{10} "#")"##,
        r##"Intersection([ab]{0,20000}, [ab]{#,20000})"##,
    ] {
        survive(Syntax::Ebnf, &rules(body), b"ab");
    }
    for value in [
        r##"{"type":"string","pattern":"^[ab]*a[ab]{12}#$","maxLength":100}"##,
        r##"{"type":"string","pattern":"^[ab]*a[ab]{10}#$","not":{"pattern":"^[ab]*b[ab]{9}#$"}}"##,
        r##"{"type":"string","allOf":[{"pattern":"[ab]*a[ab]{9}#"},{"pattern":"^[ab]*b[ab]{9}"}]}"##,
        r##"{"type":"integer","multipleOf":9#7,"minimum":#}"##,
        r##"{"type":"object","minProperties":#00,"maxProperties":9000}"##,
        r##"{"type":"object","patternProperties":{"[ab]*a[ab]{9}#":false,"^[ab]*b[ab]{9}":{}}}"##,
        r##"{"oneOf":[{"required":["a"]},{"required":["b"]},{"required":["c"]},{"required":["d#"]}]}"##,
        r##"{"anyOf":[{"pattern":"a#"},{"format":"date-time"},{"format":"uri"}]}"##,
        r##"{"format":"uri","maxLength":#00}"##,
    ] {
        let properties = numbered(count, &format!(r##""p#":{value}"##));
        survive(Syntax::Schema, &format!(r#"{{"type":"object","properties":{{{properties}}}}}"#), b"{\"p0");
    }
}

#[test]
fn ambiguity() {
    let text = b"a".repeat(2_000);
    for source in [
        r#"root ::= root root | "a" | """#,
        r#"root ::= root root root | "a" | """#,
        r#"root ::= root root root | root root | root | "a""#,
        r#"root ::= "a" root "a" | "a" root | root "a" | "a" | """#,
        r#"root ::= "a"* "a"* "a"* "a"* "a"* "a"* root?"#,
        r#"root ::= (x | y | z)*
x ::= "a" | x y | y z
y ::= "a" "a" | z x
z ::= "a" | y x z?"#,
        r#"root ::= ("a" root?){1,1000} ("a" root?){2,500}"#,
        r#"root ::= ("a"{1,300} | "aa"{1,400} | root{1,20}){1,900}"#,
        r#"root ::= "a" root | "a" root "b" | "a" root "c" | """#,
        r#"root ::= root "a" | x root | ""
x ::= "" | x x"#,
        r#"root ::= x{0,40} y{0,40} root?
x ::= "a" | "a" x
y ::= "a"{1,40} x"#,
    ] {
        survive(Syntax::Ebnf, source, &text);
    }
    let rules = sized(2_000);
    let chain: String = (0..rules)
        .map(|n| {
            format!(
                "r{n} ::= r{} | r{} \"a\" | \"b\" r{}\n",
                (n + 1) % rules,
                (n * 7 + 3) % rules,
                (n * 31 + 5) % rules
            )
        })
        .collect();
    survive(Syntax::Ebnf, &format!("root ::= r0 | \"x\"\n{chain}r{rules} ::= \"a\""), &text);
    let chain: String = (0..rules)
        .map(|n| format!("r{n} ::= r{} | r{} \"a\" | \"a\"\n", (n + 1) % rules, (n * 7 + 3) % rules))
        .collect();
    survive(Syntax::Ebnf, &format!("root ::= r0\n{chain}"), &text);
    let wide: Vec<String> = (0..rules).map(|n| format!("(\"a\"{{1,{}}} \"b\")", n + 40)).collect();
    survive(Syntax::Ebnf, &format!("root ::= ({})*", wide.join(" | ")), &text);
    let deep: String = (0..sized(100_000)).map(|n| format!("r{n} ::= \"a\"? r{} \"a\"?\n", n + 1)).collect();
    survive(Syntax::Ebnf, &format!("root ::= r0\n{deep}r{} ::= \"a\"", sized(100_000)), &text);
}

#[test]
fn long_texts() {
    let length = sized(10 * MEBIBYTE);
    let any = attempt(Syntax::Schema, "true").unwrap();
    let string = attempt(Syntax::Schema, r#"{"type":"string","minLength":3}"#).unwrap();
    let bounded_string = attempt(Syntax::Schema, r#"{"type":"string","maxLength":4294967295}"#).unwrap();
    let pattern = attempt(Syntax::Schema, r#"{"type":"string","pattern":"^[a-z0-9 ]*$"}"#).unwrap();
    let list = attempt(Syntax::Schema, r#"{"type":"array","items":{"type":"string"},"maxItems":100000000}"#)
        .unwrap();
    for grammar in [&any, &string, &bounded_string, &pattern] {
        let mut matcher = grammar.matcher();
        let text = format!("\"{}\"", "a1 ".repeat(length / 3));
        bounded("long string", || matcher.accept_bytes(text.as_bytes())).unwrap();
        assert!(matcher.is_completed());
    }
    for grammar in [&any, &list] {
        let mut matcher = grammar.matcher();
        let text = format!("[{}\"\"]", "\"ab\",".repeat(length / 5));
        bounded("long list", || matcher.accept_bytes(text.as_bytes())).unwrap();
        assert!(matcher.is_completed());
    }
    let mut matcher = bounded_string.matcher();
    let tokens = sized(100_000);
    matcher.accept_bytes(b"\"").unwrap();
    let a = TokenId::new(u32::from(b'a')).unwrap();
    let mut mask = TokenMask::new(bounded_string.vocabulary().len());
    bounded("many tokens", || {
        for _ in 0..tokens {
            matcher.fill_mask(&mut mask).unwrap();
            matcher.accept_token(a).unwrap();
        }
    });
    let fork = bounded("fork", || matcher.fork());
    assert_eq!(fork.steps(), tokens + 1);
    bounded("rollback", || matcher.rollback(tokens + 1)).unwrap();
    assert_eq!(matcher.steps(), 0);
}

#[test]
fn long_tokens() {
    for length in [8_191, 10_000, sized(1_000_000)] {
        let tokens =
            [b"a".repeat(length), b"ab".repeat(length / 2), b"a".to_vec(), b"b".to_vec(), Vec::new()]
                .map(Some);
        let options = VocabularyOptions::default().stop_ids([4]);
        let vocabulary =
            bounded("long tokens", || Vocabulary::from_tokens(tokens.clone(), &options)).unwrap();
        let compiler = Compiler::new(vocabulary);
        for pattern in ["a*", "(a|b)*", "a{9000}", "(ab){1,5000}", "a{0,1000000000}", "(a|b|ab)*a(a|b){200}"]
        {
            let grammar = bounded(pattern, || compiler.regex(pattern, &RegexOptions::default()));
            match grammar {
                Ok(grammar) => follow(&format!("{length}-byte tokens, {pattern}"), &grammar, b"aaaa"),
                Err(error) => assert!(length > 8_191, "{error}"),
            }
        }
    }
}
