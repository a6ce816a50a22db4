//! The trade-off as one SVG: the probability of two coordinators at once above, the time of a
//! failover below, both against T.

use std::time::Duration;

use tanist_core::duration;

use super::{Failovers, Point};
use crate::pictures::plot::axis::{Axis, Spacing, number};
use crate::pictures::plot::{COLOURS, GRID};
use crate::pictures::svg::{FAINT, Font, INK, Pen, RED, Spot, Svg};

/// Draws the points, which come in order of their timeouts, as a standalone SVG.
#[must_use]
pub fn draw(title: &str, about: &str, points: &[Point]) -> String {
    let panels = [risk(points), time(points)];
    let failovers = points.iter().flat_map(|point| [Some(&point.calm), point.tail.as_ref()]);
    let missing: u32 =
        failovers.flatten().map(|each| each.agreed.count() - each.agreed.hits()).sum();
    let mut svg = Svg::new(Spot::new(WIDTH, FULL_HEIGHT), title, &describe(points));
    svg.text(Spot::new(20.0, 32.0), Font::new(20.0, INK).bold(), title);
    svg.text(Spot::new(20.0, 54.0), Font::new(13.0, FAINT), about);
    for (at, panel) in [0.0, 1.0].into_iter().zip(&panels) {
        panel.draw(&mut svg, HEAD + at * PANEL);
    }
    let foot = Spot::new(20.0, FULL_HEIGHT - 16.0);
    svg.text(foot, Font::new(12.0, FAINT), "dots: measured; bars: 95 % confidence");
    if missing > 0 {
        let text = format!("{missing} failovers did not come to agree");
        let place = Spot::new(WIDTH - 20.0, foot.y);
        svg.text(place, Font::new(12.0, RED).to_the_left(), &text);
    }
    svg.finish()
}

/// The picture in words, for people who cannot see it.
fn describe(points: &[Point]) -> String {
    let span = |point: Option<&Point>| point.map_or(Duration::ZERO, |point| point.timeout);
    format!(
        "Probability of two coordinators after a false suspicion, and time until all nodes agree \
         after a crash, for {} timeouts from {} to {}.",
        points.len(),
        duration::print(span(points.first())),
        duration::print(span(points.last())),
    )
}

/// One quantity against T.
struct Panel {
    title: &'static str,
    curves: Vec<Curve>,
}

struct Curve {
    name: &'static str,
    colour: &'static str,
    dots: Vec<Dot>,
}

struct Dot {
    timeout_ms: f64,
    value: f64,
    low: f64,
    high: f64,
    tooltip: String,
}

fn risk(points: &[Point]) -> Panel {
    let dots = points.iter().filter_map(|point| {
        let (value, (low, high)) = (point.split.value()?, point.split.confidence()?);
        let (hits, count) = (point.split.hits(), point.split.count());
        let tooltip = format!("T = {}: {hits} of {count}", duration::print(point.timeout));
        Some(Dot { timeout_ms: ms(point.timeout), value, low, high, tooltip })
    });
    Panel {
        title: "two coordinators at once after a false suspicion: probability",
        curves: vec![Curve { name: "with the tail", colour: COLOURS[6], dots: dots.collect() }],
    }
}

fn time(points: &[Point]) -> Panel {
    let curve = |name, colour, of: fn(&Point) -> Option<&Failovers>| {
        let dots = points.iter().filter_map(|point| took(point.timeout, of(point)?));
        Curve { name, colour, dots: dots.collect() }
    };
    let curves = [
        curve("delays without the tail", COLOURS[0], |point| Some(&point.calm)),
        curve("with the tail", COLOURS[6], |point| point.tail.as_ref()),
    ];
    Panel {
        title: "until all agree after the coordinator has crashed: mean, simulated ms",
        curves: curves.into_iter().filter(|curve| !curve.dots.is_empty()).collect(),
    }
}

