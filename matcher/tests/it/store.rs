//! Grammars and masks that were written and read.

use std::path::PathBuf;
use std::sync::Arc;

use grammask_fsm::CompileOptions;
use grammask_grammar_frontends::json_schema::JsonSchemaOptions;
use grammask_grammar_frontends::regex::RegexOptions;
use grammask_grammar_ir::{GrammarBuilder, Interrupt};
use grammask_mask_cache::{TokenMask, Vocabulary, VocabularyOptions};
use grammask_matcher::{CompiledGrammar, Compiler, MaskKind, MatchError, Matcher, StoreDirectory};
use grammask_oracle::random::{self, GrammarOptions};
use xxhash_rust::xxh3::xxh3_128;

/// All bytes, some longer tokens, and a stop token.
fn vocabulary() -> Arc<Vocabulary> {
    let bytes = (0..=255_u8).map(|byte| Some(vec![byte]));
    let words = ["abc", "\"a", "name\"", "\": \"", "xyz\", \"", "bb", "ccc"].map(|word| Some(word.into()));
    let options = VocabularyOptions::default().stop_ids([263]);
    Vocabulary::from_tokens(bytes.chain(words).chain([None]), &options).unwrap().into()
}

fn compiler() -> Compiler {
    Compiler::new(vocabulary())
}

fn mask(matcher: &mut Matcher) -> Result<TokenMask, MatchError> {
    let mut mask = TokenMask::new(matcher.grammar().vocabulary().len());
    matcher.fill_mask(&mut mask).map(|_: MaskKind| mask)
}

/// Compares all masks along a text.
fn check(one: &CompiledGrammar, other: &CompiledGrammar, text: &[u8]) {
    let (mut one, mut other) = (one.matcher(), other.matcher());
    for at in 0..=text.len() {
        assert_eq!(mask(&mut one), mask(&mut other), "at byte {at}");
        let Some(byte) = text.get(at..=at) else { break };
        let accepted = one.accept_bytes(byte);
        assert_eq!(accepted, other.accept_bytes(byte));
        if accepted.is_err() {
            break;
        }
    }
}

#[test]
fn items_that_differ_do_so_in_grammars_that_were_read() {
    let compiler = compiler();
    let schema = r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": true}"#;
    let grammar = compiler.json_schema(schema, &JsonSchemaOptions::default()).unwrap();
    let read = compiler.load(&grammar.to_bytes().unwrap()).unwrap();
    check(&grammar, &read, b"[\"abc\", \"b\", \"abc");
    let mut matcher = read.matcher();
    matcher.accept_bytes(b"[\"abc\", \"b\", \"abc").unwrap();
    assert!(matcher.accept_bytes(b"\"").is_err());
}

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 300}, "list": {"type": "array"}},
    "required": ["name"]
}"#;

fn schema(compiler: &Compiler) -> CompiledGrammar {
    compiler.json_schema(SCHEMA, &JsonSchemaOptions::default()).unwrap()
}

const TEXT: &[u8] = br#"{"name": "a\nb \u00e9", "list": [1, "abc", {"x": null}], "nam": "c"}"#;

#[test]
fn masks_are_those_of_the_grammar_that_was_written() {
    let mut options = [GrammarOptions::default(), GrammarOptions::permutation(), GrammarOptions::with_tags()];
    for seed in 0..900 {
        options.rotate_left(1);
        let case = random::case_with(seed, &options[0], &random::VocabularyOptions::default());
        let tokens = case.vocabulary.iter().map(Some).chain([None]);
        let stop = VocabularyOptions::default().stop_ids([case.vocabulary.len() as u32]);
        let compiler = Compiler::new(Vocabulary::from_tokens(tokens, &stop).unwrap());
        let written = compiler.grammar(&case.grammar).unwrap();
        let bytes = written.to_bytes().unwrap();
        let read =
            compiler.load(&bytes).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", case.grammar));
        assert_eq!(read.fingerprint(), written.fingerprint());
        assert_eq!(read.to_bytes().unwrap(), bytes);
        check(&written, &read, &case.text);
    }
}

