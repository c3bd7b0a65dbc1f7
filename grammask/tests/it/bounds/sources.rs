//! Work that grows with a source as the source does, and limits that hold for each of its parts.

use grammask::lark::LarkOptions;

use super::*;

/// Growth of time up to which work counts as about linear. Eight times the source takes eight times as long,
/// with an allowance for a machine that is not quiet. Quadratic work takes 64 times as long.
const MAX_GROWTH: f64 = 24.0;

/// The least time that this thread takes for something, of a few runs.
fn least_time(run: impl Fn()) -> f64 {
    let times = (0..3).map(|_| {
        let before = thread_time();
        run();
        (thread_time() - before).as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Compiles sources of a size and of eight times that, without what a compiler keeps, and follows one byte.
fn check(
    name: &str,
    size: usize,
    compile: impl Fn(&Compiler, usize) -> Result<CompiledGrammar, CompileError> + Sync,
) {
    on_small_stack(|| {
        let time = |size| {
            least_time(|| {
                let compiler = Compiler::builder(common::vocabulary()).build();
                if let Ok(grammar) = compile(&compiler, size) {
                    let _ = grammar.matcher().accept_bytes(b"<");
                }
            })
        };
        // A small source may take less than the clock can tell.
        let (small, large) = (time(size).max(0.02), time(8 * size));
        assert!(large < MAX_GROWTH * small, "{name}: {small} s and {large} s for 8 times as much");
    });
}

fn ebnf(name: &str, size: usize, source: impl Fn(usize) -> String + Sync) {
    check(name, size, |compiler, size| compiler.ebnf(&source(size), &EbnfOptions::default()));
}

fn tag(name: &str, size: usize, format: impl Fn(usize) -> String + Sync) {
    check(name, size, |compiler, size| {
        let document = format!(r#"{{"type":"structural_tag","format":{}}}"#, format(size));
        compiler.structural_tag(&document, &StructuralTagOptions::default())
    });
}

fn rules(count: usize, rule: impl Fn(usize) -> String) -> String {
    (0..count).map(|number| rule(number) + "\n").collect()
}

/// Every beginning of such a text is an end of a longer one, so that the chain of failure states is as long as the text.
#[test]
fn long_texts_in_free_text() {
    let letters = |size| "a".repeat(size);
    tag("exclude", 8_000, |size| format!(r#"{{"type":"any_text","excludes":["{}"]}}"#, letters(size)));
    tag("end", 8_000, |size| {
        format!(r#"{{"type":"tag","begin":"<","content":{{"type":"any_text"}},"end":"{}"}}"#, letters(size))
    });
    tag("trigger", 8_000, |size| {
        let text = letters(size);
        format!(
            r#"{{"type":"triggered_tags","triggers":["{text}"],"tags":[{{"begin":"{text}","content":{{"type":"any_text"}},"end":"x"}}]}}"#
        )
    });
    ebnf("dispatch", 8_000, |size| {
        format!("root ::= TagDispatch((\"{}\", x), loop_after_dispatch=true)\nx ::= \"b\"", letters(size))
    });
}

#[test]
fn many_tags() {
    tag("triggers", 2_000, |count| {
        let triggers = numbered(count, r##""<f#>""##);
        let tags = numbered(count, r##"{"begin":"<f#>","content":{"type":"any_text"},"end":"</f>"}"##);
        format!(r#"{{"type":"triggered_tags","triggers":[{triggers}],"tags":[{tags}]}}"#)
    });
    tag("ends", 2_000, |count| {
        let ends = numbered(count, r##""x#y""##);
        format!(r#"{{"type":"tag","begin":"<","content":{{"type":"any_text"}},"end":[{ends}]}}"#)
    });
    tag("excludes", 2_000, |count| {
        let rules = numbered(count, r##"["<f#>",{"type":"const_string","value":"v#"}]"##);
        let excludes = numbered(count, r##""x#y""##);
        format!(r#"{{"type":"dispatch","rules":[{rules}],"excludes":[{excludes}]}}"#)
    });
    tag("excluded tokens", 8_000, |count| {
        let rules: Vec<String> =
            (0..count).map(|_| r#"[0,{"type":"const_string","value":"v"}]"#.to_owned()).collect();
        let excludes: Vec<String> = (0..count).map(|number| (1 + number % 200).to_string()).collect();
        format!(
            r#"{{"type":"token_dispatch","rules":[{}],"exclude_tokens":[{}]}}"#,
            rules.join(","),
            excludes.join(",")
        )
    });
}

#[test]
fn left_recursive_rules() {
    ebnf("chain", 4_000, |count| {
        let chain = rules(count, |n| format!("r{n} ::= r{n} \"a\" | r{}", n + 1));
        format!("root ::= r0\n{chain}r{count} ::= \"a\"")
    });
    ebnf("ring", 4_000, |count| {
        let ring = rules(count, |n| format!("r{n} ::= r{n} \"<\" | r{}", n + 1));
        format!("root ::= r0\n{ring}r{count} ::= \"<\" | r0 \"b\"")
    });
    ebnf("ring backwards", 4_000, |count| {
        let ring = rules(count, |n| format!("r{} ::= r{} \"a\" | \"<\"", (n + 1) % count, n));
        format!("root ::= r0\n{ring}")
    });
}

#[test]
fn mistakes_in_many_rules() {
    ebnf("defined twice", 4_000, |count| {
        format!("root ::= \"a\"\n{}", rules(count, |_| "r ::= \"a\"".to_owned()))
    });
    ebnf("one line", 8_000, |count| {
        rules(count, |n| format!("r{n} ::= \"{}\"", "a".repeat(50))).replace('\n', " ")
    });
    ebnf("patterns", 4_000, |count| {
        let patterns: Vec<String> = (0..count).map(|n| format!("Regex(\"({n}\")")).collect();
        format!("root ::= {}", patterns.join(" | "))
    });
}

/// A choice of literals is one trie, whose states are limited as all others are.
#[test]
fn literals_are_limited() {
    let automata = CompileOptions::default().max_states(1_000);
    let compiler = Compiler::builder(common::vocabulary()).automata(automata).build();
    let literals = |count: usize| {
        let literals: Vec<String> = (0..count).map(|n| format!("\"{n}{}\"", "a".repeat(30))).collect();
        format!("root ::= {}", literals.join(" | "))
    };
    compiler.ebnf(&literals(20), &EbnfOptions::default()).unwrap();
    let refused = compiler.ebnf(&literals(100), &EbnfOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("max_states"), "{refused}");
}

/// Each pattern has few classes, and a source has many patterns.
#[test]
fn classes_of_all_patterns_are_limited() {
    let count = 6_000;
    let patterns: Vec<String> = (0..count).map(|n| format!("Regex(\"\\\\p{{L}}{n}\")")).collect();
    let refused = attempt(Syntax::Ebnf, &format!("root ::= {}", patterns.join(" | "))).unwrap_err();
    assert!(refused.contains("Unicode classes"), "{refused}");
    let terminals = rules(count, |n| format!("T{n}: /\\w{n}/i"));
    let names: Vec<String> = (0..count).map(|n| format!("T{n}")).collect();
    let source = format!("start: {}\n{terminals}", names.join(" | "));
    let refused = bounded("Lark", || compiler().lark(&source, &LarkOptions::default())).unwrap_err();
    assert!(refused.to_string().contains("Unicode classes"), "{refused}");
    let formats = numbered(count, r##"{"type":"regex","pattern":"\\p{L}#"}"##);
    let document = format!(r#"{{"type":"structural_tag","format":{{"type":"or","elements":[{formats}]}}}}"#);
    let options = StructuralTagOptions::default();
    let refused = bounded("tags", || compiler().structural_tag(&document, &options)).unwrap_err();
    assert!(refused.to_string().contains("Unicode classes"), "{refused}");
}

/// Tags are compiled one by one, and share the work of looking up both cases of large classes.
#[test]
fn case_folding_of_all_tags_is_limited() {
    let folded = |times: usize| "[\u{100}-\u{10FFFF}]".repeat(times);
    let document = |formats: String| {
        format!(r#"{{"type":"structural_tag","format":{{"type":"or","elements":[{formats}]}}}}"#)
    };
    let grammar =
        format!(r##"{{"type":"grammar","grammar":"root ::= Regex(\"{}#\", flags=\"i\")"}}"##, folded(20));
    let source = document(numbered(3, &grammar));
    let options = StructuralTagOptions::default();
    let refused = bounded("grammars", || compiler().structural_tag(&source, &options)).unwrap_err();
    assert!(refused.to_string().contains("ignores case in too many"), "{refused}");
    let mut options = StructuralTagOptions::default();
    options.json_schema.limits.work = 1_000_000;
    let schema = format!(
        r##"{{"type":"json_schema","json_schema":{{"type":"string","pattern":"(?i:{}#)"}}}}"##,
        folded(1)
    );
    let source = document(numbered(12, &schema));
    let refused = bounded("schemas", || compiler().structural_tag(&source, &options)).unwrap_err();
    assert!(refused.to_string().contains("`work`"), "{refused}");
}

/// The set that a text begins in is found before any call: its work is limited, too.
#[test]
fn the_first_set_is_limited() {
    let count = 600;
    let dense = rules(count, |n| {
        let calls: Vec<String> = (0..count).map(|m| format!("r{m} r{}", (7 * m + n) % count)).collect();
        format!("r{n} ::= \"a\" | {}", calls.join(" | "))
    });
    survive(Syntax::Ebnf, &format!("root ::= r0\n{dense}"), b"aaaa");
}

/// Masks and texts over sets of many items end with the limit on work in time.
#[test]
fn dear_sets() {
    let count = sized(20_000);
    let names: Vec<String> = (0..count).map(|n| format!("r{n}")).collect();
    let root = format!("root ::= ({})*", names.join(" | "));
    let cubes = rules(count, |n| {
        format!("r{n} ::= (x{n} x{n} x{n})*\nx{n} ::= \"a\"? \"b\"? r{}?", (7 * n + 1) % count)
    });
    survive(Syntax::Ebnf, &format!("{root}\n{cubes}"), b"abab");
    let classes = rules(count, |n| format!("r{n} ::= [acegikmoqsuwy02468] [bdfhjlnprtvxz13579] \"{n}\""));
    survive(Syntax::Ebnf, &format!("{root}\n{classes}"), b"abab");
    let dispatches =
        rules(count, |n| format!("r{n} ::= TagDispatch((\"a{n}\", x), loop_after_dispatch=true)"));
    survive(Syntax::Ebnf, &format!("{root}\n{dispatches}x ::= \"b\""), b"abab");
    let hidden = rules(count, |n| format!("r{n} ::= \"a\"? r{} \"b\" | \"a\"", (n + 1) % count));
    survive(Syntax::Ebnf, &format!("root ::= r0\n{hidden}"), b"aabb");
    let in_step: Vec<String> =
        (0..count).map(|n| format!("(\"a\"{{{},{}}} \"b\")", 2 * n + 40, 2 * n + 41)).collect();
    survive(Syntax::Ebnf, &format!("root ::= {}", in_step.join(" | ")), &b"a".repeat(3_000));
}
