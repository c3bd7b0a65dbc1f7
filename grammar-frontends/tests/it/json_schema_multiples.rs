//! Multiples and numbers that are none, put to arithmetic.

use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions};
use serde_json::{Value, json};

use crate::schema_texts;

/// A number of thousandths as it is written, without zeros at its end.
fn written(thousandths: i64) -> String {
    let sign = if thousandths < 0 { "-" } else { "" };
    let size = thousandths.unsigned_abs();
    let text = format!("{sign}{}.{:03}", size / 1000, size % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The grammar has just those numbers of thousandths, of an interval, that satisfy a predicate.
#[track_caller]
fn check(schema: Value, interval: std::ops::RangeInclusive<i64>, is_valid: impl Fn(i64) -> bool) {
    let (valid, invalid): (Vec<i64>, Vec<i64>) = interval.partition(|&number| is_valid(number));
    assert!(!valid.is_empty() && !invalid.is_empty());
    let texts = |numbers: Vec<i64>| numbers.into_iter().map(written).collect::<Vec<String>>();
    let (valid, invalid) = (texts(valid), texts(invalid));
    let (valid, invalid): (Vec<&str>, Vec<&str>) =
        (valid.iter().map(String::as_str).collect(), invalid.iter().map(String::as_str).collect());
    schema_texts::check(&schema, &JsonSchemaOptions::default(), &valid, &invalid);
}

#[test]
fn numbers_that_are_no_multiples() {
    let all = -2600..=2600;
    check(json!({"type": "number", "not": {"multipleOf": 0.01}}), all.clone(), |number| number % 10 != 0);
    check(
        json!({"type": "number", "not": {"multipleOf": 0.3}, "minimum": -1.25, "exclusiveMaximum": 2.05}),
        all.clone(),
        |number| number % 300 != 0 && (-1250..2050).contains(&number),
    );
    check(
        json!({"type": "number", "not": {"multipleOf": 1.5}, "exclusiveMinimum": 0.25}),
        all.clone(),
        |number| number % 1500 != 0 && number > 250,
    );
    check(json!({"type": "number", "not": {"multipleOf": 0.3}, "multipleOf": 0.05}), all.clone(), |number| {
        number % 300 != 0 && number % 50 == 0
    });
    check(
        json!({"type": "number", "allOf": [{"not": {"multipleOf": 0.3}}, {"not": {"multipleOf": 0.02}}, {"not": {"multipleOf": 7}}]}),
        all.clone(),
        |number| number % 300 != 0 && number % 20 != 0 && number % 7000 != 0,
    );
    check(
        json!({"type": "number", "not": {"anyOf": [{"multipleOf": 0.25}, {"type": "integer"}]}, "maximum": 1}),
        all.clone(),
        |number| number % 250 != 0 && number <= 1000,
    );
    // Of a step that many states would tell, its power of ten alone is needed.
    let step = json!({"type": "number", "not": {"multipleOf": 0.0000001}});
    let options = JsonSchemaOptions::default();
    schema_texts::check(
        &step,
        &options,
        &["0.00000001", "-3.123456789"],
        &["0", "0.0000001", "1.25", "-0.00000010"],
    );
}

/// Whether there is a number is decided before any is written.
#[test]
fn there_is_a_number_or_none() {
    let is_there = |constraints: String| {
        let schema = format!(r#"{{"type":"number",{constraints}}}"#);
        json_schema::compile(&schema, &JsonSchemaOptions::default()).is_ok()
    };
    for (step, lower, upper, expected) in [
        ("1", "0.5", "0.7", false),
        ("1", "0.5", "1", true),
        ("1", "99.1", "99.9", false),
        ("1", "99.1", "100", true),
        ("1", "-1.5", "-1.2", false),
        ("1", "-1.5", "-1", true),
        ("1", "-0.5", "-0", true),
        ("0.25", "-0.3", "-0.2", true),
        ("0.25", "0.26", "0.5", true),
        ("3", "-7.5", "-6.5", false),
        ("3", "-7.5", "-6", true),
        ("0.1", "0.01", "0.09", false),
        ("0.25", "0", "1e40", true),
    ] {
        let bounds = format!(r#""minimum":{lower},"maximum":{upper}"#);
        assert_eq!(is_there(format!(r#""multipleOf":{step},{bounds}"#)), expected, "{step} {bounds}");
        assert!(step != "1" || is_there(format!(r#""type":"integer",{bounds}"#)) == expected, "{bounds}");
    }
    let integers = json!({"type": "integer", "minimum": 0.5, "maximum": 99.1});
    schema_texts::check(&integers, &JsonSchemaOptions::default(), &["1", "99"], &["0", "100", "-1"]);
    for (value, condition, expected) in [
        ("1.75", r#""multipleOf":0.25"#, true),
        ("1.8", r#""multipleOf":0.25"#, false),
        ("0.125", r#""multipleOf":0.25"#, false),
        ("1e100", r#""multipleOf":8"#, true),
        ("1e100", r#""multipleOf":7"#, false),
        ("-0", r#""minimum":0"#, true),
        ("0.1E1", r#""minimum":1"#, true),
    ] {
        assert_eq!(is_there(format!(r#""enum":[{value}],{condition}"#)), expected, "{value} {condition}");
    }
}

#[test]
fn multiples_of_steps_with_factors_of_ten() {
    let options = JsonSchemaOptions::default();
    // The day and the week in seconds, and the day in milliseconds.
    for step in [86_400i64, 604_800, 86_400_000] {
        let multiples: Vec<String> = [0, 1, -1, 2, 7, 10, 99, 116, 1_157, 11_575, 999_999_999]
            .map(|count| (step * count).to_string())
            .into();
        let others: Vec<String> =
            [1, -1, step / 2, step + 100, step - 10, step * 11_575 + step / 10, -step + 1]
                .map(|number| number.to_string())
                .into();
        let multiples: Vec<&str> = multiples.iter().map(String::as_str).collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        let is = json!({"type": "integer", "multipleOf": step});
        schema_texts::check(&is, &options, &multiples, &others);
        let is_not = json!({"type": "integer", "not": {"multipleOf": step}});
        schema_texts::check(&is_not, &options, &others, &multiples);
    }
    let check_whole = |schema: Value, is_valid: &dyn Fn(i64) -> bool| {
        let (valid, invalid): (Vec<i64>, Vec<i64>) = (-400..=2_100).partition(|&number| is_valid(number));
        let texts = |numbers: Vec<i64>| numbers.iter().map(i64::to_string).collect::<Vec<String>>();
        let (valid, invalid) = (texts(valid), texts(invalid));
        let (valid, invalid): (Vec<&str>, Vec<&str>) =
            (valid.iter().map(String::as_str).collect(), invalid.iter().map(String::as_str).collect());
        schema_texts::check(&schema, &options, &valid, &invalid);
    };
    for (step, low, high) in [(16, -300, 1_999), (25, 7, 1_234), (80, -160, 2_001), (48, 99, 1_500)] {
        let bounds = json!({"type": "integer", "multipleOf": step, "minimum": low, "maximum": high});
        check_whole(bounds, &|number| (low..=high).contains(&number) && number % step == 0);
    }
    check_whole(
        json!({"type": "integer", "multipleOf": 4, "allOf": [{"not": {"multipleOf": 16}}, {"not": {"multipleOf": 40}}],
            "minimum": -170}),
        &|number| number >= -170 && number % 4 == 0 && number % 16 != 0 && number % 40 != 0,
    );
    check_whole(
        json!({"type": "integer", "not": {"anyOf": [{"multipleOf": 16}, {"multipleOf": 25}]}, "maximum": 1_700}),
        &|number| number <= 1_700 && number % 16 != 0 && number % 25 != 0,
    );
}

#[test]
fn few_multiples_of_large_steps() {
    let step = json!({"type": "integer", "multipleOf": 123_456_789, "minimum": -300_000_000, "maximum": 2_000_000_000});
    schema_texts::check(
        &step,
        &JsonSchemaOptions::default(),
        &["0", "-246913578", "-123456789", "123456789", "1975308624", "246913578"],
        &["246913578.0", "1", "-370370367", "2098765413", "123456788", "123456789.5", "-0.5"],
    );
    check(
        json!({"type": "number", "multipleOf": 12.347, "minimum": -20, "exclusiveMaximum": 24.694}),
        -25_000..=25_000,
        |number| number % 12_347 == 0 && (-20_000..24_694).contains(&number),
    );
    check(
        json!({"type": "number", "multipleOf": 10.007, "exclusiveMinimum": 0, "maximum": 20.014, "not": {"type": "integer"}}),
        -25_000..=25_000,
        |number| number % 10_007 == 0 && number > 0 && number <= 20_014,
    );
}

/// Whole numbers of several kinds, between bounds that have their own places along the digits.
#[test]
fn kinds_of_multiples_are_told_by_one_automaton() {
    let options = JsonSchemaOptions::default();
    for (low, high) in
        [(-400, 2_100), (-399, 999), (-10, 1_000), (0, 1_099), (100, 2_000), (-320, -9), (99, 100)]
    {
        let of_kind = |number: i64| {
            let four = number % 4 == 0 && number % 16 != 0;
            let six = number % 6 == 0 && number % 9 != 0 && number % 8 != 0;
            four || six || number % 144 == 0
        };
        let kinds = json!([
            {"multipleOf": 4, "not": {"multipleOf": 16}},
            {"multipleOf": 6, "allOf": [{"not": {"multipleOf": 9}}, {"not": {"multipleOf": 8}}]},
            {"multipleOf": 144},
        ]);
        let schema = json!({"type": "integer", "minimum": low, "maximum": high, "anyOf": kinds});
        let (valid, invalid): (Vec<i64>, Vec<i64>) =
            (-420..=2_120).partition(|&number| (low..=high).contains(&number) && of_kind(number));
        let texts = |numbers: Vec<i64>| numbers.iter().map(i64::to_string).collect::<Vec<String>>();
        let (valid, invalid) = (texts(valid), texts(invalid));
        let (valid, invalid): (Vec<&str>, Vec<&str>) =
            (valid.iter().map(String::as_str).collect(), invalid.iter().map(String::as_str).collect());
        schema_texts::check(&schema, &options, &valid, &invalid);
    }
    check(
        json!({"type": "number", "oneOf": [{"multipleOf": 2.5, "allOf": [{"multipleOf": 0.2}]}, {"multipleOf": 3}]}),
        -50_000..=50_000,
        |number| (number % 5_000 == 0) != (number % 3_000 == 0),
    );
}

#[test]
fn states_of_multiples_are_shared() {
    let rules = |schema: &Value| {
        let text = schema.to_string();
        json_schema::compile(&text, &JsonSchemaOptions::default()).unwrap().grammar.rule_count()
    };
    let one = rules(&json!({"type": "integer", "multipleOf": 3_003, "minimum": 0}));
    // Of negative numbers, of other bounds, and of a part of the multiples there are no states of their own.
    let both = rules(&json!({"type": "integer", "multipleOf": 3_003}));
    assert!(both < one + 20, "{both} rules after {one}");
    let bounds: Vec<Value> =
        (1..20).map(|at| json!({"type": "integer", "multipleOf": 3_003, "minimum": at})).collect();
    let many = rules(&json!({"type": "array", "prefixItems": bounds, "items": false}));
    assert!(many < one + 19 * 40, "{many} rules after {one}");
    let kinds = json!({"type": "integer", "minimum": 0, "anyOf": [
        {"multipleOf": 3_003}, {"multipleOf": 7, "not": {"multipleOf": 11}}, {"multipleOf": 13, "not": {"multipleOf": 3}},
    ]});
    let kinds = rules(&kinds);
    assert!(kinds < one + 20, "{kinds} rules after {one}");
}

#[test]
fn a_state_of_multiples_is_an_expression_for_each_digit() {
    let schema = json!({"type": "integer", "multipleOf": 3_003, "minimum": 100_001}).to_string();
    let grammar = json_schema::compile(&schema, &JsonSchemaOptions::default()).unwrap().grammar;
    // A number of the last three digits or more is told by its remainder alone, one before them by its digits.
    assert!(grammar.rule_count() < 3 * 3_003 + 1_100, "{} rules", grammar.rule_count());
    assert!(grammar.expr_count() < 13 * grammar.rule_count(), "{} expressions", grammar.expr_count());
}
