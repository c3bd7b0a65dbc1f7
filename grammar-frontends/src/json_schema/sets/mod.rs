//! Sets of JSON values, with conjunction and complement. The keywords of a schema come in as shapes and goals; normal
//! forms go out, which are unions of shapes by type. How a set is simplified, tested for emptiness or compared may
//! change here alone, but a simpler form changes which rules are shared. No keyword is read here and no rule is
//! written. Imports `document` for the values of constants, and options.

pub(super) mod array_shape;
pub(super) mod decimal;
pub(super) mod format_regex;
pub(super) mod formats;
pub(super) mod goals;
pub(super) mod hosts;
pub(super) mod inhabited;
pub(super) mod normal_form;
pub(super) mod number_shape;
pub(super) mod object_shape;
pub(super) mod sorted;
pub(super) mod string_shape;
pub(super) mod text_tests;
pub(super) mod union;
pub(super) mod whole_match;
pub(super) mod whole_patterns;
