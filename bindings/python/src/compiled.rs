//! `CompiledGrammar`: a grammar over a vocabulary.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;

use crate::grammar::Grammar;
use crate::tokenizer::TokenizerInfo;

/// A grammar, ready to be followed over one vocabulary. Shared by any number of matchers in any threads.
///
/// It is compiled lazily: tables and masks are made when a text first needs them, and kept. Instances compare by
/// grammar and tokenizer, hash, pickle and deep-copy.
#[pyclass(frozen, module = "grammask", weakref)]
pub(crate) struct CompiledGrammar {
    pub(crate) compiled: grammask::CompiledGrammar,
    pub(crate) grammar: Arc<grammask::Grammar>,
    pub(crate) tokenizer: Py<TokenizerInfo>,
}

/// Bytes of memory that a compiled grammar holds now.
pub(crate) fn size(compiled: &grammask::CompiledGrammar, grammar: &grammask::Grammar) -> usize {
    let usage = compiled.usage();
    usage.table_bytes + usage.mask_bytes + grammar.memory_usage()
}

impl CompiledGrammar {
    fn is_same(&self, other: &Self) -> bool {
        let same_grammar = Arc::ptr_eq(&self.grammar, &other.grammar) || self.grammar.is_same(&other.grammar);
        same_grammar && self.compiled.vocabulary().fingerprint() == other.compiled.vocabulary().fingerprint()
    }
}

#[pymethods]
impl CompiledGrammar {
    /// The grammar.
    #[getter]
    fn grammar(&self) -> Grammar {
        Grammar { inner: Arc::clone(&self.grammar) }
    }

    /// The tokenizer that it was compiled for.
    #[getter]
    fn tokenizer_info(&self, py: Python<'_>) -> Py<TokenizerInfo> {
        self.tokenizer.clone_ref(py)
    }

    /// Bytes of memory held now. Grows while new parts of the grammar are reached, up to a limit.
    #[getter]
    fn memory_size_bytes(&self) -> usize {
        size(&self.compiled, &self.grammar)
    }

    /// The grammar as JSON, with the metadata of its tokenizer and without its vocabulary.
    fn serialize_json(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("grammask._serialize")?.call_method1("serialize_compiled", (slf,))?.extract()
    }

    /// What `serialize_json` wrote, for a tokenizer with the same metadata.
    #[staticmethod]
    fn deserialize_json<'py>(
        json_string: &str,
        tokenizer_info: &Bound<'py, TokenizerInfo>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = tokenizer_info.py().import("grammask._serialize")?;
        module.call_method1("deserialize_compiled", (json_string, tokenizer_info))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.is_same(other.get()))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.grammar.rule_count().hash(&mut hasher);
        self.compiled.vocabulary().fingerprint().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<CompiledGrammar of {} rules>", self.grammar.rule_count())
    }

    #[expect(clippy::type_complexity, reason = "what pickle asks for")]
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String, Py<TokenizerInfo>))> {
        let arguments = (Self::serialize_json(slf)?, slf.get().tokenizer.clone_ref(slf.py()));
        Ok((slf.get_type().getattr("deserialize_json")?, arguments))
    }

    fn __copy__(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
    }

    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf.clone().unbind()
    }
}
