//! A map of a radio network: the positions of nodes, their links, and their leaders.
//!
//! Each component has a colour, its leader a ring and a name; a component without agreement is grey
//! with dark rims. Colours repeat where there are many components; neighbouring ones can be told
//! apart by their links.

use std::fmt::{self, Write};

use tanist_core::NodeId;

use crate::studies::agreement::Component;
use crate::world::places::{Area, Position};

/// The contents of the map.
pub struct Map<'a> {
    /// A line above it.
    pub title: &'a str,
    /// A smaller line below that.
    pub about: &'a str,
    /// The area that is drawn.
    pub area: Area,
    /// The ids of the nodes.
    pub ids: &'a [NodeId],
    /// Their positions, in the same order.
    pub positions: &'a [Position],
    /// Links between nodes, as indexes in that order.
    pub links: &'a [(usize, usize)],
    /// The components of the network.
    pub components: &'a [Component],
}

impl Map<'_> {
    /// The picture as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let mut svg = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut svg);
        svg
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        let height = SIDE * f64::from(self.area.height) / f64::from(self.area.width.max(1));
        let (width, height) = (SIDE + 2.0 * EDGE, height + 2.0 * EDGE + HEAD);
        writeln!(
            to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" \
             font-family=\"Helvetica, Arial, sans-serif\">"
        )?;
        writeln!(to, "<title>{}</title>", escaped(self.title))?;
        writeln!(to, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>")?;
        let title = escaped(self.title);
        writeln!(to, "<text x=\"{EDGE}\" y=\"34\" font-size=\"20\" fill=\"{INK}\">{title}</text>")?;
        let about = escaped(self.about);
        writeln!(
            to,
            "<text x=\"{EDGE}\" y=\"58\" font-size=\"14\" fill=\"{FAINT}\">{about}</text>"
        )?;
        writeln!(
            to,
            "<rect x=\"{EDGE}\" y=\"{:.1}\" width=\"{SIDE}\" height=\"{:.1}\" fill=\"#fafbfc\" \
             stroke=\"#d0d4d9\"/>",
            HEAD + EDGE,
            height - HEAD - 2.0 * EDGE,
        )?;
        self.write_links(to)?;
        self.write_nodes(to)?;
        writeln!(to, "</svg>")
    }

    fn write_links(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "<g stroke=\"#c3cad3\" stroke-width=\"0.7\">")?;
        for (a, b) in self.links {
            let ((x1, y1), (x2, y2)) = (self.spot(*a), self.spot(*b));
            writeln!(to, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>")?;
        }
        writeln!(to, "</g>")
    }

    /// Leaders last, so that no other node covers them.
    fn write_nodes(&self, to: &mut String) -> fmt::Result {
        let radius = if self.ids.len() > 100 { 4.5 } else { 8.0 };
        for (number, component) in self.components.iter().enumerate() {
            let (fill, rim) = match component.is_agreed {
                true => (COLOURS[number % COLOURS.len()], "#ffffff"),
                false => ("#aab2bd", INK),
            };
            for node in &component.nodes {
                let (x, y) = self.spot(*node);
                writeln!(
                    to,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\" \
                     stroke=\"{rim}\"/>"
                )?;
            }
        }
        for (number, component) in self.components.iter().enumerate() {
            let Some(leader) = component.leader else { continue };
            let Some(at) = self.ids.iter().position(|id| *id == leader) else { continue };
            let (x, y) = self.spot(at);
            let colour = COLOURS[number % COLOURS.len()];
            let (ring, above) = (radius + 4.0, y - radius - 9.0);
            writeln!(
                to,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{ring}\" fill=\"none\" stroke=\"{colour}\" \
                 stroke-width=\"3\"/>\n<text x=\"{x:.1}\" y=\"{above:.1}\" font-size=\"14\" \
                 font-weight=\"bold\" text-anchor=\"middle\" fill=\"{INK}\" stroke=\"#ffffff\" \
                 stroke-width=\"3\" paint-order=\"stroke\">{leader}</text>"
            )?;
        }
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "places on a map")]
    fn spot(&self, node: usize) -> (f64, f64) {
        let Position { x, y } = self.positions[node];
        let scale = SIDE / f64::from(self.area.width.max(1));
        (EDGE + x as f64 * scale, HEAD + EDGE + y as f64 * scale)
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The width of the area in the picture.
const SIDE: f64 = 900.0;
const EDGE: f64 = 24.0;
/// Room for the lines above.
const HEAD: f64 = 56.0;
const INK: &str = "#1f2933";
const FAINT: &str = "#5b6673";
/// Distinguishable for people with colour blindness, too.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b5ea7"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_names_the_leader_of_every_part_and_greys_a_part_without() {
        let component = |nodes: &[usize], leader: Option<u32>| Component {
            nodes: nodes.to_vec(),
            leader: leader.map(NodeId),
            is_agreed: leader.is_some(),
        };
        let place = |x, y| Position { x, y };
        let svg = Map {
            title: "5 < 6",
            about: "",
            area: Area { width: 1000, height: 500 },
            ids: &[1, 2, 3, 4, 5].map(NodeId),
            positions: &[
                place(0, 0),
                place(9, 9),
                place(500, 0),
                place(1000, 500),
                place(990, 490),
            ],
            links: &[(0, 1), (3, 4)],
            components: &[
                component(&[0, 1], Some(2)),
                component(&[2], Some(3)),
                component(&[3, 4], None),
            ],
        }
        .to_svg();
        assert!(svg.contains(">n2</text>") && svg.contains(">n3</text>"), "{svg}");
        assert!(!svg.contains(">n4</text>") && svg.contains("#aab2bd"), "{svg}");
        assert_eq!(svg.matches("<line").count(), 2);
        assert_eq!(svg.matches("<circle").count(), 5 + 2);
        assert!(svg.contains("5 &lt; 6"));
    }
}
