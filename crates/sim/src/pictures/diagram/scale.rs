//! The time axis: the position of a time, the idle periods that are shortened, and the ticks.
//!
//! Between two events time runs evenly, and a typical message takes [`FLIGHT`] pixels. A period
//! without events longer than [`IDLE_FLIGHTS`] such messages is drawn as a break of fixed width
//! that says how much was skipped.

use tanist_core::Time;

use crate::pictures::svg::{FAINT, Font, INK, Pen, Spot, Svg};

/// The scale of one picture.
pub(super) struct Scale {
    stops: Vec<Stop>,
    breaks: Vec<Break>,
    tick: u64,
    unit: Unit,
    flight: f64,
}

#[derive(Clone, Copy)]
struct Stop {
    at: u64,
    x: f64,
}

/// A period that was shortened.
#[derive(Clone, Copy)]
struct Break {
    from: Stop,
    to: Stop,
}

#[derive(Clone, Copy)]
enum Unit {
    Micros,
    Millis,
}

impl Scale {
    /// A scale for these times, in ascending order, beginning at `left`. `flight` is how long a
    /// typical message takes, in microseconds.
    pub(super) fn new(moments: &[u64], flight: u64, left: f64) -> Self {
        let flight = flight.max(1);
        let gaps = || moments.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        let natural: f64 = gaps().map(|gap| gap_width(gap, flight)).sum();
        let stretch = if natural > 0.0 {
            (WIDTH_MIN / natural).clamp(1.0, STRETCH_MAX).min(WIDTH_MAX / natural)
        } else {
            1.0
        };
        let mut here = Stop { at: moments.first().copied().unwrap_or(0), x: left };
        let mut stops = vec![here];
        let mut breaks = Vec::new();
        for gap in gaps() {
            let next = Stop { at: here.at + gap, x: here.x + gap_width(gap, flight) * stretch };
            if is_idle(gap, flight) {
                breaks.push(Break { from: here, to: next });
            }
            stops.push(next);
            here = next;
        }
        let per_pixel = micros_to_f64(flight) / (FLIGHT * stretch);
        let unit = if here.at < 5_000 { Unit::Micros } else { Unit::Millis };
        let tick = round_up_to_nice(per_pixel * TICK_APART);
        Self { stops, breaks, tick, unit, flight: FLIGHT * stretch }
    }

    /// The position of a time. Times outside the trace lie at its ends.
    pub(super) fn x(&self, at: Time) -> f64 {
        let at = at.as_micros();
        let after = self.stops.partition_point(|stop| stop.at <= at);
        match (after.checked_sub(1).map(|before| self.stops[before]), self.stops.get(after)) {
            (Some(before), Some(after)) => {
                let part = micros_to_f64(at - before.at) / micros_to_f64(after.at - before.at);
                before.x + (after.x - before.x) * part
            }
            (Some(last), None) => last.x,
            (None, Some(first)) => first.x,
            (None, None) => 0.0,
        }
    }

    /// The width of a typical message.
    pub(super) fn flight(&self) -> f64 {
        self.flight
    }

    /// The right end of the node lines: room for a message that was sent last and lost.
    pub(super) fn right(&self) -> f64 {
        self.stops.last().map_or(0.0, |stop| stop.x) + self.flight
    }

    /// Whether a period is shortened.
    pub(super) fn has_breaks(&self) -> bool {
        !self.breaks.is_empty()
    }

    /// The parts of every line that the strokes of breaks cover.
    pub(super) fn broken(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.breaks.iter().map(|skipped| (skipped.middle() - SLASHES, skipped.middle() + SLASHES))
    }

    /// A time with its unit.
    pub(super) fn words(&self, micros: u64) -> String {
        match self.unit {
            Unit::Micros => format!("{micros} µs"),
            Unit::Millis => format!("{} ms", millis(micros)),
        }
    }

    /// Draws the axis at this height, and the breaks through all node lines at `lanes`.
    pub(super) fn draw(&self, svg: &mut Svg, left: f64, y: f64, lanes: &[f64]) {
        let pen = Pen::new(INK, 1.0);
        svg.line(Spot::new(left, y), Spot::new(self.right(), y), pen);
        for (at, x) in self.ticks() {
            svg.line(Spot::new(x, y), Spot::new(x, y + 5.0), pen);
            let label = match self.unit {
                Unit::Micros => at.to_string(),
                Unit::Millis => millis(at),
            };
            svg.text(Spot::new(x, y + 18.0), Font::new(12.0, INK).centred(), &label);
        }
        let name = match self.unit {
            Unit::Micros => "µs",
            Unit::Millis => "ms",
        };
        svg.text(Spot::new(self.right() + 6.0, y + 4.0), Font::new(12.0, INK), name);
        self.draw_breaks(svg, y, lanes);
    }

    fn draw_breaks(&self, svg: &mut Svg, y: f64, lanes: &[f64]) {
        let mut free = 0.0;
        for skipped in &self.breaks {
            let x = skipped.middle();
            svg.open("break", &format!("{} skipped", self.words(skipped.span())));
            for height in lanes.iter().copied().chain([y]) {
                slashes(svg, Spot::new(x, height));
            }
            let font = Font::new(11.0, FAINT).centred();
            let text = format!("+{}", self.words(rounded(skipped.span())));
            let half = font.width(&text) / 2.0;
            if x - half >= free {
                svg.text(Spot::new(x, y + 32.0), font, &text);
                free = x + half;
            }
            svg.close();
        }
    }

