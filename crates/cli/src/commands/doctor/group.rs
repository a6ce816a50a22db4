//! What an agent's own counts and its view of the peers tell.

use serde_json::Value;
use tanist::Algorithm;

use super::finding::Findings;
use super::{acting, comparison, machine};
use crate::agent::report::{MemberReport, MembersReport, SettingsReport};
use crate::commands::query::alarms;
use crate::config::why_inactive;
use crate::terminal::moment::millis;

/// Looks at everything that the agent says.
pub(super) fn look(
    seen: &MembersReport,
    settings: &SettingsReport,
    metrics: &Value,
    findings: &mut Findings,
) {
    let counts = Counts::of(metrics);
    state(seen, settings, findings);
    peers(seen, settings, counts.failed, findings);
    comparison::look(seen, settings, counts.wrong_node > 0, findings);
    round_trips(seen, settings, findings);
    silence(settings, findings);
    refusals(&counts, findings);
    load(&counts, findings);
    disk(metrics, findings);
    files(seen, settings, findings);
    lines(settings, findings);
}

/// What the transport counts, as far as it tells of trouble.
struct Counts {
    failed: u64,
    timed_out: u64,
    over_cap: u64,
    overflows: u64,
    own_id: u64,
    replaced: u64,
    wrong_node: u64,
    group: u64,
    unknown_peer: u64,
    version: u64,
    seal: u64,
    settings: u64,
    identity: u64,
    twin: u64,
    by_peers: u64,
}

impl Counts {
    fn of(metrics: &Value) -> Self {
        let count = |name: &str| metrics["transport"][name].as_u64().unwrap_or(0);
        Self {
            failed: count("handshakes_failed"),
            timed_out: count("handshakes_timed_out"),
            over_cap: count("connections_over_cap"),
            overflows: count("queue_overflows"),
            own_id: count("refused_own_id"),
            replaced: count("links_replaced"),
            wrong_node: count("refused_wrong_node"),
            group: count("refused_group"),
            unknown_peer: count("refused_unknown_peer"),
            version: count("refused_version"),
            seal: count("refused_seal"),
            settings: count("refused_settings"),
            identity: count("refused_identity"),
            twin: count("refused_twin"),
            by_peers: count("refused_by_peers"),
        }
    }
}

/// Whether the disk takes the numbers of the next elections.
fn disk(metrics: &Value, findings: &mut Findings) {
    let count = |name: &str| metrics[name].as_u64().unwrap_or(0);
    let (failed, reserved) = (count("reservations_failed"), count("numbers_reserved"));
    if failed > 0 {
        let what = format!(
            "Group numbers for later elections could not be written to disk {failed} times; \
             {reserved} are in reserve."
        );
        let fix = "the agent's log has the reason: free space, or look for errors of the disk";
        if reserved == 0 {
            findings.problem("disk", what, fix);
        } else {
            findings.warn("disk", what, fix);
        }
    }
    let refused = count("refused_counters");
    if refused > 0 {
        let what =
            format!("{refused} messages had a counter that no honest node can have reached.");
        let fix = "the agent's log names the peer; look at it, and change the key if in doubt";
        findings.problem("counter", what, fix);
    }
}

fn state(seen: &MembersReport, settings: &SettingsReport, findings: &mut Findings) {
    let status = &seen.status;
    let node = &status.node;
    for alarm in alarms(status) {
        findings.warn("state", format!("{alarm}."), "end it if it is not meant to last");
    }
    match (acting::judge(seen, settings), &status.leader) {
        (Some(idle), _) if idle.is_wanted => {}
        (Some(idle), _) => findings.problem("state", format!("{}.", idle.why), idle.fix),
        (None, Some(leader)) if leader.node == *node => {
            findings.well("state", format!("{node} leads and acts, state {}.", status.state));
        }
        (None, Some(leader)) => {
            let leader = &leader.node;
            let what = format!("{node} follows {leader}, state {}.", status.state);
            findings.well("state", format!("{what} Whether {leader} acts, doctor says there."));
        }
        (None, None) => {}
    }
    inactive(seen, findings);
    let mine = env!("CARGO_PKG_VERSION");
    let theirs = &settings.version;
    if theirs != mine {
        let what = format!("The agent runs tanist {theirs}, this command is {mine}.");
        findings.note("version", what, "restart the agent with the newer one");
    }
}

/// Whether the algorithm lets no leader of this group become active.
fn inactive(seen: &MembersReport, findings: &mut Findings) {
    let algorithm = Algorithm::from_name(&seen.status.algorithm);
    let nodes = seen.members.len();
    let Some(why) = algorithm.and_then(|algorithm| why_inactive(algorithm, nodes)) else { return };
    let fix = "change `algorithm` on all nodes and restart them";
    if seen.radio {
        findings.note("algorithm", format!("By radio {why}."), fix);
    } else {
        findings.problem("algorithm", format!("{why}."), fix);
    }
}

