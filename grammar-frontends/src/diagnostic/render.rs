//! Reports with the source line, a caret and help, drawn by ariadne.
//!
//! Sources may be hostile. A line of a megabyte would be drawn in full, and control characters would reach
//! the terminal. Characters other than `\n` that ariadne takes for line ends would make its line numbers
//! differ from ours. So ariadne is never shown the source but an *excerpt*. It has the lines with labels,
//! long ones cut to a window around the label, with replacements for characters that do not print.

use ariadne::{CharSet, Config, IndexType, Label, Report, ReportKind, Source};
use grammask_grammar_ir::shorten;

use super::pointer;
use super::report::{Color, Diagnostic, Diagnostics, Severity};
use super::source::{floor_boundary, line_and_column};

/// Lines longer than this many bytes are cut.
const MAX_LINE_BYTES: usize = 240;
/// Past this many lines the numbers in the margin are wrong, which costs less than the memory for right ones;
/// the head of the report is always right.
const MAX_LINES_ABOVE: usize = 200_000;
/// How much of a cut line is shown before the label, and after its start.
const WINDOW: usize = 60;

impl Diagnostics {
    /// Shows every finding with the lines of `source` it is about. A finding that knows only a JSON pointer
    /// is looked up in the source.
    ///
    /// `source` must be the text that was parsed; `source_name` is its file name or another name for it.
    pub fn render(&self, source: &str, source_name: &str, color: Color) -> String {
        let mut rendered = String::new();
        for diagnostic in self.iter() {
            if !rendered.is_empty() && !rendered.ends_with("\n\n") {
                rendered.push('\n');
            }
            rendered.push_str(&render_one(diagnostic, source, source_name, color));
        }
        rendered
    }
}

fn render_one(diagnostic: &Diagnostic, source: &str, name: &str, color: Color) -> String {
    let mut marks: Vec<(std::ops::Range<usize>, &str)> =
        diagnostic.labels().iter().map(|label| (label.span().range(), label.message())).collect();
    if marks.is_empty() {
        let located = diagnostic.pointer().and_then(|pointer| pointer::locate(source, pointer));
        match located {
            Some(span) => marks.push((span.range(), "")),
            None => return render_without_source(diagnostic, name),
        }
    }
    let excerpt = Excerpt::new(source, marks.iter().map(|(range, _)| range.clone()));
    let id = printable(name);
    let kind = match diagnostic.severity() {
        Severity::Error => ReportKind::Error,
        Severity::Warning => ReportKind::Warning,
    };
    let config = Config::new()
        .with_color(color == Color::Always)
        .with_index_type(IndexType::Byte)
        .with_char_set(CharSet::Unicode);
    let mut report = Report::build(kind, (id.clone(), excerpt.ranges[0].clone()))
        .with_config(config)
        .with_code(diagnostic.code())
        .with_message(printable(diagnostic.message()));
    // ariadne wants labels in the order of the text; the first of ours is the one that matters.
    let mut labels: Vec<_> = marks.iter().zip(&excerpt.ranges).enumerate().collect();
    labels.sort_by_key(|(_, (_, range))| range.start);
    for (order, ((_, message), range)) in labels {
        let color = if order == 0 { ariadne::Color::Red } else { ariadne::Color::Blue };
        // Without any message ariadne draws no underline.
        let message = if message.is_empty() { "here" } else { message };
        let label = Label::new((id.clone(), range.clone())).with_message(printable(message));
        report = report.with_label(label.with_color(color));
    }
    if let Some(pointer) = diagnostic.pointer().filter(|pointer| !pointer.is_empty()) {
        report = report.with_note(format!("at `{}`", printable(pointer)));
    }
    if let Some(hint) = diagnostic.hint() {
        report = report.with_help(printable(hint));
    }
    let shown = line_and_column(&excerpt.text, excerpt.ranges[0].start);
    let actual = line_and_column(source, marks[0].0.start);
    let mut output = Vec::new();
    match report.finish().write((id.clone(), Source::from(excerpt.text)), &mut output) {
        Ok(()) => correct_place(&trim_line_ends(&String::from_utf8_lossy(&output)), &id, shown, actual),
        // A vector takes every write; should ariadne fail by itself, the plain line still says it all.
        Err(_) => render_without_source(diagnostic, name),
    }
}

