//! SVG without references to other files.

use std::fmt::Write;

use super::graph::{DrawnEdge, FragmentGraph, fragments};
use super::layout::{Layout, layout};
use super::scope::Scope;
use crate::program::tables::Program;

/// Most states that [`svg`] draws: more cannot be read.
pub const MAX_STATES: usize = 400;

/// The automata are too large for a picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{states} states are too many for a picture, limit {MAX_STATES}; draw one fragment, or give the DOT output \
     to Graphviz"
)]
pub struct PictureError {
    states: usize,
}

/// The automata as an SVG document without references to anything else: fragments below one another, each
/// from left to right. Final states are double circles, `<name>` reads a fragment, long labels are cut and
/// shown in full as tooltips.
///
/// Fails if there are more than [`MAX_STATES`] states.
pub fn svg(program: &Program, scope: Scope) -> Result<String, PictureError> {
    let graphs: Vec<FragmentGraph> =
        fragments(program, scope).into_iter().map(|id| FragmentGraph::new(program, id)).collect();
    let states = graphs.iter().map(|graph| graph.states.len()).sum();
    if states > MAX_STATES {
        return Err(PictureError { states });
    }
    let mut body = String::new();
    let (mut width, mut height) = (0.0f64, 0.0);
    for graph in &graphs {
        let drawing = Drawing::new(graph, height);
        drawing.draw(&mut body);
        width = width.max(drawing.width());
        height += drawing.height();
    }
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"ui-monospace, monospace\" font-size=\"12\">\n{STYLE}{body}</svg>\n"
    ))
}

const STYLE: &str = r##"<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>
<style>path.edge{fill:none;stroke:#555;marker-end:url(#tip)}circle{fill:#fff;stroke:#222}text{text-anchor:middle;dominant-baseline:middle}text.label{fill:#06c;paint-order:stroke;stroke:#fff;stroke-width:4px}text.title{text-anchor:start;font-weight:bold}</style>
<rect width="100%" height="100%" fill="#fff"/>
"##;

const RADIUS: f64 = 15.0;
const ROW: f64 = 64.0;
const MARGIN: f64 = 48.0;
const TITLE: f64 = 28.0;
/// Longest label that is shown in full, in characters.
const LABEL: usize = 24;

struct Drawing<'g> {
    graph: &'g FragmentGraph,
    layout: Layout,
    top: f64,
    /// Distance of two columns: the longest label fits between.
    column: f64,
    /// Room above the first row for edges that run over several columns.
    headroom: f64,
}

impl<'g> Drawing<'g> {
    fn new(graph: &'g FragmentGraph, top: f64) -> Self {
        let layout = layout(graph);
        let longest = graph.edges.iter().map(|edge| edge.label.chars().count().min(LABEL)).max().unwrap_or(0);
        let span = |edge: &DrawnEdge| layout.places[edge.from].0.abs_diff(layout.places[edge.to].0);
        let widest = graph.edges.iter().map(span).max().unwrap_or(0);
        let column = 2.0 * RADIUS + 32.0 + 7.5 * longest as f64;
        Self { graph, layout, top, column, headroom: TITLE + MARGIN + 10.0 * widest as f64 }
    }

    fn width(&self) -> f64 {
        2.0 * MARGIN + self.column * self.layout.columns.saturating_sub(1) as f64 + 3.0 * RADIUS
    }

    fn height(&self) -> f64 {
        self.headroom + ROW * self.layout.rows as f64 + MARGIN / 2.0
    }

    fn center(&self, state: usize) -> (f64, f64) {
        let (column, row) = self.layout.places[state];
        (MARGIN + RADIUS + self.column * column as f64, self.top + self.headroom + ROW * row)
    }

