//! A grammar whose texts are values of a type.

use std::marker::PhantomData;

use grammask_earley::Engine;
use grammask_grammar_frontends::json_schema::JsonSchemaOptions;
use grammask_parser_backend::Backend;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::error::ReadError;
use super::read::{parse, read};
use super::schema::schema_of;
use crate::base::error::CompileError;
use crate::compile::backend::BuildBackend;
use crate::compile::compiler::Compiler;
use crate::grammar::compiled::CompiledGrammar;

/// A compiled grammar whose texts are values of `T`, as JSON.
pub struct TypedGrammar<T, B: Backend = Engine> {
    grammar: CompiledGrammar<B>,
    of: PhantomData<fn() -> T>,
}

impl<T, B: Backend> Clone for TypedGrammar<T, B> {
    fn clone(&self) -> Self {
        Self { grammar: self.grammar.clone(), of: PhantomData }
    }
}

impl<T, B: Backend> std::fmt::Debug for TypedGrammar<T, B> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = std::any::type_name::<T>();
        formatter.debug_struct("TypedGrammar").field("of", &of).field("grammar", &self.grammar).finish()
    }
}

impl<T, B: Backend> TypedGrammar<T, B> {
    /// The grammar: for matchers, batches and all else.
    pub fn grammar(&self) -> &CompiledGrammar<B> {
        &self.grammar
    }
}

impl<T: DeserializeOwned, B: Backend> TypedGrammar<T, B> {
    /// Reads a finished text into the type.
    ///
    /// # Errors
    ///
    /// Where the text is not finished, or was not written under this grammar; and in the cases of [`ReadError`].
    pub fn read(&self, text: &[u8]) -> Result<T, ReadError> {
        read(parse(text)?)
    }
}

impl<B: BuildBackend> Compiler<B> {
    /// Compiles the schema that `schemars` makes of a type. Integers of up to 64 bits are bounded as their types are.
    ///
    /// Compiled once for each schema, as [`json_schema`](Self::json_schema) does; making the schema takes some
    /// microseconds each time.
    ///
    /// # Errors
    ///
    /// As for [`json_schema`](Self::json_schema).
    pub fn json_type<T: JsonSchema + DeserializeOwned>(
        &self,
        options: &JsonSchemaOptions,
    ) -> Result<TypedGrammar<T, B>, CompileError> {
        let schema = schema_of::<T>().to_value().to_string();
        Ok(TypedGrammar { grammar: self.json_schema(&schema, options)?, of: PhantomData })
    }
}
