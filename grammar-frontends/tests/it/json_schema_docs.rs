//! The page of documentation whose tables are made from the code.

use grammask_grammar_frontends::json_schema::{
    KEYWORDS, Treatment, compile, compile_with_warnings, format_table, keyword_table,
};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/json-schema.md");
/// Writes the tables where they are not up to date, and fails then.
#[test]
fn the_tables_are_up_to_date() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let mut made = page.clone();
    for (name, table) in [("keywords", keyword_table()), ("formats", format_table())] {
        let start = format!("<!-- {name}: made by the tests of grammar-frontends -->\n");
        let start = made.find(&start).unwrap() + start.len();
        let end = made.find(&format!("<!-- end of {name} -->\n")).unwrap();
        made.replace_range(start..end, &format!("\n{table}\n"));
    }
    if page != made {
        std::fs::write(PAGE, made).unwrap();
        panic!("docs/json-schema.md was out of date; it has been written anew");
    }
}

#[test]
fn every_enforced_format_has_a_grammar() {
    for row in format_table().lines().skip(2) {
        let cells: Vec<&str> = row.trim_start_matches("| ").split(" | ").collect();
        let draft = match cells[1].ends_with('6') {
            true => "http://json-schema.org/draft-06/schema#",
            false => "https://json-schema.org/draft/2020-12/schema",
        };
        let schema = format!(r#"{{"$schema":"{draft}","format":"{}"}}"#, cells[0].trim_matches('`'));
        let report = compile(&schema, &Default::default()).map(|compiled| compiled.report);
        let is_enforced = report.is_ok_and(|report| report.entries()[1].treatment == Treatment::Enforced);
        assert_eq!(is_enforced, cells[2] == "enforced", "{row}");
    }
}

/// Keywords and formats of other drafts are warned of.
#[test]
fn what_another_draft_has_is_a_warning() {
    let warnings = |schema: &str| {
        let compiled = compile(schema, &Default::default()).unwrap();
        let warnings = compiled.report.warnings().collect::<Vec<String>>();
        let short = compile_with_warnings(schema, &Default::default()).unwrap().report;
        assert_eq!(short.warnings().collect::<Vec<_>>(), warnings, "{schema}");
        assert_eq!(short.entries().len(), warnings.len(), "{schema}");
        warnings
    };
    let (draft4, draft7) =
        ("http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#");
    let schema =
        format!(r#"{{"$schema":"{draft7}","properties":{{"a":{{}}}},"unevaluatedProperties":false}}"#);
    let expected =
        ["`unevaluatedProperties` at `/unevaluatedProperties` asserts nothing: not a keyword of this draft"];
    assert_eq!(warnings(&schema), expected);
    let schema =
        format!(r#"{{"$schema":"{draft4}","items":{{"const":1,"format":"duration","title":"x","y":1}}}}"#);
    let expected = [
        "`const` at `/items/const` asserts nothing: not a keyword of this draft",
        "`format` at `/items/format` asserts nothing: not a format of this draft",
    ];
    assert_eq!(warnings(&schema), expected);
    assert_eq!(warnings(r#"{"const":1,"format":"uuid","title":"x","y":1,"definitions":{}}"#), [""; 0]);
}

/// The drafts in the table are those in the report of a schema.
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
            let expected = if position < first { Treatment::OtherDraft } else { Treatment::Enforced };
            assert_eq!(entry.treatment, expected, "{schema}");
            let short = compile_with_warnings(&schema, &Default::default()).unwrap().report;
            assert!(short.warnings().eq(report.warnings()), "{schema}");
        }
    }
}
