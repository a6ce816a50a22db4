//! A comparison as one SVG: messages, time and bytes side by side, one line per algorithm.
//!
//! ```text
//!   title, what was done, how it was measured
//!   messages        time to agreement   bytes          coloured: measured; black: limits
//!   algorithms with their marks
//!   limits and why; who did not agree
//! ```
//!
//! Where lines lie on each other the later ones are dashed and their marks have other shapes, so
//! that all are seen; a note says which are equal. A panel whose values span a factor of more than a
//! hundred has a logarithmic axis.

use tanist_core::election::Algorithm;

use super::{Limit, Quantity, Row, Script};
use crate::pictures::plot::axis::{Axis, Spacing, number};
use crate::pictures::plot::twins::{Twin, twins};
use crate::pictures::plot::{COLOURS, GRID, mark};
use crate::pictures::svg::{FAINT, Font, INK, Pen, RED, Spot, Svg};

/// Draws the rows, which come algorithm by algorithm, as a standalone SVG.
#[must_use]
pub fn draw(script: Script, rows: &[Row], limits: &[Limit]) -> String {
    let lines: Vec<&[Row]> = rows.chunk_by(|a, b| a.algorithm == b.algorithm).collect();
    let remarks = remarks(&lines, limits);
    let legend_rows = lines.len().div_ceil(LEGEND_COLUMNS);
    let legend = TOP + HEIGHT + 76.0;
    let notes = legend + ROW * count(legend_rows) + 12.0;
    let height = notes + ROW * count(remarks.len()) + 8.0;
    let title = format!("{}: {}", script.name(), script.about());
    let description = describe(rows, &lines);
    let mut svg = Svg::new(Spot::new(WIDTH, height), &title, &description);
    svg.text(Spot::new(20.0, 34.0), Font::new(21.0, INK).bold(), &title);
    svg.text(Spot::new(20.0, 58.0), Font::new(14.0, FAINT), &conditions(rows));
    for (at, quantity) in Quantity::ALL.into_iter().enumerate() {
        Panel::new(quantity, at, &lines, limits).draw(&mut svg, &lines, limits);
    }
    for (at, line) in lines.iter().enumerate() {
        let (column, row) = (at % LEGEND_COLUMNS, at / LEGEND_COLUMNS);
        let step = (WIDTH - 40.0) / count(LEGEND_COLUMNS);
        let place = Spot::new(24.0 + step * count(column), legend + ROW * count(row));
        draw_key(&mut svg, place, at, line[0].algorithm.name());
    }
    for (at, remark) in remarks.iter().enumerate() {
        remark.draw(&mut svg, Spot::new(24.0, notes + ROW * count(at)));
    }
    svg.finish()
}

