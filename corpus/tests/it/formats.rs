//! Every format of the standard, its texts put to a validator.
//!
//! Texts are walked out of the grammar of a format, with long runs, so that parts come near their bounds.
//! They are changed a little, and put to the grammar, to the grammar of the opposite and to the validator.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of a test that fails is the failure")]

use grammask_corpus::documents::is_judged_rightly;
use grammask_corpus::subjects::earley;
use grammask_corpus::{BackendSubject, Subject};
use grammask_earley::Engine;
use grammask_grammar_frontends::json_schema::{self, JsonSchemaOptions};
use grammask_oracle::random::Rng;
use serde_json::{Value, json};

/// The formats, and how many texts of each are walked.
const FORMATS: &[(&str, usize)] = &[
    ("date", 40),
    ("time", 60),
    ("date-time", 60),
    ("duration", 60),
    ("email", 120),
    ("hostname", 120),
    ("ipv4", 40),
    ("ipv6", 100),
    ("uri", 100),
    ("uri-reference", 100),
    ("iri", 80),
    ("iri-reference", 80),
    ("uri-template", 60),
    ("uuid", 30),
    ("json-pointer", 40),
    ("relative-json-pointer", 40),
    ("regex", 100),
];

/// Changes of each text.
const CHANGES: usize = 6;

fn subject(schema: &Value) -> BackendSubject<Engine> {
    let compiled = json_schema::compile(&schema.to_string(), &JsonSchemaOptions::default());
    let compiled = compiled.unwrap_or_else(|error| panic!("{schema}: {error}"));
    BackendSubject(earley(&compiled.grammar).unwrap())
}

fn validator(schema: &Value) -> impl Fn(&str) -> bool {
    let validator = jsonschema::options().should_validate_formats(true).build(schema).unwrap();
    move |text| validator.is_valid(&Value::from(text))
}

fn accepts(subject: &impl Subject, text: &str) -> bool {
    let mut state = subject.start();
    for byte in Value::from(text).to_string().bytes() {
        match subject.step(&state, byte).unwrap() {
            Some(next) => state = next,
            None => return false,
        }
    }
    subject.is_complete(&state)
}

/// A string of the subject: runs of signs that are alike, no escapes where they can be avoided, and from `length`
/// bytes on the shortest way to the end.
fn long_walk(subject: &impl Subject, rng: &mut Rng, length: usize) -> String {
    let mut state = subject.start();
    let mut bytes: Vec<u8> = Vec::new();
    loop {
        if subject.is_complete(&state) {
            return serde_json::from_slice(&bytes).unwrap();
        }
        let allowed: Vec<u8> = (0..=255).filter(|&byte| subject.next_bytes(&state).contains(byte)).collect();
        let plain: Vec<u8> = allowed.iter().copied().filter(|byte| !b"\"\\".contains(byte)).collect();
        let byte = if bytes.len() >= length {
            let far = |&&byte: &&u8| {
                let next = subject.step(&state, byte).unwrap().unwrap();
                subject.shortest_completion_len(&next).unwrap_or(u64::MAX)
            };
            *allowed.iter().min_by_key(far).unwrap()
        } else if plain.is_empty() {
            *rng.pick(&allowed).unwrap()
        } else {
            let last = bytes.last().copied().unwrap_or(0);
            let like: Vec<u8> = plain
                .iter()
                .copied()
                .filter(|byte| byte.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() || *byte == last)
                .collect();
            let pool = if !like.is_empty() && rng.percent(85) { &like } else { &plain };
            *rng.pick(pool).unwrap()
        };
        state = subject.step(&state, byte).unwrap().unwrap();
        bytes.push(byte);
    }
}

/// A text with one change, or with a stretch of it many times.
fn changed(rng: &mut Rng, text: &str) -> String {
    const SIGNS: &[char] = &[
        'a', 'Z', '0', '9', '-', '.', ':', '/', '@', '%', '[', ']', '~', '+', '#', '{', '}', '"', ' ', 'é',
        '\\', '\n',
    ];
    let mut signs: Vec<char> = text.chars().collect();
    let at = rng.below(signs.len() + 1);
    let sign = *rng.pick(SIGNS).unwrap();
    match rng.below(6) {
        0 if at < signs.len() => drop(signs.remove(at)),
        1 if at < signs.len() => signs[at] = sign,
        2 if at < signs.len() => {
            let end = rng.between(at + 1, signs.len().min(at + 6));
            let stretch: Vec<char> = signs[at..end].to_vec();
            let times = rng.between(1, 70);
            signs.splice(at..at, stretch.iter().copied().cycle().take(stretch.len() * times));
        }
        3 if at < signs.len() => signs.swap(at, 0),
        4 => signs.truncate(at),
        _ => signs.insert(at, sign),
    }
    signs.into_iter().collect()
}

