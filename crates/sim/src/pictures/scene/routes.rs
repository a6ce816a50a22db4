//! Which way each arrow takes, and where its number is.
//!
//! An arrow bows as little as it can without passing through a node that it does not concern or
//! running along another arrow. Then the signs of nodes and their names find the place with the
//! fewest arrows, and at last every number a place on its arrow that touches nothing else. Where
//! one finds none, the sheet is enlarged and all begins again.

use std::collections::{BTreeMap, BTreeSet};

use tanist_core::NodeId;
use tanist_core::membership::NodeNames;

use super::Scene;
use super::geometry::{Area, Curve};
use super::messages::{Arrow, Fate, Step, label, list, numbers};
use super::nodes::Looks;
use super::sheet::{NODE, Sheet};
use crate::pictures::looks::Mark;
use crate::pictures::svg::{Font, Spot};

/// Everything that is drawn between and beside the nodes.
pub(super) struct Layout {
    pub(super) routes: Vec<Route>,
    /// The sign of each coordinator and each dead node.
    pub(super) signs: BTreeMap<NodeId, (Mark, Spot)>,
    /// The words beside nodes.
    pub(super) words: BTreeMap<NodeId, (Area, String)>,
    /// Whether each arrow has its number and touches only the nodes that it concerns, and no cross
    /// of a lost message is on another one.
    pub(super) is_clear: bool,
}

/// An arrow on the sheet.
pub(super) struct Route {
    pub(super) arrow: Arrow,
    pub(super) steps: Vec<Step>,
    pub(super) curve: Curve,
    /// The numbers of its steps and, where there is room, what its messages say.
    pub(super) text: String,
    /// Where that is; none where there was no room.
    pub(super) badge: Option<Area>,
}

/// The smallest sheet on which all these pictures have room, and their layouts. If none has, it is
/// a sheet of a moderate size, and numbers that have no room are left out.
pub(super) fn fit(
    scene: &Scene,
    names: &NodeNames,
    pictures: &[(BTreeMap<Arrow, Vec<Step>>, &Looks)],
) -> (Sheet, Vec<Layout>) {
    for factor in FACTORS {
        let sheet = Sheet::new(scene, names, factor);
        let lay = |(arrows, looks): &(BTreeMap<Arrow, Vec<Step>>, &Looks)| {
            Some(Layout::new(&sheet, arrows, looks)).filter(|layout| layout.is_clear)
        };
        if let Some(layouts) = pictures.iter().map(lay).collect() {
            return (sheet, layouts);
        }
    }
    let sheet = Sheet::new(scene, names, FACTORS[2]);
    let lay =
        |(arrows, looks): &(BTreeMap<Arrow, Vec<Step>>, &Looks)| Layout::new(&sheet, arrows, looks);
    let layouts = pictures.iter().map(lay).collect();
    (sheet, layouts)
}

impl Layout {
    fn new(sheet: &Sheet, arrows: &BTreeMap<Arrow, Vec<Step>>, looks: &Looks) -> Self {
        let mut ordered: Vec<(&Arrow, &Vec<Step>)> =
            arrows.iter().filter(|(arrow, _)| sheet.chord(arrow).is_some()).collect();
        let length = |arrow: &Arrow| sheet.chord(arrow).map_or(0.0, |(a, b)| a.distance(b));
        ordered.sort_by(|(a, _), (b, _)| length(a).total_cmp(&length(b)));
        let mut layout = Self {
            routes: Vec::new(),
            signs: BTreeMap::new(),
            words: BTreeMap::new(),
            is_clear: true,
        };
        let mut taken: Vec<Vec<Spot>> = Vec::new();
        let mut cells = Cells::default();
        for (arrow, steps) in ordered {
            let Some((curve, is_clear)) = choose(sheet, arrow, arrows, &layout.routes, &cells)
            else {
                continue;
            };
            layout.is_clear &= is_clear;
            let spots = curve.spots(APART);
            cells.insert(&spots, taken.len());
            taken.push(spots);
            let (arrow, steps, text) = (*arrow, steps.clone(), list(&numbers(steps)));
            layout.routes.push(Route { arrow, steps, curve, text, badge: None });
        }
        layout.place_signs(sheet, looks, &taken);
        layout.place_words(sheet, looks, &taken);
        layout.place_badges(sheet, &taken);
        layout.place_labels(sheet, &taken);
        layout
    }

