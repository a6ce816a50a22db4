//! The keys of a scenario file for reach and movement: `[radio]`, `[mobility]`, and `at` of a node.
//! Lengths are metres in the file and decimetres here.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::ops::Range;
use std::time::Duration;

use serde::Deserialize;
use tanist_core::duration;
use tanist_core::{Membership, NodeId};
use toml::Spanned;

use super::action_keys::span;
use super::parse::{File, Reader, ScenarioError, Text, float_to_u32, share};
use super::unknown::unknown;
use crate::world::places::{Area, Layout, Position};
use crate::world::topology::{Fading, RadioConfig, Topology};
use crate::world::walking::Mobility;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RadioTable {
    links: Option<Spanned<Vec<Text>>>,
    range: Option<Spanned<f64>>,
    loss: Option<Spanned<LossValue>>,
    layout: Option<Text>,
    spacing: Option<Spanned<f64>>,
    at: Option<Spanned<Vec<[f64; 2]>>>,
    area: Option<Spanned<[f64; 2]>>,
    step: Option<Text>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum LossValue {
    Share(f64),
    Name(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MobilityTable {
    model: Text,
    speed: Spanned<[f64; 2]>,
    pause: Option<Spanned<PauseValue>>,
    pub(super) until: Option<Text>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PauseValue {
    Always(String),
    Between([String; 2]),
}

impl Reader<'_> {
    pub(super) fn topology(
        &self,
        file: &File,
        members: &Membership,
    ) -> Result<Topology, ScenarioError> {
        let mut ids: Vec<NodeId> = members.all().iter().map(|member| member.id).collect();
        ids.sort_unstable();
        let Some(table) = &file.radio else {
            return match (&file.mobility, file.node.iter().find_map(|line| line.at.as_ref())) {
                (Some(mobility), _) => {
                    let what = "[mobility] needs [radio] with `range` and `area`".to_owned();
                    Err(self.error(&mobility.as_ref().model.span(), what))
                }
                (None, Some(at)) => {
                    Err(self.error(&at.span(), "`at` needs [radio] with `range`".to_owned()))
                }
                (None, None) => Ok(Topology::Whole),
            };
        };
        let radio = table.as_ref();
        if let Some(links) = &radio.links {
            self.check_links(file, radio, links)?;
            let pairs = links.as_ref().iter().map(|text| self.pair(text, members));
            return Ok(Topology::Links(pairs.collect::<Result<_, _>>()?));
        }
        let Some(range) = &radio.range else {
            let what = "[radio] needs either `range` in metres, or `links`".to_owned();
            return Err(self.error(&table.span(), what));
        };
        self.check_places(file, radio)?;
        let range = self.length(range)?;
        let area = radio.area.as_ref().map(|area| self.area(area)).transpose()?;
        let mobility =
            file.mobility.as_ref().map(|table| self.mobility(table, area)).transpose()?;
        Ok(Topology::Radio(RadioConfig {
            range,
            fading: self.fading(radio.loss.as_ref())?,
            layout: self.layout(file, table, range, area, &ids)?,
            mobility,
            step: match &radio.step {
                Some(step) => self.step(step)?,
                None => STEP,
            },
        }))
    }

    /// Beside `links` the keys of places and distances mean nothing.
    fn check_links(
        &self,
        file: &File,
        radio: &RadioTable,
        links: &Spanned<Vec<Text>>,
    ) -> Result<(), ScenarioError> {
        if radio.range.is_some() || radio.layout.is_some() || file.mobility.is_some() {
            let what = "`links` are all there is: expected neither `range`, `layout` nor \
                        [mobility] beside them";
            return Err(self.error(&links.span(), what.to_owned()));
        }
        let unused = [
            ("loss", span(&radio.loss)),
            ("spacing", span(&radio.spacing)),
            ("at", span(&radio.at)),
            ("at", file.node.iter().find_map(|line| span(&line.at))),
            ("area", span(&radio.area)),
            ("step", span(&radio.step)),
        ];
        self.refuse_unused(unused, "has no effect beside `links`, which have no distances")
    }

    /// Refuses keys of places that the others make useless.
    fn check_places(&self, file: &File, radio: &RadioTable) -> Result<(), ScenarioError> {
        let layout = radio.layout.as_ref().map(|name| name.as_ref().as_str());
        if radio.at.is_some() {
            let at = file.node.iter().find_map(|line| span(&line.at));
            self.refuse_unused([("at", at)], "of a node has no effect beside `at` in [radio]")?;
        }
        if layout.is_none_or(|name| name == "random") {
            let what = "has no effect; it is for the layouts line, grid and circle";
            self.refuse_unused([("spacing", span(&radio.spacing))], what)?;
        }
        if layout != Some("random") && file.mobility.is_none() {
            let what = "has no effect; it is for `layout = \"random\"` and for [mobility]";
            self.refuse_unused([("area", span(&radio.area))], what)?;
        }
        Ok(())
    }

    fn refuse_unused<const N: usize>(
        &self,
        keys: [(&str, Option<Range<usize>>); N],
        why: &str,
    ) -> Result<(), ScenarioError> {
        match keys.into_iter().find_map(|(name, span)| Some((name, span?))) {
            Some((name, span)) => Err(self.error(&span, format!("`{name}` {why}; leave it out"))),
            None => Ok(()),
        }
    }

    /// A node can be moved only if nodes have positions.
    pub(super) fn check_moves(
        &self,
        file: &File,
        topology: &Topology,
    ) -> Result<(), ScenarioError> {
        let is_on_ground = matches!(topology, Topology::Radio(_));
        match file.fault.iter().find(|line| line.as_ref().action.as_ref() == "move") {
            Some(line) if !is_on_ground => {
                let what = "`move` needs [radio] with `range`: these nodes have no places";
                Err(self.error(&line.span(), what.to_owned()))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn layout(
        &self,
        file: &File,
        table: &Spanned<RadioTable>,
        range: u32,
        area: Option<Area>,
        ids: &[NodeId],
    ) -> Result<Layout, ScenarioError> {
        let radio = table.as_ref();
        let told = file.node.iter().filter_map(|line| {
            line.at.as_ref().map(|at| (line.id(), self.position(*at.as_ref(), &at.span())))
        });
        let told: Vec<(NodeId, Result<Position, ScenarioError>)> = told.collect();
        if let Some(name) = &radio.layout {
            if radio.at.is_some() || !told.is_empty() {
                let what = "expected either `layout`, or the places of the nodes".to_owned();
                return Err(self.error(&name.span(), what));
            }
            // In range of the next node, out of range of the one after it and of the diagonal of a
            // square.
            let spacing = match &radio.spacing {
                Some(spacing) => self.length(spacing)?,
                None => (range / 10 * 9).max(1),
            };
            return match name.as_ref().as_str() {
                "line" => Ok(Layout::Line(spacing)),
                "grid" => Ok(Layout::Grid(spacing)),
                "circle" => Ok(Layout::Circle(spacing)),
                "random" => area.map(Layout::Random).ok_or_else(|| {
                    self.error(&name.span(), "`layout = \"random\"` needs `area`".to_owned())
                }),
                other => {
                    let what = unknown("layout", other, ["line", "grid", "circle", "random"]);
                    Err(self.error(&name.span(), what))
                }
            };
        }
        if let Some(at) = &radio.at {
            if at.as_ref().len() != ids.len() {
                let what = format!(
                    "{} places for {} nodes; expected one for each, in order of id",
                    at.as_ref().len(),
                    ids.len()
                );
                return Err(self.error(&at.span(), what));
            }
            let places = ids.iter().zip(at.as_ref());
            let places = places.map(|(id, at_)| Ok((*id, self.position(*at_, &at.span())?)));
            return Ok(Layout::At(places.collect::<Result<_, ScenarioError>>()?));
        }
        let mut places = BTreeMap::new();
        for (id, place) in told {
            places.insert(id, place?);
        }
        match ids.iter().find(|id| !places.contains_key(id)) {
            None => Ok(Layout::At(places)),
            Some(id) => {
                let what = format!(
                    "{id} has no position; expected `layout`, `at` in [radio], or `at` in \
                     every [[node]]"
                );
                Err(self.error(&table.span(), what))
            }
        }
    }

    fn mobility(
        &self,
        table: &Spanned<MobilityTable>,
        area: Option<Area>,
    ) -> Result<Mobility, ScenarioError> {
        let MobilityTable { model, speed, pause, until } = table.as_ref();
        if model.as_ref() != "random-waypoint" {
            let what = unknown("model", model.as_ref(), ["random-waypoint"]);
            return Err(self.error(&model.span(), what));
        }
        let Some(area) = area else {
            let what = "random-waypoint needs `area` in [radio]".to_owned();
            return Err(self.error(&model.span(), what));
        };
        let [least, most] = *speed.as_ref();
        if !(0.1..=1e4).contains(&least) || !(least..=1e4).contains(&most) {
            let what = "expected `speed = [least, most]` in metres per second, from 0.1 on: \
                        nodes that draw speed 0 never arrive";
            return Err(self.error(&speed.span(), what.to_owned()));
        }
        let (pause_min, pause_max) = self.pause(pause.as_ref())?;
        Ok(Mobility {
            area,
            speed_min: float_to_u32(least * 10.0),
            speed_max: float_to_u32(most * 10.0),
            pause_min,
            pause_max,
            until: until.as_ref().map(|until| self.duration(until)).transpose()?,
        })
    }

    fn pause(
        &self,
        value: Option<&Spanned<PauseValue>>,
    ) -> Result<(Duration, Duration), ScenarioError> {
        let Some(value) = value else { return Ok((Duration::ZERO, Duration::ZERO)) };
        let read = |text: &str| {
            duration::parse(text).ok_or_else(|| {
                let what = format!(
                    "{text:?} is not a duration; write a number with a unit, such as 250ms"
                );
                self.error(&value.span(), what)
            })
        };
        let (least, most) = match value.as_ref() {
            PauseValue::Always(text) => (read(text)?, read(text)?),
            PauseValue::Between([least, most]) => (read(least)?, read(most)?),
        };
        if most < least {
            let what = "expected `pause = [least, most]`".to_owned();
            return Err(self.error(&value.span(), what));
        }
        Ok((least, most))
    }

    fn fading(&self, loss: Option<&Spanned<LossValue>>) -> Result<Fading, ScenarioError> {
        let Some(loss) = loss else { return Ok(Fading::Flat(0)) };
        match loss.as_ref() {
            LossValue::Share(value) if (0.0..=1.0).contains(value) => {
                Ok(Fading::Flat(self.whole_millionths(*value, &loss.span())?))
            }
            LossValue::Name(name) if name == "distance" => Ok(Fading::Distance),
            LossValue::Share(_) | LossValue::Name(_) => {
                let what = "expected `loss = \"distance\"`, or a share between 0 and 1".to_owned();
                Err(self.error(&loss.span(), what))
            }
        }
    }

    fn pair(&self, text: &Text, members: &Membership) -> Result<(NodeId, NodeId), ScenarioError> {
        let ends = text.as_ref().split_once('-').and_then(|(a, b)| {
            let read = |end: &str| end.trim().parse::<u32>().ok();
            Some((read(a)?, read(b)?))
        });
        let Some((a, b)) = ends.filter(|(a, b)| a != b) else {
            let what = format!(
                "{:?} is not a link; write the ids of two nodes, such as \"1-2\"",
                text.as_ref()
            );
            return Err(self.error(&text.span(), what));
        };
        self.known(a, members, &text.span())?;
        self.known(b, members, &text.span())?;
        Ok((NodeId(a), NodeId(b)))
    }

    fn step(&self, text: &Text) -> Result<Duration, ScenarioError> {
        let step = self.duration(text)?;
        if step < Duration::from_millis(1) {
            let what = "a `step` is at least 1ms: the position of every node is sampled in each";
            return Err(self.error(&text.span(), what.to_owned()));
        }
        Ok(step)
    }

    fn length(&self, given: &Spanned<f64>) -> Result<u32, ScenarioError> {
        if (0.1..=LENGTH_MAX).contains(given.as_ref()) {
            return Ok(float_to_u32(*given.as_ref() * 10.0));
        }
        let what = format!("expected metres, from 0.1 to {LENGTH_MAX}");
        Err(self.error(&given.span(), what))
    }

    fn area(&self, given: &Spanned<[f64; 2]>) -> Result<Area, ScenarioError> {
        let [width, height] = *given.as_ref();
        if [width, height].iter().all(|side| (0.1..=LENGTH_MAX).contains(side)) {
            let (width, height) = (float_to_u32(width * 10.0), float_to_u32(height * 10.0));
            return Ok(Area { width, height });
        }
        let what = format!("expected `area = [width, height]` in metres, up to {LENGTH_MAX}");
        Err(self.error(&given.span(), what))
    }

    pub(super) fn position(
        &self,
        [x, y]: [f64; 2],
        span: &Range<usize>,
    ) -> Result<Position, ScenarioError> {
        if [x, y].iter().all(|value| value.abs() <= LENGTH_MAX) {
            return Ok(Position { x: decimetres(x), y: decimetres(y) });
        }
        let what = format!("expected a place `[x, y]` in metres, up to {LENGTH_MAX} from 0");
        Err(self.error(span, what))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked by the caller")]
fn decimetres(metres: f64) -> i64 {
    (metres * 10.0).round() as i64
}

/// Writes what [`Reader::topology`] reads.
pub(super) fn write_topology(to: &mut String, topology: &Topology) -> fmt::Result {
    match topology {
        Topology::Whole => Ok(()),
        Topology::Links(links) => {
            let pairs: Vec<String> =
                links.iter().map(|(a, b)| format!("\"{}-{}\"", a.0, b.0)).collect();
            writeln!(to, "\n[radio]\nlinks = [{}]", pairs.join(", "))
        }
        Topology::Radio(config) => write_radio(to, config),
    }
}

fn write_radio(to: &mut String, config: &RadioConfig) -> fmt::Result {
    writeln!(to, "\n[radio]\nrange = {}", metres(config.range))?;
    match config.fading {
        Fading::Flat(0) => {}
        Fading::Flat(ppm) => writeln!(to, "loss = {}", share(ppm))?,
        Fading::Distance => writeln!(to, "loss = \"distance\"")?,
    }
    let mut area = config.mobility.map(|mobility| mobility.area);
    let (name, spacing) = match &config.layout {
        Layout::Line(spacing) => ("line", Some(spacing)),
        Layout::Grid(spacing) => ("grid", Some(spacing)),
        Layout::Circle(spacing) => ("circle", Some(spacing)),
        Layout::Random(given) => {
            area = Some(*given);
            ("random", None)
        }
        Layout::At(places) => {
            let places: Vec<String> = places.values().map(|place| self::place(*place)).collect();
            writeln!(to, "at = [{}]", places.join(", "))?;
            ("", None)
        }
    };
    if !name.is_empty() {
        writeln!(to, "layout = {name:?}")?;
    }
    if let Some(spacing) = spacing {
        writeln!(to, "spacing = {}", metres(*spacing))?;
    }
    if let Some(area) = area {
        writeln!(to, "area = [{}, {}]", metres(area.width), metres(area.height))?;
    }
    writeln!(to, "step = {:?}", duration::print(config.step))?;
    let Some(mobility) = config.mobility else { return Ok(()) };
    writeln!(to, "\n[mobility]\nmodel = \"random-waypoint\"")?;
    let (least, most) = (metres(mobility.speed_min), metres(mobility.speed_max));
    writeln!(to, "speed = [{least}, {most}]")?;
    writeln!(
        to,
        "pause = [{:?}, {:?}]",
        duration::print(mobility.pause_min),
        duration::print(mobility.pause_max)
    )?;
    mobility.until.map_or(Ok(()), |until| writeln!(to, "until = {:?}", duration::print(until)))
}

fn metres(decimetres: u32) -> String {
    format!("{}.{}", decimetres / 10, decimetres % 10)
}

/// A position as written in a file.
pub(super) fn place(place: Position) -> String {
    let metres = |value: i64| {
        let sign = if value < 0 { "-" } else { "" };
        format!("{sign}{}.{}", value.unsigned_abs() / 10, value.unsigned_abs() % 10)
    };
    format!("[{}, {}]", metres(place.x), metres(place.y))
}

/// How often positions are sampled by default: at 20 m/s a node moves two metres in between.
pub(super) const STEP: Duration = Duration::from_millis(100);
/// A thousand kilometres, in metres.
const LENGTH_MAX: f64 = 1e6;
