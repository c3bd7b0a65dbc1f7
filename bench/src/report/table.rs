//! Tables in Markdown.

use super::statistics::Distribution;
use super::summary::{Common, Summary, Verdict};
use crate::engine::EngineId;

/// Rows of cells under a head, printed as a Markdown table.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with only its head.
    pub(crate) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Self { rows: vec![head.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table, columns padded to one width, numbers to the right.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
            })
            .collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            for (column, &width) in widths.iter().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                let padding = " ".repeat(width - cell.chars().count());
                let (before, after) =
                    if column == 0 { ("", padding) } else { (padding.as_str(), String::new()) };
                text.push_str(&format!("| {before}{cell}{after} "));
            }
            text.push_str("|\n");
            if number == 0 {
                for (column, &width) in widths.iter().enumerate() {
                    let dashes = "-".repeat(width + 1);
                    text.push_str(&if column == 0 { format!("|:{dashes}") } else { format!("|{dashes}:") });
                }
                text.push_str("|\n");
            }
        }
        text
    }
}

/// A number of microseconds with as many digits as matter.
pub(crate) fn microseconds(number: Option<f64>) -> String {
    let Some(number) = number else { return "-".to_owned() };
    match number.abs() {
        size if size >= 100.0 => grouped(number.round() as i64),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

/// A ratio with as many digits as matter.
pub(crate) fn ratio(ours: Option<f64>, theirs: Option<f64>) -> String {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) if theirs > 0.0 => plain_ratio(Some(ours / theirs)),
        _ => "-".to_owned(),
    }
}

fn plain_ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"))
}

const MASK_PERCENTS: [(&str, f64); 7] = [
    ("p25", 25.0),
    ("p50", 50.0),
    ("p90", 90.0),
    ("p95", 95.0),
    ("p99", 99.0),
    ("p99.9", 99.9),
    ("max", 100.0),
];
const FEW_PERCENTS: [(&str, f64); 4] = [("p50", 50.0), ("p99", 99.0), ("p99.9", 99.9), ("max", 100.0)];

/// Everything that each engine ran.
pub(crate) fn overview(summaries: &[Summary]) -> String {
    let mut table = Table::new(
        std::iter::once("microseconds".to_owned())
            .chain(summaries.iter().map(|summary| summary.engine.label().to_owned())),
    );
    let mut row = |name: String, cell: &dyn Fn(&Summary) -> String| {
        table.row(std::iter::once(name).chain(summaries.iter().map(cell)));
    };
    for (name, percents, select) in [
        ("TTFM", &MASK_PERCENTS[..], (|s| &s.first_mask) as fn(&Summary) -> &Distribution),
        ("compile", &FEW_PERCENTS[..], |s| &s.compile),
        ("TBM", &MASK_PERCENTS[..], |s| &s.mask),
        ("commit", &FEW_PERCENTS[..], |s| &s.commit),
    ] {
        row(format!("{name} mean"), &|s| microseconds(select(s).mean()));
        for &(label, percent) in percents {
            row(format!("{name} {label}"), &|s| microseconds(select(s).percentile(percent)));
        }
    }
    row("TTFM max, undisturbed".to_owned(), &|s| microseconds(s.undisturbed_first_mask.max()));
    row("TBM p99.9, undisturbed".to_owned(), &|s| microseconds(s.undisturbed_mask.percentile(99.9)));
    row("TBM max, undisturbed".to_owned(), &|s| microseconds(s.undisturbed_mask.max()));
    row("masks disturbed by the system".to_owned(), &|s| {
        (s.mask.len() - s.undisturbed_mask.len()).to_string()
    });
    row("masks".to_owned(), &|s| s.mask.len().to_string());
    row("schemas".to_owned(), &|s| s.schemas.to_string());
    for verdict in Verdict::ALL {
        row(verdict.label().to_owned(), &|s| s.count(verdict).to_string());
    }
    row("mask and accept disagree".to_owned(), &|s| s.disagreements.to_string());
    row("matcher errors".to_owned(), &|s| s.errors.to_string());
    table.render()
}

/// The cases that two engines have in common, and a comparison on them.
pub(crate) fn comparison(engines: [EngineId; 2], common: &Common) -> String {
    let mut table = Table::new([
        "microseconds".to_owned(),
        engines[0].label().to_owned(),
        engines[1].label().to_owned(),
        format!("{} / {}", engines[0], engines[1]),
    ]);
    for (name, percents, [ours, theirs], geometric) in [
        ("TBM", &MASK_PERCENTS[..], &common.mask, common.mask_ratio),
        ("commit", &FEW_PERCENTS[..], &common.commit, common.commit_ratio),
        ("TTFM", &MASK_PERCENTS[..], &common.first_mask, common.first_mask_ratio),
    ] {
        let mut row = |label: &str, a: Option<f64>, b: Option<f64>| {
            table.row([format!("{name} {label}"), microseconds(a), microseconds(b), ratio(a, b)]);
        };
        row("mean", ours.mean(), theirs.mean());
        for &(label, percent) in percents {
            row(label, ours.percentile(percent), theirs.percentile(percent));
        }
        table.row([
            format!("{name} geometric mean of ratios"),
            String::new(),
            String::new(),
            plain_ratio(geometric),
        ]);
    }
    table.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned() {
        let mut table = Table::new(["what", "µs"]);
        table.row(["mask", "1,234"]);
        assert_eq!(table.render(), "| what |    µs |\n|:-----|------:|\n| mask | 1,234 |\n");
    }

    #[test]
    fn numbers_have_the_digits_that_matter() {
        for (number, text) in [
            (0.0123, "0.012"),
            (1.234, "1.23"),
            (56.78, "56.8"),
            (999.6, "1,000"),
            (1_234_567.0, "1,234,567"),
        ] {
            assert_eq!(microseconds(Some(number)), text);
        }
        assert_eq!(microseconds(None), "-");
        assert_eq!(ratio(Some(1.0), Some(4.0)), "0.250");
        assert_eq!(ratio(Some(1.0), None), "-");
    }
}
