//! Negated classes with both sides of the surrogates.
//!
//! No character lies between U+D7FF and U+E000. `regex-syntax` negates a class by the gaps between its ranges. Where one range
//! ends in the first and the next one begins with the second, it takes the two themselves for the gap. Such a class is
//! written as a difference here (`[\x00-\x{10FFFF}--[...]]`), which needs no gaps.

use grammask_grammar_ir::hash::HashMap;
use regex_syntax::ast::{
    Ast, ClassBracketed, ClassSet, ClassSetBinaryOp, ClassSetBinaryOpKind, ClassSetItem, ClassSetRange,
    ClassUnicode, HexLiteralKind, Literal, LiteralKind,
};
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{Class, HirKind};

const BEFORE: char = '\u{D7FF}';
const AFTER: char = '\u{E000}';

/// Rewrites the classes of a pattern that may need it. Returns whether there are any.
pub(super) fn mend(pattern: &str, ast: &mut Ast) -> bool {
    let mut mender = Mender { pattern, properties: HashMap::default(), has_mended: false };
    mender.part(ast);
    mender.has_mended
}

/// Each part is looked at once; nesting is bounded by the parser.
struct Mender<'p> {
    pattern: &'p str,
    /// Whether the properties that were met begin or end at the surrogates.
    properties: HashMap<&'p str, bool>,
    has_mended: bool,
}

impl Mender<'_> {
    fn part(&mut self, ast: &mut Ast) {
        match ast {
            Ast::ClassBracketed(class) => {
                self.class(class);
            }
            Ast::Repetition(repetition) => self.part(&mut repetition.ast),
            Ast::Group(group) => self.part(&mut group.ast),
            Ast::Alternation(parts) => parts.asts.iter_mut().for_each(|part| self.part(part)),
            Ast::Concat(parts) => parts.asts.iter_mut().for_each(|part| self.part(part)),
            _ => {}
        }
    }

    /// Returns whether ranges of the class may begin or end at the surrogates. So do those of its complement.
    fn class(&mut self, class: &mut ClassBracketed) -> bool {
        let may = self.set(&mut class.kind);
        if class.negated && may {
            let span = class.span;
            let literal = |c| Literal { span, kind: LiteralKind::HexBrace(HexLiteralKind::X), c };
            let all = ClassSetRange { span, start: literal('\0'), end: literal(char::MAX) };
            let positive = ClassBracketed { negated: false, ..class.clone() };
            class.negated = false;
            class.kind = ClassSet::BinaryOp(ClassSetBinaryOp {
                span,
                kind: ClassSetBinaryOpKind::Difference,
                lhs: Box::new(ClassSet::Item(ClassSetItem::Range(all))),
                rhs: Box::new(ClassSet::Item(ClassSetItem::Bracketed(Box::new(positive)))),
            });
            self.has_mended = true;
        }
        may
    }

    fn set(&mut self, set: &mut ClassSet) -> bool {
        match set {
            ClassSet::Item(item) => self.item(item),
            ClassSet::BinaryOp(operation) => {
                let before = self.set(&mut operation.lhs);
                self.set(&mut operation.rhs) || before
            }
        }
    }

    fn item(&mut self, item: &mut ClassSetItem) -> bool {
        let is_beside = |literal: &Literal| matches!(literal.c, BEFORE | AFTER);
        match item {
            ClassSetItem::Literal(literal) => is_beside(literal),
            ClassSetItem::Range(range) => is_beside(&range.start) || is_beside(&range.end),
            ClassSetItem::Unicode(class) => self.property(class),
            ClassSetItem::Bracketed(class) => self.class(class),
            ClassSetItem::Union(union) => {
                // All of them, since there are classes among them.
                let found = union.items.iter_mut().filter_map(|item| self.item(item).then_some(()));
                found.count() > 0
            }
            ClassSetItem::Empty(_) | ClassSetItem::Ascii(_) | ClassSetItem::Perl(_) => false,
        }
    }

    fn property(&mut self, class: &ClassUnicode) -> bool {
        let name = &self.pattern[class.span.start.offset..class.span.end.offset];
        *self.properties.entry(name).or_insert_with(|| {
            let translated = Translator::new().translate(name, &Ast::ClassUnicode(Box::new(class.clone())));
            // Names that are not known are refused later.
            translated.is_ok_and(|hir| match hir.kind() {
                HirKind::Class(Class::Unicode(class)) => {
                    class.iter().any(|range| range.end() == BEFORE || range.start() == AFTER)
                }
                _ => false,
            })
        })
    }
}
