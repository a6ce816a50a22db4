//! How one series of a plot is drawn, and its entry in the legend.

use super::twins::Twin;
use super::{COLOURS, LINE, Theory};
use crate::pictures::svg::{FAINT, Font, INK, Pen, Spot, Svg};

/// One series in the legend: its line and mark, its name, its formula, and what it is equal to.
pub(super) struct Key {
    /// Which series it is.
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) theory: Theory,
    pub(super) formula: Option<String>,
    /// The earlier series with the same values.
    pub(super) same_as: Option<String>,
    pub(super) twin: Twin,
}

impl Key {
    pub(super) fn colour(&self) -> &'static str {
        COLOURS[self.at % COLOURS.len()]
    }

    pub(super) fn pen(&self) -> Pen {
        let width = if self.twin.of > 1 { 2.4 } else { 1.6 };
        Pen::new(self.colour(), width).dashed(match self.theory {
            Theory::Value => self.twin.dash(),
            Theory::Bound => DOTTED,
        })
    }

    /// The tooltip of the curve.
    pub(super) fn title(&self) -> String {
        match self.theory {
            Theory::Value => self.name.clone(),
            Theory::Bound => format!("{}, at most", self.name),
        }
    }

    pub(super) fn height(&self) -> f64 {
        let below = u32::try_from(self.below().len()).unwrap_or(u32::MAX);
        ROW + LINE * f64::from(below)
    }

    pub(super) fn draw(&self, svg: &mut Svg, at: Spot) {
        svg.line(at, Spot::new(at.x + 34.0, at.y), self.pen());
        mark(svg, Spot::new(at.x + 17.0, at.y), self.at, 1.0);
        let mut text = Spot::new(at.x + 42.0, at.y + 4.0);
        svg.text(text, Font::new(12.0, INK).bold(), &self.name);
        for line in self.below() {
            text.y += LINE;
            svg.text(text, FORMULA, &line);
        }
    }

    /// The lines below the name.
    fn below(&self) -> Vec<String> {
        let formula = self.formula.as_deref().unwrap_or_default();
        let mut lines = match self.theory {
            Theory::Value => wrapped(formula),
            Theory::Bound => wrapped(&format!("at most {formula}")),
        };
        lines.extend(self.same_as.iter().map(|other| format!("= {other}")));
        lines
    }
}

/// Breaks a text into lines that have room in the legend.
pub(super) fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // A line may end before a plus, but not within a bracket.
    let text = text.replace(" - ", "\u{a0}-\u{a0}");
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if FORMULA.width(&format!("{line} {word}")) <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// The mark of the nth series: shapes differ as well as colours.
pub(crate) fn mark(svg: &mut Svg, at: Spot, number: usize, size: f64) {
    let colour = COLOURS[number % COLOURS.len()];
    let pen = Pen::new("#ffffff", 0.8);
    let shape: &[(f64, f64)] = match number % 5 {
        0 => return svg.circle(at, 4.2 * size, colour, pen),
        1 => &[(-3.9, -3.9), (3.9, -3.9), (3.9, 3.9), (-3.9, 3.9)],
        2 => &[(0.0, -5.2), (4.8, 3.6), (-4.8, 3.6)],
        3 => &[(0.0, -5.4), (5.4, 0.0), (0.0, 5.4), (-5.4, 0.0)],
        _ => &[(0.0, 5.2), (4.8, -3.6), (-4.8, -3.6)],
    };
    let corner = |(x, y): &(f64, f64)| Spot::new(at.x + x * size, at.y + y * size);
    let corners: Vec<Spot> = shape.iter().map(corner).collect();
    svg.polygon(&corners, colour, pen);
}

const FORMULA: Font = Font::new(12.0, FAINT);
/// A curve that is a bound.
const DOTTED: &str = "1.6 4";
const WIDTH: f64 = 280.0;
const ROW: f64 = 22.0;
