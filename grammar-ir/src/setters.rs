//! One way to write the setters of options.

/// Writes a setter for each of some public fields, which takes the options and returns them with the new value.
///
/// ```
/// #[derive(Default)]
/// pub struct Limits {
///     pub depth: usize,
/// }
///
/// grammask_grammar_ir::setters! { Limits { depth: usize } }
///
/// assert_eq!(Limits::default().depth(3).depth, 3);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($options:ident { $($field:ident: $value:ty),+ $(,)? }) => {
        impl $options {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $value) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}
