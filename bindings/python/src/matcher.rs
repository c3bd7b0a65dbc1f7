//! `GrammarMatcher`: following one text.

use std::sync::Arc;
use std::time::{Duration, Instant};

use grammask::{
    CaptureEnds, DraftRow, Explanation, MaskKind, MatchError, RegexOptions, Replay, StopTokens, StoredMask,
    TokenId, TokenKind,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple, PyType};

use crate::arguments::{id_list, text_bytes};
use crate::compiled::CompiledGrammar;
use crate::drafts::{Tree, forced_tokens};
use crate::engines::{AnyMatcher, Either, each};
use crate::errors::{Syntax, is_compat, is_empty_mask, match_error, raise, refused, warn};
use crate::forks::detach;
use crate::interrupt::{Interrupt, given};
use crate::json::loads;
use crate::metrics::{MASK, MASKS_KNOWN, TOKENS_ACCEPTED, TOKENS_REFUSED};
use crate::rows::{KnownType, MaskRows};
use crate::stops::stop_policy;
use crate::subclass::{announce, is_to_be_empty};
use crate::tokenizer::TokenizerInfo;
use crate::turns::{turn, turn_to_read};

/// Follows one text through a compiled grammar. One thread at a time; matchers on one grammar are independent.
///
/// Making one takes well below a microsecond, and so does a fork.
///
/// Parameters
/// ----------
/// compiled_grammar : CompiledGrammar
/// override_stop_tokens : int or list of int, optional
///     Stop tokens of this text, in place of those of the tokenizer. A tokenizer without stop tokens needs them,
///     unless `terminate_without_stop_token` is set.
/// terminate_without_stop_token : bool
///     Whether the text ends as soon as it is whole; stop tokens are then never allowed.
/// max_rollback_tokens : int
///     Not used: any number of steps can be rolled back.
/// default_temperature : float, optional
///     The value of `temperature` where no rule of the grammar has one; finite, and not negative.
#[pyclass(subclass, module = "grammask", weakref, dict)]
pub(crate) struct GrammarMatcher {
    pub(crate) matcher: AnyMatcher,
    tokenizer: Py<TokenizerInfo>,
    words: usize,
    ends_when_whole: bool,
    temperature: Option<f64>,
    known_type: KnownType,
    /// Until [`__init__`](Self::__init__) of the base class, if a subclass has an own one: a text that has ended.
    is_stand_in: bool,
    /// Whether the last mask that had to be computed took long, as the next one may; see [`GrammarMatcher::compute`].
    is_slow: bool,
}

/// Work that is done without giving up the interpreter's lock. Where many threads wait for it, getting it back takes
/// about as long.
const HELD: Duration = Duration::from_micros(50);

impl GrammarMatcher {
    /// A text that has ended, until `__init__`.
    fn stand_in(py: Python<'_>) -> PyResult<Self> {
        // Made once, so that matchers of subclasses are made nearly as fast as others.
        static NOTHING: PyOnceLock<(grammask::CompiledGrammar, Py<TokenizerInfo>)> = PyOnceLock::new();
        let nothing = || {
            let tokenizer = TokenizerInfo::stand_in(py)?;
            let compiler = grammask::Compiler::new(Arc::clone(&tokenizer.vocabulary));
            let compiled = compiler.regex("", &RegexOptions::default());
            let compiled = compiled.map_err(|error| refused(py, &error, Syntax::Regex))?;
            PyResult::Ok((compiled, Py::new(py, tokenizer)?))
        };
        let (compiled, tokenizer) = NOTHING.get_or_try_init(py, nothing)?;
        Ok(Self {
            matcher: Either::Earley(compiled.matcher().with_stop_tokens(StopTokens::None)),
            tokenizer: tokenizer.clone_ref(py),
            words: 0,
            ends_when_whole: true,
            temperature: None,
            known_type: KnownType::default(),
            is_stand_in: true,
            is_slow: true,
        })
    }

    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Refuses an object that a subclass has not filled: it looks like a text that has ended.
    fn check_filled(&self) -> PyResult<()> {
        if self.is_stand_in {
            return Err(PyRuntimeError::new_err("`GrammarMatcher.__init__` was not called"));
        }
        Ok(())
    }

