//! Rank files of tiktoken.

use grammask_mask_cache::VocabularyOptions;
use grammask_vocabularies::{Encoding, from_rank_file};

use crate::support::list;

fn refused(file: &[u8]) -> String {
    let error = from_rank_file(file, &VocabularyOptions::default()).expect_err("a bad file");
    assert!(error.place().is_some());
    error.to_string()
}

#[test]
fn ranks_are_ids() {
    // In any order, with holes, and with either kind of line end.
    let file = b"IGI= 3\r\nYQ== 0\n\n/w== 1\n";
    let options = VocabularyOptions::default().special_tokens([(5, "<|endoftext|>"), (6, "<|pad|>")]);
    insta::assert_snapshot!(list(&from_rank_file(file, &options).expect("a good file")), @r"
    0 = a
    1 = \xff
    2 -
    3 =  b
    4 -
    5 . <|endoftext|>
    6 ! <|pad|>
    ");
}

#[test]
fn encodings_are_known_by_name() {
    for encoding in Encoding::ALL {
        assert_eq!(Encoding::named(encoding.name()), Some(encoding));
        let special = encoding.special_tokens();
        assert!(special.is_sorted(), "{encoding:?}");
        assert!(
            special.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1),
            "{encoding:?}"
        );
        let options = VocabularyOptions::default().special_tokens(special.clone());
        let vocabulary = from_rank_file(b"YQ== 0", &options).expect("a good file");
        assert_eq!(vocabulary.special_tokens().count(), special.len());
        assert!(!vocabulary.stop_tokens().is_empty(), "{encoding:?}");
    }
    assert_eq!(Encoding::named("o200k"), None);
    assert_eq!(Encoding::of_file("ranks/cl100k_base.tiktoken".as_ref()), Some(Encoding::Cl100kBase));
    assert_eq!(Encoding::of_file("ranks/cl100k_base.json".as_ref()), None);
    assert_eq!(Encoding::O200kHarmony.special_tokens().len(), 1_090);
}

#[test]
fn wrong_lines() {
    insta::assert_snapshot!(refused(b"YQ== 0\nYg==\n"), @"rank file, line 2: not a token in base64, a space and a rank; give a rank file");
    insta::assert_snapshot!(refused(b"YQ== 0\nYg 1\n"), @"rank file, line 2: not base64: Invalid padding; fetch the file again");
    insta::assert_snapshot!(refused(b"YQ== 0\n\nYg== one\n"), @"rank file, line 3: the rank is not a whole number below 2^32; fetch the file again");
    insta::assert_snapshot!(refused(b"YQ== 4294967296\n"), @"rank file, line 1: the rank is not a whole number below 2^32; fetch the file again");
    insta::assert_snapshot!(refused(b"YQ== 7\nYg== 7\n"), @"rank file, line 2: rank 7 is there twice; fetch the file again");
    insta::assert_snapshot!(refused(b"YQ== 4294967295\n"), @"rank file, line 1: the vocabulary has 4294967296 ids, limit 4194304; raise `max_tokens` (at most 16777214) or drop ids that no model emits");
    insta::assert_snapshot!(refused(b"YQ== 0 1\n"), @"rank file, line 1: the rank is not a whole number below 2^32; fetch the file again");
}