    fn place_signs(&mut self, sheet: &Sheet, looks: &Looks, taken: &[Vec<Spot>]) {
        for (node, _) in &sheet.places {
            let Some(mark) = looks.sign(*node) else { continue };
            let busy = |corner: &Spot| {
                taken.iter().flatten().filter(|spot| spot.distance(*corner) < SIGN).count()
            };
            if let Some(corner) = sheet.corners(*node).into_iter().min_by_key(busy) {
                self.signs.insert(*node, (mark, corner));
            }
        }
    }

    fn place_words(&mut self, sheet: &Sheet, looks: &Looks, taken: &[Vec<Spot>]) {
        for (node, _) in &sheet.places {
            let Some(words) = sheet.words(*node, looks) else { continue };
            let fixed = |area: &Area| {
                let nodes = sheet.places.iter().filter(|(_, at)| area.distance(*at) < sheet.radius);
                let words = self.words.values().filter(|(other, _)| area.is_near(other, 2.0));
                let signs = self.signs.values().filter(|(_, at)| area.distance(*at) < SIGN);
                let is_out = area.left < 2.0 || area.right > sheet.size.x - 2.0;
                nodes.count() + words.count() + signs.count() + usize::from(is_out)
            };
            let crossed = |area: &Area| {
                let hits = |curve: &&Vec<Spot>| curve.iter().any(|spot| area.distance(*spot) < 2.0);
                taken.iter().filter(hits).count()
            };
            let cost = |area: &Area| fixed(area) * 100 + crossed(area);
            let places = sheet.word_places(*node, &words);
            if let Some(area) = places.into_iter().min_by_key(cost) {
                self.words.insert(*node, (area, words));
            }
        }
    }

    fn place_badges(&mut self, sheet: &Sheet, taken: &[Vec<Spot>]) {
        let mut placed: Vec<Area> = self.obstacles();
        for at in 0..self.routes.len() {
            let width = badge_width(&self.routes[at].text);
            let tried = self.badge_places(sheet, taken, (at, width), &placed);
            let best = tried.into_iter().min_by(|(a, _), (b, _)| a.cost().total_cmp(&b.cost()));
            self.is_clear &= best.is_some();
            if let Some((_, area)) = best {
                placed.push(area);
                self.routes[at].badge = Some(area);
            }
        }
    }

    /// Adds to numbers what the messages say where that covers nothing at all.
    fn place_labels(&mut self, sheet: &Sheet, taken: &[Vec<Spot>]) {
        let obstacles = self.obstacles();
        for at in 0..self.routes.len() {
            let Some(text) = label(&self.routes[at].steps) else { continue };
            let others = self.routes.iter().enumerate().filter(|(other, _)| *other != at);
            let badges = others.filter_map(|(_, route)| route.badge);
            let placed: Vec<Area> = obstacles.iter().copied().chain(badges).collect();
            let tried = self.badge_places(sheet, taken, (at, badge_width(&text)), &placed);
            let is_free = |(cost, area): &(BadgeCost, Area)| {
                cost.covered == 0 && area.left > RIM && area.right < sheet.size.x - RIM
            };
            let free = tried.into_iter().filter(is_free);
            let best = free.min_by(|(a, _), (b, _)| a.cost().total_cmp(&b.cost()));
            if let Some((_, area)) = best {
                self.routes[at].badge = Some(area);
                self.routes[at].text = text;
            }
        }
    }

    /// Where on its arrow the text of a route can be without touching what is placed already.
    fn badge_places(
        &self,
        sheet: &Sheet,
        taken: &[Vec<Spot>],
        (at, width): (usize, f64),
        placed: &[Area],
    ) -> Vec<(BadgeCost, Area)> {
        let curve = &self.routes[at].curve;
        let is_free = |area: &Area| {
            sheet.places.iter().all(|(_, at)| area.distance(*at) > sheet.radius + 3.0)
                && placed.iter().all(|other| !area.is_near(other, 2.0))
                && area.distance(curve.end) > HEAD
        };
        let covered = |area: &Area| {
            let others = taken.iter().enumerate().filter(|(other, curve)| {
                *other != at && curve.iter().any(|spot| area.distance(*spot) < 1.0)
            });
            u32::try_from(others.count()).unwrap_or(u32::MAX)
        };
        let areas = PARTS.iter().map(|part| (*part, Area::around(curve.at(*part), width, BADGE)));
        let free = areas.filter(|(_, area)| is_free(area));
        let cost = |part: f64, area: &Area| BadgeCost { covered: covered(area), part };
        free.map(|(part, area)| (cost(part, &area), area)).collect()
    }

