//! A tokenizer of Hugging Face's library, as mistral.rs hands it over.

use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use tokenizers::Tokenizer;
use toktrie::{TokEnv, TokTrie};

/// A tokenizer with the bytes of ASCII, some merges and two special tokens.
fn tokenizer() -> Tokenizer {
    let mut vocabulary = serde_json::Map::new();
    let mut add = |token: String| {
        let id = vocabulary.len();
        vocabulary.insert(token, id.into());
    };
    for byte in 33..=126_u8 {
        add(char::from(byte).to_string());
    }
    // A blank and a line break, as tokenizers over bytes spell them.
    for token in ["Ġ", "Ċ", "na", "nam", "name", "\":", "{\"", "tr", "ue", "true", "Ġtrue"] {
        add(token.to_owned());
    }
    let merges = ["n a", "na m", "nam e", "\" :", "{ \"", "t r", "u e", "tr ue", "Ġ true"];
    let first = vocabulary.len();
    let special = |id: usize, content: &str| {
        serde_json::json!({
            "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
            "special": true,
        })
    };
    let json = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "added_tokens": [special(first, "<|im_end|>"), special(first + 1, "<tool_call>")],
        "model": {"type": "BPE", "vocab": vocabulary, "merges": merges},
    });
    json.to_string().parse().unwrap()
}

/// The steps of mistral.rs from a tokenizer to its environment: special tokens that the trie does not mark are marked.
fn environment(tokenizer: Tokenizer) -> TokEnv {
    let special: Vec<(u32, String)> = tokenizer
        .get_added_tokens_decoder()
        .into_iter()
        .filter(|(_, token)| token.special)
        .map(|(id, token)| (id, token.content))
        .collect();
    let tokenizer = toktrie_hf_tokenizers::ByteTokenizer::from_tokenizer(tokenizer).unwrap();
    let info = tokenizer.tokrx_info();
    let mut tokens = tokenizer.token_bytes();
    for (id, content) in special {
        let bytes = &mut tokens[id as usize];
        if bytes.first() != Some(&TokTrie::SPECIAL_TOKEN_MARKER) {
            *bytes = [&[TokTrie::SPECIAL_TOKEN_MARKER], content.as_bytes()].concat();
        }
    }
    let tok_trie = TokTrie::from(&info, &tokens);
    toktrie_hf_tokenizers::ByteTokenizerEnv { tokenizer, tok_trie }.to_env()
}

#[test]
fn tokenizers_are_handed_over_as_by_mistral_rs() {
    let environment = environment(tokenizer());
    let factory = Arc::new(ParserFactory::new_simple(&environment).unwrap());
    let schema = r#"{"type": "object", "properties": {"name": {"type": "boolean"}}, "required": ["name"],
        "additionalProperties": false, "x-guidance": {"whitespace_flexible": false, "key_separator": ": "}}"#;
    let source = format!("start: <tool_call> %json {schema}");
    let parser = factory.create_parser(TopLevelGrammar::from_lark(source)).unwrap();
    let mut matcher = Matcher::new(Ok(parser));
    let trie = environment.tok_trie();
    let call = trie.get_special_token("<tool_call>").unwrap();
    assert_eq!(matcher.compute_mask().unwrap().to_list(), [call]);
    matcher.consume_token(call).unwrap();
    let forced = matcher.compute_ff_bytes();
    assert_eq!(String::from_utf8(forced).unwrap(), r#"{"name": "#);
    // The blank at the end may be joined with what comes next, so that it is not forced.
    let forced = matcher.consume_ff_tokens();
    assert_eq!(trie.decode_str(&forced), r#"{"name":"#);
    assert_eq!(forced, environment.tokenize(r#"{"name":"#));
    let written = environment.tokenize(" true}");
    assert_eq!(matcher.validate_tokens(&written).unwrap(), written.len());
    matcher.consume_tokens(&written).unwrap();
    assert!(matcher.is_stopped());
    assert_eq!(matcher.compute_mask_or_eos().unwrap().to_list(), [trie.eos_token()]);
}