/// The place in the head of a report is that in the excerpt; in a cut line the column is another.
fn correct_place(report: &str, id: &str, shown: (u32, u32), actual: (u32, u32)) -> String {
    let (message, rest) = report.split_once('\n').unwrap_or((report, ""));
    let place = |(line, column): (u32, u32)| format!("{id}:{line}:{column}");
    format!("{message}\n{}", rest.replacen(&place(shown), &place(actual), 1))
}

fn render_without_source(diagnostic: &Diagnostic, name: &str) -> String {
    format!("{}: {}\n", name, printable(&diagnostic.to_string()))
}

/// Without colours ariadne pads some lines with blanks.
fn trim_line_ends(text: &str) -> String {
    let mut trimmed = String::with_capacity(text.len());
    for line in text.lines() {
        trimmed.push_str(line.trim_end());
        trimmed.push('\n');
    }
    trimmed
}

struct Excerpt {
    text: String,
    /// Where the spans are in `text`.
    ranges: Vec<std::ops::Range<usize>>,
}

impl Excerpt {
    fn new(source: &str, spans: impl Iterator<Item = std::ops::Range<usize>>) -> Self {
        let spans: Vec<_> = spans.map(|span| clamp(source, span)).collect();
        let first = spans.iter().map(|span| span.start).min().unwrap_or(0);
        let last = spans.iter().map(|span| span.start).max().unwrap_or(0);
        let start = source[..first].rfind('\n').map_or(0, |newline| newline + 1);
        let end = source[last..].find('\n').map_or(source.len(), |newline| last + newline);
        // Empty lines stand for those above, so that lines are numbered as in the source.
        let above = source[..start].bytes().filter(|&byte| byte == b'\n').count();
        let mut excerpt =
            Self { text: "\n".repeat(above.min(MAX_LINES_ABOVE)), ranges: vec![0..0; spans.len()] };
        let mut offset = start;
        for line in source[start..end].split('\n') {
            excerpt.push_line(line, offset, &spans);
            offset += line.len() + 1;
        }
        excerpt
    }

    fn push_line(&mut self, line: &str, offset: usize, spans: &[std::ops::Range<usize>]) {
        let here = |span: &std::ops::Range<usize>| (offset..=offset + line.len()).contains(&span.start);
        let (from, to) = match spans.iter().find(|&span| here(span)) {
            // Lines between two labels are never drawn, but must be there to be counted.
            None => {
                self.text.push('\n');
                return;
            }
            Some(_) if line.len() <= MAX_LINE_BYTES => (0, line.len()),
            Some(span) => {
                let column = span.start - offset;
                (
                    floor_boundary(line, column.saturating_sub(WINDOW)),
                    floor_boundary(line, (column + WINDOW).min(line.len())),
                )
            }
        };
        if from > 0 {
            self.text.push('…');
        }
        let mut starts: Vec<Option<usize>> = vec![None; spans.len()];
        let mut ends: Vec<Option<usize>> = vec![None; spans.len()];
        for (position, character) in line[from..to].char_indices() {
            let position = offset + from + position;
            for (index, span) in spans.iter().enumerate().filter(|&(_, span)| here(span)) {
                if span.start <= position {
                    starts[index].get_or_insert(self.text.len());
                }
                if span.end <= position {
                    ends[index].get_or_insert(self.text.len());
                }
            }
            self.text.push(stand_in(character));
        }
        let line_end = self.text.len();
        if to < line.len() {
            self.text.push('…');
        }
        // The end of the line needs a character above the caret.
        self.text.push(' ');
        self.text.push('\n');
        for (index, _) in spans.iter().enumerate().filter(|&(_, span)| here(span)) {
            let start = starts[index].unwrap_or(line_end);
            let width = self.text[start..].chars().next().map_or(1, char::len_utf8);
            self.ranges[index] = start..ends[index].unwrap_or(line_end).max(start + width);
        }
    }
}

fn clamp(source: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let start = floor_boundary(source, span.start);
    start..floor_boundary(source, span.end).max(start)
}

fn printable(text: &str) -> String {
    shorten(text).chars().map(stand_in).collect()
}

/// Control characters by their pictures, other characters that end lines or turn the writing direction by
/// the replacement character.
fn stand_in(character: char) -> char {
    match character {
        '\t' => ' ',
        '\0'..='\u{1F}' => char::from_u32(0x2400 + character as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7F}' => '\u{2421}',
        '\u{80}'..='\u{9F}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ => character,
    }
}