/// One line below the picture.
enum Remark {
    /// What a dashed line is.
    Limit(String, &'static str),
    /// Which lines have the same values.
    Equal(String),
    /// A run that failed or did not reach agreement.
    Complaint(String),
}

impl Remark {
    fn draw(&self, svg: &mut Svg, at: Spot) {
        let below = Spot::new(at.x + 50.0, at.y + 4.0);
        match self {
            Self::Limit(text, dash) => {
                let pen = Pen::new(INK, 1.6).dashed(dash);
                svg.line(at, Spot::new(at.x + 40.0, at.y), pen);
                svg.text(below, Font::new(13.0, INK), text);
            }
            Self::Equal(text) => svg.text(below, Font::new(13.0, FAINT), text),
            Self::Complaint(text) => svg.text(below, Font::new(13.0, RED), text),
        }
    }
}

fn remarks(lines: &[&[Row]], limits: &[Limit]) -> Vec<Remark> {
    let compared: Vec<Algorithm> = lines.iter().map(|line| line[0].algorithm).collect();
    let mut remarks = Vec::new();
    for quantity in Quantity::ALL {
        let of_panel = limits.iter().filter(|limit| limit.quantity == quantity);
        for (limit, dash) in of_panel.zip(DASHES.iter().cycle()) {
            let why = limit.footnote(&compared);
            let text = format!("{}, at least {}: {why}", quantity.name(), limit.name);
            remarks.push(Remark::Limit(text, dash));
        }
    }
    for quantity in Quantity::ALL {
        let name = |at: usize| lines[at][0].algorithm.name();
        let same = curve_twins(quantity, lines).into_iter().enumerate();
        let same = same.filter_map(|(at, twin)| Some((at, twin.same_as?)));
        let pairs: Vec<String> =
            same.map(|(at, other)| format!("{} = {}", name(at), name(other))).collect();
        if !pairs.is_empty() {
            let text = format!("{}, the same: {}", quantity.name(), pairs.join(", "));
            remarks.push(Remark::Equal(text));
        }
    }
    for rows in lines {
        let runs: usize = rows.iter().map(|row| row.seeds as usize).sum();
        let agreed: usize = rows.iter().map(Row::agreed).sum();
        if agreed < runs {
            let name = rows[0].algorithm.name();
            let text = format!("{name}: {} of {runs} runs did not come to agree", runs - agreed);
            remarks.push(Remark::Complaint(text));
        }
        if let Some(violated) = rows.iter().find_map(|row| row.breakage.as_ref()) {
            let name = rows[0].algorithm.name();
            remarks.push(Remark::Complaint(format!("{name}: {} violated", violated.assertion)));
        }
    }
    remarks
}

fn conditions(rows: &[Row]) -> String {
    let seeds = rows.iter().map(|row| row.seeds).max().unwrap_or(0);
    let runs = if seeds == 1 { "1 run".to_owned() } else { format!("mean of {seeds} runs") };
    let bars = if seeds > 1 { "; bars: 95 % confidence" } else { "" };
    format!("{runs} each{bars}; every message takes d; heartbeats do not count")
}

/// The picture in words, for people who cannot see it.
fn describe(rows: &[Row], lines: &[&[Row]]) -> String {
    let names: Vec<&str> = lines.iter().map(|line| line[0].algorithm.name()).collect();
    let sizes = rows.iter().map(|row| row.n);
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    let names = names.join(", ");
    format!(
        "Messages, time to agreement and bytes of {names} in groups of {least} to {most} nodes."
    )
}

/// Where the values of one quantity lie.
struct Panel {
    quantity: Quantity,
    left: f64,
    x: Axis,
    y: Axis,
}

impl Panel {
    fn new(quantity: Quantity, at: usize, lines: &[&[Row]], limits: &[Limit]) -> Self {
        let rows = lines.iter().flat_map(|line| line.iter());
        let sizes = rows.clone().map(|row| f64::from(row.n));
        let measured = rows.filter_map(|row| row.figure(quantity)).map(|(mean, half)| mean + half);
        let drawn = limits.iter().filter(|limit| limit.quantity == quantity);
        let bounds = drawn.flat_map(|limit| &limit.values).map(|(_, value)| *value);
        Self {
            quantity,
            left: count(at) * PANEL + LEFT,
            x: Axis::of_counts(sizes),
            y: Axis::of_values(measured.chain(bounds)),
        }
    }

    fn place(&self, n: u32, value: f64) -> Spot {
        Spot::new(
            self.left + self.x.part(f64::from(n)) * ACROSS,
            TOP + HEIGHT - self.y.part(value) * HEIGHT,
        )
    }

    fn draw(&self, svg: &mut Svg, lines: &[&[Row]], limits: &[Limit]) {
        let what = match self.quantity {
            Quantity::Messages => "messages",
            Quantity::Time => "time to agreement, in message delays d",
            Quantity::Bytes => "bytes of these messages",
        };
        let scale = match self.y.kind {
            Spacing::Linear => "",
            Spacing::Logarithmic => " (logarithmic)",
        };
        let place = Spot::new(self.left - LEFT + 20.0, TOP - 16.0);
        svg.text(place, Font::new(15.0, INK).bold(), &format!("{what}{scale}"));
        self.draw_axes(svg);
        let drawn = || limits.iter().filter(|limit| limit.quantity == self.quantity);
        for (limit, dash) in drawn().zip(DASHES.iter().cycle()) {
            self.draw_limit(svg, limit, dash);
        }
        for (at, (line, twin)) in lines.iter().zip(curve_twins(self.quantity, lines)).enumerate() {
            self.draw_line(svg, line, at, twin);
        }
        for (at, limit) in drawn().enumerate() {
            self.name_limit(svg, limit, at);
        }
    }

