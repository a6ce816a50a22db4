//! Pages made of pictures: one picture with its title and legend, all stages of a run on one
//! sheet, or a file for each stage with an index.

use tanist_core::trace::Header;

use super::legend::Legend;
use super::nodes::Looks;
use super::routes::Layout;
use super::sheet::Sheet;
use super::{Frame, Scene, picture};
use crate::pictures::svg::{FAINT, Font, INK, Pen, Spot, Svg, escape};

/// A picture before it is drawn.
pub(super) struct Panel {
    pub(super) layout: Layout,
    pub(super) looks: Looks,
    pub(super) title: String,
    pub(super) caption: String,
}

/// What all pictures of a run share.
pub(super) struct Page<'a> {
    pub(super) header: &'a Header,
    pub(super) scene: &'a Scene,
    pub(super) sheet: Sheet,
}

impl Page<'_> {
    /// One picture by itself.
    pub(super) fn single(&self, panel: &Panel, description: &str) -> String {
        let mut legend = Legend::default();
        legend.add(&panel.layout, &panel.looks);
        let title_font = Font::new(20.0, INK).bold();
        let wide = title_font.width(&panel.title).min(TITLE_MAX).max(self.sheet.size.x);
        let width = (wide + 2.0 * EDGE).max(WIDTH_MIN);
        let lines = wrapped(&panel.caption, CAPTION, width - 2.0 * EDGE);
        let titles = wrapped(&panel.title, title_font, width - 2.0 * EDGE);
        let top = 12.0 + 26.0 * count(titles.len()) + LINE * count(lines.len());
        let legend_top = top + self.sheet.size.y + 4.0;
        let room = width - 2.0 * EDGE;
        let size = Spot::new(width, legend_top + legend.height(room) + 14.0);
        let mut svg = Svg::new(size, &panel.title, description);
        for (line, text) in titles.iter().enumerate() {
            svg.text(Spot::new(EDGE, 32.0 + 26.0 * count(line)), title_font, text);
        }
        let below = 28.0 + 26.0 * count(titles.len());
        for (line, text) in lines.iter().enumerate() {
            svg.text(Spot::new(EDGE, below + LINE * count(line)), CAPTION, text);
        }
        let corner = Spot::new((width - self.sheet.size.x) / 2.0, top);
        let (of, what) = ((self.header, self.scene), (&panel.layout, &panel.looks));
        picture::draw(&mut svg, corner, of, &self.sheet, what);
        legend.draw(&mut svg, Spot::new(EDGE, legend_top), room);
        svg.finish()
    }

    /// All panels on one sheet, line by line.
    pub(super) fn sheet_of(&self, title: &str, panels: &[Panel]) -> String {
        let cell = (self.sheet.size.x + 2.0 * EDGE).max(CELL_MIN);
        let columns = ((SHEET_MAX / cell).floor().max(1.0)).min(count(panels.len().max(1)));
        let per_row = (1..=panels.len().max(1)).take_while(|at| count(*at) <= columns).count();
        let captions: Vec<Vec<String>> = panels
            .iter()
            .map(|panel| wrapped(&panel.caption, CAPTION, cell - 2.0 * EDGE))
            .collect();
        let mut legend = Legend::default();
        panels.iter().for_each(|panel| legend.add(&panel.layout, &panel.looks));
        let width = (cell * columns).max(WIDTH_MIN);
        let heights: Vec<f64> = captions
            .chunks(per_row)
            .map(|row| {
                let lines = row.iter().map(Vec::len).max().unwrap_or(0);
                HEADING + LINE * count(lines) + self.sheet.size.y
            })
            .collect();
        let bottom = HEAD + heights.iter().sum::<f64>();
        let room = width - 2.0 * EDGE;
        let size = Spot::new(width, bottom + legend.height(room) + 20.0);
        let about = format!("{title}, in {} stages.", panels.len());
        let mut svg = Svg::new(size, title, &about);
        svg.text(Spot::new(EDGE, 34.0), Font::new(20.0, INK).bold(), title);
        let mut top = HEAD;
        for ((row, captions), height) in
            panels.chunks(per_row).zip(captions.chunks(per_row)).zip(heights)
        {
            for (column, (panel, caption)) in row.iter().zip(captions).enumerate() {
                let left = cell * count(column);
                self.draw_panel(&mut svg, Spot::new(left, top), cell, panel, caption);
            }
            top += height;
        }
        legend.draw(&mut svg, Spot::new(EDGE, bottom + 6.0), room);
        svg.finish()
    }

    fn draw_panel(&self, svg: &mut Svg, at: Spot, cell: f64, panel: &Panel, caption: &[String]) {
        let rule = Spot::new(at.x + EDGE, at.y + 4.0);
        svg.line(rule, Spot::new(at.x + cell - EDGE, rule.y), Pen::new("#d0d4d9", 1.0));
        let heading = Font::new(15.0, INK).bold();
        svg.text(Spot::new(at.x + EDGE, at.y + 26.0), heading, &panel.title);
        for (line, text) in caption.iter().enumerate() {
            let below = at.y + 46.0 + LINE * count(line);
            svg.text(Spot::new(at.x + EDGE, below), CAPTION, text);
        }
        let lines = count(caption.len());
        let left = at.x + (cell - self.sheet.size.x) / 2.0;
        let corner = Spot::new(left, at.y + HEADING - 8.0 + LINE * lines);
        let (of, what) = ((self.header, self.scene), (&panel.layout, &panel.looks));
        picture::draw(svg, corner, of, &self.sheet, what);
    }
}

/// An index of frames as a page without any script.
#[must_use]
pub fn index(title: &str, frames: &[Frame]) -> String {
    let title = escape(title);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         {FRAMES_MARK}\n<title>{title}</title>\n<style>\n\
         body {{ font-family: Helvetica, Arial, sans-serif; color: #24292f; \
         max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}\n\
         figure {{ margin: 2rem 0; padding-top: 1rem; border-top: 1px solid #d0d4d9 }}\n\
         figcaption {{ margin-top: .5rem; line-height: 1.4 }}\n\
         img {{ max-width: 100%; height: auto }}\n</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    for frame in frames {
        let (file, caption) = (escape(&frame.file), escape(&frame.caption));
        let heading = escape(&frame.title);
        html.push_str(&format!(
            "<figure>\n<img src=\"{file}\" alt=\"{heading}: {caption}\">\n\
             <figcaption><b>{heading}.</b> {caption}</figcaption>\n</figure>\n"
        ));
    }
    html.push_str("</body>\n</html>\n");
    html
}

/// Breaks a text into lines of at most this width; not at spaces that do not break.
fn wrapped(text: &str, font: Font, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if font.width(&format!("{line} {word}")) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

fn count(items: usize) -> f64 {
    f64::from(u32::try_from(items).unwrap_or(u32::MAX))
}

/// In an index of frames, and in no other page: says that it may be replaced.
pub const FRAMES_MARK: &str = "<meta name=\"generator\" content=\"tanist sim run --frames\">";
const CAPTION: Font = Font::new(14.0, FAINT);
const LINE: f64 = 19.0;
const EDGE: f64 = 20.0;
const HEAD: f64 = 48.0;
const HEADING: f64 = 44.0;
const WIDTH_MIN: f64 = 640.0;
const CELL_MIN: f64 = 440.0;
const TITLE_MAX: f64 = 760.0;
/// Sheets are no wider, unless one picture is.
const SHEET_MAX: f64 = 1500.0;
