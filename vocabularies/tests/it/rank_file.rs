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

/// The last rank of the encoding's file.
fn last_rank(encoding: Encoding) -> u32 {
    match encoding {
        Encoding::R50kBase => 50_255,
        Encoding::P50kBase | Encoding::P50kEdit => 50_280,
        Encoding::Cl100kBase => 100_255,
        _ => 199_997,
    }
}

/// A file with the ranks up to one, where 50,280 is the last without 50,256, as in `p50k_base`.
fn ranks(last: u32) -> Vec<u8> {
    let is_there = |&rank: &u32| rank != 50_256 || last != 50_280;
    (0..=last).filter(is_there).map(|rank| format!("YQ== {rank}\n")).collect::<String>().into_bytes()
}

#[test]
fn files_of_known_encodings_are_whole() {
    let refused = |encoding: Encoding, last: u32| {
        let options = VocabularyOptions::default().special_tokens(encoding.special_tokens());
        from_rank_file(&ranks(last), &options).expect_err("a file that is cut short").to_string()
    };
    insta::assert_snapshot!(refused(Encoding::Cl100kBase, 255), @"rank file, line 257: rank 256 is missing, and an encoding with these special tokens has the ranks below 100256; fetch the file again, in full");
    insta::assert_snapshot!(refused(Encoding::P50kEdit, 50_279), @"rank file, line 50281: rank 50280 is missing, and an encoding with these special tokens has the ranks below 50281; fetch the file again, in full");
    insta::assert_snapshot!(refused(Encoding::P50kBase, 50_254), @"rank file, line 50256: rank 50255 is missing, and an encoding with these special tokens has the ranks below 50256; fetch the file again, in full");
    for encoding in Encoding::ALL {
        assert!(refused(encoding, last_rank(encoding).min(50_254)).contains("is missing"), "{encoding:?}");
    }
    // A special token of one's own does not make a known encoding.
    let options = VocabularyOptions::default().special_tokens([(100_257, "<|end|>")]);
    assert!(from_rank_file(b"YQ== 0", &options).is_ok());
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
        let vocabulary = from_rank_file(&ranks(last_rank(encoding)), &options).expect("a good file");
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
