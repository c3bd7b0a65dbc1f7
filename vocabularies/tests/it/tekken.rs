//! Mistral's `tekken.json`.

use grammask_mask_cache::VocabularyOptions;
use grammask_vocabularies::from_tekken;

use crate::support::list;

/// A file with a configuration, two tokens that are used and one that is not, and what else is given.
fn file(config: &str, more: &str) -> String {
    format!(
        r#"{{"config": {{"pattern": "x", {config}}}, "vocab": [
            {{"rank": 0, "token_bytes": "YQ==", "token_str": "a"}},
            {{"rank": 1, "token_bytes": "/w==", "token_str": null}},
            {{"rank": 2, "token_bytes": "??"}}]{more}}}"#
    )
}

fn check(config: &str, more: &str) -> String {
    let json = file(config, more);
    list(&from_tekken(json.as_bytes(), &VocabularyOptions::default()).expect("a good file"))
}

fn refused(json: &str) -> String {
    let error = from_tekken(json.as_bytes(), &VocabularyOptions::default()).expect_err("a bad file");
    assert!(error.place().is_some());
    error.to_string()
}

#[test]
fn special_tokens_come_first() {
    let special = r#", "special_tokens": [
        {"rank": 0, "token_str": "<unk>", "is_control": true}, {"rank": 2, "token_str": "</s>", "is_control": true}]"#;
    let config = r#""default_vocab_size": 6, "default_num_special_tokens": 4, "version": "v13""#;
    insta::assert_snapshot!(check(config, special), @r#"
    0 ! <unk>
    1 ! <SPECIAL_1>
    2 . </s>
    3 ! <SPECIAL_3>
    4 = a
    5 = \xff
    "#);
}

#[test]
fn old_files_name_no_special_tokens() {
    let config = r#""default_vocab_size": 23, "default_num_special_tokens": 21, "version": "v3""#;
    insta::assert_snapshot!(check(config, ""), @r#"
    0 ! <unk>
    1 ! <s>
    2 . </s>
    3 ! [INST]
    4 ! [/INST]
    5 ! [AVAILABLE_TOOLS]
    6 ! [/AVAILABLE_TOOLS]
    7 ! [TOOL_RESULTS]
    8 ! [/TOOL_RESULTS]
    9 ! [TOOL_CALLS]
    10 ! [IMG]
    11 ! <pad>
    12 ! [IMG_BREAK]
    13 ! [IMG_END]
    14 ! [PREFIX]
    15 ! [MIDDLE]
    16 ! [SUFFIX]
    17 ! [SYSTEM_PROMPT]
    18 ! [/SYSTEM_PROMPT]
    19 ! [TOOL_CONTENT]
    20 ! <SPECIAL_20>
    21 = a
    22 = \xff
    "#);
    let new = config.replace("v3", "v11");
    insta::assert_snapshot!(refused(&file(&new, "")), @"tekken.json, /config/version: a file of this version has `special_tokens`; fetch the file again");
}

#[test]
fn wrong_files() {
    insta::assert_snapshot!(refused("{}"), @"tekken.json, line 1 column 2: missing field `config`; fetch the file again");
    insta::assert_snapshot!(refused(r#"{"config": {}}"#), @"tekken.json, line 1 column 13: missing field `default_vocab_size`; fetch the file again");
    let config = |size: u32, special: u32| {
        format!(r#""default_vocab_size": {size}, "default_num_special_tokens": {special}, "version": "v3""#)
    };
    insta::assert_snapshot!(refused(&file(&config(1, 2), "")), @"tekken.json, /config/default_vocab_size: less than the number of special tokens; fetch the file again");
    insta::assert_snapshot!(refused(&file(&config(5, 2), "")), @"tekken.json, /vocab/2/token_bytes: not base64: Invalid symbol 63, offset 0; fetch the file again");
    insta::assert_snapshot!(refused(&file(&config(u32::MAX, 2), "")), @"tekken.json, /config/default_vocab_size: 4294967295 ids, limit 4194304; raise `max_tokens` if that is meant");
    let good = file(&config(5, 2), "").replace("??", "Yg==");
    insta::assert_snapshot!(refused(&good.replace(r#""rank": 2"#, r#""rank": 1"#)), @"tekken.json, /vocab/2/rank: rank 1 is there twice; fetch the file again");
    insta::assert_snapshot!(refused(&good.replace(r#""rank": 2"#, r#""rank": 3"#)), @"tekken.json, /vocab: no token has rank 2; fetch the file again");
    insta::assert_snapshot!(refused(&good.replace("Yg==", "")), @"tekken.json, /vocab/2/token_bytes: a token without bytes; fetch the file again");
    let named = |rank: u32| {
        file(
            &config(4, 2),
            &format!(
                r#", "special_tokens": [{{"rank": 1, "token_str": "x"}}, {{"rank": {rank}, "token_str": "y"}}]"#
            ),
        )
    };
    insta::assert_snapshot!(refused(&named(2)), @"tekken.json, /special_tokens/1/rank: rank 2 of 2 special tokens; fetch the file again");
    insta::assert_snapshot!(refused(&named(1)), @"tekken.json, /special_tokens/1/rank: rank 1 is there twice; fetch the file again");
}
