//! Names by which stop tokens are known.

/// Special tokens with these names end the text where the caller does not say which do.
///
/// They are the end-of-text and end-of-turn tokens of the common model families. `<|end|>` ends a turn for some
/// families and only a message for others: it counts unless the vocabulary also has `<|return|>`.
pub const STOP_TOKEN_NAMES: &[&str] = &[
    "</s>",
    "<eos>",
    "<|eos|>",
    "<EOS_TOKEN>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|im_end|>",
    "<end_of_turn>",
    "<|end_of_turn|>",
    "<turn|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|return|>",
    "<|call|>",
    "<|tool_response>",
    "<|end|>",
    "<|end_of_sentence|>",
    "<\u{FF5C}end\u{2581}of\u{2581}sentence\u{FF5C}>",
    "[EOS]",
    "[EOT]",
    "<EOT>",
    "<end_of_utterance>",
    "[e~[",
    "[|endofturn|]",
];

/// Ends a message, not the text, where [`RETURN`] exists.
pub(super) const END: &str = "<|end|>";

/// Ends the text in the format in which [`END`] does not.
pub(super) const RETURN: &str = "<|return|>";