fn small(compiler: &Compiler) -> Vec<u8> {
    compiler.regex("a(bc|b){2,70}", &RegexOptions::default()).unwrap().to_bytes().unwrap()
}

#[test]
fn damage_is_an_error() {
    let compiler = compiler();
    let bytes = small(&compiler);
    for at in 0..bytes.len() {
        assert!(compiler.load(&bytes[..at]).is_err(), "cut at {at}");
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert!(compiler.load(&damaged).is_err(), "bit {bit} of byte {at}");
        }
    }
    let longer = [bytes.as_slice(), b"\0"].concat();
    assert!(compiler.load(&longer).is_err());
    assert!(compiler.load_pool(&bytes).is_err(), "a grammar is no pool");
}

/// The same bytes with a hash that fits, as a forger would write them.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let hash = xxh3_128(&bytes[24..]);
    bytes[8..24].copy_from_slice(&hash.to_le_bytes());
    bytes
}

#[test]
fn what_is_forged_is_refused_or_sound() {
    let compiler = compiler();
    let mut builder = GrammarBuilder::new();
    let (a, b) = (builder.literal("a"), builder.literal("b"));
    let many = builder.repeat(b, 2, Some(90));
    let body = builder.sequence([a, many]);
    let root = builder.add_rule("root", body).unwrap();
    let grammar = compiler.grammar(&builder.finish(root).unwrap()).unwrap();
    let (mut refused, mut taken) = (0, 0);
    for bytes in [grammar.to_bytes().unwrap(), small(&compiler), schema(&compiler).to_bytes().unwrap()] {
        assert_eq!(sealed(bytes.clone()), bytes);
        let stride = (bytes.len() / 400).max(1);
        for (at, value) in
            (24..bytes.len()).step_by(stride).flat_map(|at| [0, 1, 2, 255].map(|value| (at, value)))
        {
            let mut forged = bytes.clone();
            forged[at] = if value == 2 { forged[at].wrapping_add(1) } else { value };
            match compiler.load(&sealed(forged)) {
                Err(_) => refused += 1,
                Ok(grammar) => {
                    taken += 1;
                    follow(&grammar);
                }
            }
        }
    }
    assert!(refused > 1_000 && taken > 20, "{refused} refused, {taken} taken");
}

/// Whatever the grammar is, masks and tokens agree, and no text comes to a dead end.
fn follow(grammar: &CompiledGrammar) {
    let mut matcher = grammar.matcher();
    for step in 0..6 {
        let Ok(mask) = mask(&mut matcher) else { break };
        assert!(mask.count() > 0);
        let ids: Vec<_> = mask.iter().filter(|&id| !grammar.vocabulary().is_stop(id)).collect();
        let Some(&id) = ids.get(step * 7 % ids.len().max(1)) else { break };
        matcher.accept_token(id).unwrap();
        matcher.shortest_ending(100).unwrap();
    }
}

#[test]
fn grammars_belong_to_a_vocabulary() {
    let bytes = small(&compiler());
    let other = Compiler::new(
        Vocabulary::from_tokens(["a", "b"].map(Some), &VocabularyOptions::default().stop_ids([])).unwrap(),
    );
    let error = other.load(&bytes).unwrap_err().to_string();
    assert!(error.starts_with("the bytes belong to another vocabulary"), "{error}");
    let error = compiler().load(b"PK\x03\x04").unwrap_err().to_string();
    assert!(error.starts_with("the bytes are not what grammask writes"), "{error}");
}