/// Texts that a validator takes and that are left out, as the documentation says.
fn is_left_out(format: &str, text: &str) -> bool {
    let is_reserved = |label: &str| label.get(2..4) == Some("--");
    match format {
        "hostname" => text.split('.').any(is_reserved),
        "email" => {
            let (local, host) = text.rsplit_once('@').unwrap_or((text, ""));
            !local.is_ascii() || host.split('.').any(|label| is_reserved(label) && !label.starts_with("xn--"))
        }
        // Leap seconds at a distance to UTC that is no multiple of 15 minutes.
        "time" | "date-time" => {
            text.contains(":60") && !["00", "15", "30", "45"].iter().any(|minutes| text.ends_with(minutes))
        }
        // A date and weeks, or weeks and a time.
        "duration" => text.contains('W'),
        // Steps along an array.
        "relative-json-pointer" => text.contains(['+', '-']),
        "regex" => true,
        _ => false,
    }
}

/// Whether the validator takes an invalid text: it does not check that all signs of a date are digits.
fn is_mistaken(format: &str, text: &str) -> bool {
    let is_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let of_date = [(0, 4), (5, 7), (8, 10)];
    format.starts_with("date")
        && !of_date.iter().all(|&(start, end)| text.as_bytes().get(start..end).is_some_and(is_digits))
}

/// Whether the validator may refuse a valid text: with the apostrophe of erratum 6937, or a pattern that Rust's dialect
/// does not have.
fn is_unknown(format: &str, text: &str) -> bool {
    let schema = json!({ "format": format });
    if format == "regex" && !is_judged_rightly(&schema, &Value::from(text)) {
        return true;
    }
    let signs: &[&str] = match format {
        "uri-template" => &["'"],
        "regex" => &["(?<", "\\1", "\\2", "\\3", "\\k"],
        _ => &[],
    };
    signs.iter().any(|sign| text.contains(sign))
}