fn took(timeout: Duration, failovers: &Failovers) -> Option<Dot> {
    let value = failovers.time_us.mean()?.to_f64() / 1e3;
    let half = failovers.time_us.confidence().unwrap_or(0.0) / 1e3;
    let tooltip = format!("T = {}: {} ms", duration::print(timeout), number(value));
    let (low, high) = ((value - half).max(0.0), value + half);
    Some(Dot { timeout_ms: ms(timeout), value, low, high, tooltip })
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

impl Panel {
    fn draw(&self, svg: &mut Svg, top: f64) {
        let dots = || self.curves.iter().flat_map(|curve| &curve.dots);
        let x = Axis::of_values(dots().map(|dot| dot.timeout_ms));
        let y = Axis::of_values(dots().flat_map(|dot| [dot.value, dot.high]));
        let logarithmic = match y.kind {
            Spacing::Linear => "",
            Spacing::Logarithmic => " (logarithmic)",
        };
        let title = format!("{}{logarithmic}", self.title);
        svg.text(Spot::new(20.0, top + 22.0), Font::new(15.0, INK).bold(), &title);
        let bottom = top + TOP + HEIGHT;
        draw_axes(svg, &x, &y, bottom);
        let place = |timeout: f64, value: f64| {
            Spot::new(LEFT + x.part(timeout) * ACROSS, bottom - y.part(value) * HEIGHT)
        };
        for (row, curve) in [0.0, 1.0].into_iter().zip(&self.curves) {
            curve.draw(svg, &place);
            let key = Spot::new(LEFT + ACROSS - 170.0, bottom + 36.0 + row * 16.0);
            svg.line(key, Spot::new(key.x + 24.0, key.y), Pen::new(curve.colour, 1.8));
            let font = Font::new(12.0, INK);
            svg.text(Spot::new(key.x + 32.0, key.y + 4.0), font, curve.name);
        }
    }
}

impl Curve {
    fn draw(&self, svg: &mut Svg, place: &dyn Fn(f64, f64) -> Spot) {
        let line: Vec<Spot> =
            self.dots.iter().map(|dot| place(dot.timeout_ms, dot.value)).collect();
        svg.open("line", self.name);
        svg.polyline(&line, Pen::new(self.colour, 1.8));
        svg.close();
        for dot in &self.dots {
            svg.open("dot", &dot.tooltip);
            if dot.high > dot.low {
                let ends = [dot.low, dot.high].map(|value| place(dot.timeout_ms, value));
                svg.bar(ends, 3.0, Pen::new(self.colour, 1.0));
            }
            let at = place(dot.timeout_ms, dot.value);
            svg.circle(at, 3.6, self.colour, Pen::new("#ffffff", 0.8));
            svg.close();
        }
    }
}

fn draw_axes(svg: &mut Svg, x: &Axis, y: &Axis, bottom: f64) {
    for value in y.ticks(6.0) {
        let at = bottom - y.part(value) * HEIGHT;
        svg.line(Spot::new(LEFT, at), Spot::new(LEFT + ACROSS, at), Pen::new(GRID, 1.0));
        let font = Font::new(12.0, INK).to_the_left();
        svg.text(Spot::new(LEFT - 8.0, at + 4.0), font, &number(value));
    }
    let pen = Pen::new(INK, 1.0);
    for value in x.ticks(10.0) {
        let at = LEFT + x.part(value) * ACROSS;
        svg.line(Spot::new(at, bottom), Spot::new(at, bottom + 5.0), pen);
        svg.text(Spot::new(at, bottom + 20.0), Font::new(12.0, INK).centred(), &number(value));
    }
    svg.line(Spot::new(LEFT, bottom), Spot::new(LEFT + ACROSS, bottom), pen);
    let scale = match x.kind {
        Spacing::Linear => "T in ms",
        Spacing::Logarithmic => "T in ms (logarithmic)",
    };
    let middle = Spot::new(LEFT + ACROSS / 2.0, bottom + 40.0);
    svg.text(middle, Font::new(13.0, FAINT).centred(), scale);
}

const WIDTH: f64 = 860.0;
const HEAD: f64 = 66.0;
const PANEL: f64 = 346.0;
const FULL_HEIGHT: f64 = HEAD + 2.0 * PANEL + 30.0;
const LEFT: f64 = 76.0;
const ACROSS: f64 = 756.0;
const TOP: f64 = 38.0;
const HEIGHT: f64 = 240.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::svg::assert_balanced;
    use crate::studies::sample::Share;

    fn point(timeout_ms: u64, runs: &[(bool, Option<u64>)]) -> Point {
        let mut split = Share::default();
        let mut calm = Failovers::default();
        for (is_split, took_us) in runs {
            split.add(*is_split);
            calm.add(took_us.map(Duration::from_micros));
        }
        let tail = Some(calm.clone());
        Point { timeout: Duration::from_millis(timeout_ms), split, calm, tail }
    }

    #[test]
    fn every_curve_has_a_dot_for_each_timeout_and_failures_are_told() {
        let points = [
            point(1, &[(true, Some(9000)), (false, None)]),
            point(9, &[(false, Some(25_000)), (false, Some(26_000))]),
        ];
        let svg = draw("bully & T", "3 nodes", &points);
        assert_balanced(&svg);
        assert_eq!(svg.matches("class=\"line\"").count(), 3);
        assert_eq!(svg.matches("class=\"dot\"").count(), 6);
        assert!(svg.contains("T = 1ms: 1 of 2"), "{svg}");
        assert!(svg.contains("T = 9ms: 25.5 ms"), "{svg}");
        assert!(svg.contains("2 failovers did not come to agree"), "{svg}");
        assert!(svg.contains("bully &amp; T"));
    }

    #[test]
    fn odd_input_is_survived() {
        assert_balanced(&draw("", "", &[]));
        assert_balanced(&draw("", "", &[point(3, &[])]));
        let no_tail = Point { tail: None, ..point(3_000_000, &[]) };
        assert_balanced(&draw("", "", &[point(1, &[(true, Some(0))]), no_tail]));
    }
}
