//! An SVG document: shapes and escaped text, independent of the page around it.
//!
//! Styles are attributes and no element has an id, so that several pictures can be put into one
//! page. Coordinates are rounded to a tenth of a pixel, which makes equal traces equal pictures.

use core::fmt::{self, Write};

/// A position in the document, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spot {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

impl Spot {
    pub(crate) const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// The position at this part of the way to another one.
    pub(crate) fn toward(self, other: Self, part: f64) -> Self {
        Self::new(self.x + (other.x - self.x) * part, self.y + (other.y - self.y) * part)
    }

    pub(crate) fn distance(self, other: Self) -> f64 {
        let (x, y) = (other.x - self.x, other.y - self.y);
        (x * x + y * y).sqrt()
    }
}

/// How a piece of text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Font {
    pub(crate) size: f64,
    pub(crate) colour: &'static str,
    pub(crate) weight: Weight,
    pub(crate) anchor: Anchor,
}

impl Font {
    pub(crate) const fn new(size: f64, colour: &'static str) -> Self {
        Self { size, colour, weight: Weight::Plain, anchor: Anchor::Start }
    }

    pub(crate) const fn bold(self) -> Self {
        Self { weight: Weight::Bold, ..self }
    }

    pub(crate) const fn centred(self) -> Self {
        Self { anchor: Anchor::Middle, ..self }
    }

    pub(crate) const fn to_the_left(self) -> Self {
        Self { anchor: Anchor::End, ..self }
    }

    /// The approximate width of a text; fonts differ, so this is on the safe side.
    pub(crate) fn width(&self, text: &str) -> f64 {
        let per_size = match self.weight {
            Weight::Plain => 0.57,
            Weight::Bold => 0.63,
        };
        f64::from(u32::try_from(text.chars().count()).unwrap_or(u32::MAX)) * self.size * per_size
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Weight {
    Plain,
    Bold,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a line looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pen {
    pub(crate) colour: &'static str,
    pub(crate) width: f64,
    /// As in `stroke-dasharray`; empty for a solid line.
    pub(crate) dash: &'static str,
}

impl Pen {
    pub(crate) const fn new(colour: &'static str, width: f64) -> Self {
        Self { colour, width, dash: "" }
    }

    pub(crate) const fn dashed(self, dash: &'static str) -> Self {
        Self { dash, ..self }
    }
}

impl fmt::Display for Pen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"stroke="{}" stroke-width="{}""#, self.colour, self.width)?;
        match self.dash {
            "" => Ok(()),
            dash => write!(f, r#" stroke-dasharray="{dash}""#),
        }
    }
}

/// The document.
pub(crate) struct Svg {
    out: String,
}

impl Svg {
    pub(crate) fn new(size: Spot, title: &str, description: &str) -> Self {
        let mut svg = Self { out: String::new() };
        let Spot { x: width, y: height } = size;
        svg.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" style=\"max-width:100%;height:auto\" \
             role=\"img\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n\
             <title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#ffffff\"/>\n",
            escape(title),
            escape(description),
        ));
        svg
    }

    pub(crate) fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    /// Writes markup as it is.
    pub(crate) fn put(&mut self, markup: fmt::Arguments<'_>) {
        self.out.write_fmt(markup).expect("a String takes every text");
    }

