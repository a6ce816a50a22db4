//! Measured values on the curves that theory predicts, as SVG: one panel per quantity.
//!
//! A mark lies on its curve or it is a red cross: theory gives exact numbers, so a point that is
//! only near its curve is an error. The mean of a sample has a bar for its confidence interval, and
//! may differ from its curve within the sampling error. Where theory is a bound, its curve is
//! dotted, and a mark is a red cross only above it. A panel whose values span a factor of more than
//! a hundred has a logarithmic axis.
//!
//! Curves that lie on each other are told apart: the later ones are dashed, so that the earlier
//! show through, their marks have other shapes and stand a little beside each other, and the legend
//! says which are equal. It has the formula of each curve, too.

mod sweep;

pub(crate) mod axis;
mod key;
mod letters;
pub(crate) mod twins;

use self::axis::{Axis, Spacing, number};
use self::key::Key;
pub(crate) use self::key::mark;
pub use self::sweep::sweep;
use self::twins::{Twin, twins};
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
    /// The formula of the curve, if it can be written in a line.
    pub formula: Option<String>,
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

/// What the curve of a series is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theory {
    /// What must be measured.
    Value,
    /// The most that may be measured.
    Bound,
}

impl Point {
    fn agrees(self, theory: Theory) -> bool {
        let size = self.theory.abs().max(self.measured.abs());
        let chance = self.spread.map_or(0.0, |spread| spread.tolerance);
        let above = self.measured - self.theory;
        let off = match theory {
            Theory::Value => above.abs(),
            Theory::Bound => above,
        };
        off <= size * TOLERANCE + chance
    }

    fn is_finite(self) -> bool {
        self.measured.is_finite() && self.theory.is_finite()
    }
}

/// Draws the panels below each other, as a standalone SVG. Every curve is what must be measured.
#[must_use]
pub fn plots(plots: &[Plot]) -> String {
    let theory = |plot: &Plot| vec![Theory::Value; plot.series.len()];
    let exact = plots.iter().map(|plot| (plot, theory(plot)));
    let sketches = exact.map(|(plot, theory)| Sketch { plot, theory, letters: Vec::new() });
    draw(&sketches.collect::<Vec<_>>())
}

/// A panel with what only some pictures know.
struct Sketch<'a> {
    plot: &'a Plot,
    /// What each curve is.
    theory: Vec<Theory>,
    /// What the letters in the formulas mean.
    letters: Vec<&'static str>,
}

