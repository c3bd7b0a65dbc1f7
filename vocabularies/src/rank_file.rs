//! Rank files, the format of tiktoken: a line for each token, its bytes in base64 and its number.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use grammask_mask_cache::{Vocabulary, VocabularyBuilder, VocabularyOptions};

use crate::error::LoadError;
use crate::format::Format;
use crate::spelling::from_base64;

/// The vocabulary of a rank file, such as `o200k_base.tiktoken`.
///
/// A rank file has text tokens only. The special tokens come from
/// [`VocabularyOptions::special_tokens`]; for encodings that everybody knows, [`Encoding::special_tokens`] lists them.
///
/// ```
/// use grammask_mask_cache::VocabularyOptions;
/// use grammask_vocabularies::from_rank_file;
///
/// let options = VocabularyOptions::default().special_tokens([(3, "<|endoftext|>")]);
/// let vocabulary = from_rank_file(b"YQ== 0\nIGI= 1\n", &options)?;
/// assert_eq!(vocabulary.text_token(b" b").map(|id| id.get()), Some(1));
/// assert_eq!(vocabulary.stop_tokens().len(), 1);
/// # Ok::<(), grammask_vocabularies::LoadError>(())
/// ```
///
/// # Errors
///
/// If a line is not a token and its rank, or two tokens have one rank; if a limit of the options is passed. If the options
/// add the special tokens of a known encoding, every rank of its file must be there. The place is the line.
pub fn from_rank_file(file: &[u8], options: &VocabularyOptions) -> Result<Vocabulary, LoadError> {
    let mut builder = VocabularyBuilder::new(options);
    let mut bytes = Vec::new();
    let mut lines = 0;
    for (number, line) in (1_usize..).zip(file.split(|&byte| byte == b'\n')) {
        lines = number;
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let at = |reason: &str| LoadError::at(Format::RankFile, place(number), reason);
        let (token, rank) = split(line).ok_or_else(|| at(NOT_A_LINE))?;
        from_base64(token, &mut bytes).map_err(|reason| at(&reason))?;
        let rank = std::str::from_utf8(rank).ok().and_then(|rank| rank.parse().ok());
        let rank =
            rank.ok_or_else(|| at("the rank is not a whole number below 2^32; fetch the file again"))?;
        if builder.has(rank) {
            return Err(at(&format!("rank {rank} is there twice; fetch the file again")));
        }
        builder
            .put(rank, &bytes)
            .map_err(|error| LoadError::vocabulary_at(Format::RankFile, place(number), error))?;
    }
    if let Some((rank, count)) = missing_rank(&builder) {
        let reason = format!(
            "rank {rank} is missing, and an encoding with these special tokens has the ranks below {count}; fetch the \
             file again, in full"
        );
        return Err(LoadError::at(Format::RankFile, place(lines), reason));
    }
    builder.finish().map_err(|error| LoadError::vocabulary(Format::RankFile, error))
}

/// The first rank that the file of a known encoding lacks, and the number of those that it must have. Files of other
/// encodings may have holes.
fn missing_rank(builder: &VocabularyBuilder<'_>) -> Option<(u32, u32)> {
    let special: HashMap<u32, &str> =
        builder.special_tokens().iter().map(|(id, name)| (*id, &**name)).collect();
    let is_added = |(id, name): &(u32, String)| special.get(id) == Some(&&**name);
    let added = Encoding::ALL.into_iter().filter(|encoding| encoding.special_tokens().iter().all(is_added));
    let count = added.map(Encoding::certain_ranks).max()?;
    let missing = (0..count).find(|rank| !builder.has(*rank) && !special.contains_key(rank))?;
    Some((missing, count))
}

const NOT_A_LINE: &str = "not a token in base64, a space and a rank; give a rank file";

/// Whether bytes begin with a line of a rank file.
pub(crate) fn begins_like_ranks(bytes: &[u8]) -> bool {
    // The longest token that is worth a rank has some hundred bytes.
    let head = &bytes[..bytes.len().min(4 << 10)];
    let Some(line) = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty())
    else {
        return false;
    };
    split(line).is_some_and(|(token, rank)| {
        from_base64(token, &mut Vec::new()).is_ok() && rank.iter().all(u8::is_ascii_digit)
    })
}