    /// Opens a group with a tooltip.
    pub(crate) fn open(&mut self, class: &str, tooltip: &str) {
        self.put(format_args!(r#"<g class="{class}"><title>{}</title>"#, escape(tooltip)));
    }

    pub(crate) fn close(&mut self) {
        self.out.push_str("</g>\n");
    }

    pub(crate) fn line(&mut self, from: Spot, to: Spot, pen: Pen) {
        self.put(format_args!(
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" {pen} fill=\"none\"/>\n",
            from.x, from.y, to.x, to.y
        ));
    }

    /// Lines through all these positions.
    pub(crate) fn polyline(&mut self, spots: &[Spot], pen: Pen) {
        self.out.push_str("<path d=\"");
        self.through(spots);
        self.put(format_args!("\" {pen} fill=\"none\" stroke-linejoin=\"round\"/>\n"));
    }

    pub(crate) fn polygon(&mut self, spots: &[Spot], fill: &str, pen: Pen) {
        self.out.push_str("<path d=\"");
        self.through(spots);
        self.put(format_args!("Z\" {pen} fill=\"{fill}\" stroke-linejoin=\"round\"/>\n"));
    }

    pub(crate) fn cross(&mut self, at: Spot, arm: f64, pen: Pen) {
        let Spot { x, y } = at;
        let (left, right, top, bottom) = (x - arm, x + arm, y - arm, y + arm);
        self.put(format_args!(
            "<path d=\"M{left:.1} {top:.1}L{right:.1} {bottom:.1}M{left:.1} {bottom:.1}\
             L{right:.1} {top:.1}\" {pen} fill=\"none\" stroke-linecap=\"round\"/>\n"
        ));
    }

    pub(crate) fn circle(&mut self, at: Spot, radius: f64, fill: &str, pen: Pen) {
        self.put(format_args!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" {pen}/>\n",
            at.x, at.y
        ));
    }

    /// A vertical bar between two positions, with a stroke across each end.
    pub(crate) fn bar(&mut self, ends: [Spot; 2], arm: f64, pen: Pen) {
        let [low, high] = ends;
        self.line(low, high, pen);
        for end in ends {
            self.line(Spot::new(end.x - arm, end.y), Spot::new(end.x + arm, end.y), pen);
        }
    }

    /// A filled box from its upper left corner.
    pub(crate) fn area(&mut self, corner: Spot, size: Spot, fill: &str) {
        self.put(format_args!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\"/>\n",
            corner.x, corner.y, size.x, size.y
        ));
    }

    /// Text on its baseline.
    pub(crate) fn text(&mut self, at: Spot, font: Font, text: &str) {
        let anchor = match font.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = match font.weight {
            Weight::Plain => "",
            Weight::Bold => " font-weight=\"bold\"",
        };
        self.put(format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{}\" fill=\"{}\"{anchor}{weight}>\
             {}</text>\n",
            at.x,
            at.y,
            font.size,
            font.colour,
            escape(text)
        ));
    }

    fn through(&mut self, spots: &[Spot]) {
        for (position, spot) in spots.iter().enumerate() {
            let step = if position == 0 { 'M' } else { 'L' };
            self.put(format_args!("{step}{:.1} {:.1}", spot.x, spot.y));
        }
    }
}

/// The text with everything replaced that XML would take for markup or refuse.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Text and outlines.
pub(crate) const INK: &str = "#24292f";
/// Secondary text.
pub(crate) const FAINT: &str = "#6e7781";
/// Errors.
pub(crate) const RED: &str = "#c4002b";

/// Panics unless every tag is closed by its own end tag; for tests of pictures.
#[cfg(test)]
pub(crate) fn assert_balanced(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "stray '>' before {}", &rest[start..]);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        assert!(!tag.contains('<'), "'<' inside <{tag}>");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes do not pair in <{tag}>");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes something else");
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("a tag has a name"));
        }
    }
    assert!(open.is_empty(), "still open: {open:?}");
    assert!(!svg.contains("NaN"), "a place is not a number");
    assert!(!svg.contains("inf"), "a place is at infinity");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_text_is_escaped() {
        assert_eq!(
            escape("a<b> & \"c\" 'd'\u{1}"),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;\u{fffd}"
        );
    }

    #[test]
    fn a_sheet_is_balanced_and_titled() {
        let mut svg = Svg::new(Spot::new(10.0, 20.0), "<t>", "d & d");
        svg.open("x", "tip");
        svg.text(Spot::new(1.0, 2.0), Font::new(12.0, "#000"), "hello");
        svg.close();
        let text = svg.finish();
        assert_balanced(&text);
        assert!(text.contains("<title>&lt;t&gt;</title>"));
        assert!(text.contains("viewBox=\"0 0 10 20\""));
    }
}
