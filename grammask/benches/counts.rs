//! The hot paths, each once, for `cargo xtask bench instructions`: it runs this program below callgrind, which counts
//! only what happens inside of the functions of [`measured`].
//!
//! One process for all paths and a vocabulary of its own, a twentieth of a real one, so that the whole takes seconds.

mod common;
mod units;

use std::hint::black_box;
use std::sync::{Arc, OnceLock};

use grammask::tuning::TokenSets;
use grammask::{JsonSchemaOptions, Vocabulary, VocabularyOptions};

use common::{Batch, Text, compile, compiler};
use units::Limited;

/// Every byte, every pair of printable characters, and words of two and three syllables with a space before them and
/// without.
fn vocabulary() -> Arc<Vocabulary> {
    static SETS: OnceLock<Arc<TokenSets>> = OnceLock::new();
    let sets = SETS.get_or_init(|| {
        const SYLLABLES: [&str; 12] =
            ["al", "be", "ch", "de", "en", "ing", "no", "re", "st", "the", "ver", "ß"];
        let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
        for one in b' '..=b'~' {
            tokens.extend((b' '..=b'~').map(|other| vec![one, other]));
        }
        for word in 0..SYLLABLES.len().pow(3) {
            let parts = [word % 12, word / 12 % 12, word / 144];
            let text: String = parts.iter().map(|&part| SYLLABLES[part]).collect();
            tokens.push(format!(" {text}").into_bytes());
            tokens.push(text.into_bytes());
        }
        tokens.sort();
        tokens.dedup();
        let options = VocabularyOptions::default().stop_ids([u32::try_from(tokens.len()).unwrap_or(0)]);
        let vocabulary = Vocabulary::from_tokens(tokens.into_iter().map(Some).chain([None]), &options);
        let sets = TokenSets::shared(&Arc::new(vocabulary.expect("the tokens are sound")));
        sets.prepare();
        sets
    });
    Arc::clone(sets.vocabulary())
}

/// The functions that are counted. They are found by their names and must not be inlined; what they return is dropped by
/// their caller, which is not counted.
mod measured {
    use std::hint::black_box;

    use grammask::{CompiledGrammar, Compiler, Matcher};

    use super::common::{Batch, Text, compile};
    use super::units::Limited;

    macro_rules! measured {
        ($($name:ident($argument:ident: $type:ty) -> $result:ty = $body:expr;)*) => {$(
            #[inline(never)]
            pub(crate) fn $name($argument: $type) -> $result {
                // Of functions with equal bodies a release has one.
                black_box(stringify!($name));
                $body
            }
        )*};
    }

    measured! {
        mask_unchanged(text: Text) -> Text = text.mask();
        masks_known(text: Text) -> Text = text.masks();
        masks_known_as_words(text: Text) -> Text = text.masks_as_words();
        mask_cold_at_the_beginning(text: Text) -> Text = text.mask();
        mask_cold_in_a_string(text: Text) -> Text = text.mask();
        masks_cold(text: Text) -> Text = text.masks();
        batch_of_64_known(batch: Batch) -> Batch = batch.fill();
        accept_warm(text: Text) -> Text = text.accept();
        fork_and_roll_back(text: Text) -> (Text, Matcher) = text.fork_and_roll_back();
        compile_first(compiler: &Compiler) -> CompiledGrammar = compile(compiler);
        compile_again(compiler: &Compiler) -> CompiledGrammar = compile(compiler);
        work_of_masks_of_cubes(run: Limited) -> Result<(), String> = run();
        work_of_masks_of_squares(run: Limited) -> Result<(), String> = run();
        work_of_masks_of_rings(run: Limited) -> Result<(), String> = run();
        work_of_masks_of_dense_rules(run: Limited) -> Result<(), String> = run();
        work_of_texts_of_counts(run: Limited) -> Result<(), String> = run();
        work_of_endings(run: Limited) -> Result<(), String> = run();
        work_of_schemas_one_of(run: Limited) -> Result<(), String> = run();
        work_of_schemas_chains(run: Limited) -> Result<(), String> = run();
        work_of_schemas_texts(run: Limited) -> Result<(), String> = run();
        work_of_schemas_names(run: Limited) -> Result<(), String> = run();
        work_of_complements(run: Limited) -> Result<(), String> = run();
        work_of_searches(run: Limited) -> Result<(), String> = run();
    }
}

/// Counts work that its limit ends.
fn count_work(measured: fn(Limited) -> Result<(), String>, run: Limited) {
    let ended = measured(run).expect_err("more work than the limit");
    assert!(ended.contains("limit") || ended.contains("more than"), "{ended}");
}

fn main() {
    // State of the process is made before anything is counted.
    drop(Text::warm());
    black_box(measured::mask_unchanged(Text::warm().mask()));
    black_box(measured::masks_known(Text::warm()));
    black_box(measured::masks_known_as_words(Text::warm()));
    black_box(measured::mask_cold_at_the_beginning(Text::cold()));
    black_box(measured::mask_cold_in_a_string(Text::cold_after(5)));
    black_box(measured::masks_cold(Text::cold()));
    black_box(measured::batch_of_64_known(Batch::known(64)));
    black_box(measured::accept_warm(Text::warm()));
    black_box(measured::fork_and_roll_back(Text::warm_at_end()));
    let compiler = compiler();
    // A compiler that is kept has the rules that all schemas share.
    let other = r#"{"properties": {"count": {"type": "integer"}}}"#;
    black_box(compiler.json_schema(other, &JsonSchemaOptions::default()).expect("the schema is sound"));
    black_box(measured::compile_first(&compiler));
    black_box(measured::compile_again(&compiler));
    black_box(compile(&compiler));
    count_work(measured::work_of_masks_of_cubes, units::mask(&units::cubes(), ""));
    count_work(measured::work_of_masks_of_squares, units::mask(&units::squares(), ""));
    count_work(measured::work_of_masks_of_rings, units::mask(&units::ring(), ""));
    count_work(measured::work_of_masks_of_dense_rules, units::mask(&units::dense_rules(300), ""));
    count_work(measured::work_of_texts_of_counts, units::text(&units::counts_in_step(), "a".repeat(3_000)));
    count_work(measured::work_of_endings, units::ending(&units::many_calls()));
    count_work(measured::work_of_schemas_one_of, units::schema(units::one_of_objects()));
    count_work(measured::work_of_schemas_chains, units::schema(units::chain_of_names()));
    count_work(measured::work_of_schemas_texts, units::schema(units::texts_under_patterns()));
    count_work(measured::work_of_schemas_names, units::schema(units::names_under_patterns()));
    count_work(measured::work_of_complements, units::operators(units::complement()));
    count_work(measured::work_of_searches, units::operators(units::search()));
}
