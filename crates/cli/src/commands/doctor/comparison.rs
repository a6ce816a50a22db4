//! How a node and its peers differ: what the handshake refuses, and what peers tell of themselves.

use std::collections::BTreeSet;

use super::finding::Findings;
use super::machine;
use crate::agent::report::{
    DifferenceReport, MemberReport, MembersReport, PeerReport, SettingsReport, ToldReport,
};
use crate::terminal::moment;
use crate::terminal::output::plain;

/// Compares this node with each of its peers. Those that are refused for what they were told are
/// named here; the others are compared by what they told of themselves.
pub(super) fn look(
    seen: &MembersReport,
    settings: &SettingsReport,
    is_misdirected: bool,
    findings: &mut Findings,
) {
    for peer in &settings.peers {
        let member = seen.members.iter().find(|member| member.node == peer.node);
        let Some(member) = member else { continue };
        let pair = Pair { me: &seen.status.node, peer: &peer.node, address: &member.address };
        if is_refused(peer) {
            for difference in telling(&peer.differences) {
                pair.differs(difference, findings);
            }
        } else if let Some(told) = &peer.told {
            pair.version(&settings.version, told, findings);
            pair.list(seen.status.peers_version, told, findings);
            pair.clock(told, findings);
            pair.port(told, is_misdirected, findings);
        }
    }
}

/// Whether one of the two refuses the other for what it was told.
pub(super) fn is_refused(peer: &PeerReport) -> bool {
    !peer.differences.is_empty()
}

/// The peer that a member is.
pub(super) fn of<'a>(
    settings: &'a SettingsReport,
    member: &MemberReport,
) -> Option<&'a PeerReport> {
    settings.peers.iter().find(|peer| peer.node == member.node)
}

/// Those that do not merely follow from another one.
fn telling(all: &[DifferenceReport]) -> impl Iterator<Item = &DifferenceReport> {
    let of = |key: &str| all.iter().find(|difference| difference.key == key);
    let is_other_algorithm = of("algorithm").is_some();
    let are_others = of("peers").is_some_and(has_other_names);
    let is_given = |key: &str| key.starts_with("timing.") && key != DERIVED;
    let has_timing = all.iter().any(|difference| is_given(&difference.key));
    all.iter().filter(move |difference| match difference.key.as_str() {
        DERIVED => !has_timing && !are_others && !is_other_algorithm,
        // Lists are told in the order of priorities.
        "peers" => are_others,
        "priorities" => !are_others,
        key if key.starts_with("options.") => !is_other_algorithm,
        _ => true,
    })
}

/// Whether two lists of nodes have other names, and not only another order.
fn has_other_names(lists: &DifferenceReport) -> bool {
    let names = |list: &str| list.split(' ').map(str::to_owned).collect::<BTreeSet<String>>();
    names(&lists.ours) != names(&lists.theirs)
}

/// This node and one of its peers.
struct Pair<'a> {
    me: &'a str,
    peer: &'a str,
    address: &'a str,
}

