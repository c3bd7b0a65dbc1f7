//! Takes out the code that is compiled for tests only, so that no check has to look for it.

use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, Attribute, Block, ExprStruct, FieldsNamed, File, ImplItem, Item, ItemEnum, ItemImpl, ItemMod,
};
use syn::{ExprMatch, Meta, Stmt, Token};

/// Removes items, statements, fields and arms that are compiled for tests only.
pub(super) fn remove_test_code(file: &mut File) {
    if is_test_code(&file.attrs) {
        file.items.clear();
    }
    Removal.visit_file_mut(file);
}

struct Removal;

impl VisitMut for Removal {
    fn visit_file_mut(&mut self, file: &mut File) {
        file.items.retain(|item| !is_test_code(item_attributes(item)));
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| !is_test_code(item_attributes(item)));
        }
        visit_mut::visit_item_mod_mut(self, module);
    }

    fn visit_item_impl_mut(&mut self, block: &mut ItemImpl) {
        block.items.retain(|item| !is_test_code(impl_item_attributes(item)));
        visit_mut::visit_item_impl_mut(self, block);
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        block.stmts.retain(|statement| match statement {
            Stmt::Item(item) => !is_test_code(item_attributes(item)),
            Stmt::Local(local) => !is_test_code(&local.attrs),
            Stmt::Expr(..) | Stmt::Macro(_) => true,
        });
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_fields_named_mut(&mut self, fields: &mut FieldsNamed) {
        fields.named = retained(&fields.named, |field| &field.attrs);
        visit_mut::visit_fields_named_mut(self, fields);
    }

    fn visit_item_enum_mut(&mut self, item: &mut ItemEnum) {
        item.variants = retained(&item.variants, |variant| &variant.attrs);
        visit_mut::visit_item_enum_mut(self, item);
    }

    fn visit_expr_struct_mut(&mut self, value: &mut ExprStruct) {
        value.fields = retained(&value.fields, |field| &field.attrs);
        visit_mut::visit_expr_struct_mut(self, value);
    }

    fn visit_expr_match_mut(&mut self, expression: &mut ExprMatch) {
        expression.arms.retain(|arm: &Arm| !is_test_code(&arm.attrs));
        visit_mut::visit_expr_match_mut(self, expression);
    }
}

fn retained<T: Clone>(
    list: &Punctuated<T, Token![,]>,
    attributes: impl Fn(&T) -> &[Attribute],
) -> Punctuated<T, Token![,]> {
    list.iter().filter(|item| !is_test_code(attributes(item))).cloned().collect()
}

/// Whether an item with these attributes is a test, or is compiled only where a `cfg` names `test`.
///
/// `cfg(any(test, feature = "x"))` counts as test code, and `cfg(not(test))` does not.
fn is_test_code(attributes: &[Attribute]) -> bool {
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
fn item_attributes(item: &Item) -> &[Attribute] {
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
fn impl_item_attributes(item: &ImplItem) -> &[Attribute] {
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
    use quote::ToTokens;

    use super::*;

    fn check(text: &str) -> bool {
        is_test_code(item_attributes(&syn::parse_str(text).unwrap()))
    }

    #[test]
    fn only_the_code_of_tests_is_removed() {
        let text = "fn a() { #[test] fn b() {} #[cfg(test)] let c = 1; let d = 2; } \
                    impl A { #[cfg(test)] fn e() {} fn f() { match g { #[cfg(test)] H => {} I => {} } } } \
                    struct J { #[cfg(test)] k: L, m: N } mod o { #[cfg(test)] mod p {} struct Q; }";
        let kept = "fn a() { let d = 2; } impl A { fn f() { match g { I => {} } } } \
                    struct J { m: N } mod o { struct Q; }";
        let mut file = syn::parse_file(text).unwrap();
        remove_test_code(&mut file);
        let shown = |file: &File| file.to_token_stream().to_string();
        assert_eq!(shown(&file), shown(&syn::parse_file(kept).unwrap()));
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