    /// Round times of every even period; its beginning if there are none.
    fn ticks(&self) -> Vec<(u64, f64)> {
        let (Some(first), Some(last)) = (self.stops.first(), self.stops.last()) else {
            return Vec::new();
        };
        let starts = [*first].into_iter().chain(self.breaks.iter().map(|skipped| skipped.to));
        let ends = self.breaks.iter().map(|skipped| skipped.from).chain([*last]);
        let mut ticks: Vec<(u64, f64)> = Vec::new();
        for (start, end) in starts.zip(ends) {
            let round = (start.at.div_ceil(self.tick)..=end.at / self.tick)
                .map(|count| count * self.tick)
                .map(|at| (at, self.x(Time::from_micros(at))));
            let mut shown: Vec<(u64, f64)> = round.collect();
            if shown.is_empty() {
                shown.push((start.at, start.x));
            }
            for tick in shown {
                if ticks.last().is_none_or(|before| tick.1 - before.1 >= TICK_APART / 2.0) {
                    ticks.push(tick);
                }
            }
        }
        ticks
    }
}

impl Break {
    fn span(&self) -> u64 {
        self.to.at - self.from.at
    }

    fn middle(&self) -> f64 {
        (self.from.x + self.to.x) / 2.0
    }
}

fn is_idle(gap: u64, flight: u64) -> bool {
    micros_to_f64(gap) > micros_to_f64(flight) * IDLE_FLIGHTS
}

fn gap_width(gap: u64, flight: u64) -> f64 {
    if is_idle(gap, flight) { BREAK } else { micros_to_f64(gap) / micros_to_f64(flight) * FLIGHT }
}

/// Two strokes through a line, on a patch of background.
fn slashes(svg: &mut Svg, at: Spot) {
    let corner = |x: f64, y: f64| Spot::new(at.x + x, at.y + y);
    let patch = [corner(-7.0, 12.0), corner(-1.0, -12.0), corner(7.0, -12.0), corner(1.0, 12.0)];
    svg.polygon(&patch, "#ffffff", Pen::new("none", 0.0));
    for side in [-4.0, 4.0] {
        svg.line(corner(side - 3.0, 12.0), corner(side + 3.0, -12.0), Pen::new(FAINT, 1.2));
    }
}

/// The least of 1, 2, 5, 10, 20, ... that is not below this.
fn round_up_to_nice(least: f64) -> u64 {
    let mut power = 1_u64;
    loop {
        for step in [1, 2, 5] {
            let nice = power.saturating_mul(step);
            if micros_to_f64(nice) >= least || nice == u64::MAX {
                return nice;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// A duration to about three digits; the tooltip has all of them.
fn rounded(micros: u64) -> u64 {
    if micros < 10_000 { micros } else { (micros + 50) / 100 * 100 }
}

/// Milliseconds without needless zeros.
pub(super) fn millis(micros: u64) -> String {
    let text = format!("{}.{:03}", micros / 1000, micros % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn micros_to_f64(micros: u64) -> f64 {
    micros as f64
}

/// The width of a typical message.
const FLIGHT: f64 = 105.0;
/// Periods without events longer than this many typical messages are shortened.
const IDLE_FLIGHTS: f64 = 1.75;
/// How wide a break is.
const BREAK: f64 = 64.0;
/// Half of the width that the strokes of a break take.
const SLASHES: f64 = 9.0;
const WIDTH_MIN: f64 = 640.0;
const WIDTH_MAX: f64 = 3200.0;
const STRETCH_MAX: f64 = 1.6;
const TICK_APART: f64 = 64.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn x(scale: &Scale, at: u64) -> f64 {
        scale.x(Time::from_micros(at))
    }

    #[test]
    fn later_is_further_right_and_idle_stretches_are_short() {
        let scale = Scale::new(&[0, 1_000, 2_000, 500_000, 501_000], 1_000, 50.0);
        let places: Vec<f64> =
            [0, 500, 1_000, 2_000, 400_000, 500_000, 501_000].map(|at| x(&scale, at)).to_vec();
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
        assert!(x(&scale, 500_000) - x(&scale, 2_000) < 2.0 * BREAK);
        assert_eq!(scale.breaks.len(), 1);
        assert_eq!(x(&scale, 0), 50.0);
    }

    #[test]
    fn a_long_trace_is_not_wider_than_the_limit() {
        let moments: Vec<u64> = (0..10_000).map(|step| step * 700).collect();
        let scale = Scale::new(&moments, 1_000, 0.0);
        assert!(x(&scale, 7_000_000) <= WIDTH_MAX + 1.0);
    }

    #[test]
    fn every_stretch_between_breaks_has_a_tick() {
        let scale = Scale::new(&[0, 90_001, 90_002, 700_003], 1_000, 0.0);
        let ticks: Vec<u64> = scale.ticks().into_iter().map(|(at, _)| at).collect();
        assert_eq!(ticks, [0, 90_001, 700_003]);
    }

    #[test]
    fn an_empty_trace_has_a_scale() {
        assert_eq!(Scale::new(&[], 0, 7.0).ticks().len(), 1);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!([0.3, 3.0, 6.0, 1_200.0].map(round_up_to_nice), [1, 5, 10, 2_000]);
        assert_eq!([0, 1_500, 12_000, 12_005].map(millis), ["0", "1.5", "12", "12.005"]);
    }
}