    /// What numbers must not cover beside nodes and each other.
    fn obstacles(&self) -> Vec<Area> {
        let signs = self.signs.values().map(|(_, at)| Area::around(*at, 22.0, 22.0));
        let words = self.words.values().map(|(area, _)| *area);
        let crosses = self.routes.iter().filter(|route| route.arrow.fate != Fate::Arrives);
        let crosses = crosses.map(|route| Area::around(route.curve.end, 14.0, 14.0));
        signs.chain(words).chain(crosses).collect()
    }
}

/// What speaks against a place for a number.
struct BadgeCost {
    /// How many arrows it would cover beside its own.
    covered: u32,
    /// Where on its arrow it is.
    part: f64,
}

impl BadgeCost {
    fn cost(&self) -> f64 {
        f64::from(self.covered) + (self.part - 0.5).abs() * 2.0
    }
}

impl Sheet {
    /// The middles of the nodes at both ends of an arrow, if they are apart.
    fn chord(&self, arrow: &Arrow) -> Option<(Spot, Spot)> {
        let (from, to) = (self.place(arrow.from)?, self.place(arrow.to)?);
        (from.distance(to) > 2.0 * self.radius + 6.0).then_some((from, to))
    }

    /// An arc from rim to rim, bowing out so far to the left of its direction.
    fn curve(&self, arrow: &Arrow, bow: f64) -> Option<Curve> {
        let (from, to) = self.chord(arrow)?;
        let length = from.distance(to);
        let (ahead_x, ahead_y) = ((to.x - from.x) / length, (to.y - from.y) / length);
        let middle = from.toward(to, 0.5);
        let knee = Spot::new(middle.x + ahead_y * bow * 2.0, middle.y - ahead_x * bow * 2.0);
        let rest = self.radius + 3.0;
        let begin = from.toward(knee, rest / from.distance(knee));
        let stop = match arrow.fate {
            Fate::Arrives => rest,
            // The cross stands before the node, just outside of its rim.
            Fate::FindsItDown => rest + 6.0,
            Fate::Lost => rest,
        };
        let end = to.toward(knee, stop / to.distance(knee));
        let whole = Curve { begin, knee, end };
        Some(match arrow.fate {
            Fate::Arrives | Fate::FindsItDown => whole,
            Fate::Lost => whole.until(0.62),
        })
    }
}

/// The best of some bows, and whether it is clear of all nodes that it does not concern.
fn choose(
    sheet: &Sheet,
    arrow: &Arrow,
    arrows: &BTreeMap<Arrow, Vec<Step>>,
    routes: &[Route],
    cells: &Cells,
) -> Option<(Curve, bool)> {
    let pair = (arrow.from.min(arrow.to), arrow.from.max(arrow.to));
    let between = |other: &&Arrow| (other.from.min(other.to), other.from.max(other.to)) == pair;
    // Straight where it is alone; beside a link, and beside its answer, on the left.
    let is_alone =
        !sheet.links.contains(&pair) && arrows.keys().filter(between).take(2).count() < 2;
    let mut best: Option<(f64, Curve, bool)> = None;
    let size = (sheet.radius / NODE).max(0.5);
    for bow in BOWS {
        let least = bow.abs() * BOWING + bow * bow / 300.0;
        if best.as_ref().is_some_and(|(cost, ..)| *cost <= least) {
            break;
        }
        let curve = sheet.curve(arrow, bow * size)?;
        let spots = curve.spots(APART);
        let mut cost = least + if bow < 0.0 { 1.0 } else { 0.0 };
        if bow == 0.0 && !is_alone {
            cost += 8.0;
        }
        let is_foreign = |node: &NodeId| *node != arrow.from && *node != arrow.to;
        let mut hits = 0.0;
        for (_, at) in sheet.places.iter().filter(|(node, _)| is_foreign(node)) {
            let gap = spots.iter().map(|spot| spot.distance(*at)).fold(f64::INFINITY, f64::min);
            if gap < sheet.radius + CLEAR {
                hits += 1.0;
            } else if gap < sheet.radius + 2.0 * CLEAR {
                cost += 4.0;
            }
        }
        let is_out = |spot: &Spot| {
            let (right, bottom) = (sheet.size.x - RIM, sheet.size.y - RIM);
            spot.x < RIM || spot.y < RIM || spot.x > right || spot.y > bottom
        };
        if spots.iter().any(is_out) {
            cost += 300.0;
        }
        let is_on_cross = arrow.fate != Fate::Arrives
            && routes.iter().any(|other| {
                let is_lost = other.arrow.fate != Fate::Arrives;
                is_lost && other.curve.end.distance(curve.end) < CROSSES_APART
            });
        if is_on_cross {
            cost += 400.0;
        }
        cost += hits * 1000.0 + crowding(arrow, &spots, routes, cells);
        if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
            best = Some((cost, curve, hits == 0.0 && !is_on_cross));
        }
    }
    best.map(|(_, curve, is_clear)| (curve, is_clear))
}