fn peers(seen: &MembersReport, settings: &SettingsReport, failed: u64, findings: &mut Findings) {
    if seen.radio {
        return neighbours(seen, findings);
    }
    let others = || seen.members.iter().filter(|member| !member.is_self);
    let is_lost = |member: &&MemberReport| {
        let is_refused = member.refusal.is_some() || member.refused_here.is_some();
        member.role.is_none() && !member.is_connected || is_refused
    };
    match (others().filter(is_lost).count(), others().count()) {
        (0, 0) => findings.well("peers", "This node has no peers.".to_owned()),
        (0, 1) => findings.well("peers", "The only peer is connected.".to_owned()),
        (0, all) => findings.well("peers", format!("All {all} peers are connected.")),
        (_, _) => {}
    }
    for member in others() {
        let (node, address) = (&member.node, &member.address);
        // What the two were told differently is named value by value.
        let is_compared = comparison::of(settings, member).is_some_and(comparison::is_refused);
        if is_compared || refused(member, findings) {
            continue;
        }
        // The agent's last word may be old: it dials again only when it has something to say.
        if member.is_refused && !machine::is_somebody_at(address) {
            let what = format!("{node}: no process listens at {address}.");
            findings.warn("peers", what, "start its agent, or correct its address in `peers`");
        } else if is_lost(&member) && failed > 0 {
            let what = format!(
                "{node} at {address} is not connected, and {}: most often one side has another key.",
                handshakes(failed)
            );
            findings.problem("key", what, "compare `tanist key status` on both nodes");
        } else if is_lost(&member) {
            let what = format!("{node}: no answer from {address} (timed out).");
            let fix = "check the machine, the route and firewalls, for TCP and UDP";
            findings.warn("peers", what, fix);
        }
    }
}