/// The two parts of a line.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = line.iter().position(|&byte| byte == b' ')?;
    Some((&line[..space], line[space..].trim_ascii()))
}

fn place(line: usize) -> String {
    format!("line {line}")
}

/// An encoding of OpenAI's, for the special tokens that its rank file does not have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Encoding {
    /// GPT-2 and GPT-3; its file is `r50k_base.tiktoken`.
    R50kBase,
    /// Codex; its file is `p50k_base.tiktoken`.
    P50kBase,
    /// The models that edited text; its file is `p50k_base.tiktoken`.
    P50kEdit,
    /// GPT-3.5 and GPT-4; its file is `cl100k_base.tiktoken`.
    Cl100kBase,
    /// GPT-4o and later; its file is `o200k_base.tiktoken`.
    O200kBase,
    /// gpt-oss; its file is `o200k_base.tiktoken`.
    O200kHarmony,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Encoding; 6] = [
        Encoding::R50kBase,
        Encoding::P50kBase,
        Encoding::P50kEdit,
        Encoding::Cl100kBase,
        Encoding::O200kBase,
        Encoding::O200kHarmony,
    ];

    /// The encoding with a name, such as `cl100k_base`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    /// The encoding after which a rank file is called, such as `ranks/cl100k_base.tiktoken`.
    pub fn of_file(path: &Path) -> Option<Self> {
        path.extension().filter(|extension| *extension == "tiktoken")?;
        path.file_stem().and_then(OsStr::to_str).and_then(Self::named)
    }

    /// The encoding's own name.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::R50kBase => "r50k_base",
            Encoding::P50kBase => "p50k_base",
            Encoding::P50kEdit => "p50k_edit",
            Encoding::Cl100kBase => "cl100k_base",
            Encoding::O200kBase => "o200k_base",
            Encoding::O200kHarmony => "o200k_harmony",
        }
    }

    /// Ranks below this one are there in every file of an encoding with these special tokens, but for their ids.
    fn certain_ranks(self) -> u32 {
        match self {
            // The file of `p50k_base` has 24 more, and the special tokens do not tell the two apart.
            Encoding::R50kBase | Encoding::P50kBase => 50_256,
            Encoding::P50kEdit => 50_281,
            Encoding::Cl100kBase => 100_256,
            Encoding::O200kBase | Encoding::O200kHarmony => 199_998,
        }
    }

    /// The special tokens: ids and names, for [`VocabularyOptions::special_tokens`].
    pub fn special_tokens(self) -> Vec<(u32, String)> {
        let named: &[(u32, &str)] = match self {
            Encoding::R50kBase | Encoding::P50kBase => &[(50_256, END_OF_TEXT)],
            Encoding::P50kEdit => &[
                (50_256, END_OF_TEXT),
                (50_281, "<|fim_prefix|>"),
                (50_282, "<|fim_middle|>"),
                (50_283, "<|fim_suffix|>"),
            ],
            Encoding::Cl100kBase => &[
                (100_257, END_OF_TEXT),
                (100_258, "<|fim_prefix|>"),
                (100_259, "<|fim_middle|>"),
                (100_260, "<|fim_suffix|>"),
                (100_276, "<|endofprompt|>"),
            ],
            Encoding::O200kBase => &[(199_999, END_OF_TEXT), (200_018, "<|endofprompt|>")],
            Encoding::O200kHarmony => &[
                (199_998, "<|startoftext|>"),
                (199_999, END_OF_TEXT),
                (200_002, "<|return|>"),
                (200_003, "<|constrain|>"),
                (200_005, "<|channel|>"),
                (200_006, "<|start|>"),
                (200_007, "<|end|>"),
                (200_008, "<|message|>"),
                (200_012, "<|call|>"),
            ],
        };
        let mut tokens: Vec<(u32, String)> = named.iter().map(|&(id, name)| (id, name.to_owned())).collect();
        if self == Encoding::O200kHarmony {
            let is_free = |id: &u32| !named.iter().any(|(other, _)| other == id);
            let reserved = (200_000..=201_087).filter(is_free);
            tokens.extend(reserved.map(|id| (id, format!("<|reserved_{id}|>"))));
            tokens.sort_unstable();
        }
        tokens
    }
}

const END_OF_TEXT: &str = "<|endoftext|>";
