//! How models write arguments that are not JSON: each member between marks.

use super::notation;
use crate::json_schema::value_syntax::{Markup, NestedValues, TypeAttribute};

const PLAIN: Markup = Markup {
    open: "",
    close: "",
    open_item: "",
    close_item: "",
    types: TypeAttribute::Unsaid,
    inside: NestedValues::Json,
    entities: &[],
    padding: "",
    notation: None,
};

/// Qwen3-Coder and its kin. Templates write values on lines of their own.
pub(crate) static QWEN: Markup =
    Markup { open: "<parameter=$NAME>", close: "</parameter>", padding: "\n", ..PLAIN };

/// Seed-OSS, whose template writes values as Python does.
pub(crate) static SEED: Markup = Markup { notation: Some(&notation::OLMO_3), padding: "", ..QWEN };

/// MiniMax M2.
pub(crate) static MINIMAX: Markup =
    Markup { open: "<parameter name=\"$NAME\">", close: "</parameter>", ..PLAIN };

/// MiniMax M3, where values nest.
pub(crate) static MINIMAX_M3: Markup = Markup {
    open: "]<]minimax[>[<$NAME>",
    close: "]<]minimax[>[</$NAME>",
    open_item: "]<]minimax[>[<item>",
    close_item: "]<]minimax[>[</item>",
    inside: NestedValues::Marked,
    ..PLAIN
};

/// DeepSeek V3.2 and V4.
pub(crate) static DEEPSEEK: Markup = Markup {
    open: "<｜DSML｜parameter name=\"$NAME\" string=\"$TYPE\">",
    close: "</｜DSML｜parameter>",
    types: TypeAttribute::IsString,
    ..PLAIN
};

/// DeepSeek V4.1.
pub(crate) static DEEPSEEK_V4_1: Markup = Markup {
    open: "<｜DSML｜ parameter name=\"$NAME\" string=\"$TYPE\">",
    close: "</｜DSML｜ parameter>",
    types: TypeAttribute::IsString,
    ..PLAIN
};

/// GLM 4.5 and later. Whitespace may be written between name and value.
pub(crate) static GLM: Markup =
    Markup { open: "<arg_key>$NAME</arg_key>$SPACE<arg_value>", close: "</arg_value>", ..PLAIN };

/// HY V3 as it is published: as GLM, with a suffix of its marks.
pub(crate) static HY_3: Markup = Markup {
    open: "<arg_key:opensource>$NAME</arg_key:opensource>$SPACE<arg_value:opensource>",
    close: "</arg_value:opensource>",
    ..PLAIN
};

/// Kimi K3.
pub(crate) static KIMI_K3: Markup = Markup {
    open: "<|open|>argument key=\"$NAME\" type=\"$TYPE\"<|sep|>",
    close: "<|close|>argument<|sep|>",
    types: TypeAttribute::Name,
    entities: &[('&', "&amp;"), ('"', "&quot;")],
    ..PLAIN
};

/// Cohere's Command models, where values nest.
pub(crate) static COHERE: Markup = Markup {
    open: "<cofl:value name=\"$NAME\" type=\"$TYPE\">",
    close: "</cofl:value>",
    open_item: "<cofl:value type=\"$TYPE\">",
    close_item: "</cofl:value>",
    types: TypeAttribute::Encoding,
    inside: NestedValues::Marked,
    entities: &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;")],
    ..PLAIN
};

/// Step 3.
pub(crate) static STEP_3: Markup =
    Markup { open: "<steptml:parameter name=\"$NAME\">", close: "</steptml:parameter>", ..PLAIN };

/// Muse.
pub(crate) static ATEM: Markup =
    Markup { open: "<atem:parameter name=\"$NAME\">", close: "</atem:parameter>", ..PLAIN };

/// MiniCPM5, whose template writes values as Python does.
pub(crate) static MINICPM: Markup =
    Markup { open: "<param name=\"$NAME\">", close: "</param>", notation: Some(&notation::OLMO_3), ..PLAIN };
