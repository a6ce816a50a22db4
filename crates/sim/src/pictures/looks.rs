//! Colours and shapes of the pictures, and the legend that explains them.
//!
//! The colours are those of Okabe and Ito, which people with any kind of colour blindness can tell
//! apart. A request is a solid line; its answer has the same colour and is dashed. Failure
//! detection is grey and thin, so that the election stands out.

use std::collections::BTreeSet;

use tanist_core::Status;
use tanist_core::election::descriptor::Topic;
use tanist_core::trace::Kind;

use super::svg::{FAINT, Font, INK, Pen, Spot, Svg};

/// How messages of a kind are drawn. The `ok` of Hirschberg and Sinclair answers a probe, though a
/// node handles it as a request: it goes back over the hops of the probe.
pub(super) fn pen(kind: Kind) -> Pen {
    let info = kind.info();
    let (colour, width) = match info.topic {
        Topic::Discovery => (GREY, THIN),
        Topic::Liveness => (PALE, THIN),
        Topic::Election => (VERMILION, THICK),
        Topic::Announcement => (BLUE, THICK),
        Topic::Handover => (GREEN, THICK),
        Topic::Operation => (PURPLE, THICK),
        Topic::Levels => (PURPLE, THIN),
    };
    if info.is_reply || kind == Kind::Okay {
        Pen::new(colour, width.min(REPLY)).dashed(ANSWER)
    } else {
        Pen::new(colour, width)
    }
}

/// The fill of a node's bar.
pub(super) fn fill(status: Status) -> &'static str {
    match status {
        Status::Down => "#d0d4d9",
        Status::Election => "#f5c04a",
        Status::Reorganization => "#8cc8ee",
        Status::Normal => "#7fcfae",
    }
}

/// The initial of a status, where there is no room for its name.
pub(super) fn initial(status: Status) -> &'static str {
    match status {
        Status::Down => "D",
        Status::Election => "E",
        Status::Reorganization => "R",
        Status::Normal => "N",
    }
}

/// Everything else that is drawn at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    Coordinator,
    Timer,
    Crash,
    Withdraw,
    Silent,
    Restart,
    Paused,
    Lost,
    Pending,
    Break,
}

impl Mark {
    pub(super) fn draw(self, svg: &mut Svg, at: Spot) {
        let spot = |x: f64, y: f64| Spot::new(at.x + x, at.y + y);
        match self {
            Self::Coordinator => {
                let points = STAR.map(|(x, y)| spot(x, y));
                svg.polygon(&points, "#ffe14d", Pen::new(INK, 1.2));
            }
            Self::Timer => {
                svg.circle(at, 5.0, "#ffffff", Pen::new(INK, 1.2));
                svg.polyline(&[spot(0.0, -3.4), at, spot(2.6, 0.0)], Pen::new(INK, 1.2));
            }
            Self::Crash => {
                svg.circle(at, 9.0, INK, Pen::new("#ffffff", 1.5));
                svg.cross(at, 3.6, Pen::new("#ffffff", 2.2));
            }
            Self::Withdraw => {
                let points = [spot(4.0, -8.0), spot(-8.0, 0.0), spot(4.0, 8.0)];
                svg.polygon(&points, "#ffffff", Pen::new(INK, 1.5));
            }
            Self::Silent => {
                svg.circle(at, 9.0, "#ffffff", Pen::new(INK, 1.5));
                for x in [-4.0, 0.0, 4.0] {
                    svg.circle(spot(x, 0.0), 1.4, INK, Pen::new("none", 0.0));
                }
            }
            Self::Restart => {
                let points = [spot(-4.0, -8.0), spot(8.0, 0.0), spot(-4.0, 8.0)];
                svg.polygon(&points, "#ffffff", Pen::new(INK, 1.5));
            }
            Self::Paused => {
                svg.area(spot(-12.0, -7.0), Spot::new(24.0, 14.0), "#eef0f2");
                hatch(svg, spot(-12.0, -7.0), Spot::new(24.0, 14.0));
            }
            Self::Lost => svg.cross(at, 4.5, Pen::new(INK, 1.8)),
            Self::Pending => svg.circle(at, 3.2, "#ffffff", Pen::new(INK, 1.4)),
            Self::Break => {
                for side in [-3.0, 3.0] {
                    let pen = Pen::new(FAINT, 1.2);
                    svg.line(spot(side - 2.0, 7.0), spot(side + 2.0, -7.0), pen);
                }
            }
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Coordinator => "coordinator, Normal",
            Self::Timer => "timer ran out",
            Self::Crash => "crash",
            Self::Withdraw => "withdraws",
            Self::Silent => "silent: its application hangs",
            Self::Restart => "restart, or takes part again",
            Self::Paused => "paused",
            Self::Lost => "lost",
            Self::Pending => "other end not in the trace",
            Self::Break => "time skipped",
        }
    }
}

/// Diagonal strokes over a box.
pub(super) fn hatch(svg: &mut Svg, corner: Spot, size: Spot) {
    let (bottom, right) = (corner.y + size.y, corner.x + size.x);
    let mut x = corner.x;
    while x < right {
        let run = (right - x).min(size.y);
        let pen = Pen::new(INK, 1.0);
        svg.line(Spot::new(x, bottom), Spot::new(x + run, bottom - run), pen);
        x += 6.0;
    }
}

