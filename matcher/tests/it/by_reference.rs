//! Structural tags whose tags are put together by reference say what they say as a whole.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use grammask_fsm::{CompileOptions, SubProgramCounts, TextLimits, Toggle};
use grammask_grammar_frontends::json_schema::{JsonSchemaOptions, KeyOrder, Retriever};
use grammask_grammar_frontends::lark::LarkOptions;
use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
use grammask_mask_cache::{TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{BuildBackend, CompiledGrammar, Compiler, Limits, Threads};
use grammask_pda::Engine as Pda;
use serde_json::{Value, json};

/// Single bytes, some pieces, a special token that begins calls, and a stop token.
fn vocabulary() -> Vocabulary {
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    let pieces = [
        "<to",
        "ol:",
        ">{",
        "\"a\": ",
        "add",
        "/tool>",
        "hi ",
        "</tool><tool:a",
        "\"}</",
        "{\"",
        "<call>",
        "<stop>",
    ];
    let pieces = pieces.iter().map(|piece| piece.as_bytes().to_vec());
    let all: Vec<Vec<u8>> = bytes.chain(pieces).collect();
    let count = u32::try_from(all.len()).unwrap();
    let options = VocabularyOptions::default().special_ids([count - 2]).stop_ids([count - 1]);
    Vocabulary::from_tokens(all.into_iter().map(Some), &options).unwrap()
}

fn schema(name: &str) -> Value {
    json!({"type": "json_schema", "json_schema": {
        "type": "object", "properties": {name: {"type": "integer"}, "b": {"type": "string", "maxLength": 3}},
        "required": [name]}})
}

fn tag(begin: &str, content: &Value, end: &Value) -> Value {
    json!({"begin": begin, "content": content, "end": end})
}

fn triggered(tags: &[Value]) -> Value {
    json!({"type": "triggered_tags", "triggers": ["<tool:"], "tags": tags})
}

/// Structures, with texts some of which they accept.
fn structures() -> Vec<(Value, Vec<&'static str>)> {
    let end = json!("</tool>");
    let texts = vec![
        r#"hi <tool:add>{"add": 12}</tool> <to <tool:adder>{"adder": 1, "b": "xyz"}</tool>"#,
        r#"<tool:a>{"a": -3}</tool><tool:ad>{"ad": 0}</tool>"#,
        r#"<tool:a>"#,
        r#"<tool:b>"#,
        r#"<tool:add>{"adder": 1}"#,
    ];
    let names = ["add", "a", "adder", "ad", "zoo"];
    let tools: Vec<Value> =
        names.iter().map(|name| tag(&format!("<tool:{name}>"), &schema(name), &end)).collect();
    let mixed = vec![
        tag("<tool:", &json!({"type": "regex", "pattern": "[0-9]{2,4}"}), &end),
        tag("<tool:a", &json!({"type": "const_string", "value": "dd>{}"}), &json!(["</tool>", "!"])),
        tag("<tool:a", &json!({"type": "any_text"}), &end),
        tag("<tool:add>", &schema("a"), &end),
        tag("<tool:add>", &schema("b"), &end),
        tag("<tool:add>", &schema("b"), &end),
    ];
    let special: Vec<Value> = names
        .iter()
        .map(|name| tag(&format!("<call>{name}<call>"), &schema(name), &json!("<call>")))
        .collect();
    let separated =
        json!({"type": "tags_with_separator", "tags": special, "separator": ",", "at_least_one": true});
    let around = json!({"type": "sequence", "elements": [
        {"type": "tag", "begin": "<th>", "content": {"type": "any_text"}, "end": "</th>"}, triggered(&tools)]});
    let least = |mut format: Value, stop: bool| {
        format["at_least_one"] = json!(true);
        format["stop_after_first"] = json!(stop);
        format
    };
    let called = |triggers: Value, begin: &str| json!({"type": "triggered_tags", "triggers": triggers, "tags": [tag(begin, &schema("a"), &end)]});
    vec![
        (least(triggered(&tools), false), texts.clone()),
        (least(triggered(&tools), true), texts.clone()),
        // The name of a special token begins in the trigger.
        (called(json!(["<ca"]), "<call>x"), vec!["a <call>x", r#"<ca"#]),
        (least(called(json!(["<ca"]), "<call>x"), false), vec![r#"<call>x{"a": 1}</tool>"#, "<ca"]),
        (least(called(json!(["<call>"]), "<call>x"), false), vec![r#"<call>x{"a": 1}</tool> <call>x{"a""#]),
        (triggered(&tools), texts.clone()),
        (
            triggered(&mixed),
            vec![r#"<tool:add>{}!<tool:add>{"a": 1}</tool>"#, "<tool:123</tool> x", "<tool:addx</tool>"],
        ),
        (separated, vec![r#"<call>add<call>{"add": 1}<call>,<call>a"#]),
        (around, vec![r#"<th>hi </th>hi <tool:add>{"add": 12}</tool>"#]),
    ]
}

fn options() -> StructuralTagOptions {
    StructuralTagOptions::default()
}

fn document(format: &Value) -> String {
    json!({"type": "structural_tag", "format": format}).to_string()
}

/// The masks of two grammars along a text, and whether it may end.
fn same<B: BuildBackend>(one: &CompiledGrammar<B>, other: &CompiledGrammar<B>, text: &str) {
    let (mut one, mut other) = (one.matcher(), other.matcher());
    let len = one.grammar().vocabulary().len();
    let (mut ours, mut theirs) = (TokenMask::new(len), TokenMask::new(len));
    let call = u32::try_from(len - 2).unwrap();
    let mut rest = text;
    loop {
        one.fill_mask(&mut ours).unwrap();
        other.fill_mask(&mut theirs).unwrap();
        assert_eq!(ours.as_words(), theirs.as_words(), "before `{rest}` of `{text}`");
        assert_eq!(one.is_completed(), other.is_completed(), "before `{rest}` of `{text}`");
        let id = match rest.strip_prefix("<call>") {
            Some(behind) => {
                rest = behind;
                call
            }
            None => {
                let Some(&byte) = rest.as_bytes().first() else { return };
                rest = &rest[1..];
                u32::from(byte)
            }
        };
        let id = one.grammar().vocabulary().id(id).unwrap();
        let read = one.accept_token(id);
        assert_eq!(read.is_ok(), other.accept_token(id).is_ok(), "`{rest}` of `{text}`");
        if read.is_err() {
            return;
        }
    }
}

fn check<B: BuildBackend>(serves: impl Fn(&str) -> bool) {
    for deferred_programs in [Toggle::On, Toggle::Off] {
        let automata = CompileOptions::default().deferred_programs(deferred_programs);
        check_with(&Compiler::builder(vocabulary()).automata(automata).backend::<B>().build(), &serves);
    }
}

fn check_with<B: BuildBackend>(compiler: &Compiler<B>, serves: impl Fn(&str) -> bool) {
    for (format, texts) in structures() {
        let document = document(&format);
        if !serves(&document) {
            continue;
        }
        let whole = StructuralTag::parse(&document, &options()).unwrap().grammar(&options()).unwrap();
        let whole = compiler.grammar(&whole).unwrap();
        // The first time tags are compiled, then they are known.
        for _ in 0..2 {
            let linked = compiler.structural_tag(&document, &options()).unwrap();
            texts.iter().for_each(|text| same(&linked, &whole, text));
            // Without pieces the schemas alone are by reference.
            let tag = StructuralTag::parse(&document, &options()).unwrap();
            let structure = compiler.tag(&tag, &options()).unwrap();
            texts.iter().for_each(|text| same(&structure, &whole, text));
            let cut = &document[..document.len() - 2];
            assert!(compiler.structural_tag(cut, &options()).is_err());
            compiler.structural_tag(&format!("{document} "), &options()).unwrap();
        }
    }
}

#[test]
fn masks_are_those_of_the_whole() {
    check::<grammask_earley::Engine>(|_| true);
}

#[test]
fn masks_are_those_of_the_whole_on_stacks() {
    // This backend reads no tokens as a whole.
    check::<Pda>(|document| !document.contains("<call>"));
}

/// Nothing but the tags by reference makes it so.
#[test]
fn the_order_of_tags_does_not_matter() {
    let compiler = Compiler::new(vocabulary());
    for (format, _) in structures() {
        let Value::Array(tags) = &format["tags"] else { continue };
        let mut other = format.clone();
        other["tags"] = tags.iter().rev().cloned().collect();
        let [one, other] = [format.clone(), other]
            .map(|format| compiler.structural_tag(&document(&format), &options()).unwrap());
        let is_unique = tags.iter().all(|tag| tag["begin"] != "<tool:add>" || tags.len() == 5);
        if is_unique {
            assert_eq!(one.fingerprint(), other.fingerprint());
        }
        assert_eq!(one.program().unwrap().state_count(), other.program().unwrap().state_count());
    }
}

/// All of them are looked at where a text begins like them.
#[test]
fn tags_that_begin_alike_are_bounded() {
    // The least bound of a cache that drops nothing else for these tags, which differ behind some letters.
    let needed = |letters: usize| {
        let content = json!({"type": "any_text"});
        let begin = |number| format!("<tool:{}{number:03}>", "x".repeat(letters));
        let tags: Vec<Value> =
            (0..192).map(|number| tag(&begin(number), &content, &json!("</tool>"))).collect();
        let spaces = format!(",{}\"content\"", " ".repeat(4_000));
        let document = document(&triggered(&tags)).replace(",\"content\"", &spaces);
        let fits = |&bytes: &usize| {
            let limits = Limits::default().max_cache_bytes(bytes);
            let compiler = Compiler::builder(vocabulary()).limits(limits).build();
            compiler.structural_tag(&document, &options()).unwrap();
            compiler.stats().cache_evicted == 0 && compiler.stats().cache_entries == 1
        };
        (8..).map(|step| step * 100_000).find(fits).unwrap()
    };
    let (unlike, alike) = (needed(100), needed(115));
    assert!(alike + 128 * 4_000 <= unlike, "{alike} bytes and {unlike}");
}

/// An error in one tag is reported with its place in the document, whatever is known.
#[test]
fn errors_have_their_places() {
    let compiler = Compiler::new(vocabulary());
    let good = tag("<tool:a>", &schema("a"), &json!("</tool>"));
    let wrong =
        tag("<tool:b>", &json!({"type": "json_schema", "json_schema": {"type": "no"}}), &json!("</tool>"));
    compiler.structural_tag(&document(&triggered(std::slice::from_ref(&good))), &options()).unwrap();
    let error =
        compiler.structural_tag(&document(&triggered(&[good.clone(), wrong])), &options()).unwrap_err();
    assert!(error.to_string().contains("/format/tags/1/content/json_schema/type"), "{error}");
    let stray = tag("<other>", &schema("a"), &json!("</tool>"));
    let error = compiler.structural_tag(&document(&triggered(&[good, stray])), &options()).unwrap_err();
    assert!(error.to_string().contains("/format/tags/1/begin"), "{error}");
}

/// Of many tools those are compiled that are called, once for all requests.
#[test]
fn what_is_called_is_compiled() {
    let compiler = Compiler::new(vocabulary());
    let tools: Vec<Value> = (0..20)
        .map(|number| {
            let name = format!("f{number}");
            tag(&format!("<tool:{name}>"), &schema(&name), &json!("</tool>"))
        })
        .collect();
    let first = compiler.structural_tag(&document(&triggered(&tools)), &options()).unwrap();
    assert_eq!(first.stats().sub_programs, SubProgramCounts { all: 20, compiled: 0 });
    assert_eq!(first.stats().fingerprint, None);
    let mut matcher = first.matcher();
    matcher.accept_bytes(br#"hi <tool:f7>{"f7": 1}</tool> <tool:f"#).unwrap();
    assert_eq!(first.stats().sub_programs, SubProgramCounts { all: 20, compiled: 1 });
    // Another request that offers the same tool has it, too; one that was compiled at once says the same.
    let other = compiler.structural_tag(&document(&triggered(&tools[5..10])), &options()).unwrap();
    assert_eq!(other.stats().sub_programs, SubProgramCounts { all: 5, compiled: 1 });
    let at_once = CompileOptions::default().deferred_programs(Toggle::Off);
    let at_once = Compiler::builder(vocabulary()).automata(at_once).build();
    let whole = at_once.structural_tag(&document(&triggered(&tools)), &options()).unwrap();
    assert_eq!(whole.stats().sub_programs, SubProgramCounts { all: 20, compiled: 20 });
    assert_eq!(whole.fingerprint(), first.fingerprint());
    assert_eq!(first.stats().sub_programs, SubProgramCounts { all: 20, compiled: 20 });
    assert_eq!(first.stats().fingerprint, whole.stats().fingerprint);
}

/// A program that is put together by reference is written and read as any other.
#[cfg(feature = "store")]
#[test]
fn what_is_by_reference_can_be_stored() {
    let compiler = Compiler::new(vocabulary());
    for (format, texts) in structures() {
        let linked = compiler.structural_tag(&document(&format), &options()).unwrap();
        let read = compiler.load(&linked.to_bytes().unwrap()).unwrap();
        assert_eq!(linked.fingerprint(), read.fingerprint());
        texts.iter().for_each(|text| same(&linked, &read, text));
    }
}

/// Compiled tags are forgotten with everything else, and past their bound.
#[test]
fn known_tags_can_be_forgotten() {
    let limits = grammask_matcher::Limits::default().max_cache_bytes(64 << 10);
    let compiler = Compiler::builder(vocabulary()).limits(limits).build();
    for number in 0..200 {
        let tools: Vec<Value> = (number..number + 3)
            .map(|name| tag(&format!("<tool:{name}>"), &schema(&name.to_string()), &json!("</tool>")))
            .collect();
        let linked = compiler.structural_tag(&document(&triggered(&tools)), &options()).unwrap();
        let mut matcher = linked.matcher();
        matcher.accept_bytes(format!("<tool:{number}>{{\"{number}\": 1}}</tool>").as_bytes()).unwrap();
        if number % 64 == 0 {
            compiler.clear_cache();
        }
    }
}

/// A schema of objects in objects, some of which refer to one another, and texts.
fn nested() -> (String, [&'static str; 4]) {
    let leaf = |number: usize| {
        json!({"type": "object", "properties": {
            format!("x{number}"): {"type": "integer"}, "s": {"type": "string"}, "any": true}})
    };
    let inner: serde_json::Map<String, Value> =
        (0..6).map(|number| (format!("p{number}"), leaf(number))).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": inner.clone(), "additionalProperties": false},
            "b": {"type": "array", "items": {"type": "object", "properties": inner}, "uniqueItems": true},
            "c": {"$ref": "#/$defs/list"},
            "d": {"type": "object", "properties": {"n": {"pattern": "^[a-c]{2,5}$", "type": "string"}}},
        },
        "$defs": {"list": {"type": "object", "properties": {
            "next": {"$ref": "#/$defs/list"}, "value": leaf(7)}}},
    });
    let texts = [
        r#"{"a": {"p0": {"x0": 1, "s": "t"}, "p5": {"any": [{"k": 1}]}}, "b": [{"p1": {"x1": 2}}, {"p1": {"x1": 2}}]}"#,
        r#"{"c": {"next": {"next": {"value": {"x7": -3}}}}, "d": {"n": "abc", "z": 1}}"#,
        r#"{"a": {"p6": 1}}"#,
        r#"{"d": {"n": "abcabc"}}"#,
    ];
    (schema.to_string(), texts)
}

fn check_late<B: BuildBackend>() {
    let (schema, texts) = nested();
    for order in [KeyOrder::Declared, KeyOrder::Any] {
        let options = JsonSchemaOptions::default().key_order(order);
        let [late, at_once] = [0, u32::MAX].map(|deferred_min_states| {
            let automata = CompileOptions::default().deferred_min_states(deferred_min_states);
            let compiler = Compiler::builder(vocabulary()).automata(automata).backend::<B>().build();
            compiler.json_schema(&schema, &options)
        });
        // One of the backends reads no members in any order.
        let (Ok(late), Ok(at_once)) = (late, at_once) else {
            assert_eq!(order, KeyOrder::Any);
            continue;
        };
        let units = [&late, &at_once].map(|grammar| grammar.stats().sub_programs.all);
        assert!(units[0] > 1 && units[1] == 0, "{units:?}");
        for text in texts {
            same(&late, &at_once, text);
        }
    }
}

#[test]
fn what_is_compiled_late_has_the_same_masks() {
    check_late::<grammask_earley::Engine>();
    check_late::<Pda>();
}

/// Of a large schema that is compiled which a text holds.
#[test]
fn objects_are_compiled_when_they_are_read() {
    let (schema, _) = nested();
    let automata = CompileOptions::default().deferred_min_states(0);
    let compiler = Compiler::builder(vocabulary()).automata(automata).build();
    let grammar = compiler.json_schema(&schema, &JsonSchemaOptions::default()).unwrap();
    assert_eq!(grammar.stats().sub_programs.compiled, 0);
    let mut matcher = grammar.matcher();
    matcher.accept_bytes(br#"{"a": {"p0": {"x0": 1}, "p1": {"x1": 1}}"#).unwrap();
    let SubProgramCounts { all, compiled: made } = grammar.stats().sub_programs;
    assert!(made >= 1 && made < all, "{made} of {all} units");
    #[cfg(feature = "store")]
    {
        let read = compiler.load(&grammar.to_bytes().unwrap()).unwrap();
        assert_eq!(grammar.fingerprint(), read.fingerprint());
        nested().1.into_iter().for_each(|text| same(&grammar, &read, text));
    }
}

/// Neither do its tags, whatever they hold: automata of texts that end before one of several ends are expensive.
#[test]
fn the_tags_of_a_source_share_limits() {
    let text = |tag: usize, end: usize| {
        let letter = |at: usize| char::from(b'a' + ((tag * 7 + end * 11 + at * at * (end + 3)) % 26) as u8);
        (0..12).map(letter).collect::<String>()
    };
    let tags = |count: usize| {
        let tags: Vec<Value> = (0..count)
            .map(|at| {
                let ends: Vec<String> = (0..10).map(|end| text(at, end)).collect();
                json!({"begin": format!("<<{at}"), "content": {"type": "any_text", "max_chars": 10}, "end": ends})
            })
            .collect();
        json!({"format": {"type": "triggered_tags", "triggers": ["<"], "tags": tags}}).to_string()
    };
    let compile = |count: usize, steps: usize| {
        let automata = CompileOptions::default().text(TextLimits::default().max_total_steps(steps));
        let compiler = Compiler::builder(vocabulary()).automata(automata).build();
        compiler.structural_tag(&tags(count), &StructuralTagOptions::default())
    };
    let one = (1..).map(|power| 1 << power).find(|&steps| compile(1, steps).is_ok()).unwrap();
    // One tag by itself may take a quarter of the limit, before all are compiled together.
    compile(2, 8 * one).unwrap();
    let error = compile(60, 8 * one).unwrap_err().to_string();
    assert!(error.contains("steps of work"), "{error}");
}

/// One source costs no more in many schemas than in one: their work is counted together, whether they are known or not.
#[test]
fn the_schemas_of_a_source_share_limits() {
    let content = |schema: &Value| json!({"type": "json_schema", "json_schema": schema});
    let triggered = |tags: &[Value]| json!({"format": triggered(tags)}).to_string();
    let one_of = |tags: &[Value]| {
        let typed = tags.iter().map(|tag| {
            let mut tag = tag.clone();
            tag["type"] = json!("tag");
            tag
        });
        json!({"format": {"type": "or", "elements": typed.collect::<Value>()}}).to_string()
    };
    let conditions = |at: usize| {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| format!("{name}{at}"));
        json!({"dependentRequired": {a: ["e"], b: ["f"], c: ["g"], d: ["h"]}})
    };
    let patterns = |at: usize| {
        let (pattern, not) = (format!("^[ab]*a[ab]{{5}}{at}$"), format!("a.*{at}b"));
        json!({"type": "string", "pattern": pattern, "not": {"pattern": not}})
    };
    let mut options = StructuralTagOptions::default();
    options.json_schema.limits.work = 40_000;
    let automata = CompileOptions::default().text(TextLimits::default().max_total_steps(100_000));
    let compiler = || Compiler::builder(vocabulary()).automata(automata.clone()).build();
    let work = "the schemas need more than 40000 `work` together";
    let steps = "more than 100000 steps of work on the grammar's intersections and complements";
    for (schema, limit) in [(&conditions as &dyn Fn(usize) -> Value, work), (&patterns, steps)] {
        let tags = (0..60).map(|at| tag(&format!("<tool:{at}>"), &content(&schema(at)), &json!("</tool>")));
        let tags: Vec<Value> = tags.collect();
        for document in [&triggered as &dyn Fn(&[Value]) -> String, &one_of] {
            let known = compiler();
            // A few at a time are within the limits, and known from then on.
            for some in tags.chunks(2) {
                known.structural_tag(&document(some), &options).unwrap();
            }
            for compiler in [&known, &known, &compiler()] {
                let error = compiler.structural_tag(&document(&tags), &options).unwrap_err().to_string();
                assert!(error.contains(limit), "{error}");
                assert!(limit == steps || error.contains("/format/"), "{error}");
            }
        }
    }
    let rules: String = (0..60).map(|at| format!("r{at}: %json {}\n", conditions(at))).collect();
    let names: Vec<String> = (0..60).map(|at| format!("r{at}")).collect();
    let mut options = LarkOptions::default();
    options.json_schema.limits.work = 40_000;
    let error = compiler().lark(&format!("start: {}\n{rules}", names.join(" | ")), &options).unwrap_err();
    assert!(error.to_string().contains(work), "{error}");
}

/// A structure of many schemas, each in another source, that a compiler with a number of threads reads.
fn compile_from_sources(threads: usize, retriever: Retriever) -> Result<CompiledGrammar, String> {
    let tags = (0..400).map(|at| {
        let schema = json!({"$ref": format!("https://example.com/{at}")});
        json!({"type": "tag", "begin": at.to_string(), "content": {"type": "json_schema", "json_schema": schema}, "end": "."})
    });
    let document = json!({"format": {"type": "or", "elements": tags.collect::<Value>()}}).to_string();
    let mut options = StructuralTagOptions::default();
    options.json_schema = options.json_schema.retriever(retriever);
    let compiler = Compiler::builder(vocabulary()).threads(Arc::new(Threads::new(threads))).build();
    compiler.structural_tag(&document, &options).map_err(|error| error.to_string())
}

/// The schemas after one that is refused are not read: their refusals would cost as much again.
#[test]
fn a_refusal_ends_the_reading_of_a_source() {
    for threads in [0, 1, 4] {
        let looks = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&looks);
        let retriever = Retriever::new(move |place: &str| {
            count.fetch_add(1, Ordering::Relaxed);
            if place.ends_with('3') { Err("not today".to_owned()) } else { Ok(json!(true).into()) }
        });
        let error = compile_from_sources(threads, retriever).unwrap_err();
        assert!(error.contains("/format/elements/3/") && error.contains("not today"), "{error}");
        // While a thread is at one that fails, others go on to the next such one. The caller begins theirs again.
        assert!(looks.load(Ordering::Relaxed) <= 4 + 11 * threads, "{threads} threads");
    }
}

#[test]
fn threads_do_not_change_the_result() {
    let retriever = || Retriever::new(|place: &str| Ok(json!({"const": place}).into()));
    let [none, one, four] = [0, 1, 4].map(|threads| compile_from_sources(threads, retriever()).unwrap());
    assert_eq!(none.fingerprint(), one.fingerprint());
    assert_eq!(none.fingerprint(), four.fingerprint());
    let mut matcher = four.matcher();
    matcher.accept_bytes(br#"399"https://example.com/399"."#).unwrap();
}

/// The thread has begun a schema and does not end it until the caller is done.
#[test]
fn threads_that_do_not_go_on_are_not_waited_for() {
    let wait = std::time::Duration::from_secs(20);
    let (taken, is_taken) = mpsc::channel();
    let (release, gate) = mpsc::channel::<()>();
    let (is_taken, gate) = (Mutex::new(is_taken), Mutex::new(gate));
    let caller = std::thread::current().id();
    let (begun, has_waited) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let waited = Arc::clone(&has_waited);
    let retriever = Retriever::new(move |_: &str| {
        if std::thread::current().id() != caller {
            let _ = taken.send(());
            let released = gate.lock().unwrap().recv_timeout(wait);
            waited.fetch_add(usize::from(released.is_err()), Ordering::Relaxed);
        } else if begun.fetch_add(1, Ordering::Relaxed) == 0 {
            is_taken.lock().unwrap().recv_timeout(wait).map_err(|error| error.to_string())?;
        }
        Ok(json!(true).into())
    });
    compile_from_sources(1, retriever).unwrap();
    assert_eq!(has_waited.load(Ordering::Relaxed), 0, "the caller waited");
    drop(release);
}

/// Without a cache a document is put together in the same way.
#[test]
fn fingerprints_do_not_depend_on_the_cache() {
    let content = json!({"type": "json_schema", "json_schema": {"type": "boolean"}});
    let tags = [tag("<tool:f>", &content, &json!("</tool>"))];
    let document = json!({"format": triggered(&tags)}).to_string();
    let options = StructuralTagOptions::default();
    let fingerprint =
        |compiler: Compiler| compiler.structural_tag(&document, &options).unwrap().fingerprint();
    let uncached = Compiler::builder(vocabulary()).limits(Limits::default().max_cache_bytes(0)).build();
    assert_eq!(fingerprint(Compiler::new(vocabulary())), fingerprint(uncached));
}
