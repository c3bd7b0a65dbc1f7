//! Structural tags and tool calls.

use grammask_grammar_frontends::structural_tag::{StructuralTag, StructuralTagOptions};
use grammask_grammar_frontends::tool_formats::{ToolFormat, ToolRequest};

use crate::compiler::is_plain;
use crate::{BuildBackend, CompileError, CompiledGrammar, Compiler};

impl<B: BuildBackend> Compiler<B> {
    /// Compiles a structural tag given as JSON text, in the form of today or the older one. Where the beginning or
    /// the end of a tag spells a special token of the vocabulary, it stands for that token.
    ///
    /// # Errors
    ///
    /// Where the text is no structural tag, asks for what is not supported, or names a token that the vocabulary
    /// does not have; with the JSON pointer.
    pub fn structural_tag(
        &self,
        document: &str,
        options: &StructuralTagOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        let key = is_plain(&options.json_schema).then_some(options);
        let read = || Ok(StructuralTag::parse(document, options)?.grammar(options)?);
        self.kept("structural tag", key, document, || self.timed(read, |error, _| error))
    }

    /// Compiles a structural tag that was read or made.
    ///
    /// # Errors
    ///
    /// As for [`structural_tag`](Self::structural_tag).
    pub fn structure(
        &self,
        tag: &StructuralTag,
        options: &StructuralTagOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        self.grammar(&tag.grammar(options)?)
    }

    /// Compiles what a model of a family may answer to a request: text, reasoning and tool calls.
    ///
    /// # Errors
    ///
    /// Where the family cannot do what the request asks for, or a schema is refused; with the JSON pointer into the
    /// request.
    pub fn tools(
        &self,
        format: ToolFormat,
        request: &ToolRequest,
        options: &StructuralTagOptions,
    ) -> Result<CompiledGrammar<B>, CompileError> {
        self.structure(&format.structure(request)?, options)
    }
}