/// How much of a curve runs along others.
fn crowding(arrow: &Arrow, spots: &[Spot], routes: &[Route], cells: &Cells) -> f64 {
    let mut near: BTreeMap<usize, usize> = BTreeMap::new();
    for route in spots.iter().flat_map(|spot| cells.near(*spot)) {
        *near.entry(*route).or_default() += 1;
    }
    let mut along = 0;
    for (route, count) in near {
        let ends = [arrow.from, arrow.to];
        let other = &routes[route].arrow;
        let is_same_pair = ends.contains(&other.from) && ends.contains(&other.to);
        // Two that cross are near each other for a short while, two that begin together, too.
        let is_shared = ends.contains(&other.from) || ends.contains(&other.to);
        along += count.saturating_sub(if is_shared && !is_same_pair { 6 } else { 4 });
    }
    f64::from(u32::try_from(along).unwrap_or(u32::MAX)) * 6.0
}

/// Which curves are near which part of the sheet.
#[derive(Default)]
struct Cells {
    cells: BTreeMap<(i32, i32), BTreeSet<usize>>,
}

impl Cells {
    fn insert(&mut self, spots: &[Spot], route: usize) {
        for (x, y) in spots.iter().map(|spot| Self::cell(*spot)) {
            for (x, y) in (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y))) {
                self.cells.entry((x, y)).or_default().insert(route);
            }
        }
    }

    fn near(&self, spot: Spot) -> impl Iterator<Item = &usize> {
        self.cells.get(&Self::cell(spot)).into_iter().flatten()
    }

    fn cell(spot: Spot) -> (i32, i32) {
        #[expect(clippy::cast_possible_truncation, reason = "a position on a sheet")]
        let cell = |value: f64| (value / CELL).floor() as i32;
        (cell(spot.x), cell(spot.y))
    }
}

fn badge_width(text: &str) -> f64 {
    (BADGE_FONT.width(text) + 8.0).max(BADGE)
}

const FACTORS: [f64; 7] = [1.0, 1.2, 1.45, 1.75, 2.1, 2.6, 3.2];
/// To the left of the direction, and to the right where that is better.
const BOWS: [f64; 19] = [
    0.0, 12.0, -12.0, 24.0, -24.0, 36.0, -36.0, 50.0, -50.0, 66.0, -66.0, 84.0, -84.0, 104.0,
    -104.0, 130.0, -130.0, 170.0, -170.0,
];
/// Where on its arrow a number may be.
const PARTS: [f64; 19] = [
    0.5, 0.46, 0.54, 0.42, 0.58, 0.38, 0.62, 0.34, 0.66, 0.3, 0.7, 0.26, 0.74, 0.22, 0.78, 0.18,
    0.82, 0.14, 0.86,
];
/// Between the samples of a curve.
const APART: f64 = 7.0;
/// Curves whose cells touch run along each other.
const CELL: f64 = 7.0;
/// What a pixel of bowing costs.
const BOWING: f64 = 0.25;
const RIM: f64 = 6.0;
/// Between an arrow and a node that it does not concern.
const CLEAR: f64 = 8.0;
const SIGN: f64 = 13.0;
/// Between the middles of two crosses.
const CROSSES_APART: f64 = 16.0;
const HEAD: f64 = 9.0;
pub(super) const BADGE: f64 = 20.0;
pub(super) const BADGE_FONT: Font = Font::new(12.0, "#24292f").bold().centred();