    // Writing to a string cannot fail, so the results of `write!` are dropped here and below.
    fn draw(&self, svg: &mut String) {
        let title = escaped(&self.graph.title);
        let _ = writeln!(svg, "<text class=\"title\" x=\"12\" y=\"{:.1}\">{title}</text>", self.top + 18.0);
        let (x, y) = self.center(0);
        let _ = writeln!(
            svg,
            "<path class=\"edge\" d=\"M{:.1} {y:.1}L{:.1} {y:.1}\"/>",
            x - RADIUS - 24.0,
            x - RADIUS
        );
        let mut labels = String::new();
        for (index, edge) in self.graph.edges.iter().enumerate() {
            // Edges between the same two states get curves of their own.
            let before = self.graph.edges[..index].iter().rev().take_while(|other| other.from == edge.from);
            let parallel = before.filter(|other| other.to == edge.to).count();
            self.draw_edge(edge, parallel as f64, svg, &mut labels);
        }
        for (state, is_final) in self.graph.finals.iter().enumerate() {
            let (x, y) = self.center(state);
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"/>");
            if *is_final {
                let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\"/>", RADIUS - 3.0);
            }
            let number = self.graph.states[state].index();
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"10\">{number}</text>");
        }
        svg.push_str(&labels);
    }

    fn draw_edge(&self, edge: &DrawnEdge, parallel: f64, svg: &mut String, labels: &mut String) {
        let (x1, y1) = self.center(edge.from);
        let (x2, y2) = self.center(edge.to);
        let columns = (x2 - x1) / self.column;
        let (path, x, y) = if edge.from == edge.to {
            let lift = 34.0 + 14.0 * parallel;
            let (left, right, top) = (x1 - 9.0, x1 + 9.0, y1 - RADIUS + 3.0);
            let path = format!(
                "M{left:.1} {top:.1}C{:.1} {:.1} {:.1} {:.1} {right:.1} {top:.1}",
                left - 10.0,
                top - lift,
                right + 10.0,
                top - lift
            );
            (path, x1, top - 0.75 * lift - 4.0)
        } else {
            // Neighbours to the right are joined straight; other edges bend upwards, back edges downwards.
            let bend = if (columns - 1.0).abs() < 0.1 {
                16.0 * parallel
            } else {
                (22.0 + 12.0 * columns.abs()) * columns.signum() + 16.0 * parallel
            };
            let bend = if columns.abs() < 0.1 { 26.0 + 16.0 * parallel } else { bend };
            let sideways = if columns.abs() < 0.1 { 34.0 } else { 0.0 };
            let (mx, my) = ((x1 + x2) / 2.0 + sideways, (y1 + y2) / 2.0 - 1.33 * bend);
            let (sx, sy) = towards((x1, y1), (mx, my));
            let (ex, ey) = towards((x2, y2), (mx, my));
            let path = format!("M{sx:.1} {sy:.1}Q{mx:.1} {my:.1} {ex:.1} {ey:.1}");
            (path, (sx + ex + 2.0 * mx) / 4.0, (sy + ey + 2.0 * my) / 4.0 - 7.0)
        };
        let full = escaped(&edge.label);
        let _ = writeln!(svg, "<path class=\"edge\" d=\"{path}\"><title>{full}</title></path>");
        let label = if edge.label.chars().count() > LABEL {
            let cut: String = edge.label.chars().take(LABEL - 1).collect();
            format!("{}<title>{full}</title>", escaped(&(cut + "…")))
        } else {
            full
        };
        let _ = writeln!(labels, "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\">{label}</text>");
    }
}

/// The point on the rim of a state's circle that faces another point.
fn towards((x, y): (f64, f64), (to_x, to_y): (f64, f64)) -> (f64, f64) {
    let length = (to_x - x).hypot(to_y - y).max(1.0);
    (x + (to_x - x) * RADIUS / length, y + (to_y - y) * RADIUS / length)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no way to write control characters.
            control if control.is_control() => escaped.push('\u{FFFD}'),
            other => escaped.push(other),
        }
    }
    escaped
}