fn draw(sketches: &[Sketch<'_>]) -> String {
    let titles: Vec<&str> = sketches.iter().map(|sketch| sketch.plot.title.as_str()).collect();
    let keys: Vec<Vec<Key>> = sketches.iter().map(Sketch::keys).collect();
    let panels = || sketches.iter().zip(&keys);
    let heights: Vec<f64> = panels().map(|(sketch, keys)| sketch.height(keys)).collect();
    let size = Spot::new(WIDTH, heights.iter().sum::<f64>().max(20.0));
    let mut svg = Svg::new(size, &titles.join("; "), &describe(sketches));
    let mut top = 0.0;
    for ((sketch, keys), height) in panels().zip(heights) {
        Panel::new(sketch.plot, top).draw(&mut svg, sketch, keys);
        top += height;
    }
    svg.finish()
}

fn describe(sketches: &[Sketch<'_>]) -> String {
    let sizes = |sketch: &Sketch<'_>| -> usize {
        sketch.plot.series.iter().map(|series| series.points.len()).sum()
    };
    let points: usize = sketches.iter().map(sizes).sum();
    let off: usize = sketches.iter().map(Sketch::off).sum();
    format!("Measured values against theory: {points} points, {off} off the curve.")
}

impl Sketch<'_> {
    /// How many points are not where theory has them.
    fn off(&self) -> usize {
        let off = |(series, theory): (&Series, &Theory)| {
            series.points.iter().filter(|point| !point.agrees(*theory)).count()
        };
        self.plot.series.iter().zip(&self.theory).map(off).sum()
    }

    fn height(&self, keys: &[Key]) -> f64 {
        let notes = ROW * (count(self.notes().len()).max(2.0) + 2.0);
        let letters = match self.meanings().len() {
            0 => 0.0,
            lines => LINE * count(lines) + ROW - LINE,
        };
        let legend = TOP + keys.iter().map(Key::height).sum::<f64>() + notes + letters;
        (TOP + HEIGHT + BOTTOM).max(legend)
    }

    /// The legend's entries, one for each series.
    fn keys(&self) -> Vec<Key> {
        let series = &self.plot.series;
        let curves: Vec<Vec<(u32, f64)>> = series.iter().map(Series::curve).collect();
        let twins = twins(&curves);
        let key = |(at, ((of, theory), twin)): (usize, ((&Series, &Theory), Twin))| Key {
            at,
            name: of.name.clone(),
            theory: *theory,
            formula: of.formula.clone(),
            same_as: twin.same_as.map(|other| series[other].name.clone()),
            twin,
        };
        series.iter().zip(&self.theory).zip(twins).enumerate().map(key).collect()
    }

    /// What is written below the entries of the legend.
    fn notes(&self) -> Vec<&'static str> {
        let mut notes = vec!["marks: measured; curves: theory"];
        let points = || self.plot.series.iter().flat_map(|series| &series.points);
        if points().any(|point| point.spread.is_some_and(|spread| spread.confidence > 0.0)) {
            notes.push("bars: 95 % confidence");
        }
        if self.theory.contains(&Theory::Bound) {
            notes.push("dotted curves: bounds");
        }
        notes
    }

    /// The meanings of letters in lines that are not too long.
    fn meanings(&self) -> Vec<String> {
        self.letters.iter().flat_map(|meaning| key::wrapped(meaning)).collect()
    }
}

impl Series {
    fn curve(&self) -> Vec<(u32, f64)> {
        let finite = self.points.iter().filter(|point| point.is_finite());
        let mut curve: Vec<(u32, f64)> = finite.map(|point| (point.n, point.theory)).collect();
        curve.sort_by_key(|(n, _)| *n);
        curve
    }
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

