//! What an agent's own counts and its view of the peers tell.

use serde_json::Value;

use super::finding::Findings;
use super::machine;
use crate::agent::report::{MemberReport, MembersReport, SettingsReport};
use crate::commands::query::alarms;
use crate::terminal::moment::millis;

/// Looks at everything that the agent says.
pub(super) fn look(
    seen: &MembersReport,
    settings: &SettingsReport,
    metrics: &Value,
    findings: &mut Findings,
) {
    let Counts { failed, .. } = Counts::of(metrics);
    state(seen, settings, findings);
    peers(seen, failed, findings);
    round_trips(seen, settings, findings);
    silence(settings, findings);
    refusals(&Counts::of(metrics), findings);
    load(&Counts::of(metrics), findings);
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
            "Group numbers for later elections could not be put on disk {failed} times; {reserved} \
             are there."
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
    for alarm in alarms(status) {
        findings.warn("state", format!("{alarm}."), "end it if it is not meant to last");
    }
    match &status.leader {
        Some(leader) => {
            let what = format!("{} follows {}, state {}.", status.node, leader.node, status.state);
            findings.well("state", what);
        }
        None if status.withdrawn => {}
        None => {
            let what = format!("{} is in no group: it is {}.", status.node, status.state);
            findings.warn("state", what, "look again; if it lasts: tanist why");
        }
    }
    let mine = env!("CARGO_PKG_VERSION");
    let theirs = &settings.version;
    if theirs != mine {
        let what = format!("The agent is version {theirs}, this command {mine}.");
        findings.note("version", what, "start the agent again with the newer one");
    }
    let version = status.peers_version;
    let what = format!("The list of peers is version {version} here; other nodes keep their own.");
    findings.note("peers", what, "compare: tanist status -o wide on every node");
}

fn peers(seen: &MembersReport, failed: u64, findings: &mut Findings) {
    if seen.radio {
        return neighbours(seen, findings);
    }
    let others = || seen.members.iter().filter(|member| !member.is_self);
    let is_lost = |member: &&MemberReport| {
        let is_refused = member.refusal.is_some() || member.refused_here.is_some();
        member.role.is_none() && !member.is_connected || is_refused
    };
    let (lost, all) = (others().filter(is_lost).count(), others().count());
    if lost == 0 {
        findings.well("peers", format!("All {all} peers are in the group or connected."));
    }
    for member in others() {
        let (node, address) = (&member.node, &member.address);
        if refused(member, findings) {
            continue;
        }
        // The agent's last word may be old: it dials again only when it has something to say.
        if member.is_refused && !machine::is_somebody_at(address) {
            let what = format!("{node}: no process listens at {address}.");
            findings.warn("peers", what, "start its agent, or correct its address in `peers`");
        } else if is_lost(&member) && failed > 0 {
            let what = format!(
                "{node} at {address} is not reached, and {failed} handshakes came to nothing: most \
                 often one side has another key."
            );
            findings.problem("key", what, "compare `tanist key status` on both nodes");
        } else if is_lost(&member) {
            let what = format!("{node}: no answer from {address}, neither yes nor no.");
            let fix = "look at the machine, the route and firewalls, for TCP and UDP";
            findings.warn("peers", what, fix);
        }
    }
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
        let fix = "look at the interface (ip -s link), the range, the firewall for UDP, and \
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
            "{}: there and back {}, allowed 2 x message_max = 2 x {} = {}: {share:.1} % of it.",
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
        let what = format!("{what} One lost sign of life is enough for a false suspicion.");
        let fix = format!("set timing.suspect_after to {} or more", millis(needed));
        findings.warn("timing", what, &fix);
    } else {
        findings.well("timing", format!("{what} One sign of life may be lost."));
    }
}

/// Who was turned away, and what that usually means.
fn refusals(counts: &Counts, findings: &mut Findings) {
    let before = findings.all().len();
    if counts.own_id > 0 {
        let what = format!("{} times another process came with this node's own id.", counts.own_id);
        findings.problem("id", what, "give every node its own `node`; look for a copied file");
    }
    if counts.wrong_node > 0 {
        let times = counts.wrong_node;
        let what = format!("{times} times another node answered at a peer's address.");
        findings.problem("id", what, "correct the addresses in `peers`");
    }
    if counts.replaced >= REPLACED_MANY {
        let times = counts.replaced;
        let what = format!(
            "{times} times a new process of some peer took the place of another: it is started \
             again and again, or two processes have its id."
        );
        findings.problem("id", what, "look for a second agent with the same `node`");
    }
    if counts.group > 0 {
        let what = format!("{} times a node of another group came.", counts.group);
        findings.warn("id", what, "give each group its own ports and its own key");
    }
    if counts.unknown_peer > 0 {
        let what = format!("{} times a node came that is not configured.", counts.unknown_peer);
        findings.warn("peers", what, "make `peers` and `peers_version` the same on all nodes");
    }
    if counts.version > 0 {
        let what =
            format!("{} times something came in a version that is not ours.", counts.version);
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
            "{} handshakes came to nothing: another key, or a client that is no node (a port scan, \
             a health check, doctor itself).",
            counts.failed
        );
        findings.note("key", what, "if a node is missing too, compare the key files");
    }
    if counts.seal > 0 {
        let what = format!("{} times bytes came whose seal does not open.", counts.seal);
        findings.note("key", what, "keep strangers off the port; nodes are not disturbed by it");
    }
    if findings.all().len() == before {
        findings.well("id", "No node was refused.".to_owned());
    }
}

fn load(counts: &Counts, findings: &mut Findings) {
    if counts.over_cap > 0 || counts.timed_out > 0 {
        let (over, late) = (counts.over_cap, counts.timed_out);
        let what =
            format!("{over} connections were over the cap and {late} shook no hands in time.");
        findings.warn("port", what, "find out who connects (ss -tn), and keep strangers off");
    }
    if counts.overflows > 0 {
        let what = format!("{} times a queue to a peer overflowed.", counts.overflows);
        findings.warn("peers", what, "look whether that peer hangs, or the network is too slow");
    }
}

fn files(seen: &MembersReport, settings: &SettingsReport, findings: &mut Findings) {
    let Some(limit) = settings.files_max else { return };
    let peers = u64::try_from(seen.members.len()).unwrap_or(u64::MAX);
    let needed = peers.saturating_mul(FILES_PER_PEER).saturating_add(FILES_OF_STRANGERS);
    let what = format!(
        "The agent may open {limit} files; {peers} nodes x {FILES_PER_PEER} + {FILES_OF_STRANGERS} \
         for strangers and itself = {needed}."
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
mod tests;
