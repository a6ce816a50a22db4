//! Measured values on the curves that theory predicts, as SVG: one panel per quantity.
//!
//! A dot lies on its curve or it is a red cross: theory gives exact numbers, so a point that is
//! only near its curve is an error. The mean of a sample has a bar for its confidence interval, and
//! may differ from its curve within the sampling error. A panel whose values span a factor of more
//! than a hundred has a logarithmic axis.

pub(crate) mod axis;

use self::axis::{Axis, Spacing, number};
use crate::pictures::svg::{FAINT, Font, INK, Pen, RED, Spot, Svg};
use crate::studies::sweep::Spread;

/// One panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The quantity and its unit.
    pub y_label: String,
    /// The curves.
    pub series: Vec<Series>,
}

/// One curve and its dots.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The case, for the legend.
    pub name: String,
    /// In any order.
    pub points: Vec<Point>,
}

/// The measured value for this many nodes, and the expected one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// How many nodes.
    pub n: u32,
    /// By the simulator.
    pub measured: f64,
    /// By the formula.
    pub theory: f64,
    /// How far the two may differ, if the measured value is the mean of several runs.
    pub spread: Option<Spread>,
}

impl Point {
    fn agrees(self) -> bool {
        let size = self.theory.abs().max(self.measured.abs());
        let chance = self.spread.map_or(0.0, |spread| spread.tolerance);
        (self.measured - self.theory).abs() <= size * TOLERANCE + chance
    }

    fn is_finite(self) -> bool {
        self.measured.is_finite() && self.theory.is_finite()
    }
}

/// Draws the panels below each other, as a standalone SVG.
#[must_use]
pub fn plots(plots: &[Plot]) -> String {
    let title = plots.iter().map(|plot| plot.title.as_str()).collect::<Vec<_>>().join("; ");
    let heights: Vec<f64> = plots.iter().map(panel_height).collect();
    let size = Spot::new(WIDTH, heights.iter().sum::<f64>().max(20.0));
    let mut svg = Svg::new(size, &title, &describe(plots));
    let mut top = 0.0;
    for (plot, height) in plots.iter().zip(heights) {
        Panel::new(plot, top).draw(&mut svg, plot);
        top += height;
    }
    svg.finish()
}

fn panel_height(plot: &Plot) -> f64 {
    let legend = TOP + ROW * (count(plot.series.len()) + 4.0);
    (TOP + HEIGHT + BOTTOM).max(legend)
}

fn describe(plots: &[Plot]) -> String {
    let points = || plots.iter().flat_map(|plot| &plot.series).flat_map(|series| &series.points);
    let off = points().filter(|point| !point.agrees()).count();
    format!("Measured values against theory: {} points, {off} off the curve.", points().count())
}

/// Where the values of one panel lie.
struct Panel {
    top: f64,
    x: Axis,
    y: Axis,
}

impl Panel {
    fn new(plot: &Plot, top: f64) -> Self {
        let points = || plot.series.iter().flat_map(|series| &series.points);
        let points = || points().filter(|point| point.is_finite());
        let numbers = points().map(|point| f64::from(point.n));
        let values = points().flat_map(|point| [point.measured, point.theory]);
        Self { top, x: Axis::of_counts(numbers), y: Axis::of_values(values) }
    }

    fn place(&self, n: u32, value: f64) -> Spot {
        Spot::new(
            LEFT + self.x.part(f64::from(n)) * ACROSS,
            self.top + TOP + HEIGHT - self.y.part(value) * HEIGHT,
        )
    }

    fn draw(&self, svg: &mut Svg, plot: &Plot) {
        svg.text(Spot::new(20.0, self.top + 30.0), Font::new(18.0, INK).bold(), &plot.title);
        let quantity = match self.y.kind {
            Spacing::Linear => plot.y_label.clone(),
            Spacing::Logarithmic => format!("{} (logarithmic)", plot.y_label),
        };
        svg.text(Spot::new(20.0, self.top + 50.0), Font::new(13.0, FAINT), &quantity);
        self.draw_axes(svg);
        for (series, colour) in plot.series.iter().zip(COLOURS.iter().cycle()) {
            self.draw_series(svg, series, colour);
        }
        self.draw_legend(svg, plot);
    }