    /// A known mask is copied under the lock, for less than giving the lock up would cost. The memory is asked for when
    /// the mask is there.
    fn fill<'py>(
        &mut self,
        py: Python<'py>,
        index: i64,
        rows: impl FnOnce(&mut KnownType) -> PyResult<MaskRows<'py>>,
    ) -> PyResult<bool> {
        self.check_filled()?;
        if self.is_at_end() {
            return Err(match_error(py, &MatchError::Terminated));
        }
        let known = match each!(&mut self.matcher, matcher => matcher.cached_mask()) {
            Some(mask) => {
                MASKS_KNOWN.count();
                Ok(mask)
            }
            None => self.compute(py)?,
        };
        let mut rows = rows(&mut self.known_type)?;
        let place = rows.check(py, index, self.words)?;
        #[expect(unsafe_code, reason = "the row lies in memory that Python owns")]
        // SAFETY: what is called meanwhile is no Python code.
        let row = unsafe { rows.row(place) };
        match self.write(known, row) {
            Ok(narrows) => Ok(narrows),
            Err(error) if self.is_empty_mask(&error) => {
                row.fill(0);
                warn(py, &error.to_string()).map(|()| true)
            }
            Err(error) => Err(match_error(py, &error)),
        }
    }

    /// Writes a mask that was found. False if it allows every token.
    pub(crate) fn write(
        &mut self,
        known: Result<Arc<StoredMask>, MatchError>,
        row: &mut [u32],
    ) -> Result<bool, MatchError> {
        if *self.stop_tokens() != StopTokens::Vocabulary {
            // Errors of the mask by the vocabulary's stop tokens need not be errors by this matcher's own.
            // Only masks of `fill_mask_kind` are compared with the ones before and after them.
            self.forget_mask();
            let kind = self.fill_words(row);
            self.forget_mask();
            return kind.map(|kind| kind != MaskKind::All);
        }
        let mask = known?;
        mask.write(row);
        Ok(!mask.allows_all())
    }

    /// Most masks that have to be computed take some ten microseconds, and one in a thousand takes milliseconds. Giving
    /// up the lock for the short ones made sixteen threads slower on two cores than on one. So it is given up for the
    /// first mask of a text, and after one that took long.
    fn compute(&mut self, py: Python<'_>) -> PyResult<Result<Arc<StoredMask>, MatchError>> {
        let matcher = &mut self.matcher;
        let mut timed = || {
            let start = Instant::now();
            (each!(&mut *matcher, matcher => matcher.mask()), start.elapsed())
        };
        let (mask, time) = if self.is_slow { detach(py, timed) } else { timed() };
        self.is_slow = time > HELD;
        MASK.observe(py, time)?;
        Ok(mask)
    }

    pub(crate) fn fill_words(&mut self, words: &mut [u32]) -> Result<MaskKind, MatchError> {
        each!(&mut self.matcher, matcher => matcher.fill_mask_words(words))
    }

    /// Makes the next mask of `fill_mask_kind` count as new.
    pub(crate) fn forget_mask(&mut self) {
        each!(&mut self.matcher, matcher => matcher.forget_last_mask());
    }

    /// Whether a mask that failed so is a row of zeros. In compatible mode that is also the mask of a text which ends without
    /// a stop token, once it is complete.
    pub(crate) fn is_empty_mask(&self, error: &MatchError) -> bool {
        is_empty_mask(error) || self.ends_when_whole && is_compat() && *error == MatchError::Terminated
    }

    fn is_at_end(&self) -> bool {
        each!(&self.matcher, matcher => matcher.is_terminated())
    }

    fn stop_tokens(&self) -> &StopTokens {
        each!(&self.matcher, matcher => matcher.stop_tokens())
    }

    pub(crate) fn accept(&mut self, py: Python<'_>, token_id: i64) -> PyResult<bool> {
        self.check_filled()?;
        let id = u32::try_from(token_id).ok().and_then(|id| self.matcher.vocabulary().id(id));
        let Some(id) = id else {
            warn(py, &format!("token {token_id} is not in the vocabulary"))?;
            return Ok(false);
        };
        match each!(&mut self.matcher, matcher => matcher.accept_token(id)) {
            Ok(()) => {
                TOKENS_ACCEPTED.count();
                Ok(true)
            }
            Err(MatchError::TokenRefused(_)) => {
                TOKENS_REFUSED.count();
                let vocabulary = self.matcher.vocabulary();
                if matches!(vocabulary.kind(id), TokenKind::Empty | TokenKind::Special)
                    && !matches!(self.stop_tokens(), StopTokens::Own(ids) | StopTokens::Never(ids) if ids.contains(&id))
                {
                    warn(
                        py,
                        &format!("token {token_id} is special or padding, and the grammar does not name it"),
                    )?;
                }
                Ok(false)
            }
            Err(MatchError::Terminated) => {
                warn(py, "the text has ended; roll back or reset first")?;
                Ok(false)
            }
            Err(error) => Err(match_error(py, &error)),
        }
    }

    pub(crate) fn accept_text(&mut self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.check_filled()?;
        let bytes = text_bytes(text)?;
        match each!(&mut self.matcher, matcher => matcher.accept_bytes(&bytes)) {
            Ok(()) => Ok(true),
            Err(MatchError::ByteRefused { .. }) => Ok(false),
            Err(MatchError::Terminated) => {
                warn(py, "the text has ended; roll back or reset first")?;
                Ok(false)
            }
            Err(error) => Err(match_error(py, &error)),
        }
    }

    pub(crate) fn roll_back(&mut self, py: Python<'_>, steps: i64) -> PyResult<()> {
        let message = "the number of steps to roll back must not be negative";
        let steps = usize::try_from(steps).map_err(|_| raise(py, "MatcherError", message))?;
        each!(&mut self.matcher, matcher => matcher.rollback(steps)).map_err(|error| match_error(py, &error))
    }

    /// The temperature of the rule that is open, or the one that the caller gave.
    pub(crate) fn temperature(&mut self, py: Python<'_>) -> PyResult<Option<f64>> {
        let of_rule = each!(&mut self.matcher, matcher => matcher.temperature());
        let of_rule = of_rule.map_err(|error| match_error(py, &error))?;
        Ok(written(of_rule).or(self.temperature))
    }

    fn forked(&self, py: Python<'_>) -> Self {
        Self {
            matcher: match &self.matcher {
                Either::Earley(matcher) => Either::Earley(matcher.fork()),
                Either::Pda(matcher) => Either::Pda(matcher.fork()),
            },
            tokenizer: self.tokenizer.clone_ref(py),
            words: self.words,
            ends_when_whole: self.ends_when_whole,
            temperature: self.temperature,
            known_type: KnownType::default(),
            is_stand_in: false,
            is_slow: true,
        }
    }

    fn is_whole(&self) -> PyResult<bool> {
        self.check_filled()?;
        Ok(each!(&self.matcher, matcher => matcher.is_completed()))
    }

    fn id(&self, py: Python<'_>, token_id: i64) -> PyResult<TokenId> {
        let id = u32::try_from(token_id).ok().and_then(|id| self.matcher.vocabulary().id(id));
        id.ok_or_else(|| raise(py, "MatcherError", format!("token {token_id} is not in the vocabulary")))
    }
}

