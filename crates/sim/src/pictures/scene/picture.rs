//! One picture of a scene: links, arrows, nodes, numbers, from back to front.

use tanist_core::trace::Header;

use super::Scene;
use super::geometry::Area;
use super::messages::{Fate, listed};
use super::nodes::Looks;
use super::routes::{BADGE, BADGE_FONT, Layout, Route};
use super::sheet::{Sheet, draw_words};
use crate::pictures::looks::{self, Mark};
use crate::pictures::svg::{Font, Pen, Spot, Svg};

/// Draws one picture with its upper left corner at a position.
pub(super) fn draw(
    svg: &mut Svg,
    corner: Spot,
    (header, scene): (&Header, &Scene),
    sheet: &Sheet,
    (layout, looks): (&Layout, &Looks),
) {
    svg.put(format_args!(
        "<g class=\"picture\" transform=\"translate({:.1} {:.1})\">\n",
        corner.x, corner.y
    ));
    for (a, b) in &scene.links {
        if let (Some(a), Some(b)) = (sheet.place(*a), sheet.place(*b)) {
            svg.line(a, b, Pen::new(LINK, 5.0));
        }
    }
    for route in &layout.routes {
        draw_route(svg, header, route);
    }
    for member in &header.nodes {
        let sign = layout.signs.get(&member.id).copied();
        sheet.draw_node(svg, member, &header.names, looks, sign);
    }
    for (area, words) in layout.words.values() {
        draw_words(svg, area, words);
    }
    // Above everything else, since a hidden number is missed most.
    for route in &layout.routes {
        if let Some(area) = &route.badge {
            draw_badge(svg, area, route);
        }
    }
    svg.put(format_args!("</g>\n"));
}

fn draw_route(svg: &mut Svg, header: &Header, route: &Route) {
    let arrow = &route.arrow;
    let fate = match arrow.fate {
        Fate::Arrives => "",
        Fate::FindsItDown => ", lost: its receiver is down",
        Fate::Lost => ", lost",
    };
    let numbers = route.steps.iter().map(|step| step.number.to_string());
    let numbers = numbers.collect::<Vec<_>>().join(", ");
    let says = match listed(&route.steps).as_str() {
        "" => String::new(),
        says => format!(": {says}"),
    };
    let (from, to) = (header.names.of(arrow.from), header.names.of(arrow.to));
    let kind = arrow.kind;
    let pen = looks::pen(kind);
    svg.open("step", &format!("{kind} from {from} to {to}, step {numbers}{says}{fate}"));
    let curve = &route.curve;
    svg.put(format_args!(
        "<path d=\"M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}\" {pen} fill=\"none\"/>\n",
        curve.begin.x, curve.begin.y, curve.knee.x, curve.knee.y, curve.end.x, curve.end.y
    ));
    match arrow.fate {
        Fate::Arrives => looks::head(svg, curve.knee, curve.end, pen.colour),
        Fate::FindsItDown | Fate::Lost => Mark::Lost.draw(svg, curve.end),
    }
    svg.close();
}

fn draw_badge(svg: &mut Svg, area: &Area, route: &Route) {
    let colour = looks::pen(route.arrow.kind).colour;
    svg.put(format_args!(
        "<rect class=\"badge\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BADGE}\" \
         rx=\"10\" fill=\"#ffffff\" {}/>\n",
        area.left,
        area.top,
        area.right - area.left,
        Pen::new(colour, 1.2)
    ));
    let at = Spot::new((area.left + area.right) / 2.0, area.bottom - 5.8);
    svg.text(at, Font { colour, ..BADGE_FONT }, &route.text);
}

const LINK: &str = "#d8dce1";
