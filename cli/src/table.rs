//! Tables for people: aligned columns under bold heads, one row a line.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::escape::visible;
use crate::style;

/// A column: its head, its style, where its cells stand.
pub(crate) struct Column {
    pub(crate) head: &'static str,
    pub(crate) style: Style,
    pub(crate) align: Align,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

impl Column {
    pub(crate) const fn left(head: &'static str, style: Style) -> Self {
        Self { head, style, align: Align::Left }
    }

    pub(crate) const fn right(head: &'static str) -> Self {
        Self { head, style: Style::new(), align: Align::Right }
    }
}

/// Writes the head and the rows.
pub(crate) fn write(out: &mut impl Write, columns: &[Column], rows: &[Vec<String>]) -> io::Result<()> {
    let cells = |row: &Vec<String>| row.iter().map(|cell| visible(cell, false)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells = rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.width());
            cells.chain([column.head.width()]).max().unwrap_or(0)
        })
        .collect();
    let heads: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
    write_row(out, columns, &widths, &heads, Some(style::HEAD))?;
    for row in &rows {
        write_row(out, columns, &widths, row, None)?;
    }
    Ok(())
}

fn write_row(
    out: &mut impl Write,
    columns: &[Column],
    widths: &[usize],
    cells: &[String],
    style: Option<Style>,
) -> io::Result<()> {
    for (index, (column, cell)) in columns.iter().zip(cells).enumerate() {
        let style = style.unwrap_or(column.style);
        let pad = " ".repeat(widths[index].saturating_sub(cell.width()));
        let is_last = index + 1 == columns.len();
        match column.align {
            Align::Right => write!(out, "{pad}{style}{cell}{style:#}")?,
            // Nothing follows the last column: padding it would only make long lines wrap.
            Align::Left if is_last => write!(out, "{style}{cell}{style:#}")?,
            Align::Left => write!(out, "{style}{cell}{style:#}{pad}")?,
        }
        write!(out, "{}", if is_last { "\n" } else { "  " })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let columns =
            [Column::right("n"), Column::left("text", Style::new()), Column::left("end", Style::new())];
        let rows = [vec!["10".into(), "日本".into(), "x".into()], vec!["9".into(), "\n".into(), "y".into()]];
        let mut out = anstream::StripStream::new(Vec::new());
        write(&mut out, &columns, &rows).unwrap();
        let text = String::from_utf8(out.into_inner()).unwrap();
        assert_eq!(text, " n  text  end\n10  日本  x\n 9  \\n    y\n");
    }
}
