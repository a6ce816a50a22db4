//! How peers are put into groups: by label or by hash, split and merged by size.
//!
//! A label's nodes are a group. One that is larger than max is split into parts of about equal
//! size, one that is smaller than min is merged with its neighbour in the order of names. Nodes
//! without the label are put in order of a hash of their ids and divided in that order, so that
//! nodes with neighbouring ids, which often fail together, are in different groups.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Label, Member, Membership, NodeId};
use crate::election::super_peer::{By, Options};

/// The peer groups, each with at least one member.
pub(super) fn groups(members: &Membership, options: &Options) -> Vec<Membership> {
    let mut order: Vec<(Option<Label>, u32, Member)> = members
        .all()
        .iter()
        .map(|member| {
            let labels = members.labels(member.id);
            let label = match options.by {
                By::Rack => labels.rack,
                By::Zone => labels.zone,
                By::Hash => None,
            };
            (label, scatter(member.id), *member)
        })
        .collect();
    order.sort_unstable_by_key(|(label, hash, member)| (*label, *hash, member.id));
    let mut groups = Vec::new();
    for range in sized(&labelled(&order), options.min.count(), options.max.count()) {
        let nodes = order[range].iter().map(|(_, _, member)| *member);
        let labels = nodes.clone().map(|member| (member.id, members.labels(member.id)));
        if let Ok(group) = Membership::new(nodes.clone()) {
            groups.push(group.with_version(members.version()).with_labels(labels));
        }
    }
    groups
}

/// The ranges of nodes with one label; nodes without one have a range of their own.
fn labelled(order: &[(Option<Label>, u32, Member)]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, (label, ..)) in order.iter().enumerate() {
        match ranges.last_mut() {
            Some(last) if order[last.start].0 == *label => last.end = at + 1,
            Some(_) | None => ranges.push(at..at + 1),
        }
    }
    ranges
}

/// Merges neighbours until none is below min, then splits what is above max.
fn sized(ranges: &[Range<usize>], min: usize, max: usize) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.len() < min || range.len() < min => last.end = range.end,
            Some(_) | None => merged.push(range.clone()),
        }
    }
    merged
        .into_iter()
        .flat_map(|range| {
            let parts = range.len().div_ceil(max);
            cut(range.len(), parts)
                .map(move |part| range.start + part.start..range.start + part.end)
        })
        .collect()
}

/// Divides `count` items into this many parts, whose sizes differ by one at most.
pub(super) fn cut(count: usize, parts: usize) -> impl Iterator<Item = Range<usize>> {
    let parts = parts.max(1);
    (0..parts).map(move |part| part * count / parts..(part + 1) * count / parts)
}

/// Neighbouring ids end up far apart; different ids have different hashes.
const fn scatter(id: NodeId) -> u32 {
    let mut hash = id.0.wrapping_mul(0x9E37_79B1);
    hash ^= hash >> 15;
    hash.wrapping_mul(0x85EB_CA77)
}