impl Pair<'_> {
    fn differs(&self, difference: &DifferenceReport, findings: &mut Findings) {
        let Self { me, peer, address } = self;
        let (ours, theirs) = (plain(&difference.ours), plain(&difference.theirs));
        match difference.key.as_str() {
            "group" => {
                let what = format!("{peer} belongs to group {theirs}, {me} to {ours}.");
                let fix = format!("correct `group` on one of them, or the address of {peer}");
                findings.problem("group", what, &fix);
            }
            "node" => {
                let what = format!("{theirs} answers at {address}, the address of {peer} here.");
                let fix = format!("correct the address of {peer} in `peers` on {me}");
                findings.problem("peers", what, &fix);
            }
            "wire" => {
                let what = format!("{peer} speaks versions {theirs} of the wire, {me} {ours}.");
                findings.problem("version", what, "upgrade one release at a time");
            }
            "peers" => self.lists(&ours, &theirs, findings),
            "algorithm" => {
                let what = format!("{peer} runs the algorithm {theirs}, {me} runs {ours}.");
                findings.problem("settings", what, &same("algorithm"));
            }
            DERIVED => {
                let what = format!("{peer} has the derived waits {theirs}, {me} has {ours}.");
                findings.problem("settings", what, "run the same release on all nodes");
            }
            key => {
                let key = plain(key);
                let what = format!("{peer} has {key} {theirs}, {me} has {ours}.");
                findings.problem("settings", what, &same(&key));
            }
        }
    }

    fn lists(&self, ours: &str, theirs: &str, findings: &mut Findings) {
        let Self { me, peer, .. } = self;
        // A long list is told by its digest.
        let is_whole = !theirs.contains("of digest");
        if is_whole && !theirs.split(' ').any(|node| node == *me) {
            let what = format!("{peer} does not list {me}: its peers are {theirs}, here {ours}.");
            let fix = format!("add {me} to `peers` on {peer}, or remove {peer} here; restart both");
            return findings.problem("peers", what, &fix);
        }
        let what = format!("{peer} has the peers {theirs}, {me} has {ours}.");
        findings.problem("peers", what, &same("peers"));
    }

    fn version(&self, mine: &str, told: &ToldReport, findings: &mut Findings) {
        let Self { me, peer, .. } = self;
        let theirs = plain(&told.program);
        if theirs != mine {
            let what = format!("{peer} runs tanist {theirs}, {me} runs {mine}.");
            let fix = "finish the upgrade: one node at a time, until all run the same release";
            findings.warn("version", what, fix);
        }
    }

    fn list(&self, mine: u32, told: &ToldReport, findings: &mut Findings) {
        let Self { me, peer, .. } = self;
        let theirs = told.peers_version;
        if theirs != mine {
            let what =
                format!("{peer} has version {theirs} of the member list, {me} version {mine}.");
            let older = if theirs < mine { peer } else { me };
            let fix =
                format!("bring `peers` and `peers_version` on {older} up to date; restart it");
            findings.problem("peers", what, &fix);
        }
    }

    fn clock(&self, told: &ToldReport, findings: &mut Findings) {
        let Self { me, peer, .. } = self;
        let ahead = told.clock_ahead_ms;
        if ahead.unsigned_abs() < CLOCK_APART_MS {
            return;
        }
        let span = moment::span(std::time::Duration::from_millis(ahead.unsigned_abs()));
        let way = if ahead > 0 { "ahead of" } else { "behind" };
        let what = format!("The wall clock of {peer} is {span} {way} that of {me}.");
        let fix = "synchronize both (NTP); elections do not depend on it, times in logs do";
        findings.warn("clock", what, fix);
    }

    /// A port that is forwarded may differ, as long as the peer is there.
    fn port(&self, told: &ToldReport, is_misdirected: bool, findings: &mut Findings) {
        let Self { me, peer, address } = self;
        let listed = address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        let (Some(port), Some(listed)) = (told.port, listed) else { return };
        if port == listed {
            return;
        }
        let what =
            format!("{me} lists {peer} at {address}, but {peer} says that its port is {port}");
        let fix = format!("correct the address of {peer} in `peers` on {me}, and restart it");
        if !machine::is_somebody_at(address) {
            let what = format!("{what}; no process listens at {address}.");
            findings.problem("peers", what, &fix);
        } else if is_misdirected {
            let what = format!("{what}; another node answers at {address}.");
            findings.problem("peers", what, &fix);
        } else {
            let fix = format!("nothing, if the port is forwarded; else {fix}");
            findings.warn("peers", format!("{what}."), &fix);
        }
    }
}

fn same(key: &str) -> String {
    format!("write the same {key} on all nodes, and restart those that change")
}

/// What a node derives from its settings.
const DERIVED: &str = "timing.others";
/// Far more than a handshake takes.
const CLOCK_APART_MS: u64 = 1000;

#[cfg(test)]
mod tests;
