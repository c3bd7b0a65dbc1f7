//! One way to write the setters of options.

/// Writes a setter for each of some fields, which takes the options and returns them with the new value. Fields that are
/// not public have comments here, which become those of the setters.
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
        $crate::setters! { $options { $(
            #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
            $field: $value
        ),+ } }
    };
    ($options:ident { $($(#[doc = $doc:expr])+ $field:ident: $value:ty),+ $(,)? }) => {
        impl $options {
            $(
                $(#[doc = $doc])+
                #[must_use]
                pub fn $field(mut self, $field: $value) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}