    fn draw_axes(&self, svg: &mut Svg) {
        let bottom = self.top + TOP + HEIGHT;
        for value in self.y.ticks(TICKS_UP) {
            let y = bottom - self.y.part(value) * HEIGHT;
            svg.line(Spot::new(LEFT, y), Spot::new(LEFT + ACROSS, y), Pen::new(GRID, 1.0));
            let font = Font::new(12.0, INK).to_the_left();
            svg.text(Spot::new(LEFT - 8.0, y + 4.0), font, &number(value));
        }
        let pen = Pen::new(INK, 1.0);
        for value in self.x.ticks(TICKS_ACROSS).into_iter().filter(|value| value.fract() == 0.0) {
            let x = LEFT + self.x.part(value) * ACROSS;
            svg.line(Spot::new(x, bottom), Spot::new(x, bottom + 5.0), pen);
            let font = Font::new(12.0, INK).centred();
            svg.text(Spot::new(x, bottom + 20.0), font, &number(value));
        }
        svg.line(Spot::new(LEFT, bottom), Spot::new(LEFT + ACROSS, bottom), pen);
        let font = Font::new(13.0, FAINT).centred();
        svg.text(Spot::new(LEFT + ACROSS / 2.0, bottom + 40.0), font, "nodes");
    }

    fn draw_series(&self, svg: &mut Svg, series: &Series, colour: &'static str) {
        let mut points: Vec<Point> =
            series.points.iter().copied().filter(|point| point.is_finite()).collect();
        points.sort_by_key(|point| point.n);
        let curve: Vec<Spot> =
            points.iter().map(|point| self.place(point.n, point.theory)).collect();
        svg.open("series", &series.name);
        svg.polyline(&curve, Pen::new(colour, 1.6));
        svg.close();
        let radius = if points.len() > CROWD { 2.2 } else { 3.6 };
        for point in points {
            let Point { n, measured, theory, spread } = point;
            let place = self.place(n, measured);
            let mut values = format!("{}, {n} nodes: {}", series.name, number(measured));
            if let Some(Spread { confidence, .. }) = spread
                && confidence > 0.0
            {
                values.push_str(&format!(" ± {} (95 %)", number(confidence)));
                let ends = [measured - confidence, measured + confidence];
                svg.bar(ends.map(|value| self.place(n, value)), 3.0, Pen::new(colour, 1.2));
            }
            if point.agrees() {
                svg.open("dot", &values);
                svg.circle(place, radius, colour, Pen::new("#ffffff", 0.8));
            } else {
                svg.open("off", &format!("{values}, theory {}", number(theory)));
                svg.cross(place, 5.5, Pen::new(RED, 2.6));
            }
            svg.close();
        }
    }

    fn draw_legend(&self, svg: &mut Svg, plot: &Plot) {
        let x = LEFT + ACROSS + 24.0;
        let mut y = self.top + TOP + 8.0;
        for (series, colour) in plot.series.iter().zip(COLOURS.iter().cycle()) {
            svg.line(Spot::new(x, y), Spot::new(x + 28.0, y), Pen::new(colour, 1.6));
            svg.circle(Spot::new(x + 14.0, y), 3.6, colour, Pen::new("#ffffff", 0.8));
            svg.text(Spot::new(x + 36.0, y + 4.0), Font::new(12.0, INK), &series.name);
            y += ROW;
        }
        let note = Font::new(12.0, FAINT);
        svg.text(Spot::new(x, y + 8.0), note, "dots: measured; curves: theory");
        let has_bars = plot
            .series
            .iter()
            .flat_map(|series| &series.points)
            .any(|point| point.spread.is_some_and(|spread| spread.confidence > 0.0));
        if has_bars {
            y += ROW;
            svg.text(Spot::new(x, y + 8.0), note, "bars: 95 % confidence");
        }
        let points = plot.series.iter().flat_map(|series| &series.points);
        let off = points.filter(|point| !point.agrees()).count();
        if off > 0 {
            y += ROW;
            svg.cross(Spot::new(x + 14.0, y + 8.0), 5.5, Pen::new(RED, 2.6));
            let text = format!("off the curve: {off}");
            svg.text(Spot::new(x + 36.0, y + 12.0), Font::new(12.0, RED), &text);
        }
    }
}