#[test]
fn formats_are_those_of_a_validator() {
    let mut faults = std::collections::BTreeMap::new();
    for &(format, walks) in FORMATS {
        let schema = json!({ "type": "string", "format": format });
        let (is_valid, taken) = (validator(&schema), subject(&schema));
        // Of no text it is certain that it is no pattern.
        let opposite =
            (format != "regex").then(|| subject(&json!({ "type": "string", "not": { "format": format } })));
        let mut rng = Rng::new(walks as u64);
        for number in 0..walks {
            let length = 4 + number * rng.below(260) / walks;
            let mut texts = vec![long_walk(&taken, &mut rng, length)];
            for _ in 0..CHANGES {
                let text = rng.pick(&texts).unwrap().clone();
                let text = changed(&mut rng, &text);
                texts.push(text);
            }
            for text in texts {
                let valid = is_valid(&text) && !is_mistaken(format, &text);
                let accepted = accepts(&taken, &text);
                let is_opposite = opposite.as_ref().is_some_and(|opposite| accepts(opposite, &text));
                let mut fault = |what: &'static str| {
                    faults.entry((format, what)).or_insert(text.clone());
                };
                if accepted && !valid && !is_unknown(format, &text) {
                    fault("takes what is invalid");
                }
                if valid && !accepted && !is_left_out(format, &text) {
                    fault("refuses what is valid");
                }
                if is_opposite && (valid || accepted) {
                    fault("is taken by its opposite");
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn bounds_on_the_length_of_addresses_hold() {
    for format in ["email", "hostname"] {
        for most in [1, 5, 24, 62, 63, 64, 66, 67, 90, 130, 200, 253, 254, 255, 316, 320] {
            let schema = json!({ "type": "string", "format": format, "maxLength": most, "minLength": 1 });
            if format == "email" && most == 1 {
                assert!(json_schema::compile(&schema.to_string(), &JsonSchemaOptions::default()).is_err());
                continue;
            }
            let (is_valid, taken) = (validator(&schema), subject(&schema));
            let mut rng = Rng::new(most);
            for number in 0..12 {
                let length = number * rng.below(most as usize + 8) / 12;
                let text = long_walk(&taken, &mut rng, length);
                assert!(is_valid(&text), "{format} up to {most} takes {text:?}");
            }
        }
    }
}

/// The bounds of the documents that define the formats, from both sides.
#[test]
fn parts_may_be_as_long_as_they_may_be() {
    let check = |format: &str, most: Option<u64>, text: &str, expected: bool| {
        let mut schema = json!({ "type": "string", "format": format });
        if let Some(most) = most {
            schema["maxLength"] = json!(most);
        }
        assert_eq!(accepts(&subject(&schema), text), expected, "{format} {most:?} {text}");
        assert_eq!(validator(&schema)(text), expected, "the validator: {format} {most:?} {text}");
    };
    let letters = |count: usize| "x".repeat(count);
    let quoted = |count: usize| format!("\"{}\"", "x".repeat(count - 2));
    for (local, expected) in
        [(letters(64), true), (letters(65), false), (quoted(64), true), (quoted(65), false)]
    {
        check("email", None, &format!("{local}@example.com"), expected);
    }
    check("email", None, &format!("{}.{}@a.b", letters(31), letters(32)), true);
    check("email", None, &format!("{}.{}@a.b", letters(32), letters(32)), false);
    check("email", None, &format!("a@{}.com", letters(63)), true);
    check("email", None, &format!("a@{}.com", letters(64)), false);
    check("hostname", None, &letters(63), true);
    check("hostname", None, &letters(64), false);
    // Under a bound on the whole.
    check("email", Some(70), &format!("{}@{}", letters(58), letters(11)), true);
    check("email", Some(70), &format!("{}@{}", letters(58), letters(12)), false);
    check("email", Some(255), &format!("{}@{}.com", letters(64), letters(59)), true);
    check("email", Some(70), &format!("{}@{}", letters(64), letters(5)), true);
    check("email", Some(70), &format!("{}@{}", letters(64), letters(6)), false);
    check("email", Some(12), &format!("{}@{}", letters(5), letters(6)), true);
    check("email", Some(12), &format!("{}@{}", letters(6), letters(6)), false);
    check("email", Some(255), "somebody@[IPv6:2001:db8::1]", true);
    check("hostname", Some(128), &format!("{0}.{0}", letters(63)), true);
    check("hostname", Some(128), &format!("{0}.{0}.ab", letters(63)), false);
    check("hostname", Some(128), &format!("{0}.{0}.{0}", letters(42)), true);
    let long = "my-very-long-bucket-name-for-production-logs.s3.eu-west-1.amazonaws.com";
    for most in [None, Some(71), Some(72), Some(253)] {
        check("hostname", most, long, true);
        check("email", most.map(|most| most + 2), &format!("a@{long}"), true);
    }
    check("hostname", Some(70), long, false);
    check("email", Some(72), &format!("a@{long}"), false);
    // 253 characters of labels of any length.
    for (length, last) in [(63, 61), (49, 53), (35, 37), (20, 22), (2, 4), (1, 1)] {
        let others = vec![letters(length); (253 - last) / (length + 1)].join(".");
        let whole = format!("{others}.{}", letters(last));
        assert_eq!(whole.len(), 253, "{whole}");
        check("hostname", None, &whole, true);
        check("hostname", None, &format!("{whole}x"), false);
        check("email", None, &format!("{}@{whole}", letters(64)), true);
        check("email", Some(318), &format!("{}@{whole}x", letters(64)), false);
        check("email", Some(300), &format!("{}@{whole}", letters(46)), true);
        check("email", Some(300), &format!("{}@{whole}", letters(47)), false);
        check("email", Some(300), &format!("{}@{whole}x", letters(3)), false);
    }
}

/// A host name of so many characters, in labels as long as may be.
fn host(length: usize) -> String {
    let mut name: Vec<u8> = (1..=length).map(|place| if place % 64 == 0 { b'.' } else { b'a' }).collect();
    if let [.., before, last @ b'.'] = name.as_mut_slice() {
        (*before, *last) = (b'.', b'a');
    }
    String::from_utf8(name).unwrap()
}

/// Mailboxes have bounds on both of their parts, and a schema may add some on the whole.
#[test]
fn lengths_of_mailboxes_and_host_names_are_exact() {
    let bounds = [(0, 254), (0, 255), (0, 256), (0, 290), (0, 317), (0, 400), (7, 400), (60, 300), (40, 200)];
    for (min, max) in bounds {
        let with = |format: &str| {
            subject(&json!({"type": "string", "format": format, "minLength": min, "maxLength": max}))
        };
        let (mailboxes, hosts) = (with("email"), with("hostname"));
        for length in [1, 2, 39, 40, 63, 64, 65, 100, 189, 190, 200, 235, 238, 244, 252, 253, 254] {
            let name = host(length);
            let fits = |length: usize| (min..=max).contains(&length);
            assert_eq!(accepts(&hosts, &name), length <= 253 && fits(length), "{min} to {max}: {length}");
            for local in [1, 2, 35, 36, 37, 38, 46, 47, 63, 64, 65] {
                let text = format!("{}@{name}", "a".repeat(local));
                let is_mailbox = local <= 64 && length <= 253 && fits(text.len());
                assert_eq!(accepts(&mailboxes, &text), is_mailbox, "{min} to {max}: {local} and {length}");
            }
        }
        let address = accepts(&mailboxes, &format!("{}@[IPv6:::1]", "b".repeat(50)));
        assert_eq!(address, (min..=max).contains(&61), "{min} to {max}");
    }
}

/// Beside a pattern no host name is left out, and of mailboxes those of more than 255 characters.
#[test]
fn host_names_beside_a_pattern_are_exact() {
    let hosts = subject(&json!({"type": "string", "format": "hostname", "pattern": "^[ab.]*b?$"}));
    let mailboxes =
        subject(&json!({"type": "string", "format": "email", "pattern": "^a.*[ab]$", "minLength": 6}));
    for length in [1, 63, 64, 127, 128, 200, 253, 254] {
        assert_eq!(accepts(&hosts, &host(length)), length <= 253, "{length}");
        assert!(!accepts(&hosts, &format!("c{}", host(length))), "{length}");
        assert_eq!(
            accepts(&mailboxes, &format!("aa@{}", host(length))),
            (3..=252).contains(&length),
            "{length}"
        );
    }
    assert!(!accepts(&mailboxes, "ba@example.org"));
}

/// The engine counts a length beside a format, however large it is.
#[test]
fn large_lengths_beside_formats_are_exact() {
    for format in ["uri", "uri-reference", "iri-reference"] {
        for max in [2_048, 20_000] {
            let texts = subject(&json!({"type": "string", "format": format, "maxLength": max}));
            for end in ["", "é", "%e9", "[", "\\"] {
                let filled = max - end.chars().count() - 4;
                let text = format!("a:/b{}{end}", "c".repeat(filled));
                let obeys = matches!((format, end), (_, "" | "%e9") | ("iri-reference", "é"));
                assert_eq!(accepts(&texts, &text), obeys, "{format} {max} {end}");
                assert!(!accepts(&texts, &text.replacen('b', "bb", 1)), "{format} {max} {end}");
            }
        }
    }
}

/// Names of members are texts as any other; where several conditions on them are read apart, long ones are left out.
#[test]
fn host_names_as_names() {
    let named = |names: Value| {
        let object = subject(&json!({"type": "object", "properties": {"a": {}}, "propertyNames": names}));
        move |name: &str| {
            let mut state = object.start();
            let text = json!({name: 1}).to_string();
            for byte in text.bytes() {
                match object.step(&state, byte).unwrap() {
                    Some(next) => state = next,
                    None => return false,
                }
            }
            object.is_complete(&state)
        }
    };
    let (hosts, short) = (
        named(json!({"format": "hostname"})),
        named(json!({"format": "hostname", "minLength": 2, "maxLength": 200})),
    );
    let apart = named(json!({"anyOf": [{"format": "email", "maxLength": 110}, {"pattern": "^x-"}]}));
    for length in [2, 63, 64, 163, 200, 201, 253, 254] {
        assert_eq!(hosts(&host(length)), length <= 253, "{length}");
        assert_eq!(short(&host(length)), length <= 200, "{length}");
        assert_eq!(apart(&format!("b@{}", host(length))), length <= 63, "{length}");
        assert!(apart(&format!("x-@{}", host(length))), "{length}");
    }
}
