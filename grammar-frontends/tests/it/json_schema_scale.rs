//! Large schemas compile in time that grows with what the root reaches, and deep ones do not overflow.

use std::fmt::Write as _;
use std::time::Duration;

use grammask_grammar_frontends::json_schema::{
    JsonSchemaOptions, KeyOrder, Unsupported, compile, compile_grammar, compile_with_warnings,
};

use grammask_grammar_frontends::lark::{self, LarkOptions};
use grammask_oracle::Recogniser;

use crate::thread_time;

fn rules(schema: &str) -> usize {
    compile(schema, &JsonSchemaOptions::default()).unwrap().grammar.rule_count()
}

#[test]
fn optional_properties_are_linear() {
    let schema = |count: usize| {
        let mut properties = String::new();
        for number in 0..count {
            let comma = if number == 0 { "" } else { "," };
            write!(properties, r#"{comma}"property{number}":{{"type":"string"}}"#).unwrap();
        }
        format!(r#"{{"type":"object","properties":{{{properties}}}}}"#)
    };
    assert!(rules(&schema(16_000)) < 16_100);
    let closed = schema(16_000).replacen('{', r#"{"additionalProperties":false,"#, 1);
    assert!(rules(&closed) < 16_100);
}

#[test]
fn only_what_the_root_reaches_is_lowered() {
    let mut definitions = String::new();
    for number in 0..50_000 {
        let next = (number + 1) % 50_000;
        let comma = if number == 0 { "" } else { "," };
        let padding = "x".repeat(100);
        write!(
            definitions,
            r##"{comma}"d{number}":{{"description":"{padding}","uniqueItems":true,"items":{{"$ref":"#/$defs/d{next}"}}}}"##
        )
        .unwrap();
    }
    let schema =
        format!(r##"{{"$ref":"#/$defs/root","$defs":{{"root":{{"type":"string"}},{definitions}}}}}"##);
    assert!(rules(&schema) < 10);
}

#[test]
fn equal_schemas_are_read_once() {
    let schema = |count: usize, inside: &dyn Fn(usize) -> String| {
        let properties: Vec<String> =
            (0..count).map(|number| format!(r#""p{number}":{}"#, inside(number))).collect();
        format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","))
    };
    let rules = |inside: &dyn Fn(usize) -> String| {
        let options = JsonSchemaOptions::default();
        compile_grammar(&schema(200, inside), &options).unwrap().rule_count()
    };
    let object = |about: &str, keyword: &str| {
        format!(r#"{{{about}"properties":{{"a":{{"items":{{"minLength":1}}}},"title":{{}}}}{keyword}}}"#)
    };
    // Descriptions do not distinguish a schema from others, in any place.
    assert!(rules(&|_| object("", "")) < 250);
    assert!(rules(&|number| object(&format!(r#""title":"{number}","x-order":{number},"#), "")) < 250);
    // Its assertions do.
    assert!(rules(&|number| object("", &format!(r#","required":["b{number}"]"#))) > 400);
    assert!(rules(&|number| object("", &format!(r#","const":{{"title":{number}}}"#))) > 400);
    let named = |number| format!(r#"{{"properties":{{"title":{{"const":{{"title":{number}}}}}}}}}"#);
    assert!(rules(&named) > 400);
}

#[test]
fn long_chains_of_references() {
    let chain = |count: usize, through: &str| {
        let mut definitions = String::new();
        for number in 0..count {
            let body = through.replace("NEXT", &format!(r##"{{"$ref":"#/$defs/d{}"}}"##, number + 1));
            write!(definitions, r#""d{number}":{body},"#).unwrap();
        }
        format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{definitions}"d{count}":{{"type":"null"}}}}}}"##)
    };
    assert!(rules(&chain(5_000, r#"{"items":NEXT}"#)) > 5_000);
    assert!(rules(&chain(5_000, r#"{"properties":{"a":NEXT}}"#)) > 5_000);
    // Applied to one and the same value, references nest; that is bounded.
    let error = compile(&chain(5_000, r#"{"allOf":[NEXT]}"#), &JsonSchemaOptions::default()).unwrap_err();
    assert_eq!(error.iter().next().unwrap().code(), "json-schema/limit");
}

#[test]
fn long_tuples_and_constants() {
    let numbers: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
    let list = numbers.join(",");
    assert!(rules(&format!(r#"{{"const":[{list}]}}"#)) < 20);
    assert!(rules(&format!(r#"{{"enum":[{list}]}}"#)) < 20);
    let places = vec!["{}"; 20_000].join(",");
    assert!(rules(&format!(r#"{{"type":"array","prefixItems":[{places}],"items":false}}"#)) > 1_000);
    assert!(rules(r#"{"type":"array","maxItems":4000000000,"minItems":3}"#) < 20);
    assert!(rules(r#"{"type":"string","maxLength":4000000000}"#) < 20);
}

/// Conditions on the numbers of one object are written one after the other, and each is paid for before the next one.
#[test]
fn steps_of_many_members_are_refused_where_the_limit_is_reached() {
    let members: Vec<String> =
        (1..=500).map(|step| format!(r#""p{step}":{{"type":"number","multipleOf":{step}.5}}"#)).collect();
    let schema = format!(r#"{{"type":"object","properties":{{{}}}}}"#, members.join(","));
    let mut options = JsonSchemaOptions::default();
    options.limits.expressions = 50_000;
    let error = compile(&schema, &options).unwrap_err();
    let place = error.iter().next().unwrap().pointer().unwrap_or_default().to_owned();
    let reached: usize = place.trim_start_matches("/properties/p").parse().unwrap_or(usize::MAX);
    assert!(reached < 100, "{place}: {error}");
}

/// The patterns of one schema share the limits on what case folding and large classes cost.
#[test]
fn patterns_of_one_schema_share_limits() {
    let schema = |pattern: &str, members: usize| {
        let members: Vec<String> =
            (0..members).map(|at| format!(r#""p{at}":{{"pattern":"{pattern}{at}"}}"#)).collect();
        format!(r#"{{"properties":{{{}}}}}"#, members.join(","))
    };
    let folded = format!("(?i:{})", r"[Ā-\\u{10FFFF}]".repeat(10));
    let classes = r"\\p{L}k".repeat(1_500);
    for (pattern, message) in
        [(folded.as_str(), "ignores case in too many large classes"), (classes.as_str(), "Unicode classes")]
    {
        compile(&schema(pattern, 1), &JsonSchemaOptions::default()).unwrap();
        let error = compile(&schema(pattern, 8), &JsonSchemaOptions::default()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    // One complement is folded once, however often it is named.
    compile(&schema(r"(?i:\\P{Lu})", 40), &JsonSchemaOptions::default()).unwrap();
    let names =
        ["Lu", "Ll", "Lt", "L", "M", "N", "Greek", "Latin", "Cyrillic", "Coptic", "Deseret", "Cherokee"];
    let spelled = ["", "gc=", "General_Category=", "Script=", "sc=", "Script_Extensions=", "scx="];
    let members = spelled.iter().flat_map(|kind| names.iter().map(move |name| format!("{kind}{name}")));
    let members: Vec<String> = members
        .filter(|name| {
            compile(&format!(r#"{{"pattern":"(?i:\\P{{{name}}})"}}"#), &JsonSchemaOptions::default()).is_ok()
        })
        .map(|name| format!(r#""{name}":{{"pattern":"(?i:\\P{{{name}}})"}}"#))
        .collect();
    assert!(members.len() > 32);
    let all = format!(r#"{{"properties":{{{}}}}}"#, members.join(","));
    let error = compile(&all, &JsonSchemaOptions::default()).unwrap_err().to_string();
    assert!(error.contains("too many complements"), "{error}");
}

#[test]
fn limits_are_errors() {
    let code = |schema: &str| {
        let error = compile(schema, &JsonSchemaOptions::default()).unwrap_err();
        error.iter().next().unwrap().code()
    };
    let large = format!(r#"{{"description":"{}"}}"#, "x".repeat(17 << 20));
    assert_eq!(code(&large), "json-schema/limit");
    let properties: Vec<String> = (0..10_001).map(|number| format!(r#""p{number}":{{}}"#)).collect();
    let wide = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
    let any_order = JsonSchemaOptions::default().key_order(KeyOrder::Any);
    let error = compile(&wide, &any_order).unwrap_err();
    assert_eq!(error.iter().next().unwrap().code(), "json-schema/unsupported");
    assert!(compile(&wide, &JsonSchemaOptions::default()).is_ok());
    let deep = format!("{}{}", r#"{"items":"#.repeat(200), "}".repeat(200));
    assert_eq!(code(&deep), "json-schema/syntax");
    // Six alternatives in each of five conjuncts.
    let names = ["a", "b", "c", "d", "e", "f"];
    let any: Vec<String> = (0..5)
        .map(|part| {
            let ways = names.map(|name| format!(r#"{{"required":["{name}{part}"]}}"#));
            format!(r#"{{"anyOf":[{}]}}"#, ways.join(","))
        })
        .collect();
    assert_eq!(code(&format!(r#"{{"allOf":[{}]}}"#, any.join(","))), "json-schema/unsupported");
}

/// Names with a bound on their length alone are not counted one by one.
#[test]
fn names_of_a_length_take_little_work() {
    let mut options = JsonSchemaOptions::default();
    options.limits.work = 20_000;
    let schema = r#"{"type":"object","minProperties":900,"propertyNames":{"minLength":2,"maxLength":19999}}"#;
    compile(schema, &options).unwrap();
}

/// Alternatives that make more goals than there may be are refused once they do.
#[test]
fn pairs_of_alternatives_are_bounded_by_goals() {
    let items = numbered(800, r##"{"type":"array","items":{"const":#},"minItems":1}"##);
    let error = compile(&format!(r#"{{"oneOf":[{items}]}}"#), &JsonSchemaOptions::default()).unwrap_err();
    assert!(error.to_string().contains("`goals`"), "{error}");
}

/// Alternatives that a pattern of one member tells apart need no complement of one another, as those of a constant.
#[test]
fn alternatives_of_a_pattern_take_little_work() {
    let mut options = JsonSchemaOptions::default();
    options.limits.work = 500_000;
    let one =
        r#"{"type":"object","properties":{"t":{"type":"string","pattern":"^PATTERN$"}},"required":["t"]}"#;
    let rules = |count: usize, pattern: &str| {
        let schema = format!(r#"{{"oneOf":[{}]}}"#, numbered(count, &one.replace("PATTERN", pattern)));
        compile(&schema, &options).unwrap_or_else(|error| panic!("{pattern}: {error}")).grammar.rule_count()
    };
    for pattern in ["k#", "(l#|k#)", "k#-[0-9]+", "[a-z]#-.*"] {
        let [few, many] = [5, 50].map(|count| rules(count, pattern));
        assert!(many <= few + 2 * 45, "{pattern}: {many} rules, {few} of a tenth");
    }
}

/// To read a pattern takes longer than to write it.
#[test]
fn patterns_are_charged_for() {
    let work = |member: &'static str| {
        let schema = listed((r#"{"type":"object","properties":{"#, member, "}}"), 1_000);
        compile(&schema, &JsonSchemaOptions::default()).unwrap().work
    };
    let (patterns, constants) = (work(r##""k#":{"pattern":"^a#$"}"##), work(r##""k#":{"const":"a#"}"##));
    assert!(patterns > constants + 256_000, "{patterns}, {constants}");
}

/// The automaton of a format and a length takes more than its few expressions.
#[test]
fn lengths_of_formats_are_charged_for() {
    let work = |more: &str| {
        let part = format!(r##""k#":{{"type":"string","format":"date-time"{more}}}"##);
        let schema = format!(r#"{{"type":"object","properties":{{{}}}}}"#, numbered(1_000, &part));
        compile(&schema, &JsonSchemaOptions::default()).unwrap().work
    };
    let (bounded, alone) = (work(r##","maxLength":4#"##), work(""));
    assert!(bounded > alone + 256_000, "{bounded}, {alone}");
}

/// The automaton of all names but a few takes more than its few expressions.
#[test]
fn other_names_are_charged_for() {
    let work = |rest: &str| {
        let part = format!(r##""k#":{{"type":"object","properties":{{"a#":{{"type":"null"}}}}{rest}}}"##);
        let schema = format!(r#"{{"type":"object","properties":{{{}}}}}"#, numbered(1_000, &part));
        compile(&schema, &JsonSchemaOptions::default()).unwrap().work
    };
    let (open, closed) = (work(""), work(r#","additionalProperties":false"#));
    assert!(open > closed + 320_000, "{open}, {closed}");
}

/// A format has more texts than an array has items. No automaton of it is built to count them.
#[test]
fn items_of_a_format_that_differ_take_little_work() {
    let mut options = JsonSchemaOptions::default();
    options.limits.work = 10_000;
    for format in ["date", "uri", "iri-reference", "uuid", "ipv6", "email", "uri-template"] {
        let items = format!(r#"{{"type":"string","format":"{format}","minLength":1}}"#);
        let schema = format!(r#"{{"type":"array","uniqueItems":true,"items":{items}}}"#);
        let grammar = compile(&schema, &options).unwrap_or_else(|error| panic!("{format}: {error}")).grammar;
        assert!(grammar.rule_count() < 20, "{format}");
    }
}

/// Conditions on one member: about as many alternatives as it has values, and each knows its value alone.
#[test]
fn conditions_on_the_kind_of_an_object_take_little_work() {
    let one = r#"{"if":{"properties":{"k":{"const":"kind#"}},"required":["k"]},"then":{"required":["p#"]}}"#;
    let work = |count: usize| {
        let schema = format!(r#"{{"type":"object","allOf":[{}]}}"#, numbered(count, one));
        let compiled = compile(&schema, &JsonSchemaOptions::default()).unwrap();
        let texts = Recogniser::new(&compiled.grammar);
        assert!(texts.accepts(br#"{"k":"kind7","p7":0}"#) && texts.accepts(br#"{"k":"another"}"#));
        assert!(!texts.accepts(br#"{"k":"kind7","p8":0}"#) && !texts.accepts(br#"{"k":"kind0"}"#));
        compiled.work
    };
    let (some, more) = (work(20), work(100));
    assert!(more < 40 * some && more < 5_000_000, "{some} then {more}");
}

/// Members or items with a number in the place of `#`.
fn numbered(count: usize, one: &str) -> String {
    let all: Vec<String> = (0..count).map(|number| one.replace('#', &number.to_string())).collect();
    all.join(",")
}

/// The least time of some runs.
fn least_time(schema: &str, options: &JsonSchemaOptions) -> Duration {
    let runs = (0..3).map(|_| {
        let before = thread_time();
        let _ = compile_grammar(schema, options);
        thread_time() - before
    });
    runs.min().unwrap()
}

/// The beginning of a schema, the part that is written once for each number, and the end.
type Shape = (&'static str, &'static str, &'static str);

fn listed((start, one, end): Shape, count: usize) -> String {
    format!("{start}{}{end}", numbered(count, one))
}

#[test]
fn lists_of_constants_take_time_in_proportion() {
    for shape in [
        (r#"{"anyOf":["#, r#"{"const":"value #"}"#, "]}"),
        (r#"{"anyOf":["#, r##"{"const":#}"##, "]}"),
        (r#"{"anyOf":["#, r##"{"type":"integer","title":"number #","const":#}"##, "]}"),
        (r#"{"anyOf":["#, r##"{"enum":["value #",#]}"##, "]}"),
        (r#"{"anyOf":["#, r##"{"title":"more than a constant","const":#,"minimum":0}"##, "]}"),
        (r#"{"type":"string","not":{"anyOf":["#, r#"{"const":"value #"}"#, "]}}"),
        (r#"{"allOf":["#, r#"{"not":{"const":"value #"}}"#, "]}"),
        (r#"{"allOf":[{"minLength":1},"#, r##"{"not":{"enum":["value #","other #"]}}"##, "]}"),
    ] {
        let options = JsonSchemaOptions::default();
        let [few, many] = [1_000, 16_000].map(|count| listed(shape, count));
        assert!(compile_grammar(&many, &options).is_ok(), "{shape:?}");
        let (short, long) = (least_time(&few, &options), least_time(&many, &options));
        println!("{short:>10.1?} {long:>10.1?} {shape:?}");
        // The square would be 256 times as much.
        assert!(long < short.max(Duration::from_millis(1)) * 64, "{shape:?}: {short:?}, {long:?}");
    }
}

/// References to constants, which are longer to write down.
#[test]
fn references_to_constants_take_time_in_proportion() {
    let schema = |count: usize| {
        let references: Vec<String> =
            (0..count).map(|number| format!(r##"{{"$ref":"#/$defs/c{number}"}}"##)).collect();
        let constants = numbered(count, r##""c#":{"const":#}"##);
        format!(r#"{{"anyOf":[{}],"$defs":{{{constants}}}}}"#, references.join(","))
    };
    let options = JsonSchemaOptions::default();
    assert!(compile_grammar(&schema(100_000), &options).is_ok());
    let (short, long) = (least_time(&schema(1_000), &options), least_time(&schema(16_000), &options));
    assert!(long < short.max(Duration::from_millis(1)) * 64, "{short:?}, {long:?}");
}

/// The limit on work bounds time only if what is charged for takes about as long everywhere.
#[test]
fn a_unit_of_work_takes_about_as_long_everywhere() {
    let mut options = JsonSchemaOptions::default();
    options.limits.work = 2_000_000;
    let chain: Vec<String> = (0..500).map(|number| format!(r#""a{number}":["a{}"]"#, number + 1)).collect();
    let mut schemas = vec![format!(r#"{{"dependentRequired":{{{}}}}}"#, chain.join(","))];
    for (shape, count) in [
        ((r#"{"allOf":["#, r##"{"not":{"const":{"a":#}}}"##, "]}"), 5_000),
        ((r#"{"allOf":["#, r##"{"not":{"const":[#]}}"##, "]}"), 5_000),
        ((r#"{"allOf":["#, r#"{"required":["k#"]}"#, "]}"), 5_000),
        ((r#"{"allOf":["#, r#"{"not":{"required":["k#"]}}"#, "]}"), 5_000),
        ((r#"{"allOf":["#, r##"{"additionalProperties":{"minimum":#}}"##, "]}"), 5_000),
        ((r#"{"allOf":["#, r##"{"propertyNames":{"pattern":"a#"}}"##, "]}"), 500),
        ((r#"{"allOf":["#, r##"{"patternProperties":{"^a#":{"minimum":#}}}"##, "]}"), 500),
        (
            (
                r#"{"allOf":["#,
                r##"{"if":{"properties":{"k":{"const":#}}},"then":{"required":["t#"]}}"##,
                "]}",
            ),
            500,
        ),
        ((r#"{"dependentRequired":{"#, r##""a#":["z"],"z#":["a"]"##, "}}"), 5_000),
        ((r#"{"dependentSchemas":{"#, r#""a#":{"required":["b#"]}"#, "}}"), 5_000),
        ((r#"{"oneOf":["#, r#"{"type":"object","properties":{"k#":{"type":"string"}}}"#, "]}"), 500),
        ((r#"{"oneOf":["#, r##"{"type":"array","items":{"minimum":#}}"##, "]}"), 500),
        ((r#"{"oneOf":["#, r##"{"enum":["a#","b#","c#","d#","e#","f#","g#","h#"]}"##, "]}"), 500),
        ((r#"{"oneOf":["#, r#"{"pattern":"a#"}"#, "]}"), 500),
        (
            (r#"{"pattern":"^(a|b|ab)*$","enum":["#, r#""abababababababababababababababababababab#""#, "]}"),
            5_000,
        ),
        (
            (
                r#"{"properties":{"a":{}},"required":["#,
                r#""a#""#,
                r#"],"patternProperties":{"^(a|b)*c":{},"d$":{}}}"#,
            ),
            9_000,
        ),
    ] {
        schemas.push(listed(shape, count));
    }
    let mut times = Vec::new();
    for schema in &schemas {
        let time = least_time(schema, &options);
        // Others are refused sooner, or compile.
        if compile_grammar(schema, &options).is_err_and(|error| error.to_string().contains("`work`")) {
            println!("{time:>10.1?} {schema:.90}");
            times.push((time, &schema[..50]));
        }
    }
    times.sort_unstable();
    let (median, (dearest, schema)) = (times[times.len() / 2].0, times[times.len() - 1]);
    assert!(times.len() > 8, "{} schemas pass the limit", times.len());
    assert!(dearest < 8 * median, "{schema} takes {dearest:?}, the median is {median:?}");
}

/// Strings of one format are a rule that other schemas have too, and that is written once.
#[test]
fn formats_are_common_rules() {
    let grammar = |members: &str| {
        let schema =
            format!(r#"{{"type":"object","properties":{{{members}}},"additionalProperties":false}}"#);
        compile(&schema, &JsonSchemaOptions::default()).unwrap().grammar
    };
    let common = |members: &str| {
        let grammar = grammar(members);
        let names = grammar.common().iter().map(|&rule| grammar.rule(rule).name().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(common(r#""a":{"type":"string","format":"uri"}"#), ["uri"]);
    // A bound that every text of the format keeps is none.
    assert_eq!(common(r#""a":{"type":"string","format":"email","minLength":3,"maxLength":1024}"#), ["email"]);
    assert!(common(r#""a":{"type":"string","format":"email","maxLength":30}"#).is_empty());
    let email = r#""a":{"type":"string","format":"email"}"#;
    let twice = grammar(&format!(r#"{email},"b":{{"type":"string","format":"email"}}"#));
    assert!(twice.rule_count() < grammar(email).rule_count() + 10);
}

/// Schemas in one grammar have the rules of any value in common, and those are written once.
#[test]
fn schemas_of_one_grammar_share_common_rules() {
    let expressions = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("r{number}")).collect();
        let mut source = format!("start: {}\n", names.join(" | "));
        for name in names {
            let schema = format!(r#"{{"type":"object","properties":{{"{name}":{{"type":"string"}}}}}}"#);
            writeln!(source, "{name}: %json {schema}").unwrap();
        }
        let grammar = lark::parse(&source, &LarkOptions::default()).unwrap();
        assert_eq!(grammar.common().len(), 3);
        grammar.expr_count()
    };
    let [one, few, many] = [1, 2, 40].map(expressions);
    assert!(few < one + one / 2, "{one}, {few}");
    assert!(many - few <= 38 * (few - one), "{few}, {many}");
}

#[test]
fn a_keyword_that_is_met_often_hides_no_other() {
    let interval = |at: usize| format!(r#"{{"minimum":{},"maximum":{}}}"#, 2 * at, 2 * at + 1);
    let intervals: Vec<String> = (0..1_500).map(interval).collect();
    let often = format!(r#"{{"type":"number","multipleOf":0.00003,"anyOf":[{}]}}"#, intervals.join(","));
    let schema = format!(r#"{{"properties":{{"a":{often},"b":{{"format":"idn-email"}}}}}}"#);
    let options = JsonSchemaOptions::default().unsupported(Unsupported::Ignore);
    let report = compile_with_warnings(&schema, &options).unwrap().report;
    let met: Vec<&str> = report.entries().iter().map(|entry| &*entry.keyword).collect();
    assert_eq!((met, report.warnings().count()), (vec!["multipleOf", "format"], 2));
}

/// Reports have an entry for many places, each with a pointer to it: long ones are shortened, and warnings are so many at
/// most.
#[test]
fn reports_stay_small() {
    let names = |count: usize| {
        let member =
            |number| format!(r#""p{number}":{{"minLength":{number},"unevaluatedItems":false,"title":"t"}}"#);
        (0..count).map(member).collect::<Vec<_>>().join(",")
    };
    let (many, long) = (names(2_000), "w".repeat(300_000));
    let old = "http://json-schema.org/draft-07/schema#";
    let mut schema = format!(r#"{{"properties":{{"{long}":{{"properties":{{{many}}}}}}}}}"#);
    for _ in 0..50 {
        schema = format!(r#"{{"properties":{{"{}":{schema}}}}}"#, &long[..200]);
    }
    let schema = schema.replacen('{', &format!(r#"{{"$schema":"{old}","#), 1);
    let options = JsonSchemaOptions::default();
    let whole = compile(&schema, &options).unwrap().report;
    assert!(whole.entries().len() > 6_000 && whole.memory_usage() < 40 << 20, "{}", whole.memory_usage());
    assert_eq!(whole.warnings().count(), 2_000);
    let short = compile_with_warnings(&schema, &options).unwrap().report;
    let warnings: Vec<String> = short.warnings().collect();
    assert_eq!(warnings.len(), 1_001);
    assert_eq!(warnings.last().unwrap(), "up to 1000 more warnings are left out");
    assert!(warnings.iter().all(|warning| warning.len() < 5_000));
}
