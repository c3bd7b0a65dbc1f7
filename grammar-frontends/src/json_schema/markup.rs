//! How models write arguments in place of JSON: each member between marks.

/// Marks around the members of an object. Strings stand between them as they are, up to the closing mark; every
/// other value is JSON, or members and items between marks of their own.
#[derive(Debug)]
pub(crate) struct Markup {
    /// What stands before a value. `$NAME` is the member's name, `$TYPE` says of what type the value is.
    pub(crate) open: &'static str,
    /// What stands after a value; it may hold `$NAME`.
    pub(crate) close: &'static str,
    /// What stands before an item of an array, where arrays are not JSON.
    pub(crate) open_item: &'static str,
    /// What stands after an item of an array.
    pub(crate) close_item: &'static str,
    /// What `$TYPE` is.
    pub(crate) types: Types,
    /// Whether objects and arrays inside are members and items between marks, or JSON.
    pub(crate) inside: Inside,
    /// Characters of names that are written as entities.
    pub(crate) entities: &'static [(char, &'static str)],
}

/// What a mark says about the type of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Types {
    /// Nothing.
    Unsaid,
    /// Whether it is a string: `true` or `false`.
    IsString,
    /// The name that JSON Schema gives it, integers being numbers.
    Name,
    /// `raw` (strings), `dict`, `list`, or `json` (everything else).
    Encoding,
}

/// How objects and arrays inside an object are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    Json,
    Marked,
}

/// Types of values that are written alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Booleans,
    Numbers,
    Strings,
    Arrays,
    Objects,
}

impl Kind {
    pub(crate) const ALL: [Kind; 6] =
        [Kind::Null, Kind::Booleans, Kind::Numbers, Kind::Strings, Kind::Arrays, Kind::Objects];
}

impl Types {
    /// What `$TYPE` is for a type.
    pub(crate) fn word(self, kind: Kind) -> &'static str {
        match (self, kind) {
            (Types::Unsaid, _) => "",
            (Types::IsString, Kind::Strings) => "true",
            (Types::IsString, _) => "false",
            (Types::Name, Kind::Null) => "null",
            (Types::Name, Kind::Booleans) => "boolean",
            (Types::Name, Kind::Numbers) => "number",
            (Types::Name, Kind::Strings) => "string",
            (Types::Name, Kind::Arrays) => "array",
            (Types::Name, Kind::Objects) => "object",
            (Types::Encoding, Kind::Strings) => "raw",
            (Types::Encoding, Kind::Arrays) => "list",
            (Types::Encoding, Kind::Objects) => "dict",
            (Types::Encoding, _) => "json",
        }
    }
}

const PLAIN: Markup = Markup {
    open: "",
    close: "",
    open_item: "",
    close_item: "",
    types: Types::Unsaid,
    inside: Inside::Json,
    entities: &[],
};

/// Qwen3-Coder and its kin.
pub(crate) static QWEN: Markup = Markup { open: "<parameter=$NAME>", close: "</parameter>", ..PLAIN };

/// MiniMax M2.
pub(crate) static MINIMAX: Markup =
    Markup { open: "<parameter name=\"$NAME\">", close: "</parameter>", ..PLAIN };

/// MiniMax M3, where values nest.
pub(crate) static MINIMAX_M3: Markup = Markup {
    open: "]<]minimax[>[<$NAME>",
    close: "]<]minimax[>[</$NAME>",
    open_item: "]<]minimax[>[<item>",
    close_item: "]<]minimax[>[</item>",
    inside: Inside::Marked,
    ..PLAIN
};

/// DeepSeek V3.2 and V4.
pub(crate) static DEEPSEEK: Markup = Markup {
    open: "<｜DSML｜parameter name=\"$NAME\" string=\"$TYPE\">",
    close: "</｜DSML｜parameter>",
    types: Types::IsString,
    ..PLAIN
};

/// DeepSeek V4.1.
pub(crate) static DEEPSEEK_V4_1: Markup = Markup {
    open: "<｜DSML｜ parameter name=\"$NAME\" string=\"$TYPE\">",
    close: "</｜DSML｜ parameter>",
    types: Types::IsString,
    ..PLAIN
};

/// GLM 4.5 and later. Whitespace may stand between name and value.
pub(crate) static GLM: Markup =
    Markup { open: "<arg_key>$NAME</arg_key>$SPACE<arg_value>", close: "</arg_value>", ..PLAIN };

/// Kimi K3.
pub(crate) static KIMI_K3: Markup = Markup {
    open: "<|open|>argument key=\"$NAME\" type=\"$TYPE\"<|sep|>",
    close: "<|close|>argument<|sep|>",
    types: Types::Name,
    entities: &[('&', "&amp;"), ('"', "&quot;")],
    ..PLAIN
};

/// Cohere's Command models, where values nest.
pub(crate) static COHERE: Markup = Markup {
    open: "<cofl:value name=\"$NAME\" type=\"$TYPE\">",
    close: "</cofl:value>",
    open_item: "<cofl:value type=\"$TYPE\">",
    close_item: "</cofl:value>",
    types: Types::Encoding,
    inside: Inside::Marked,
    entities: &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;")],
};

/// Step 3.
pub(crate) static STEP_3: Markup =
    Markup { open: "<steptml:parameter name=\"$NAME\">", close: "</steptml:parameter>", ..PLAIN };

/// Muse.
pub(crate) static ATEM: Markup =
    Markup { open: "<atem:parameter name=\"$NAME\">", close: "</atem:parameter>", ..PLAIN };
