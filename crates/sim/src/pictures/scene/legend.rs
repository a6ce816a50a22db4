//! What the colours and signs of a scene mean: only those that occur in it.

use std::collections::BTreeSet;

use tanist_core::Status;
use tanist_core::trace::Kind;

use super::messages::{Fate, list, numbers};
use super::nodes::{Detail, Looks};
use super::routes::Layout;
use crate::pictures::looks::{self, Mark};
use crate::pictures::svg::{FAINT, Font, INK, Pen, Spot, Svg};

/// The legend of one picture or of several.
#[derive(Default)]
pub(super) struct Legend {
    items: BTreeSet<Item>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Kind(Kind),
    Status(Status),
    Caller,
    Leader,
    Sign(Mark),
    LostAtNode,
    Lost,
    Follows,
    Numbers,
    Contents,
    Repeats,
}

impl Legend {
    /// Takes in what is in a picture.
    pub(super) fn add(&mut self, layout: &Layout, looks: &Looks) {
        for route in &layout.routes {
            self.items.insert(Item::Kind(route.arrow.kind));
            match route.arrow.fate {
                Fate::Arrives => {}
                Fate::FindsItDown => drop(self.items.insert(Item::LostAtNode)),
                Fate::Lost => drop(self.items.insert(Item::Lost)),
            }
            self.items.insert(Item::Numbers);
            if route.text.contains(": ") {
                self.items.insert(Item::Contents);
            }
            if list(&numbers(&route.steps)).contains('×') {
                self.items.insert(Item::Repeats);
            }
        }
        for (mark, _) in layout.signs.values() {
            let item = if *mark == Mark::Coordinator { Item::Leader } else { Item::Sign(*mark) };
            self.items.insert(item);
        }
        for (node, look) in &looks.nodes {
            if look.calls {
                self.items.insert(Item::Caller);
            }
            if looks.detail == Detail::All && look.is_up && !look.is_silent {
                self.items.extend(look.status.map(Item::Status));
                if looks.follows(*node).is_some() {
                    self.items.insert(Item::Follows);
                }
            }
        }
    }

    /// Its height at this width.
    pub(super) fn height(&self, width: f64) -> f64 {
        self.places(width).last().map_or(0.0, |(at, _)| at.y + ROW)
    }

    pub(super) fn draw(&self, svg: &mut Svg, corner: Spot, width: f64) {
        svg.put(format_args!("<g class=\"legend\">\n"));
        for (place, item) in self.places(width) {
            let middle = Spot::new(corner.x + place.x, corner.y + place.y + ROW / 2.0);
            item.draw(svg, middle);
            let font = Font::new(LETTERS, if item.sample() > 0.0 { INK } else { FAINT });
            let at = Spot::new(middle.x + item.sample(), middle.y + 4.0);
            svg.text(at, font, &item.text());
        }
        svg.put(format_args!("</g>\n"));
    }

    /// Messages first, then nodes, then numbers, each beginning a row.
    fn places(&self, width: f64) -> Vec<(Spot, Item)> {
        let mut places = Vec::new();
        let (mut x, mut top) = (0.0, 0.0);
        let mut last = None;
        for item in &self.items {
            let wide = item.sample() + Font::new(LETTERS, INK).width(&item.text()) + 20.0;
            let is_new = last.is_some_and(|last| last != item.row());
            if is_new || (x > 0.0 && x + wide > width) {
                x = 0.0;
                top += ROW;
            }
            places.push((Spot::new(x, top), *item));
            x += wide;
            last = Some(item.row());
        }
        places
    }
}

impl Item {
    fn row(self) -> u8 {
        match self {
            Self::Kind(_) => 0,
            Self::Status(_) => 1,
            Self::Caller | Self::Leader | Self::Sign(_) | Self::LostAtNode | Self::Lost => 2,
            Self::Follows | Self::Numbers | Self::Contents | Self::Repeats => 3,
        }
    }

    /// The room for what is explained.
    fn sample(self) -> f64 {
        match self {
            Self::Kind(_) => 44.0,
            Self::Status(_)
            | Self::Caller
            | Self::Leader
            | Self::Sign(_)
            | Self::LostAtNode
            | Self::Lost => 26.0,
            Self::Follows | Self::Numbers | Self::Contents | Self::Repeats => 0.0,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Kind(kind) => kind.to_string(),
            Self::Status(status) => status.to_string(),
            Self::Caller => "calls an election".to_owned(),
            Self::Leader => "coordinates".to_owned(),
            Self::Sign(Mark::Crash) => "down".to_owned(),
            Self::Sign(Mark::Withdraw) => "withdrawn".to_owned(),
            Self::Sign(Mark::Silent) => "silent: its application hangs".to_owned(),
            Self::Sign(mark) => format!("{mark:?}").to_lowercase(),
            Self::LostAtNode => "lost: the receiver is down".to_owned(),
            Self::Lost => "lost on the way".to_owned(),
            Self::Follows => "→ n3: follows n3".to_owned(),
            Self::Numbers => "numbers: the order of steps".to_owned(),
            Self::Contents => "2: [3 5]: what the message of step 2 says".to_owned(),
            Self::Repeats => "3 ×5: five messages, the first in step 3".to_owned(),
        }
    }

    fn draw(self, svg: &mut Svg, at: Spot) {
        let spot = Spot::new(at.x + 10.0, at.y);
        match self {
            Self::Kind(kind) => {
                let to = Spot::new(at.x + 36.0, at.y);
                svg.line(at, to, looks::pen(kind));
                looks::head(svg, at, to, looks::pen(kind).colour);
            }
            Self::Status(status) => {
                svg.circle(spot, 8.0, looks::fill(status), Pen::new(INK, 1.2));
            }
            Self::Caller => svg.circle(spot, 8.0, "#ffffff", Pen::new(looks::CALL, 3.0)),
            Self::Leader => Mark::Coordinator.draw(svg, spot),
            Self::Sign(mark) => mark.draw(svg, spot),
            Self::LostAtNode => {
                svg.circle(Spot::new(spot.x + 4.0, spot.y), 6.0, "#e4e7ea", Pen::new(FAINT, 1.2));
                Mark::Lost.draw(svg, Spot::new(spot.x - 7.0, spot.y));
            }
            Self::Lost => Mark::Lost.draw(svg, spot),
            Self::Follows | Self::Numbers | Self::Contents | Self::Repeats => {}
        }
    }
}

const ROW: f64 = 24.0;
const LETTERS: f64 = 13.0;