/// `1 handshake failed`, `59 handshakes failed`.
fn handshakes(failed: u64) -> String {
    counted(failed, "handshake failed", "handshakes failed")
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Whether one of the two refuses the other although both have the right key: an operator's
/// mistake.
fn refused(member: &MemberReport, findings: &mut Findings) -> bool {
    let node = &member.node;
    if let Some(why) = &member.refusal {
        let fix = format!("correct that here or on {node}, then reload or restart the agent");
        findings.problem("peers", format!("{node} refuses this node: {why}."), &fix);
    }
    if let Some(why) = &member.refused_here {
        let fix =
            format!("correct that here or on {node}; if {node} must stay out, stop its agent");
        findings.problem("peers", format!("{node} is refused here: {why}."), &fix);
    }
    member.refusal.is_some() || member.refused_here.is_some()
}

/// By radio most nodes are out of reach, which is normal; no node in reach is not.
fn neighbours(seen: &MembersReport, findings: &mut Findings) {
    let near = seen.members.iter().filter(|member| member.is_connected);
    let names: Vec<&str> = near.map(|member| member.node.as_str()).collect();
    if names.is_empty() {
        let what = "No neighbour was heard within suspect_after.".to_owned();
        let fix = "check the interface (ip -s link), the range, the firewall for UDP, and \
                   whether port, group and key are the same there";
        return findings.warn("peers", what, fix);
    }
    findings.well("peers", format!("In reach: {}.", names.join(" ")));
}

fn round_trips(seen: &MembersReport, settings: &SettingsReport, findings: &mut Findings) {
    let allowed = 2.0 * settings.message_max_ms;
    for member in &seen.members {
        let Some(rtt) = member.rtt_ms else { continue };
        let share = 100.0 * rtt / allowed;
        let what = format!(
            "{}: the round trip takes {}, and 2 x message_max = 2 x {} = {}: {share:.1} % of it.",
            member.node,
            millis(rtt),
            millis(settings.message_max_ms),
            millis(allowed),
        );
        let fix = format!("set timing.message_max to at least {}", millis(rtt.ceil().max(1.0)));
        if share >= 100.0 {
            findings.problem("round trip", what, &fix);
        } else if share >= 50.0 {
            findings.warn("round trip", what, &fix);
        } else {
            findings.well("round trip", what);
        }
    }
}

fn silence(settings: &SettingsReport, findings: &mut Findings) {
    let (Some(beat), Some(silence)) = (settings.heartbeat_ms, settings.suspect_after_ms) else {
        return;
    };
    let (message, processing) = (settings.message_max_ms, settings.processing_max_ms);
    let needed = 2.0 * beat + message + processing;
    let what = format!(
        "suspect_after is {}; 2 x heartbeat + message_max + processing_max = 2 x {} + {} + {} = {}.",
        millis(silence),
        millis(beat),
        millis(message),
        millis(processing),
        millis(needed),
    );
    if silence < needed {
        let what = format!("{what} One lost heartbeat is enough for a false suspicion.");
        let fix = format!("set timing.suspect_after to {} or more", millis(needed));
        findings.warn("timing", what, &fix);
    } else {
        findings.well("timing", format!("{what} One heartbeat may be lost."));
    }
}

/// Who was turned away, and what that usually means.
fn refusals(counts: &Counts, findings: &mut Findings) {
    let before = findings.all().len();
    if counts.own_id > 0 {
        let what =
            format!("Another process with this node's own id connected {} times.", counts.own_id);
        findings.problem("id", what, "give every node its own `node`; look for a copied file");
    }
    if counts.wrong_node > 0 {
        let times = counts.wrong_node;
        let what = format!("Another node answered at a peer's address {times} times.");
        findings.problem("id", what, "correct the addresses in `peers`");
    }
    if counts.replaced >= REPLACED_MANY {
        let times = counts.replaced;
        let what = format!(
            "The process of a peer was replaced by another one {times} times: it restarts again \
             and again, or two processes have its id."
        );
        findings.problem("id", what, "look for a second agent with the same `node`");
    }
    if counts.group > 0 {
        let what = format!("Nodes of another group connected {} times.", counts.group);
        findings.warn("id", what, "give each group its own ports and its own key");
    }
    if counts.unknown_peer > 0 {
        let what =
            format!("Nodes that are not in `peers` connected {} times.", counts.unknown_peer);
        findings.warn("peers", what, "make `peers` and `peers_version` the same on all nodes");
    }
    if counts.version > 0 {
        let what = format!("Nodes without a common version connected {} times.", counts.version);
        findings.warn("version", what, "run the same version of tanist on all nodes");
    }
    if counts.settings + counts.identity + counts.twin + counts.by_peers > 0 {
        let what = format!(
            "Handshakes that failed although the key was right, since the start: settings {}, \
             identity {}, a second process {}; {} of all were refused by a peer.",
            counts.settings, counts.identity, counts.twin, counts.by_peers
        );
        findings.note("peers", what, "tanist members -o wide shows those of the last minute");
    }
    if counts.failed > 0 {
        let what = format!(
            "{}: another key, or a client that is not a node (a port scan, a health check, a doctor \
             without an agent).",
            handshakes(counts.failed)
        );
        findings.note("key", what, "if a node is missing too, compare the key files");
    }
    if counts.seal > 0 {
        let what = format!("{} packets could not be decrypted.", counts.seal);
        findings.note("key", what, "limit who can reach the port; nodes are not disturbed by it");
    }
    if findings.all().len() == before {
        findings.well("id", "No node was refused.".to_owned());
    }
}

fn load(counts: &Counts, findings: &mut Findings) {
    if counts.over_cap > 0 || counts.timed_out > 0 {
        let (over, late) = (counts.over_cap, counts.timed_out);
        let what =
            format!("{over} connections were over the limit, and {late} handshakes timed out.");
        findings.warn("port", what, "see who connects (ss -tn), and limit who can reach the port");
    }
    if counts.overflows > 0 {
        let what = format!("Queues to peers overflowed {} times.", counts.overflows);
        findings.warn("peers", what, "check whether that peer hangs, or the network is too slow");
    }
}

fn files(seen: &MembersReport, settings: &SettingsReport, findings: &mut Findings) {
    let Some(limit) = settings.files_max else { return };
    let peers = u64::try_from(seen.members.len()).unwrap_or(u64::MAX);
    let needed = peers.saturating_mul(FILES_PER_PEER).saturating_add(FILES_OF_STRANGERS);
    let what = format!(
        "The agent may open {limit} files; {peers} nodes x {FILES_PER_PEER} + {FILES_OF_STRANGERS} \
         for clients and itself = {needed}."
    );
    if limit < needed {
        findings.warn("limits", what, "raise it: LimitNOFILE= in the unit, or ulimit -n");
    } else {
        findings.well("limits", what);
    }
}

/// What the agent could not write.
fn lines(settings: &SettingsReport, findings: &mut Findings) {
    let dropped = settings.log_lines_dropped;
    if dropped > 0 {
        let what = format!("{dropped} log lines were dropped, because stderr did not take them.");
        findings.warn("log", what, "look at what reads the agent's stderr, and at its disk");
    }
    let dropped = settings.stdout_lines_dropped;
    if dropped > 0 {
        let what = format!("{dropped} changes of role are missing on the agent's stdout.");
        findings.warn(
            "log",
            what,
            "look at what reads it, and at its disk; or send it to /dev/null",
        );
    }
}

/// One link, and those that it replaces.
const FILES_PER_PEER: u64 = 8;
/// Handshakes that are not done yet, clients of the socket, the node's own files.
const FILES_OF_STRANGERS: u64 = 64 + 64;

/// A few restarts are everyday life; two processes that push each other out do it many times.
const REPLACED_MANY: u64 = 10;

#[cfg(test)]
pub(super) mod tests;