    fn draw(&self, svg: &mut Svg, sketch: &Sketch<'_>, keys: &[Key]) {
        let plot = sketch.plot;
        svg.text(Spot::new(20.0, self.top + 30.0), Font::new(18.0, INK).bold(), &plot.title);
        let quantity = match self.y.kind {
            Spacing::Linear => plot.y_label.clone(),
            Spacing::Logarithmic => format!("{} (logarithmic)", plot.y_label),
        };
        svg.text(Spot::new(20.0, self.top + 50.0), Font::new(13.0, FAINT), &quantity);
        self.draw_axes(svg);
        for (series, key) in plot.series.iter().zip(keys) {
            self.draw_series(svg, series, key);
        }
        self.draw_legend(svg, sketch, keys);
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

    fn draw_series(&self, svg: &mut Svg, series: &Series, key: &Key) {
        let colour = key.colour();
        let mut points: Vec<Point> =
            series.points.iter().copied().filter(|point| point.is_finite()).collect();
        points.sort_by_key(|point| point.n);
        let curve: Vec<Spot> =
            points.iter().map(|point| self.place(point.n, point.theory)).collect();
        svg.open("series", &key.title());
        svg.polyline(&curve, key.pen());
        svg.close();
        let size = if points.len() > CROWD { 0.6 } else { 1.0 };
        let room = ACROSS / count(points.len().max(1));
        let shift = key.twin.shift() * (room / 3.0).min(8.0 * size);
        for point in points {
            let Point { n, measured, theory, spread } = point;
            let on_curve = self.place(n, measured);
            let place = Spot::new(on_curve.x + shift, on_curve.y);
            let mut values = format!("{}, {n} nodes: {}", series.name, number(measured));
            if key.theory == Theory::Bound {
                values.push_str(&format!(", at most {}", number(theory)));
            }
            if let Some(Spread { confidence, .. }) = spread
                && confidence > 0.0
            {
                values.push_str(&format!(" ± {} (95 %)", number(confidence)));
                let ends = [measured - confidence, measured + confidence];
                svg.bar(ends.map(|value| self.place(n, value)), 3.0, Pen::new(colour, 1.2));
            }
            if point.agrees(key.theory) {
                svg.open("dot", &values);
                mark(svg, place, key.at, size);
            } else {
                let expected = match key.theory {
                    Theory::Value => format!(", theory {}", number(theory)),
                    Theory::Bound => String::new(),
                };
                svg.open("off", &format!("{values}{expected}"));
                svg.cross(on_curve, 5.5, Pen::new(RED, 2.6));
            }
            svg.close();
        }
    }

    fn draw_legend(&self, svg: &mut Svg, sketch: &Sketch<'_>, keys: &[Key]) {
        let x = LEFT + ACROSS + 24.0;
        let mut y = self.top + TOP + 8.0;
        for key in keys {
            key.draw(svg, Spot::new(x, y));
            y += key.height();
        }
        let font = Font::new(12.0, FAINT);
        for meaning in sketch.meanings() {
            svg.text(Spot::new(x, y + 8.0), font, &meaning);
            y += LINE;
        }
        if !sketch.letters.is_empty() {
            y += ROW - LINE;
        }
        for note in sketch.notes() {
            svg.text(Spot::new(x, y + 8.0), font, note);
            y += ROW;
        }
        let off = sketch.off();
        if off > 0 {
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
const WIDTH: f64 = 1040.0;
const LEFT: f64 = 76.0;
const ACROSS: f64 = 610.0;
const TOP: f64 = 72.0;
const HEIGHT: f64 = 280.0;
const BOTTOM: f64 = 62.0;
const ROW: f64 = 22.0;
const LINE: f64 = 16.0;
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
            series: vec![Series {
                name: "best & worst".to_string(),
                formula: Some("N < 3".to_string()),
                points: points.collect(),
            }],
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
    fn curves_that_lie_on_each_other_are_told_apart() {
        let mut both = plot(&[(2, 1.0, 1.0), (3, 5.0, 5.0)]);
        both.series.push(Series { name: "other".to_string(), ..both.series[0].clone() });
        let svg = plots(&[both]);
        assert_balanced(&svg);
        assert!(svg.contains(">= best &amp; worst</text>"), "{svg}");
        assert_eq!(svg.matches(">N &lt; 3</text>").count(), 2, "{svg}");
        let curve = svg.find("<title>other</title>").expect("it is drawn");
        assert!(svg[curve..].split("/>").next().is_some_and(|line| line.contains("dasharray")));
        let marks: Vec<&str> = svg.split("class=\"dot\"").skip(1).collect();
        assert!(marks[0].contains("<circle") && marks[2].contains("<path"), "shapes differ");
    }

    #[test]
    fn rounding_is_no_difference() {
        let agrees = |measured, theory, spread| {
            Point { n: 1, measured, theory, spread }.agrees(Theory::Value)
        };
        assert!(agrees(0.1 + 0.2, 0.3, None));
        assert!(agrees(0.0, 0.0, None));
        assert!(!agrees(1.0, 1.000_001, None));
        let spread = Some(Spread { confidence: 0.5, tolerance: 1.0 });
        assert!(agrees(1.0, 1.9, spread));
        assert!(!agrees(1.0, 2.1, spread));
        assert!(!agrees(f64::NAN, 1.0, None));
    }

    #[test]
    fn a_mark_is_off_a_bound_only_above_it() {
        let fits =
            |measured, theory| Point { spread: None, n: 1, measured, theory }.agrees(Theory::Bound);
        assert!(fits(3.0, 8.0) && fits(0.1 + 0.2, 0.3));
        assert!(!fits(8.1, 8.0) && !fits(f64::NAN, 1.0));
        let plot = plot(&[(2, 5.0, 9.0), (3, 11.0, 10.0)]);
        let bound = Sketch { plot: &plot, theory: vec![Theory::Bound], letters: Vec::new() };
        let svg = draw(&[bound]);
        assert_eq!(svg.matches("class=\"off\"").count(), 1, "{svg}");
        assert!(svg.contains("3 nodes: 11, at most 10<"), "{svg}");
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