    fn draw_axes(&self, svg: &mut Svg) {
        let bottom = TOP + HEIGHT;
        let right = self.left + ACROSS;
        for value in self.y.ticks(6.0) {
            let y = bottom - self.y.part(value) * HEIGHT;
            svg.line(Spot::new(self.left, y), Spot::new(right, y), Pen::new(GRID, 1.0));
            let font = Font::new(12.0, INK).to_the_left();
            svg.text(Spot::new(self.left - 8.0, y + 4.0), font, &number(value));
        }
        let pen = Pen::new(INK, 1.0);
        for value in self.x.ticks(8.0).into_iter().filter(|value| value.fract() == 0.0) {
            let x = self.left + self.x.part(value) * ACROSS;
            svg.line(Spot::new(x, bottom), Spot::new(x, bottom + 5.0), pen);
            svg.text(Spot::new(x, bottom + 20.0), Font::new(12.0, INK).centred(), &number(value));
        }
        svg.line(Spot::new(self.left, bottom), Spot::new(right, bottom), pen);
        let font = Font::new(13.0, FAINT).centred();
        svg.text(Spot::new(self.left + ACROSS / 2.0, bottom + 40.0), font, "nodes");
    }

    fn draw_limit(&self, svg: &mut Svg, limit: &Limit, dash: &'static str) {
        svg.open("limit", &format!("at least {}", limit.name));
        svg.polyline(&self.limit_spots(limit), Pen::new(INK, 1.6).dashed(dash));
        svg.close();
    }

    /// Over everything else with a white rim, since limits can lie among the lines.
    fn name_limit(&self, svg: &mut Svg, limit: &Limit, at: usize) {
        let spots = self.limit_spots(limit);
        // The first at the right end below its line, the next further left above it.
        let last = spots.len().saturating_sub(1);
        let Some(spot) = spots.get(last - last * at.min(3) / 4) else { return };
        let drop = if at == 0 { 15.0 } else { -7.0 };
        svg.put(format_args!("<g stroke=\"#ffffff\" stroke-width=\"4\" paint-order=\"stroke\">\n"));
        let font = Font::new(12.0, INK).to_the_left();
        svg.text(Spot::new(spot.x, spot.y + drop), font, limit.name);
        svg.put(format_args!("</g>\n"));
    }

    /// A logarithm cannot show zero, and a line along the bottom would say something else.
    fn limit_spots(&self, limit: &Limit) -> Vec<Spot> {
        let is_shown = |value: f64| value > 0.0 || self.y.kind == Spacing::Linear;
        let shown = limit.values.iter().filter(|(_, value)| is_shown(*value));
        shown.map(|(n, value)| self.place(*n, *value)).collect()
    }

