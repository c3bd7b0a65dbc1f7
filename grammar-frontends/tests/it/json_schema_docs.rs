//! The page of documentation that is made from the code.

use grammask_grammar_frontends::json_schema::{KEYWORDS, Treatment, compile, keyword_table};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/json-schema.md");
const START: &str = "<!-- keywords: made by the tests of grammar-frontends -->\n";
const END: &str = "<!-- end of keywords -->\n";

/// Writes the table where it is not up to date, and fails then.
#[test]
fn the_table_of_keywords_is_up_to_date() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let start = page.find(START).unwrap() + START.len();
    let end = page.find(END).unwrap();
    let table = format!("\n{}\n", keyword_table());
    if page[start..end] != table {
        std::fs::write(PAGE, [&page[..start], &table, &page[end..]].concat()).unwrap();
        panic!("docs/json-schema.md was out of date; it has been written anew");
    }
}

/// What the table says of drafts is what the report says of a schema.
#[test]
fn the_table_and_the_report_agree_on_drafts() {
    let drafts = [
        ("4", "http://json-schema.org/draft-04/schema#"),
        ("6", "http://json-schema.org/draft-06/schema#"),
        ("7", "http://json-schema.org/draft-07/schema#"),
        ("2019-09", "https://json-schema.org/draft/2019-09/schema"),
        ("2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ];
    let values =
        [("minimum", "1"), ("const", "1"), ("if", "{}"), ("minContains", "0"), ("prefixItems", "[{}]")];
    for (name, value) in values {
        let keyword = KEYWORDS.iter().find(|keyword| keyword.name == name).unwrap();
        let first = keyword.drafts().trim_end_matches(" on").to_owned();
        let first = drafts.iter().position(|(draft, _)| *draft == first).unwrap_or(0);
        for (position, (_, uri)) in drafts.iter().enumerate() {
            let schema = format!(r#"{{"$schema":"{uri}","{name}":{value}}}"#);
            let report = compile(&schema, &Default::default()).unwrap().report;
            let entry = report.entries().iter().find(|entry| entry.keyword == name).unwrap();
            let expected = if position < first { Treatment::Annotation } else { Treatment::Enforced };
            assert_eq!(entry.treatment, expected, "{schema}");
        }
    }
}
