//! Tells which code is compiled for tests only.

use syn::punctuated::Punctuated;
use syn::{Attribute, ImplItem, Item, Meta, Token};

/// Whether an item with these attributes is a test, or is compiled only where a `cfg` names `test`.
///
/// `cfg(any(test, feature = "x"))` counts as test code, and `cfg(not(test))` does not.
pub(super) fn is_test_code(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let name = attribute.path().segments.last().map(|segment| segment.ident.to_string());
        match name.as_deref() {
            Some("test" | "bench") => true,
            Some("cfg") => attribute.parse_args::<Meta>().is_ok_and(|condition| names_test(&condition)),
            _ => false,
        }
    })
}

fn names_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("any") || list.path.is_ident("all") => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|conditions| conditions.iter().any(names_test)),
        _ => false,
    }
}

/// The attributes of an item of a module.
pub(super) fn item_attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The attributes of an item of an `impl` block.
pub(super) fn impl_item_attributes(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        ImplItem::Macro(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> bool {
        is_test_code(item_attributes(&syn::parse_str(text).unwrap()))
    }

    #[test]
    fn conditions_that_name_test_mark_test_code() {
        assert!(check("#[cfg(test)] mod a {}"));
        assert!(check("#[cfg(any(unix, all(test, windows)))] fn a() {}"));
        assert!(check("#[test] fn a() {}"));
        assert!(!check("#[cfg(not(test))] fn a() {}"));
        assert!(!check("#[cfg(feature = \"test\")] fn a() {}"));
    }
}
