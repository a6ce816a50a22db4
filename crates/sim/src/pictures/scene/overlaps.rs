//! Nothing hides anything in the scenes of all scenarios that come with the program: what is drawn
//! is read back from the SVG, so the test does not trust the layout.

use crate::pictures::svg::{Font, Spot, assert_balanced};
use crate::run;
use crate::scenario::library;

use super::geometry::{Area, Curve};
use super::{Scene, draw, frames};

/// One picture as it is drawn.
#[derive(Default)]
struct Drawn {
    /// What the tooltip calls a node, its middle and its radius.
    nodes: Vec<(String, Spot, f64)>,
    badges: Vec<Area>,
    names: Vec<Area>,
    /// Tooltip and curve.
    arrows: Vec<(String, Curve)>,
}

#[test]
fn in_no_scene_a_number_covers_anything_and_no_arrow_passes_through_a_node() {
    let mut pictures = 0;
    for (name, text) in library::all() {
        let scenario = crate::Scenario::parse(text).expect("it can be read");
        let trace = run(&scenario, scenario.seed).recording;
        let scene = Scene::of(&scenario, scenario.seed);
        let whole = draw(&trace.header, &trace.entries, &scene);
        assert_balanced(&whole);
        let frames = frames(&trace.header, &trace.entries, &scene);
        assert!((1..=30).contains(&frames.len()), "{name}: {} stages", frames.len());
        let svgs = frames.iter().map(|frame| (frame.file.clone(), frame.svg.clone()));
        for (file, svg) in [("whole".to_owned(), whole)].into_iter().chain(svgs) {
            assert_balanced(&svg);
            for picture in svg.split("class=\"picture\"").skip(1) {
                Drawn::read(picture).check(&format!("{name} {file}"));
                pictures += 1;
            }
        }
    }
    assert!(pictures > library::all().len() * 4, "only {pictures} pictures were looked at");
}

#[test]
fn the_test_sees_what_overlaps() {
    let node = "<g class=\"node\"><title>n1, priority 1</title><circle cx=\"0.0\" cy=\"0.0\" \
                r=\"10.0\" fill";
    let badge = "<rect class=\"badge\" x=\"8.0\" y=\"-5.0\" width=\"20.0\" height=\"20\"";
    let arrow = "<g class=\"step\"><title>election from n2 to n3, step 1</title><path \
                 d=\"M-50.0 0.0Q0.0 0.0 50.0 0.0\" stroke";
    let picture = |parts: &[&str]| Drawn::read(&parts.join("\n"));
    let fails = |drawn: Drawn| std::panic::catch_unwind(|| drawn.check("example")).is_err();
    assert!(fails(picture(&[node, badge, arrow])), "a number on a node");
    assert!(fails(picture(&[node, arrow])), "an arrow through a node");
    assert!(fails(picture(&[badge, badge, arrow, arrow])), "two numbers on each other");
    let lost = "<g class=\"step\"><title>election from n2 to n3, step 1, lost</title><path \
                d=\"M-90.0 0.0Q-70.0 0.0 -50.0 0.0\" stroke";
    let beside = "<rect class=\"badge\" x=\"90.0\" y=\"90.0\" width=\"20.0\" height=\"20\"";
    let below = "<rect class=\"badge\" x=\"90.0\" y=\"130.0\" width=\"20.0\" height=\"20\"";
    assert!(fails(picture(&[beside, below, lost, lost])), "two crosses on each other");
    assert!(!fails(picture(&[badge, arrow])));
    assert!(!fails(picture(&[beside, below, lost, arrow])));
}

impl Drawn {
    fn read(picture: &str) -> Self {
        let mut drawn = Self::default();
        for part in parts(picture, "class=\"node\"") {
            let name = between(part, "<title>", ", priority").to_owned();
            let at = Spot::new(number(part, "cx"), number(part, "cy"));
            drawn.nodes.push((name, at, number(part, "r")));
        }
        for part in parts(picture, "class=\"badge\"") {
            let (left, top) = (number(part, "x"), number(part, "y"));
            let (right, bottom) = (left + number(part, "width"), top + number(part, "height"));
            drawn.badges.push(Area { left, top, right, bottom });
        }
        for part in parts(picture, "class=\"name\"") {
            let font = Font::new(12.0, "").bold();
            let middle = Spot::new(number(part, "x"), number(part, "y") - 4.0);
            let width = font.width(between(part, ">", "<"));
            drawn.names.push(Area::around(middle, width, 12.0));
        }
        for part in parts(picture, "class=\"step\"") {
            let title = between(part, "<title>", "</title>").to_owned();
            let path = between(part, " d=\"M", "\"").replace(['Q', ' '], ",");
            let at: Vec<f64> = path.split(',').map(|value| value.parse().unwrap()).collect();
            let [begin, knee, end] = [0, 2, 4].map(|place| Spot::new(at[place], at[place + 1]));
            drawn.arrows.push((title, Curve { begin, knee, end }));
        }
        drawn
    }