    fn draw_line(&self, svg: &mut Svg, rows: &[Row], at: usize, twin: Twin) {
        let colour = COLOURS[at % COLOURS.len()];
        let name = rows[0].algorithm.name();
        let points: Vec<(u32, f64, f64)> = rows
            .iter()
            .filter_map(|row| row.figure(self.quantity).map(|(mean, half)| (row.n, mean, half)))
            .collect();
        let spots: Vec<Spot> = points.iter().map(|(n, mean, _)| self.place(*n, *mean)).collect();
        svg.open("line", name);
        svg.polyline(&spots, Pen::new(colour, 1.8).dashed(twin.dash()));
        svg.close();
        let apart = points.len().div_ceil(MARKS_MAX);
        for (index, (n, mean, half)) in points.into_iter().enumerate() {
            if !(index + at).is_multiple_of(apart) {
                continue;
            }
            let mut text = format!("{name}, {n} nodes: {}", number(mean));
            if half > 0.0 {
                text.push_str(&format!(" ± {} (95 %)", number(half)));
            }
            svg.open("dot", &text);
            if half > 0.0 {
                let ends = [mean - half, mean + half].map(|value| self.place(n, value));
                svg.bar(ends, 3.0, Pen::new(colour, 1.0));
            }
            // Where every size has its mark, those of equal lines stand beside each other.
            let shift = if apart == 1 { twin.shift() * 7.0 } else { 0.0 };
            let place = self.place(n, mean);
            mark(svg, Spot::new(place.x + shift, place.y), at, 1.0);
            svg.close();
        }
    }
}

/// Which lines of a panel lie on each other.
fn curve_twins(quantity: Quantity, lines: &[&[Row]]) -> Vec<Twin> {
    let point = |row: &Row| row.figure(quantity).map(|(mean, _)| (row.n, mean));
    let curves: Vec<Vec<(u32, f64)>> =
        lines.iter().map(|line| line.iter().filter_map(point).collect()).collect();
    twins(&curves)
}

/// An algorithm in the legend.
fn draw_key(svg: &mut Svg, place: Spot, at: usize, name: &str) {
    let colour = COLOURS[at % COLOURS.len()];
    svg.line(place, Spot::new(place.x + 40.0, place.y), Pen::new(colour, 1.8));
    mark(svg, Spot::new(place.x + 20.0, place.y), at, 1.0);
    svg.text(Spot::new(place.x + 50.0, place.y + 4.0), Font::new(14.0, INK), name);
}

fn count(items: usize) -> f64 {
    f64::from(u32::try_from(items).unwrap_or(u32::MAX))
}

/// About how many marks a line of many sizes has: enough to tell it by, and with room between them
/// for the marks of other lines.
const MARKS_MAX: usize = 8;
const LEGEND_COLUMNS: usize = 4;
const PANEL: f64 = 500.0;
const WIDTH: f64 = PANEL * 3.0;
const LEFT: f64 = 72.0;
const ACROSS: f64 = 408.0;
const TOP: f64 = 108.0;
const HEIGHT: f64 = 340.0;
const ROW: f64 = 24.0;
/// Of the limits of one panel.
const DASHES: [&str; 3] = ["7 4", "2 3", "10 3 2 3"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::svg::assert_balanced;
    use crate::studies::compare::{limits, measure};

    fn rows(script: Script, algorithms: &[Algorithm], seeds: u32) -> Vec<Row> {
        let each = algorithms.iter().flat_map(|algorithm| (2..=4).map(move |n| (*algorithm, n)));
        each.map(|(algorithm, n)| measure(algorithm, script, n, seeds, &|| false)).collect()
    }

    #[test]
    fn every_algorithm_has_a_line_in_every_panel_and_every_limit_a_name() {
        let (script, algorithms) = (Script::LeaderCrash, [Algorithm::Bully, Algorithm::Invitation]);
        let rows = rows(script, &algorithms, 3);
        let limits = limits(script, &algorithms, &[2, 3, 4], 3);
        let svg = draw(script, &rows, &limits);
        assert_balanced(&svg);
        assert_eq!(svg.matches("class=\"line\"").count(), 6);
        assert_eq!(svg.matches("class=\"limit\"").count(), limits.len());
        for limit in &limits {
            assert!(svg.contains(limit.note), "{}", limit.name);
        }
        assert!(svg.contains("must be told (bully)"), "invitation asks and may notice sooner");
        assert!(svg.contains("(95 %)"), "means of several runs have bars");
    }

    #[test]
    fn runs_without_agreement_are_told_and_odd_input_is_survived() {
        let mut rows = rows(Script::ColdStart, &[Algorithm::Bully], 1);
        rows[0].seeds += 1;
        assert!(draw(Script::ColdStart, &rows, &[]).contains("1 of 4 runs did not come to agree"));
        assert_balanced(&draw(Script::Rolling, &[], &[]));
    }
}
