//! A trace as a space-time diagram: one line per node, time from left to right, messages as arrows.
//!
//! The picture is an SVG that stands alone or in a page, made for a slide. It is drawn from the
//! trace and nothing else, so a simulated run, a path of the checker and the log of a live node
//! look alike; equal traces give equal pictures. Heartbeats are left out: they would hide
//! everything else.
//!
//! ```text
//!   title
//!   rows of labels           marks: cut, heal, violated assertions, c1..c4
//!   n4  ==== Normal ====x    lanes: status bars; messages and their labels between them
//!   n3  ==== Normal =========
//!   0    5 // 90   95 ms     scale: even time, idle stretches cut short
//!   legend                   looks: only what occurs
//! ```

pub(super) mod links;

mod labels;
mod lanes;
mod marks;
mod messages;
mod scale;

use tanist_core::trace::{Entry, Event, Header};

use self::lanes::{BAR, Lanes};
use self::marks::Marks;
use self::messages::{Message, Names};
use self::scale::Scale;
use crate::observe::recording::without_heartbeats;
use crate::pictures::looks::{Legend, Mark};
use crate::pictures::names::ShortNames;
use crate::pictures::svg::{FAINT, Font, INK, RED, Spot, Svg};

/// Draws a trace as a standalone SVG.
#[must_use]
pub fn space_time(header: &Header, entries: &[Entry]) -> String {
    space_time_of_part(header, entries, "")
}

/// Draws a part of a trace, and writes below the title what is left out.
#[must_use]
pub fn space_time_of_part(header: &Header, entries: &[Entry], note: &str) -> String {
    let entries = &*without_heartbeats(entries);
    let drawn = &entries[..drawable(entries)];
    let messages = messages::read(drawn);
    let names = ShortNames::new(&header.names, NAME_MAX);
    let left = lanes::names_width(header, &names).max(LEFT);
    let scale = scale(header, drawn, &messages, left);
    let marks = Marks::new((header, &names), drawn, &scale, left);
    let lanes = Lanes::new(header, drawn, TITLE + marks.height() + BAR + 8.0);
    let mut legend = Legend::default();
    lanes.explain(&mut legend);
    messages::explain(&messages, &mut legend);
    if scale.has_breaks() {
        legend.marks.insert(Mark::Break);
    }

    let width = scale.right() + RIGHT;
    let axis = lanes.heights().last().copied().unwrap_or(TITLE) + BAR + 22.0;
    let legend_top = axis + 48.0;
    let height = legend_top + legend.height(width - left - RIGHT) + 14.0;
    let title = header.title();
    let description = describe(header, drawn, &messages, &scale);
    let mut svg = Svg::new(Spot::new(width, height), &title, &description);

    draw_title(&mut svg, header, &title, note);
    if let Some(notice) = left_out(entries, drawn, &scale) {
        let font = Font::new(13.0, RED).bold().to_the_left();
        svg.text(Spot::new(width - RIGHT, 50.0), font, &notice);
    }
    // Arrows pass behind the bars of the nodes between.
    let called = Names { short: &names, full: &header.names };
    messages::draw(&messages, &mut svg, &scale, &lanes, &called);
    lanes.draw_bars(&mut svg, &scale, &names, left);
    scale.draw(&mut svg, left, axis, &lanes.heights());
    marks.draw(&mut svg, &scale, &lanes, TITLE, axis);
    lanes.draw_marks(&mut svg, &scale);
    legend.draw(&mut svg, Spot::new(left, legend_top), width - left - RIGHT);
    svg.finish()
}

/// How many entries are drawn: up to the message that would be one too many.
fn drawable(entries: &[Entry]) -> usize {
    let mut sends =
        entries.iter().enumerate().filter(|(_, entry)| matches!(entry.event, Event::Send { .. }));
    sends.nth(MESSAGES_MAX).map_or(entries.len(), |(index, _)| index)
}

fn scale(header: &Header, entries: &[Entry], messages: &[Message], left: f64) -> Scale {
    let mut moments: Vec<u64> = entries.iter().map(|entry| entry.at.as_micros()).collect();
    // A live trace is in the order of writing, which an adjusted clock need not respect.
    moments.sort_unstable();
    moments.dedup();
    let flight = messages::typical_flight(messages).filter(|flight| *flight > 0);
    Scale::new(&moments, flight.unwrap_or(header.answer_us / 2), left)
}

fn draw_title(svg: &mut Svg, header: &Header, title: &str, note: &str) {
    svg.text(Spot::new(16.0, 30.0), Font::new(20.0, INK).bold(), title);
    let options = header.options.join(", ");
    let parts = [options.as_str(), note].into_iter().filter(|part| !part.is_empty());
    let below = parts.collect::<Vec<_>>().join(" · ");
    if !below.is_empty() {
        svg.text(Spot::new(16.0, 50.0), Font::new(13.0, FAINT), &below);
    }
}

/// The picture in words, for people who cannot see it.
fn describe(header: &Header, entries: &[Entry], messages: &[Message], scale: &Scale) -> String {
    let count = |is: fn(&Event) -> bool| entries.iter().filter(|entry| is(&entry.event)).count();
    let from = entries.first().map_or(0, |entry| entry.at.as_micros());
    let to = entries.last().map_or(0, |entry| entry.at.as_micros());
    format!(
        "Space-time diagram of {} nodes from {} to {}: {} messages, {} of them lost, {} crashes, \
         {} restarts, {} violated assertions.",
        header.nodes.len(),
        scale.words(from),
        scale.words(to),
        messages.len(),
        count(|event| matches!(event, Event::Lose { .. })),
        count(|event| matches!(event, Event::Crash { .. })),
        count(|event| matches!(event, Event::Start { restarted: true, .. })),
        count(|event| matches!(event, Event::Violation { .. })),
    )
}

fn left_out(entries: &[Entry], drawn: &[Entry], scale: &Scale) -> Option<String> {
    let rest = &entries[drawn.len()..];
    let first = rest.first()?;
    let sends = rest.iter().filter(|entry| matches!(entry.event, Event::Send { .. })).count();
    Some(format!(
        "{} entries from {} on are left out, {sends} messages among them",
        rest.len(),
        scale.words(first.at.as_micros()),
    ))
}

/// More messages than this are not drawn.
const MESSAGES_MAX: usize = 1500;
/// Longer names of nodes are shortened; tooltips have all of them.
const NAME_MAX: usize = 24;
/// Where the node lines begin, unless long names need more room.
const LEFT: f64 = 92.0;
/// Room to the right of the node lines, for the unit of the axis.
const RIGHT: f64 = 36.0;
/// Room for the title above everything.
const TITLE: f64 = 62.0;

#[cfg(test)]
mod tests;