fn count(items: usize) -> f64 {
    f64::from(u32::try_from(items).unwrap_or(u32::MAX))
}

/// Relative; formulas and counts are exact, averages are sums of floats.
const TOLERANCE: f64 = 1e-9;
/// More points than this on a curve get small dots.
const CROWD: usize = 40;
const TICKS_UP: f64 = 6.0;
const TICKS_ACROSS: f64 = 12.0;
const WIDTH: f64 = 960.0;
const LEFT: f64 = 76.0;
const ACROSS: f64 = 610.0;
const TOP: f64 = 72.0;
const HEIGHT: f64 = 280.0;
const BOTTOM: f64 = 62.0;
const ROW: f64 = 22.0;
pub(crate) const GRID: &str = "#e4e7ea";
/// Okabe and Ito, without the yellow, which is hard to see on white.
pub(crate) const COLOURS: [&str; 10] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#7a4b00", "#d55e00", "#5b4fa2",
    "#6b6b6b", "#8fae1b",
];

#[cfg(test)]
mod tests {
    use crate::pictures::svg::assert_balanced;

    use super::*;

    fn plot(values: &[(u32, f64, f64)]) -> Plot {
        let points = values.iter().map(|(n, measured, theory)| Point {
            n: *n,
            measured: *measured,
            theory: *theory,
            spread: None,
        });
        Plot {
            title: "Messages <all>".to_string(),
            y_label: "messages".to_string(),
            series: vec![Series { name: "best & worst".to_string(), points: points.collect() }],
        }
    }

    #[test]
    fn a_point_on_the_curve_is_a_dot_and_any_other_a_red_cross() {
        let svg = plots(&[plot(&[(2, 1.0, 1.0), (3, 5.0, 5.0), (4, 11.1, 11.0)])]);
        assert_balanced(&svg);
        assert_eq!(svg.matches("class=\"dot\"").count(), 2);
        assert_eq!(svg.matches("class=\"off\"").count(), 1);
        assert!(svg.contains("best &amp; worst, 4 nodes: 11.1, theory 11"));
        assert!(svg.contains("Messages &lt;all&gt;"));
    }

    #[test]
    fn rounding_is_no_difference() {
        assert!(Point { spread: None, n: 1, measured: 0.1 + 0.2, theory: 0.3 }.agrees());
        assert!(Point { spread: None, n: 1, measured: 0.0, theory: 0.0 }.agrees());
        assert!(!Point { spread: None, n: 1, measured: 1.0, theory: 1.000_001 }.agrees());
        let spread = Some(Spread { confidence: 0.5, tolerance: 1.0 });
        assert!(Point { n: 1, measured: 1.0, theory: 1.9, spread }.agrees());
        assert!(!Point { n: 1, measured: 1.0, theory: 2.1, spread }.agrees());
        assert!(!Point { spread: None, n: 1, measured: f64::NAN, theory: 1.0 }.agrees());
    }

    #[test]
    fn a_wide_range_is_logarithmic() {
        assert!(plots(&[plot(&[(2, 1.0, 1.0), (40, 1559.0, 1559.0)])]).contains("logarithmic"));
        assert!(!plots(&[plot(&[(2, 20.0, 20.0), (40, 1559.0, 1559.0)])]).contains("logarithmic"));
    }

    #[test]
    fn panels_are_stacked_and_odd_input_is_survived() {
        let one = plots(&[plot(&[(2, 1.0, 1.0)])]);
        let two = plots(&[plot(&[(2, 1.0, 1.0)]), plot(&[(2, 0.0, 0.0)])]);
        assert!(two.len() > one.len());
        assert_balanced(&two);
        assert_balanced(&plots(&[]));
        assert_balanced(&plots(&[plot(&[])]));
        assert_balanced(&plots(&[plot(&[(3, f64::NAN, 1.0), (4, f64::INFINITY, 1e300)])]));
        assert_eq!(two, plots(&[plot(&[(2, 1.0, 1.0)]), plot(&[(2, 0.0, 0.0)])]));
    }
}