    fn check(&self, what: &str) {
        assert_eq!(self.badges.len(), self.arrows.len(), "{what}: arrows without a number");
        for (at, badge) in self.badges.iter().enumerate() {
            let others = self.badges[at + 1..].iter().chain(&self.names);
            let hidden = others.filter(|other| badge.is_near(other, 0.0)).count();
            assert_eq!(hidden, 0, "{what}: the number at {badge:?} covers something");
            for (node, middle, radius) in &self.nodes {
                let gap = badge.distance(*middle) - radius;
                assert!(gap > 0.0, "{what}: the number at {badge:?} covers {node}");
            }
        }
        for (at, name) in self.names.iter().enumerate() {
            let hides =
                |(_, middle, radius): &&(String, Spot, f64)| name.distance(*middle) < *radius;
            assert_eq!(self.nodes.iter().filter(hides).count(), 0, "{what}: {name:?} on a node");
            let others = self.names[at + 1..].iter().filter(|other| name.is_near(other, 0.0));
            assert_eq!(others.count(), 0, "{what}: {name:?} on a name");
            let crosses = |(_, curve): &&(String, Curve)| {
                curve.spots(2.0).iter().any(|spot| name.distance(*spot) <= 0.0)
            };
            let crossed = self.arrows.iter().find(crosses);
            assert!(crossed.is_none(), "{what}: {name:?} under {:?}", crossed.map(|(it, _)| it));
        }
        self.arrows.iter().for_each(|arrow| self.check_arrow(what, arrow));
        self.check_crosses(what);
    }

    /// The crosses of lost messages cover nothing, and none is on another one.
    fn check_crosses(&self, what: &str) {
        let lost = self.arrows.iter().filter(|(title, _)| title.contains(", lost"));
        let crosses: Vec<(&str, Spot)> =
            lost.map(|(title, curve)| (title.as_str(), curve.end)).collect();
        for (at, (title, cross)) in crosses.iter().enumerate() {
            let box_of = |spot: Spot| Area::around(spot, 9.0, 9.0);
            for (other, spot) in &crosses[at + 1..] {
                let is_near = box_of(*cross).is_near(&box_of(*spot), 0.0);
                assert!(!is_near, "{what}: the crosses of {title} and {other} overlap");
            }
            let mut texts = self.badges.iter().chain(&self.names);
            assert!(
                texts.all(|text| !text.is_near(&box_of(*cross), 0.0)),
                "{what}: a text covers the cross of {title}"
            );
            let mut nodes = self.nodes.iter();
            assert!(
                nodes.all(|(_, middle, radius)| cross.distance(*middle) > *radius),
                "{what}: a node covers the cross of {title}"
            );
        }
    }

    fn check_arrow(&self, what: &str, (title, curve): &(String, Curve)) {
        let from = between(title, " from ", " to ");
        let to = between(title, " to ", ", step");
        for (node, middle, radius) in &self.nodes {
            if node == from {
                continue;
            }
            let spots = curve.spots(2.0);
            let least = spots.iter().map(|spot| spot.distance(*middle)).fold(1e9, f64::min);
            assert!(least > *radius, "{what}: {title} passes through {node}");
            if node == to && title.ends_with("is down") {
                let gap = curve.end.distance(*middle) - radius;
                assert!(gap < 12.0, "{what}: {title} ends {gap} before the dead node");
            }
        }
    }
}

fn parts<'a>(text: &'a str, class: &str) -> Vec<&'a str> {
    text.split(class).skip(1).collect()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let begin = text.find(start).expect("it begins") + start.len();
    &text[begin..begin + text[begin..].find(end).expect("it ends")]
}

/// The first value of an attribute.
fn number(text: &str, name: &str) -> f64 {
    between(text, &format!(" {name}=\""), "\"").parse().expect("a number")
}
