//! `CompiledGrammar`: a grammar over a vocabulary.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::engines::{AnyGrammar, Either, Engine, each};
use crate::errors::{raise, refused};
use crate::forks::detach;
use crate::grammar::{Grammar, hash_rules};
use crate::interrupt::{Interrupt, given};
use crate::json::loads;
use crate::settings::limits_dict;
use crate::source::LazyGrammar;
use crate::tokenizer::{TokenizerInfo, tokenizer_argument};

/// A grammar, ready to be followed over one vocabulary. Shared by any number of matchers in any threads.
///
/// It is compiled lazily: tables and masks are made when a text first needs them, and kept. Instances compare by
/// grammar and tokenizer, hash, pickle and deep-copy.
#[pyclass(frozen, subclass, module = "grammask", weakref, dict)]
pub(crate) struct CompiledGrammar {
    pub(crate) compiled: AnyGrammar,
    pub(crate) grammar: Arc<LazyGrammar>,
    pub(crate) tokenizer: Py<TokenizerInfo>,
}

/// Bytes of memory that a compiled grammar holds now.
pub(crate) fn size<B: Engine>(compiled: &grammask::CompiledGrammar<B>, grammar: &LazyGrammar) -> usize {
    let usage = compiled.usage();
    usage.table_bytes + usage.mask_bytes + grammar.memory_usage()
}

impl CompiledGrammar {
    fn is_same(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.compiled.vocabulary(), other.compiled.vocabulary());
        if !Arc::ptr_eq(ours, theirs) && ours.fingerprint() != theirs.fingerprint() {
            return false;
        }
        Arc::ptr_eq(&self.grammar, &other.grammar)
            || matches!((self.grammar.get(), other.grammar.get()), (Ok(one), Ok(two)) if one.is_same(two))
    }
}

#[pymethods]
impl CompiledGrammar {
    /// The grammar.
    #[getter]
    fn grammar(&self, py: Python<'_>) -> PyResult<Grammar> {
        let grammar = py.detach(|| self.grammar.get());
        let grammar = grammar.map_err(|error| refused(py, &error, self.grammar.source().syntax()))?;
        Ok(Grammar { inner: Arc::clone(grammar) })
    }

    /// The tokenizer that it was compiled for.
    #[getter]
    fn tokenizer_info(&self, py: Python<'_>) -> Py<TokenizerInfo> {
        self.tokenizer.clone_ref(py)
    }

    /// Bytes of memory held now. Grows while new parts of the grammar are reached, up to a limit.
    #[getter]
    fn memory_size_bytes(&self) -> usize {
        each!(&self.compiled, compiled => size(compiled, &self.grammar))
    }

    /// A number of 128 bits that says what is allowed: equal in every process of this version for grammars with
    /// equal automata over equal vocabularies. For sending equal requests to the same machine.
    #[getter]
    fn fingerprint(&self) -> Option<u128> {
        each!(&self.compiled, compiled => compiled.fingerprint())
    }

    /// Counters and sizes of the grammar, as a dict: `fingerprint`, `compile_ns`, `texts` (`steps`, `hits` and `misses` of
    /// masks), `masks` (how they were computed), `tables`, `usage` in bytes, and more. Texts in progress may lack their last steps.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, &each!(&self.compiled, compiled => compiled.stats().to_json()))
    }

    /// Computes at most `masks` masks near the beginning of a text, those first that are likely to save most. Returns how
    /// many. For idle time before the first token: 16 to 64 are useful numbers.
    #[pyo3(signature = (masks, *, interrupt=None))]
    fn warm_up(&self, py: Python<'_>, masks: usize, interrupt: Option<&Bound<'_, Interrupt>>) -> usize {
        let interrupt = given(interrupt);
        detach(py, || each!(&self.compiled, compiled => compiled.warm_up(masks, &interrupt)))
    }

    /// The name of the parser backend: `"earley"` or `"pda"`.
    #[getter]
    fn backend(&self) -> &'static str {
        match self.compiled {
            Either::Earley(_) => "earley",
            Either::Pda(_) => "pda",
        }
    }

    /// The bytes of texts of the grammar that are in no token, and those that are in longer tokens alone, each as a list
    /// for people. Use `grammask.operation.check_vocabulary`.
    fn _spelling_gaps(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let gaps = detach(py, || each!(&self.compiled, compiled => compiled.spelling_gaps()));
        let gaps = gaps.map_err(|error| refused(py, &error, self.grammar.source().syntax()))?;
        Ok((gaps.in_no_token.to_string(), gaps.in_longer_tokens.to_string()))
    }

    /// The automata as bytes, which belong to the text that is given.
    fn _to_bytes<'py>(&self, py: Python<'py>, ebnf: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detach(py, || each!(&self.compiled, compiled => compiled.to_bytes_with_source(ebnf)));
        let bytes = bytes.map_err(|error| raise(py, "GrammaskError", error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The bounds that it was compiled with.
    fn _limits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        limits_dict(py, each!(&self.compiled, compiled => compiled.limits()))
    }

    /// The grammar as JSON, with its backend, its limits and the metadata of its tokenizer, and without its vocabulary.
    fn serialize_json(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("grammask._serialize")?.call_method1("serialize_compiled", (slf,))?.extract()
    }

    /// Reads the text that `serialize_json` wrote, for a tokenizer with the same metadata. Limits above the defaults are not
    /// taken from a text, since it may come from anywhere; a pickle keeps them.
    #[staticmethod]
    fn deserialize_json<'py>(
        json_str: &str,
        tokenizer_info: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let tokenizer_info = tokenizer_argument(tokenizer_info)?;
        let module = tokenizer_info.py().import("grammask._serialize")?;
        module.call_method1("deserialize_compiled", (json_str, tokenizer_info))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.is_same(other.get()))
    }

    /// Equal ones have equal vocabularies, and rules of equal names.
    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.compiled.vocabulary().fingerprint().hash(&mut hasher);
        if let Ok(grammar) = self.grammar.get() {
            hash_rules(grammar, &mut hasher);
        }
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("<CompiledGrammar {:032x}>", self.fingerprint().unwrap_or_default())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("grammask._serialize")?.call_method1("reduce_compiled", (slf,))
    }

    fn __copy__(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
    }

    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf.clone().unbind()
    }
}
