//! SentencePiece models: each type of piece, and models that are wrong.

use grammask_mask_cache::VocabularyOptions;
use grammask_vocabularies::from_sentencepiece;

use crate::support::{field, list, piece, trainer};

fn check(model: &[Vec<u8>]) -> String {
    let (model, options) = ([model.concat(), trainer()].concat(), VocabularyOptions::default());
    // Some of these models name no token that ends a text.
    let vocabulary =
        from_sentencepiece(&model, &options).or_else(|_| from_sentencepiece(&model, &options.stop_ids([])));
    list(&vocabulary.expect("a good model"))
}

fn refused(model: &[u8]) -> String {
    let error = from_sentencepiece(model, &VocabularyOptions::default()).expect_err("a bad model");
    assert!(error.place().is_some());
    error.to_string()
}

// Types of pieces.
const NORMAL: u8 = 1;
const UNKNOWN: u8 = 2;
const CONTROL: u8 = 3;
const USER_DEFINED: u8 = 4;
const UNUSED: u8 = 5;
const BYTE: u8 = 6;

#[test]
fn every_type() {
    let model = [
        piece("<unk>", UNKNOWN),
        piece("<s>", CONTROL),
        piece("</s>", CONTROL),
        piece("<0xE2>", BYTE),
        piece("<0x41>", NORMAL),
        piece("\u{2581}the\u{2581}", NORMAL),
        piece("\u{2581}\u{2581}", USER_DEFINED),
        piece("<tool>", USER_DEFINED),
        piece("gone", UNUSED),
        // No type means a normal piece.
        field(1, &field(1, "日".as_bytes())),
    ];
    insta::assert_snapshot!(check(&model), @"
    0 ! <unk>
    1 ! <s>
    2 . </s>
    3 = \\xe2
    4 = <0x41>
    5 =  the 
    6 =   
    7 = <tool>
    8 -
    9 = \\xe6\\x97\\xa5
    ");
}

#[test]
fn the_model_names_its_end() {
    let trainer = |end: &str| field(2, &[field(46, b"<a>"), field(47, end.as_bytes())].concat());
    let pieces = [piece("<a>", CONTROL), piece("<b>", CONTROL), piece("c", NORMAL)].concat();
    let with_end = |end: &str| check(&[pieces.clone(), trainer(end)]);
    insta::assert_snapshot!(with_end("<b>"), @"
    0 ! <a>
    1 . <b>
    2 = c
    ");
    assert!(!with_end("c").contains('.'), "only a control piece ends a text");
    let options = VocabularyOptions::default().stop_ids([0]).special_tokens([(1, "<d>"), (4, "<e>")]);
    let vocabulary =
        from_sentencepiece(&[pieces.clone(), trainer("<b>")].concat(), &options).expect("a good model");
    insta::assert_snapshot!(list(&vocabulary), @"
    0 . <a>
    1 ! <d>
    2 = c
    3 -
    4 ! <e>
    ");
}

#[test]
fn wrong_models() {
    insta::assert_snapshot!(refused(b""), @"SentencePiece, byte 0: there are no pieces; give a SentencePiece model");
    insta::assert_snapshot!(refused(b"\x0b"), @"SentencePiece, byte 0: no field begins like this; fetch the file again");
    insta::assert_snapshot!(refused(&[0xFF; 11]), @"SentencePiece, byte 10: a number of more than 64 bits; fetch the file again");
    insta::assert_snapshot!(refused(&piece("abc", NORMAL)[..8]), @"SentencePiece, byte 2: a field goes past the end of what holds it; fetch the file again");
    insta::assert_snapshot!(refused(b"\x08\x01"), @"SentencePiece, byte 0: the field is of another type than this one is; give a SentencePiece model");
    let after = |piece: Vec<u8>| refused(&[self::piece("a", NORMAL), piece].concat());
    insta::assert_snapshot!(after(piece("", NORMAL)), @"SentencePiece, byte 14: a piece without a text; fetch the file again");
    insta::assert_snapshot!(after(piece("a", 7)), @"SentencePiece, byte 22: no piece has this type; fetch the file again");
    insta::assert_snapshot!(after(piece("<0xGG>", BYTE)), @"SentencePiece, byte 14: the type says that it is a byte, and its text is not like `<0x0A>`; fetch it again");
    insta::assert_snapshot!(after(field(1, &field(1, b"\xe2\x96"))), @"SentencePiece, byte 14: the text of a piece is not UTF-8; fetch the file again");
    insta::assert_snapshot!(after(field(5, &field(2, b"rules"))), @"SentencePiece, byte 16: the model rewrites decoded text, so its tokens have no bytes of their own; decide on bytes for each token and use `Vocabulary::from_tokens`");
    assert!(
        from_sentencepiece(
            &[piece("a", NORMAL), trainer(), field(5, &field(2, b""))].concat(),
            &VocabularyOptions::default().stop_ids([])
        )
        .is_ok()
    );
}

#[test]
fn models_that_end_between_two_pieces() {
    let whole = [piece("<s>", CONTROL), piece("a", NORMAL), trainer()].concat();
    let options = VocabularyOptions::default().stop_ids([0]);
    assert_eq!(from_sentencepiece(&whole, &options).expect("a good model").len(), 2);
    insta::assert_snapshot!(refused(&piece("<s>", CONTROL)), @"SentencePiece, byte 14: `trainer_spec` is missing, which every model has after its pieces; fetch the file again, in full");
    insta::assert_snapshot!(refused(&whole[..whole.len() - 2]), @"SentencePiece, byte 26: `trainer_spec` is missing, which every model has after its pieces; fetch the file again, in full");
}

#[test]
fn limits() {
    let model = [piece("abc", NORMAL), piece("def", NORMAL)].concat();
    let refused = |options: VocabularyOptions| {
        from_sentencepiece(&model, &options).expect_err("past a limit").to_string()
    };
    insta::assert_snapshot!(refused(VocabularyOptions::default().max_tokens(1)), @"SentencePiece, byte 16: the vocabulary has 2 ids, limit 1; raise `max_tokens` (at most 16777214) or drop ids that no model emits");
    insta::assert_snapshot!(refused(VocabularyOptions::default().max_bytes(5)), @"SentencePiece, byte 16: the tokens have more than 5 bytes together; raise `max_bytes` if that is meant");
}