#[pymethods]
impl GrammarMatcher {
    #[new]
    #[classmethod]
    #[pyo3(signature = (compiled_grammar, *, override_stop_tokens=None, terminate_without_stop_token=false,
                        max_rollback_tokens=-1, default_temperature=None),
           text_signature = "(compiled_grammar, *, override_stop_tokens=None, terminate_without_stop_token=False, \
                             max_rollback_tokens=-1, default_temperature=None)")]
    fn new(
        class: &Bound<'_, PyType>,
        compiled_grammar: &Bound<'_, PyAny>,
        override_stop_tokens: Option<&Bound<'_, PyAny>>,
        terminate_without_stop_token: bool,
        max_rollback_tokens: i64,
        default_temperature: Option<f64>,
    ) -> PyResult<Self> {
        let py = class.py();
        if is_to_be_empty::<Self>(class, compiled_grammar) {
            return Self::stand_in(py);
        }
        let Ok(compiled_grammar) = compiled_grammar.cast::<CompiledGrammar>() else {
            let kind = compiled_grammar.get_type();
            let message = "`compiled_grammar` must be a CompiledGrammar, which a GrammarCompiler makes \
                           (`compiler.compile_grammar(grammar)`), not";
            return Err(PyValueError::new_err(format!("{message} {}", kind.name()?)));
        };
        let grammar = compiled_grammar.get();
        if max_rollback_tokens != -1 {
            let category = py.get_type::<pyo3::exceptions::PyDeprecationWarning>();
            let message = c"`max_rollback_tokens` is not used: any number of steps can be rolled back";
            PyErr::warn(py, &category, message, 1)?;
        }
        if let Some(temperature) = default_temperature
            && !(temperature.is_finite() && temperature >= 0.0)
        {
            let message = format!("`default_temperature` must be finite and not negative, not {temperature}");
            return Err(PyValueError::new_err(message));
        }
        let own = id_list(py, override_stop_tokens)?;
        let stop = stop_policy(py, &grammar.compiled, own, terminate_without_stop_token)?;
        Ok(Self {
            matcher: match grammar.compiled.matcher() {
                Either::Earley(matcher) => Either::Earley(matcher.with_stop_tokens(stop)),
                Either::Pda(matcher) => Either::Pda(matcher.with_stop_tokens(stop)),
            },
            words: grammar.tokenizer.get().words(),
            tokenizer: grammar.tokenizer.clone_ref(py),
            ends_when_whole: terminate_without_stop_token,
            temperature: default_temperature,
            known_type: KnownType::default(),
            is_stand_in: false,
            is_slow: true,
        })
    }

    /// Fills an object that `__new__` left empty.
    #[pyo3(signature = (*args, **kwargs))]
    fn __init__(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        if turn_to_read(slf)?.is_stand_in {
            let filling = args.py().get_type::<Self>().call(args, kwargs)?.cast_into::<Self>()?;
            std::mem::swap(&mut *turn(slf)?, &mut *turn(&filling)?);
        }
        Ok(())
    }

    #[classmethod]
    #[pyo3(signature = (**_options))]
    fn __init_subclass__(class: &Bound<'_, PyType>, _options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        announce::<Self>(class)
    }

    /// Accepts a token. `False` if it is not allowed; the matcher is then as it was.
    #[pyo3(signature = (token_id, *, debug_print=false))]
    fn accept_token(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        token_id: i64,
        debug_print: bool,
    ) -> PyResult<bool> {
        let this = &mut *turn(slf)?;
        let _ = debug_print;
        this.accept(py, token_id)
    }

    /// Accepts a text, `str`, `bytes` or `bytearray`, as one step. `False` if it is not allowed; the matcher is then as it
    /// was.
    #[pyo3(signature = (input_str, *, debug_print=false))]
    fn accept_string(
        slf: &Bound<'_, Self>,
        input_str: &Bound<'_, PyAny>,
        debug_print: bool,
    ) -> PyResult<bool> {
        let this = &mut *turn(slf)?;
        let _ = debug_print;
        this.accept_text(input_str.py(), input_str)
    }

    /// Writes the mask of the next token into a row of `bitmask`.
    ///
    /// `bitmask` is a C-contiguous numpy array or CPU tensor of dtype int32 and shape `(rows, words)` or
    /// `(words,)`, with `words = ceil(vocab_size / 32)`. Bit `id % 32` of word `id / 32` is 1 if and only if
    /// `accept_token(id)` would return `True`. Other rows are not touched.
    ///
    /// Returns `False` if every id is allowed, so that there is nothing to apply. Raises `MatcherError` after
    /// the stop token, `BitmaskError` if the array does not fit.
    #[pyo3(signature = (bitmask, index=0, *, debug_print=false))]
    fn fill_next_token_bitmask(
        slf: &Bound<'_, Self>,
        bitmask: &Bound<'_, PyAny>,
        index: i64,
        debug_print: bool,
    ) -> PyResult<bool> {
        let this = &mut *turn(slf)?;
        let _ = debug_print;
        this.fill(bitmask.py(), index, |known| MaskRows::of(bitmask, known))
    }

    /// `fill_next_token_bitmask` for callers that keep an address: row `index` of `words` words each, from
    /// `address` on.
    ///
    /// The caller vouches for the memory: it must hold the row, be aligned to four bytes, and stay where it is.
    /// A wrong address crashes the process.
    #[pyo3(signature = (address, words, index=0))]
    fn fill_next_token_bitmask_ptr(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        address: usize,
        words: usize,
        index: usize,
    ) -> PyResult<bool> {
        let this = &mut *turn(slf)?;
        let row = i64::try_from(index).unwrap_or(-1);
        this.fill(py, row, |_| MaskRows::at(py, address, index, words))
    }

    /// As `fill_next_token_bitmask`, with an answer that says more: `"all"` (every id is allowed), `"single"` (one is),
    /// `"some"` or `"unchanged"`. A mask is unchanged if it equals the one that this method wrote last for this matcher:
    /// a copy on a device still holds. The row is written in any case.
    #[pyo3(signature = (bitmask, index=0))]
    fn fill_mask_kind(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        bitmask: &Bound<'_, PyAny>,
        index: i64,
    ) -> PyResult<&'static str> {
        let this = &mut *turn(slf)?;
        let mut mask = vec![0; this.words];
        let start = Instant::now();
        let kind = detach(py, || this.fill_words(&mut mask)).map_err(|error| match_error(py, &error))?;
        MASK.observe(py, start.elapsed()).inspect_err(|_| this.forget_mask())?;
        let rows = MaskRows::of(bitmask, &mut this.known_type);
        let place = rows.and_then(|rows| rows.check(py, index, this.words).map(|place| (rows, place)));
        // A mask that was not handed out is new the next time.
        let (mut rows, place) = place.inspect_err(|_| this.forget_mask())?;
        #[expect(unsafe_code, reason = "the row lies in memory that Python owns")]
        // SAFETY: what is called meanwhile is no Python code.
        let row = unsafe { rows.row(place) };
        row.copy_from_slice(&mask);
        Ok(kind_name(kind))
    }

    /// Computes at most `masks` masks that the next token may lead to, those first that most tokens lead to. Returns how
    /// many. For idle time between two tokens; a second call goes on with what is left.
    fn warm_next(slf: &Bound<'_, Self>, py: Python<'_>, masks: usize) -> PyResult<usize> {
        let this = &mut *turn(slf)?;
        let matcher = &mut this.matcher;
        Ok(detach(py, || each!(matcher, matcher => matcher.warm_next(masks))))
    }

    /// Stops calls of this matcher from outside; `None` for never. A call that is stopped raises `IndeterminateError`.
    #[pyo3(signature = (interrupt))]
    fn set_interrupt(slf: &Bound<'_, Self>, interrupt: Option<&Bound<'_, Interrupt>>) -> PyResult<()> {
        let this = &mut *turn(slf)?;
        each!(&mut this.matcher, matcher => matcher.set_interrupt(given(interrupt)));
        Ok(())
    }

    /// The numbers of this text as a dict: `steps`, masks that were known (`hits`), computed (`misses`) or `unchanged`, and more.
    fn stats<'py>(slf: &Bound<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let this = &*turn_to_read(slf)?;
        loads(py, &each!(&this.matcher, matcher => matcher.stats().to_json()))
    }

    /// The mask of the next token as a list of ids. For looking at; slow.
    fn allowed_token_ids(slf: &Bound<'_, Self>, py: Python<'_>) -> PyResult<Vec<u32>> {
        let this = &mut *turn(slf)?;
        let mut mask = grammask::TokenMask::new(this.matcher.vocabulary().len());
        let filled = each!(&mut this.matcher, matcher => matcher.fill_mask(&mut mask));
        this.forget_mask();
        filled.map_err(|error| match_error(py, &error))?;
        Ok(mask.iter().map(TokenId::get).collect())
    }

    /// Fills one row of `token_bitmask` for each node of a tree of draft tokens.
    ///
    /// `retrieve_next_token[i]` and `retrieve_next_sibling[i]` are the first child and the next sibling of node
    /// `i`, -1 for none; node 0 is the root, whose token was accepted already. All are one-dimensional, of equal
    /// length. Rows of nodes whose token is not allowed are left as they are, or cleared with `grammask.config.set_compat(True)`. Returns `False` if
    /// `time_threshold` (in seconds, -1 or 0 for none) passed before the tree was done.
    #[pyo3(signature = (retrieve_next_token, retrieve_next_sibling, draft_tokens, token_bitmask,
                        time_threshold=-1.0, temperatures=None),
           text_signature = "($self, retrieve_next_token, retrieve_next_sibling, draft_tokens, token_bitmask, \
                             time_threshold=-1.0, temperatures=None)")]
    fn traverse_draft_tree(
        slf: &Bound<'_, Self>,
        retrieve_next_token: &Bound<'_, PyAny>,
        retrieve_next_sibling: &Bound<'_, PyAny>,
        draft_tokens: &Bound<'_, PyAny>,
        token_bitmask: &Bound<'_, PyAny>,
        time_threshold: f64,
        temperatures: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let this = &mut *turn(slf)?;
        let py = token_bitmask.py();
        let tree = Tree::of(retrieve_next_token, retrieve_next_sibling, draft_tokens)?;
        let known = &mut this.known_type;
        let rows = || MaskRows::of(token_bitmask, known);
        let words = this.words;
        let (filled, is_whole) =
            each!(&mut this.matcher, matcher => tree.fill(py, matcher, rows, words, time_threshold))?;
        if let Some(temperatures) = temperatures {
            let of_rules = each!(&mut this.matcher, matcher => tree.temperatures(py, matcher))?;
            let filled = filled.iter().map(|row| matches!(row, DraftRow::Filled(_)));
            for (place, (of_rule, is_filled)) in of_rules.into_iter().zip(filled).enumerate() {
                let temperature = written(of_rule).or(this.temperature).filter(|_| is_filled);
                temperatures.set_item(place, temperature.unwrap_or(-1.0))?;
            }
        }
        Ok(is_whole)
    }

    /// The longest text that every way on begins with; empty if there is a choice. May be accepted with
    /// `accept_string`.
    fn find_jump_forward_string(slf: &Bound<'_, Self>, py: Python<'_>) -> PyResult<String> {
        let this = &mut *turn(slf)?;
        if this.is_at_end() {
            return Err(match_error(py, &MatchError::Terminated));
        }
        let forced = each!(&mut this.matcher, matcher => matcher.jump_forward());
        let forced = forced.map_err(|error| match_error(py, &error))?;
        // A character is text only when it is whole.
        let whole = match std::str::from_utf8(&forced) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&forced[..error.valid_up_to()]).unwrap_or(""),
        };
        Ok(whole.to_owned())
    }

    /// The forced text as tokens that the model would write in any case, as a `ForcedTokens` with `tokens` and
    /// `rollback`. Nothing is accepted.
    ///
    /// `encode` turns text into ids as the model's tokenizer does inside a text, without special tokens. `context`
    /// is the last few tokens of the text. Without them the first forced token may be cut in another way than the
    /// model would. Take back `rollback` tokens first, then accept `tokens`. With an empty context, encoding begins
    /// with the forced text, as is right at the beginning of a text.
    ///
    /// Only what holds for every way on that the grammar allows is in `tokens`: no token of them could be merged
    /// with what the model writes next.
    #[pyo3(signature = (encode, context=Vec::new()), text_signature = "($self, encode, context=())")]
    fn find_jump_forward_tokens<'py>(
        slf: &Bound<'_, Self>,
        encode: &Bound<'py, PyAny>,
        context: Vec<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = &mut *turn(slf)?;
        if this.is_at_end() {
            return Err(match_error(encode.py(), &MatchError::Terminated));
        }
        each!(&mut this.matcher, matcher => forced_tokens(matcher, encode, &context))
    }

    /// The shortest text that ends the structure here, as bytes; a short one where items or names must differ. `None` if it
    /// has more than `max_bytes`, or if a token that is no text has to come.
    #[pyo3(signature = (max_bytes=1 << 20), text_signature = "($self, max_bytes=1048576)")]
    fn find_shortest_ending<'py>(
        slf: &Bound<'_, Self>,
        py: Python<'py>,
        max_bytes: usize,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let this = &mut *turn(slf)?;
        let matcher = &mut this.matcher;
        let ending = detach(py, || each!(matcher, matcher => matcher.shortest_ending(max_bytes)));
        let ending = ending.map_err(|error| match_error(py, &error))?;
        Ok(ending.map(|ending| PyBytes::new(py, &ending)))
    }

    /// The bytes that may come next, as numbers, whatever tokens spell them.
    fn next_bytes(slf: &Bound<'_, Self>) -> PyResult<Vec<u32>> {
        let this = &*turn_to_read(slf)?;
        Ok(byte_list(&each!(&this.matcher, matcher => matcher.next_bytes()).words()))
    }

    /// How many of the tokens could be accepted one after the other. Nothing is accepted.
    fn validate_tokens(slf: &Bound<'_, Self>, py: Python<'_>, token_ids: Vec<i64>) -> PyResult<usize> {
        let this = &mut *turn(slf)?;
        let vocabulary = this.matcher.vocabulary();
        let known = |id: &i64| u32::try_from(*id).ok().and_then(|id| vocabulary.id(id));
        let ids: Vec<TokenId> = token_ids.iter().map_while(known).collect();
        let valid = each!(&mut this.matcher, matcher => matcher.validate_tokens(&ids));
        valid.map_err(|error| match_error(py, &error))
    }

    /// Why a token is refused: at which of its bytes, and what was possible there. `None` if it is allowed.
    fn explain_rejection<'py>(
        slf: &Bound<'_, Self>,
        py: Python<'py>,
        token_id: i64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let this = &mut *turn(slf)?;
        let id = this.id(py, token_id)?;
        let explanation = each!(&mut this.matcher, matcher => matcher.explain(id));
        let explanation = explanation.map_err(|error| match_error(py, &error))?;
        let details = PyDict::new(py);
        details.set_item("token_id", token_id)?;
        details.set_item("token", PyBytes::new(py, this.matcher.vocabulary().token_bytes(id)))?;
        match explanation {
            Explanation::Allowed => return Ok(None),
            Explanation::Terminated => details.set_item("reason", "terminated")?,
            Explanation::OutOfRange | Explanation::Special | Explanation::Empty => {
                details.set_item("reason", "no_bytes")?;
            }
            Explanation::TooEarlyToStop { possible } => {
                details.set_item("reason", "too_early_to_stop")?;
                details.set_item("possible", byte_list(&possible.words()))?;
            }
            Explanation::Refused { offset, byte, possible, may_end } => {
                details.set_item("reason", "byte_refused")?;
                details.set_item("offset", offset)?;
                details.set_item("byte", byte)?;
                details.set_item("possible", byte_list(&possible.words()))?;
                details.set_item("may_end", may_end)?;
            }
            _ => details.set_item("reason", "refused")?,
        }
        py.import("grammask._support")?.getattr("Rejection")?.call((), Some(&details)).map(Some)
    }

    /// Takes back the last `num_tokens` steps: tokens, the stop token included, and calls of `accept_string`.
    #[pyo3(signature = (num_tokens=1))]
    fn rollback(slf: &Bound<'_, Self>, py: Python<'_>, num_tokens: i64) -> PyResult<()> {
        let this = &mut *turn(slf)?;
        this.roll_back(py, num_tokens)
    }

    /// Goes back to the beginning of the text.
    fn reset(slf: &Bound<'_, Self>) -> PyResult<()> {
        let this = &mut *turn(slf)?;
        each!(&mut this.matcher, matcher => matcher.reset());
        Ok(())
    }

    /// Goes on with the text under another compiled grammar, over the same tokenizer: to add tools to a conversation, or
    /// to take some away. Only what is new in a set of tools is compiled.
    ///
    /// The other grammar reads the text again, or a part of it. `replay` says which: `"all"`, the part
    /// `"since_return"` to the state in which the text began, or a number of steps. In free text that is the
    /// part since the last finished call, so that calls of tools that are taken away may stand before. Steps
    /// before that part cannot be rolled back.
    ///
    /// `False` if the other grammar does not allow the text, as in the midst of a call of a tool that was
    /// taken away. The matcher is then as it was.
    #[pyo3(signature = (compiled_grammar, *, replay=None),
           text_signature = "($self, compiled_grammar, *, replay='all')")]
    fn switch_to(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        compiled_grammar: &Bound<'_, CompiledGrammar>,
        replay: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let this = &mut *turn(slf)?;
        let replay = match replay {
            None => Replay::All,
            Some(replay) => match (replay.extract::<usize>(), replay.extract::<&str>()) {
                (Ok(steps), _) => Replay::Last(steps),
                (_, Ok("all")) => Replay::All,
                (_, Ok("since_return")) => Replay::SinceReturn,
                _ => {
                    let message = "`replay` must be \"all\", \"since_return\" or a number of steps";
                    return Err(raise(py, "MatcherError", message));
                }
            },
        };
        let grammar = compiled_grammar.get();
        let matcher = &mut this.matcher;
        let switched = match (matcher, &grammar.compiled) {
            (Either::Earley(matcher), Either::Earley(other)) => {
                detach(py, || matcher.switch_to(other, replay))
            }
            (Either::Pda(matcher), Either::Pda(other)) => detach(py, || matcher.switch_to(other, replay)),
            _ => {
                return Err(raise(
                    py,
                    "MatcherError",
                    "the other grammar was compiled for the other backend",
                ));
            }
        };
        match switched {
            Ok(()) => {
                this.words = grammar.tokenizer.get().words();
                this.tokenizer = grammar.tokenizer.clone_ref(py);
                this.is_slow = true;
                Ok(true)
            }
            Err(MatchError::TextRefused { .. }) => Ok(false),
            Err(error) => Err(match_error(py, &error)),
        }
    }

    /// A matcher at the same place, independent from here on.
    fn fork(slf: &Bound<'_, Self>, py: Python<'_>) -> PyResult<Self> {
        turn_to_read(slf).map(|this| this.forked(py))
    }

    /// Whether the text has ended: a stop token was accepted, or (with `terminate_without_stop_token`) the text
    /// is whole.
    fn is_terminated(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let this = &*turn_to_read(slf)?;
        if this.ends_when_whole { this.is_whole() } else { Ok(this.is_at_end()) }
    }

    /// Whether the text is whole: it may end here.
    fn is_completed(slf: &Bound<'_, Self>) -> PyResult<bool> {
        turn_to_read(slf)?.is_whole()
    }

    /// The parts of the text that rules with the option `capture` have read, as pairs of a name and bytes, by where they
    /// end. Where a rule was read from one place in several ways the longest one, without `deduplicate` all.
    #[pyo3(signature = (*, deduplicate=true))]
    fn get_captures<'py>(
        slf: &Bound<'_, Self>,
        py: Python<'py>,
        deduplicate: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let this = &mut *turn(slf)?;
        let ends = if deduplicate { CaptureEnds::Longest } else { CaptureEnds::All };
        let captures = each!(&mut this.matcher, matcher => matcher.captures(ends));
        let captures = captures.map_err(|error| match_error(py, &error))?;
        PyList::new(py, captures.iter().map(|capture| (&capture.name, PyBytes::new(py, &capture.bytes))))
    }

    /// Always -1: any number of steps can be rolled back.
    #[getter]
    fn max_rollback_tokens(_slf: &Bound<'_, Self>) -> i64 {
        -1
    }

    /// The temperature to sample the next token with: that of the innermost rule around it that has one, or else the one
    /// that the caller gave.
    #[getter(temperature)]
    fn next_temperature(slf: &Bound<'_, Self>, py: Python<'_>) -> PyResult<Option<f64>> {
        let this = &mut *turn(slf)?;
        this.temperature(py)
    }

    /// The stop tokens of this text.
    #[getter]
    fn stop_token_ids(slf: &Bound<'_, Self>) -> PyResult<Vec<u32>> {
        let this = &*turn_to_read(slf)?;
        let ids = match this.stop_tokens() {
            StopTokens::Own(ids) | StopTokens::Never(ids) => ids,
            _ => this.matcher.vocabulary().stop_tokens(),
        };
        Ok(ids.iter().map(|id| id.get()).collect())
    }

    /// Number of steps taken.
    #[getter]
    fn num_steps(slf: &Bound<'_, Self>) -> PyResult<usize> {
        turn_to_read(slf).map(|this| each!(&this.matcher, matcher => matcher.steps()))
    }

    fn _debug_print_internal_state(slf: &Bound<'_, Self>) -> PyResult<String> {
        turn_to_read(slf).map(|this| each!(&this.matcher, matcher => format!("{matcher:?}")))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Self::num_steps(slf).map(|steps| format!("<GrammarMatcher after {steps} steps>"))
    }

    fn __copy__(slf: &Bound<'_, Self>, py: Python<'_>) -> PyResult<Self> {
        Self::fork(slf, py)
    }

    fn __deepcopy__(slf: &Bound<'_, Self>, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::fork(slf, py)
    }

    fn __reduce__(_slf: &Bound<'_, Self>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a matcher cannot be pickled; send the compiled grammar and the accepted tokens instead",
        ))
    }
}

/// The name of a kind of mask in Python.
pub(crate) fn kind_name(kind: MaskKind) -> &'static str {
    match kind {
        MaskKind::All => "all",
        MaskKind::Unchanged => "unchanged",
        MaskKind::Single(_) => "single",
        // A kind that this list lacks is some mask.
        _ => "some",
    }
}

/// The number that was written in the grammar: 0.7, and not the nearest one of 32 bits in 64.
fn written(temperature: Option<f32>) -> Option<f64> {
    temperature.and_then(|temperature| temperature.to_string().parse().ok())
}

/// A list of numbers, which Python would not make of bytes.
fn byte_list(bits: &[u64; 4]) -> Vec<u32> {
    (0..=255u8).filter(|&byte| bits[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1).map(u32::from).collect()
}