#[test]
fn shared_masks_outlive_a_compiler() {
    let first = compiler();
    let grammar = schema(&first);
    // Local parts are made when they are met again.
    check(&grammar, &grammar, TEXT);
    let bytes = first.pool_to_bytes().unwrap();
    let second = compiler();
    let count = second.load_pool(&bytes).unwrap();
    assert!(count > 0);
    assert_eq!(second.pool_to_bytes().unwrap(), bytes);
    check(&grammar, &schema(&second), TEXT);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(second.load_pool(&damaged).is_err(), "byte {at}");
        if let Ok(forged) = compiler().load_pool(&sealed(damaged)) {
            assert_eq!(forged, count);
        }
        assert!(second.load_pool(&bytes[..at]).is_err(), "cut at {at}");
        assert!(
            at < 24 || compiler().load_pool(&sealed(bytes[..at].to_vec())).is_err(),
            "forged, cut at {at}"
        );
    }
}

/// A directory that is deleted when the test is done.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("grammask-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn get(directory: &StoreDirectory, pattern: &str) -> CompiledGrammar {
    let compiler = compiler();
    let compile = || compiler.regex(pattern, &RegexOptions::default());
    directory.get_or_compile(&compiler, pattern, compile).unwrap()
}

#[test]
fn a_directory_keeps_grammars_between_processes() {
    let scratch = Scratch::new("keeps");
    let compiled = get(&StoreDirectory::open(&scratch.0, 1 << 20).unwrap(), "a[bc]{3,90}");
    let directory = StoreDirectory::open(&scratch.0, 1 << 20).unwrap();
    let read = get(&directory, "a[bc]{3,90}");
    get(&directory, "other");
    check(&compiled, &read, b"abcbcbcbccc");
    let usage = directory.usage();
    assert_eq!((usage.hits, usage.misses, usage.unreadable, usage.unwritable), (1, 1, 0, 0));
    assert_eq!(scratch.files().len(), 2);
    let compiler = compiler();
    assert_eq!(directory.load_pool(&compiler), 0);
    directory.save_pool(&compiler);
    assert_eq!((scratch.files().len(), directory.last_error()), (3, None));
}

#[test]
fn a_damaged_file_is_written_anew() {
    let scratch = Scratch::new("damaged");
    let directory = StoreDirectory::open(&scratch.0, 1 << 20).unwrap();
    let compiled = get(&directory, "ab+c");
    let file = scratch.files().remove(0);
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    check(&compiled, &get(&directory, "ab+c"), b"abbc");
    assert_eq!((directory.usage().unreadable, directory.usage().misses), (1, 2));
    assert!(directory.last_error().unwrap().contains("damaged"));
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    get(&directory, "ab+c");
    assert_eq!(directory.usage().hits, 1);
}

#[test]
fn a_directory_keeps_its_bound() {
    let scratch = Scratch::new("bound");
    let one = small(&compiler()).len() as u64;
    let directory = StoreDirectory::open(&scratch.0, 4 * one).unwrap();
    for number in 0..12 {
        get(&directory, &format!("a(bc|b){{2,7{number}}}"));
        let total: u64 = scratch.files().iter().map(|file| std::fs::metadata(file).unwrap().len()).sum();
        assert!(total <= 4 * one, "{total}");
    }
    assert!(directory.usage().evicted >= 6, "{:?}", directory.usage());
    std::fs::write(scratch.0.join("notes.txt"), "not ours").unwrap();
    get(&directory, "x{100}");
    assert!(scratch.0.join("notes.txt").exists());
}

/// The answer to a compilation, or nothing after a minute.
#[cfg(unix)]
fn get_in_time(directory: &Arc<StoreDirectory>, pattern: &'static str) -> Option<CompiledGrammar> {
    let (send, receive) = std::sync::mpsc::channel();
    let directory = Arc::clone(directory);
    std::thread::spawn(move || send.send(get(&directory, pattern)));
    receive.recv_timeout(std::time::Duration::from_secs(60)).ok()
}

/// Makes a file that is none, or is too large, at a path where none is.
#[cfg(unix)]
type MakeFile = fn(&PathBuf);

