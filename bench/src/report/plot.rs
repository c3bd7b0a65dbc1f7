//! Percentile curves as SVG: the tail is what a serving engine waits for, so the axis stretches towards it.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use plotters::prelude::*;

use super::statistics::Distribution;

/// How far the axis goes. The position of a percentile is the number of nines in it: 90 % is at 1, 99 %
/// at 2; the maximum has no place.
const NINES: u32 = 4;
const POINTS: u32 = 400;

/// One curve.
#[derive(Debug)]
pub(crate) struct Curve<'d> {
    pub(crate) label: String,
    pub(crate) times: &'d Distribution,
}

/// Draws time over percentile, both axes logarithmic.
pub(crate) fn percentiles(path: &Path, title: &str, curves: &[Curve<'_>]) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    draw(path, title, curves).map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))
}

fn draw(path: &Path, title: &str, curves: &[Curve<'_>]) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::new(path, (960, 540)).into_drawing_area();
    area.fill(&WHITE)?;
    let top = curves.iter().filter_map(|curve| curve.times.max()).fold(1.0, f64::max);
    let bottom = curves.iter().filter_map(|curve| curve.times.percentile(0.0)).fold(top, f64::min);
    let right = f64::from(NINES);
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..right, (bottom.max(0.01)..top * 1.2).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("percentile of masks")
        .x_labels(NINES as usize + 1)
        .y_desc("microseconds")
        .x_label_formatter(&|&position| percent_label(position))
        .y_label_formatter(&|&time| if time < 1.0 { format!("{time}") } else { format!("{time:.0}") })
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (number, curve) in curves.iter().enumerate() {
        let color = Palette99::pick(number).to_rgba();
        let points = (0..=POINTS).filter_map(|step| {
            let position = right * f64::from(step) / f64::from(POINTS);
            Some((position, curve.times.percentile(percent_at(position))?.max(0.01)))
        });
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(&curve.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .label_font(("sans-serif", 15))
        .draw()?;
    area.present()?;
    Ok(())
}

fn percent_at(position: f64) -> f64 {
    100.0 * (1.0 - 10f64.powf(-position))
}

/// The percentile at a whole position, nothing in between.
fn percent_label(position: f64) -> String {
    if position.fract() != 0.0 {
        return String::new();
    }
    format!("{}", (percent_at(position) * 1000.0).round() / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nines_stand_at_equal_distances() {
        for (label, position) in [("0", 0.0), ("90", 1.0), ("99", 2.0), ("99.9", 3.0), ("", 0.5)] {
            assert_eq!(percent_label(position), label);
        }
    }

    #[test]
    fn a_plot_has_a_curve_for_each_engine() {
        let path = std::env::temp_dir().join(format!("grammask-plot-{}.svg", std::process::id()));
        let fast: Distribution = (1..2000).map(|time| time * 10).collect();
        let slow: Distribution = (1..2000).map(|time| time * 100).collect();
        let curves =
            [Curve { label: "fast".into(), times: &fast }, Curve { label: "slow".into(), times: &slow }];
        percentiles(&path, "masks", &curves).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.contains("fast") && svg.contains("slow") && svg.contains("<polyline"));
        std::fs::remove_file(path).unwrap();
    }
}
