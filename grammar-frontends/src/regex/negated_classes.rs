//! Negated classes with both sides of the surrogates.
//!
//! No character lies between U+D7FF and U+E000. `regex-syntax` negates a class by the gaps between its ranges. Where one range
//! ends in the first and the next one begins with the second, it takes the two themselves for the gap. Such a class is
//! written as a difference here (`[\x00-\x{10FFFF}--[...]]`), which needs no gaps.

use regex_syntax::ast::{
    Ast, ClassBracketed, ClassSet, ClassSetBinaryOp, ClassSetBinaryOpKind, ClassSetItem, ClassSetRange,
    HexLiteralKind, Literal, LiteralKind,
};
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{Class, HirKind};

const BEFORE: char = '\u{D7FF}';
const AFTER: char = '\u{E000}';

/// Rewrites the classes of a pattern that need it. Nesting is bounded by the parser.
pub(super) fn mend(pattern: &str, ast: &mut Ast) {
    // Few patterns name one of the two. Properties may hold them unnamed.
    let lower = || pattern.to_ascii_lowercase();
    let is_named = pattern.contains([BEFORE, AFTER])
        || ["d7ff", "e000", "\\p"].iter().any(|name| lower().contains(name));
    if is_named && pattern.contains("[^") {
        mend_part(pattern, ast);
    }
}

fn mend_part(pattern: &str, ast: &mut Ast) {
    match ast {
        Ast::ClassBracketed(class) => mend_class(pattern, class),
        Ast::Repetition(repetition) => mend_part(pattern, &mut repetition.ast),
        Ast::Group(group) => mend_part(pattern, &mut group.ast),
        Ast::Alternation(parts) => parts.asts.iter_mut().for_each(|part| mend_part(pattern, part)),
        Ast::Concat(parts) => parts.asts.iter_mut().for_each(|part| mend_part(pattern, part)),
        _ => {}
    }
}

fn mend_class(pattern: &str, class: &mut ClassBracketed) {
    mend_set(pattern, &mut class.kind);
    if !class.negated {
        return;
    }
    let positive = ClassBracketed { negated: false, ..class.clone() };
    if has_both_sides(pattern, &positive) {
        let span = class.span;
        let literal = |c| Literal { span, kind: LiteralKind::HexBrace(HexLiteralKind::X), c };
        let all = ClassSetRange { span, start: literal('\0'), end: literal(char::MAX) };
        class.negated = false;
        class.kind = ClassSet::BinaryOp(ClassSetBinaryOp {
            span,
            kind: ClassSetBinaryOpKind::Difference,
            lhs: Box::new(ClassSet::Item(ClassSetItem::Range(all))),
            rhs: Box::new(ClassSet::Item(ClassSetItem::Bracketed(Box::new(positive)))),
        });
    }
}

fn mend_set(pattern: &str, set: &mut ClassSet) {
    match set {
        ClassSet::Item(item) => mend_item(pattern, item),
        ClassSet::BinaryOp(operation) => {
            mend_set(pattern, &mut operation.lhs);
            mend_set(pattern, &mut operation.rhs);
        }
    }
}

fn mend_item(pattern: &str, item: &mut ClassSetItem) {
    match item {
        ClassSetItem::Bracketed(class) => mend_class(pattern, class),
        ClassSetItem::Union(union) => union.items.iter_mut().for_each(|item| mend_item(pattern, item)),
        _ => {}
    }
}

/// Whether a range of the class ends before the surrogates and another one begins after them. Neither side has a case.
fn has_both_sides(pattern: &str, class: &ClassBracketed) -> bool {
    let translated = Translator::new().translate(pattern, &Ast::ClassBracketed(Box::new(class.clone())));
    // Others are refused later.
    translated.is_ok_and(|hir| match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().any(|range| range.end() == BEFORE)
                && class.iter().any(|range| range.start() == AFTER)
        }
        _ => false,
    })
}