#[cfg(unix)]
#[test]
fn only_regular_files_of_bounded_size_are_read() {
    let scratch = Scratch::new("special");
    let directory = Arc::new(StoreDirectory::open(&scratch.0, 16 << 30).unwrap());
    let compiled = get(&directory, "ab+c");
    let file = scratch.files().remove(0);
    let replace: [(&str, MakeFile); 3] = [
        ("regular file", |path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("regular file", |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap()),
        // A sparse file takes no room, and three times 1 GiB to be read.
        ("more than", |path| std::fs::File::create_new(path).unwrap().set_len(3 << 30).unwrap()),
    ];
    for (number, (reason, replace)) in (1..).zip(replace) {
        std::fs::remove_file(&file).unwrap();
        replace(&file);
        check(&compiled, &get_in_time(&directory, "ab+c").unwrap(), b"abbc");
        let error = directory.last_error().unwrap();
        assert!(error.contains(reason), "{error}");
        assert_eq!(directory.usage().unreadable, number);
        assert!(std::fs::symlink_metadata(&file).unwrap().is_file(), "it is written anew");
    }
    get(&directory, "ab+c");
    assert_eq!(directory.usage().hits, 1);
}

#[test]
fn a_directory_has_a_name() {
    let error = StoreDirectory::open("", 1 << 20).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn bytes_belong_to_their_source() {
    let compiler = compiler();
    let grammar = compiler.regex("ab+", &RegexOptions::default()).unwrap();
    let bytes = grammar.to_bytes_with_source("ab+").unwrap();
    check(&grammar, &compiler.load_with_source(&bytes, "ab+").unwrap(), b"abb");
    let error = compiler.load_with_source(&bytes, "cd+").unwrap_err();
    assert!(error.is_other_source(), "{error}");
    let error = compiler.load_with_source(&grammar.to_bytes().unwrap(), "ab+").unwrap_err();
    assert!(!error.is_other_source(), "{error}");
    assert!(compiler.load(&bytes).is_err());
}

/// A compiler with a directory takes from it what an earlier one has compiled, and compiles what has other options.
#[test]
fn compilers_keep_what_they_compile() {
    let scratch = Scratch::new("kept");
    let open = || Arc::new(StoreDirectory::open(&scratch.0, 1 << 20).unwrap());
    let compile = |directory: &Arc<StoreDirectory>, options: &JsonSchemaOptions| {
        let compiler = Compiler::builder(vocabulary()).store(Arc::clone(directory)).build();
        compiler.json_schema(SCHEMA, options).unwrap()
    };
    let options = JsonSchemaOptions::default();
    let first = open();
    let compiled = compile(&first, &options);
    assert_eq!((first.usage().hits, first.usage().misses), (0, 1));
    let second = open();
    let read = compile(&second, &options);
    assert_eq!((second.usage().hits, second.usage().misses), (1, 0));
    check(&compiled, &read, br#"{"name": "abc", "list": [1, {"a": null}], "x": 1}"#);
    // Other options, another syntax and other limits on automata are other grammars.
    compile(&second, &options.clone().around_root(3));
    let compiler = Compiler::builder(vocabulary()).store(Arc::clone(&second)).build();
    compiler.regex("ab*", &RegexOptions::default()).unwrap();
    compiler.regex("ab*", &RegexOptions::json_schema()).unwrap();
    let automata = CompileOptions::default().expand_states(3);
    let compiler = Compiler::builder(vocabulary()).store(Arc::clone(&second)).automata(automata).build();
    compiler.regex("ab*", &RegexOptions::default()).unwrap();
    assert_eq!((second.usage().hits, second.usage().misses), (1, 4));
    // Options that hold functions are not kept.
    compile(&second, &options.interrupt(Interrupt::new()));
    assert_eq!((second.usage().hits, second.usage().misses), (1, 4));
}