/// The symbols that occur in a picture and must be explained.
#[derive(Default)]
pub(super) struct Legend {
    pub(super) statuses: BTreeSet<Status>,
    pub(super) kinds: BTreeSet<Kind>,
    pub(super) marks: BTreeSet<Mark>,
}

enum Item {
    Status(Status),
    Kind(Kind),
    Mark(Mark),
}

impl Legend {
    /// Its height at this width.
    pub(super) fn height(&self, width: f64) -> f64 {
        self.places(width).last().map_or(0.0, |(place, _)| place.y + ROW)
    }

    pub(super) fn draw(&self, svg: &mut Svg, corner: Spot, width: f64) {
        svg.put(format_args!("<g class=\"legend\">\n"));
        for (place, item) in self.places(width) {
            let (x, y) = (corner.x + place.x, corner.y + place.y + ROW / 2.0);
            let from = Spot::new(x, y);
            match &item {
                Item::Status(status) => {
                    svg.area(Spot::new(x, y - 7.0), Spot::new(SAMPLE, 14.0), fill(*status));
                    let font = Font::new(11.0, INK).centred();
                    svg.text(Spot::new(x + SAMPLE / 2.0, y + 4.0), font, initial(*status));
                }
                Item::Kind(kind) => {
                    let to = Spot::new(x + SAMPLE, y);
                    svg.line(from, to, pen(*kind));
                    head(svg, from, to, pen(*kind).colour);
                }
                Item::Mark(mark) => mark.draw(svg, Spot::new(x + SAMPLE / 2.0, y)),
            }
            svg.text(Spot::new(x + SAMPLE + 6.0, y + 4.0), LEGEND, &item.text());
        }
        svg.put(format_args!("</g>\n"));
    }

    fn places(&self, width: f64) -> Vec<(Spot, Item)> {
        let mut places = Vec::new();
        let mut top = 0.0;
        let groups: [Vec<Item>; 3] = [
            self.statuses.iter().copied().map(Item::Status).collect(),
            self.kinds.iter().copied().map(Item::Kind).collect(),
            self.marks.iter().copied().map(Item::Mark).collect(),
        ];
        for group in groups.into_iter().filter(|group| !group.is_empty()) {
            let mut x = 0.0;
            for item in group {
                let wide = SAMPLE + 6.0 + LEGEND.width(&item.text()) + 18.0;
                if x > 0.0 && x + wide > width {
                    x = 0.0;
                    top += ROW;
                }
                places.push((Spot::new(x, top), item));
                x += wide;
            }
            top += ROW;
        }
        places
    }
}

impl Item {
    fn text(&self) -> String {
        match self {
            Self::Status(status) => status.to_string(),
            Self::Kind(kind) => kind.to_string(),
            Self::Mark(mark) => mark.meaning().to_string(),
        }
    }
}

/// An arrow's head at the end of a line.
pub(super) fn head(svg: &mut Svg, from: Spot, to: Spot, colour: &'static str) {
    let length = from.distance(to).max(0.1);
    let (along_x, along_y) = ((to.x - from.x) / length, (to.y - from.y) / length);
    let back = Spot::new(to.x - along_x * HEAD, to.y - along_y * HEAD);
    let side = |sign: f64| {
        Spot::new(back.x - along_y * sign * HEAD * 0.42, back.y + along_x * sign * HEAD * 0.42)
    };
    svg.polygon(&[to, side(1.0), side(-1.0)], colour, Pen::new(colour, 0.5));
}

/// A node that calls an election.
pub(super) const CALL: &str = VERMILION;
const GREY: &str = "#57606a";
const PALE: &str = "#8f98a3";
const VERMILION: &str = "#d55e00";
const BLUE: &str = "#0072b2";
const PURPLE: &str = "#994f88";
const GREEN: &str = "#00805c";
/// Line widths: of an election, of an answer in it, of everything else.
const THICK: f64 = 1.9;
const REPLY: f64 = 1.5;
const THIN: f64 = 1.1;
const ANSWER: &str = "5 3";
const HEAD: f64 = 8.0;
const ROW: f64 = 22.0;
const SAMPLE: f64 = 30.0;
const LEGEND: Font = Font::new(12.0, INK);
/// A five-pointed star of radius ten around the origin.
const STAR: [(f64, f64); 10] = [
    (0.0, -10.0),
    (2.6, -3.6),
    (9.5, -3.1),
    (4.2, 1.4),
    (5.9, 8.1),
    (0.0, 4.4),
    (-5.9, 8.1),
    (-4.2, 1.4),
    (-9.5, -3.1),
    (-2.6, -3.6),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_and_answer_share_a_colour_and_differ_in_dash() {
        for pair in [
            (Kind::AreYouUp, Kind::AyuAnswer),
            (Kind::EnterElection, Kind::EeAnswer),
            (Kind::Accept, Kind::AcceptAnswer),
            (Kind::Ready, Kind::ReadyAnswer),
            (Kind::Election, Kind::Okay),
        ] {
            assert_eq!(pen(pair.0).colour, pen(pair.1).colour);
            assert_ne!(pen(pair.0).dash, pen(pair.1).dash);
        }
    }

    #[test]
    fn a_narrow_legend_is_higher_and_lists_only_what_occurs() {
        let legend = Legend { kinds: Kind::ALL.iter().copied().collect(), ..Legend::default() };
        assert!(legend.height(300.0) > legend.height(1_000.0));
        assert_eq!(legend.places(300.0).len(), Kind::ALL.len());
        assert_eq!(Legend::default().height(300.0), 0.0);
    }
}
