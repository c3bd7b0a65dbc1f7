//! The input of a compiler: a structure in some syntax, with the options that it is read with.

use std::sync::{Arc, OnceLock};

use grammask::{
    CompileError, EbnfOptions, Interrupt, JsonSchemaOptions, LarkOptions, RegexOptions, StructuralTagOptions,
};

use crate::errors::Syntax;
use crate::grammar::{
    Read, read_builtin_json, read_ebnf, read_gbnf, read_json_schema, read_lark, read_regex,
    read_structural_tag,
};

/// A structure, not read yet.
#[derive(Debug)]
pub(crate) enum Source {
    Json { text: String, options: JsonSchemaOptions },
    BuiltinJson,
    Regex { pattern: String, options: RegexOptions },
    Ebnf { text: String, options: EbnfOptions },
    Gbnf { text: String, options: EbnfOptions },
    Lark { text: String, options: LarkOptions },
    Tag { text: String, options: StructuralTagOptions },
    Grammar(Arc<grammask::Grammar>),
}

impl Source {
    /// The name of the syntax in errors.
    pub(crate) fn syntax(&self) -> Syntax {
        match self {
            Source::Json { .. } => Syntax::JsonSchema,
            Source::Regex { .. } => Syntax::Regex,
            Source::Ebnf { .. } => Syntax::Ebnf,
            Source::Gbnf { .. } => Syntax::Gbnf,
            Source::Lark { .. } => Syntax::Lark,
            Source::Tag { .. } => Syntax::CompiledTag,
            Source::BuiltinJson | Source::Grammar(_) => Syntax::Grammar,
        }
    }

    /// The text that the rules of its grammar have places in.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Source::Regex { pattern: text, .. }
            | Source::Ebnf { text, .. }
            | Source::Gbnf { text, .. }
            | Source::Lark { text, .. } => Some(text),
            Source::Json { .. } | Source::BuiltinJson | Source::Tag { .. } | Source::Grammar(_) => None,
        }
    }

    /// The content as text, equal for equal structures only; `None` where options hold functions, and where the text is
    /// too long to be written.
    pub(crate) fn key(&self) -> Option<String> {
        let has_function = |options: &JsonSchemaOptions| options.retriever.is_some();
        Some(match self {
            Source::Json { options, .. } if has_function(options) => return None,
            Source::Json { text, options } => format!("json {options:?} {text}"),
            Source::BuiltinJson => "builtin json".to_owned(),
            Source::Regex { pattern, options } => format!("regex {options:?} {pattern}"),
            Source::Ebnf { text, options } => format!("ebnf {options:?} {text}"),
            Source::Gbnf { text, options } => format!("gbnf {options:?} {text}"),
            // The values of the names belong to the content, so such sources are read first.
            Source::Lark { options, .. }
                if !options.named.is_empty() || has_function(&options.json_schema) =>
            {
                return None;
            }
            Source::Lark { text, options } => format!("lark {options:?} {text}"),
            Source::Tag { options, .. } if has_function(&options.json_schema) => return None,
            Source::Tag { text, options } => format!("tag {options:?} {text}"),
            Source::Grammar(grammar) => {
                let text = grammar.to_string();
                // A comment stands for what is too much to print.
                return (!text.starts_with('#')).then(|| format!("grammar {text}"));
            }
        })
    }

    /// The structure as a grammar, and what its reader has to say about it.
    pub(crate) fn read(&self, interrupt: &Interrupt) -> Result<Read, CompileError> {
        match self {
            Source::Json { text, options } => {
                read_json_schema(text, &options.clone().interrupt(interrupt.clone()))
            }
            Source::BuiltinJson => read_builtin_json(),
            Source::Regex { pattern, options } => read_regex(pattern, options),
            Source::Ebnf { text, options } => read_ebnf(text, &options.clone().interrupt(interrupt.clone())),
            Source::Gbnf { text, options } => read_gbnf(text, &options.clone().interrupt(interrupt.clone())),
            Source::Lark { text, options } => {
                let mut options = options.clone();
                options.json_schema.interrupt = interrupt.clone();
                read_lark(text, &options)
            }
            Source::Tag { text, options } => {
                let mut options = options.clone();
                options.json_schema.interrupt = interrupt.clone();
                read_structural_tag(text, &options)
            }
            Source::Grammar(grammar) => Ok(((**grammar).clone(), Vec::new())),
        }
    }
}

/// The grammar of a compiled structure. Where the automata come from a file it is read when somebody asks for it.
#[derive(Debug)]
pub(crate) struct LazyGrammar {
    source: Source,
    grammar: OnceLock<Arc<grammask::Grammar>>,
}

impl LazyGrammar {
    pub(crate) fn new(source: Source) -> Self {
        let grammar = OnceLock::new();
        if let Source::Grammar(known) = &source {
            let _ = grammar.set(Arc::clone(known));
        }
        Self { source, grammar }
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Keeps a grammar that was read already.
    pub(crate) fn set(&self, grammar: Arc<grammask::Grammar>) {
        let _ = self.grammar.set(grammar);
    }

    /// The grammar, which is read if it is not there yet.
    pub(crate) fn get(&self) -> Result<&Arc<grammask::Grammar>, CompileError> {
        if let Some(grammar) = self.grammar.get() {
            return Ok(grammar);
        }
        let (grammar, _) = self.source.read(&Interrupt::never())?;
        Ok(self.grammar.get_or_init(|| Arc::new(grammar)))
    }

    /// Bytes of memory held.
    pub(crate) fn memory_usage(&self) -> usize {
        self.grammar.get().map_or(0, |grammar| grammar.memory_usage())
    }
}
