//! `/metrics`: what the node is, what it counts, and what its transport counts.
//!
//! Counters begin with the node's start. How long a failover took is what this node saw of it: from
//! the last sign of life of the old leader to the moment when it was in the new group.

use hyper::StatusCode;
use serde_json::Value;
use tanist::{Counters, DatagramPath};
use tanist::{Metrics, NodeNames, RoleKind};

use super::answer::{Content, Reply, reply};
use super::exposition::{Exposition, Kind};
use super::query::Query;
use super::refusal::Refusal;
use super::{Site, health};
use crate::agent::report::StatusReport;
use crate::hooks::counters::BOUNDS;

/// The page.
pub(super) async fn metrics(site: &Site, query: &Query) -> Result<Reply, Refusal> {
    query.only(&[])?;
    let content = Content::Whole(text(site).await?.into());
    Ok(reply(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", content))
}

/// Its text.
pub(super) async fn text(site: &Site) -> Result<String, Refusal> {
    let metrics = health::metrics(site).await?;
    Ok(site.turn.take(|| page(site, &metrics)).await)
}

fn page(site: &Site, metrics: &Metrics) -> String {
    let status = site.agent.status();
    let mut page = Exposition::new(&status.group);
    describe(&mut page, &status);
    count(&mut page, site, &status, metrics);
    hooks(&mut page, site);
    peers(&mut page, metrics, site.agent.group().names());
    transport(&mut page, metrics);
    http(&mut page, site);
    lines(&mut page);
    page.into_text()
}

/// What the node is.
fn describe(page: &mut Exposition, status: &StatusReport) {
    let version = env!("CARGO_PKG_VERSION");
    page.family("tanist_build_info", Kind::Gauge, "Always 1; which version this is.");
    page.sample("tanist_build_info", &[("version", version)], 1);
    let is_leader = u8::from(status.role == RoleKind::Leader);
    page.single("tanist_is_leader", Kind::Gauge, "Whether the node leads its group.", is_leader);
    let is_active = u8::from(status.active);
    let help = "Whether the node is the active leader: every node it can reach is in its group.";
    page.single("tanist_is_active", Kind::Gauge, help, is_active);
    let has_leader = u8::from(status.leader.is_some());
    let help = "Whether the node is in a group that has a leader.";
    page.single("tanist_has_leader", Kind::Gauge, help, has_leader);
    let counter = status.group_number.map_or(0, |number| number.counter);
    let is_withdrawn = u8::from(status.withdrawn);
    let help = "Whether the node has withdrawn: it takes no part until it rejoins.";
    page.single("tanist_is_withdrawn", Kind::Gauge, help, is_withdrawn);
    let help = "The counter in the number of the group that the node is in, or was in last.";
    page.single("tanist_group_counter", Kind::Gauge, help, counter);
    let members = if status.leader.is_some() { status.members.len() } else { 0 };
    let help = "How many nodes are in the node's group, itself included; 0 if it is in none.";
    page.single("tanist_group_members", Kind::Gauge, help, members);
    let help = "1 for the state that the node is in, 0 for the others.";
    page.family("tanist_state", Kind::Gauge, help);
    for state in ["down", "election", "reorganization", "normal"] {
        page.sample("tanist_state", &[("state", state)], u8::from(status.state == state));
    }
}

/// What it counts.
fn count(page: &mut Exposition, site: &Site, status: &StatusReport, metrics: &Metrics) {
    let counts = site.counters.read();
    let help = "New leaders that the node has had, by reason.";
    page.family("tanist_leader_changes_total", Kind::Counter, help);
    for (reason, count) in &counts.leader_changes {
        page.sample("tanist_leader_changes_total", &[("reason", reason)], count);
    }
    let help = "Elections that the node began itself.";
    page.family("tanist_elections_total", Kind::Counter, help);
    page.sample("tanist_elections_total", &[("algorithm", &status.algorithm)], metrics.elections);
    let help = "How long the node was in no group, each time.";
    page.histogram("tanist_election_duration_seconds", help, &counts.elections);
    let help = "From the last sign of life of a lost leader to the next one, each time.";
    page.histogram("tanist_failover_duration_seconds", help, &counts.failovers);
    let help = "Messages of the protocol, by direction and type.";
    page.family("tanist_messages_total", Kind::Counter, help);
    for (direction, kinds) in [("sent", &metrics.sent), ("received", &metrics.received)] {
        for (kind, count) in kinds {
            let labels = [("direction", direction), ("type", *kind)];
            page.sample("tanist_messages_total", &labels, count);
        }
    }
    let help = "Authentic frames that were no message.";
    page.single("tanist_undecodable_total", Kind::Counter, help, metrics.undecodable);
    let help = "Messages dropped because of a counter that no honest node can have reached.";
    page.single("tanist_refused_counters_total", Kind::Counter, help, metrics.refused_counters);
    let help = "Group numbers that are on disk for the next elections.";
    page.single("tanist_numbers_reserved", Kind::Gauge, help, metrics.numbers_reserved);
    let help = "How often group numbers for later elections could not be put on disk.";
    let failed = metrics.reservations_failed;
    page.single("tanist_reservations_failed_total", Kind::Counter, help, failed);
    let help = "How often a closed or refused connection told that a peer is dead.";
    page.single("tanist_refusals_total", Kind::Counter, help, metrics.refusals);
    let help = "How often the thread that elects woke up.";
    page.single("tanist_wakes_total", Kind::Counter, help, metrics.wakes);
}

/// What the programs of the user did.
fn hooks(page: &mut Exposition, site: &Site) {
    let counts = site.agent.hook_counters().snapshot();
    let (name, help) = ("tanist_hook_duration_seconds", "How long hooks ran, by hook.");
    page.family(name, Kind::Histogram, help);
    for (hook, count) in &counts {
        let mut below = 0;
        for (bound, runs) in BOUNDS.iter().zip(&count.buckets) {
            below += runs;
            let labels = [("hook", *hook), ("le", &bound.to_string())];
            page.sample(&format!("{name}_bucket"), &labels, below);
        }
        page.sample(&format!("{name}_bucket"), &[("hook", hook), ("le", "+Inf")], count.runs);
        page.sample(&format!("{name}_sum"), &[("hook", hook)], count.seconds);
        page.sample(&format!("{name}_count"), &[("hook", hook)], count.runs);
    }
    let help = "Hooks that failed, ran for too long or were not started, by hook and outcome.";
    page.family("tanist_hook_failures_total", Kind::Counter, help);
    for (hook, count) in &counts {
        let outcomes =
            [("failed", count.failures), ("timed-out", count.timeouts), ("refused", count.refused)];
        for (outcome, count) in outcomes {
            let labels = [("hook", *hook), ("outcome", outcome)];
            page.sample("tanist_hook_failures_total", &labels, count);
        }
    }
    let checks = site.agent.health().snapshot();
    let help = "Whether the health command of the node succeeds.";
    page.single("tanist_is_healthy", Kind::Gauge, help, u8::from(!checks.is_unhealthy));
    let help = "How often the health command did not end well.";
    page.single("tanist_health_failures_total", Kind::Counter, help, checks.failures);
}

/// The ways to the others.
fn peers(page: &mut Exposition, metrics: &Metrics, names: &NodeNames) {
    let help = "Whether there is a link with the peer.";
    page.family("tanist_peer_connected", Kind::Gauge, help);
    for peer in &metrics.peers {
        let name = names.of(peer.id).to_string();
        page.sample("tanist_peer_connected", &[("peer", &name)], u8::from(peer.is_connected));
    }
    let help = "Whether the peer, which has the right key, gives this node no link.";
    page.family("tanist_peer_refuses", Kind::Gauge, help);
    for peer in &metrics.peers {
        let name = names.of(peer.id).to_string();
        let refuses = u8::from(peer.refusal.is_some());
        page.sample("tanist_peer_refuses", &[("peer", &name)], refuses);
    }
    udp(page, metrics, names);
    page.family("tanist_peer_rtt_seconds", Kind::Gauge, "The way to the peer and back.");
    for peer in &metrics.peers {
        if let Some(rtt) = peer.round_trip {
            let name = names.of(peer.id).to_string();
            page.sample("tanist_peer_rtt_seconds", &[("peer", &name)], rtt.as_secs_f64());
        }
    }
}

/// Heartbeats that the links carry because UDP does not pass.
fn udp(page: &mut Exposition, metrics: &Metrics, names: &NodeNames) {
    let help = "Whether no UDP packet from (in) or to (out) the peer arrives, so that the link \
                carries heartbeats.";
    page.family("tanist_peer_udp_blocked", Kind::Gauge, help);
    for peer in &metrics.peers {
        let name = names.of(peer.id).to_string();
        for (direction, path) in [("in", peer.datagrams_in), ("out", peer.datagrams_out)] {
            let labels = [("peer", name.as_str()), ("direction", direction)];
            let is_blocked = path == Some(DatagramPath::Missing);
            page.sample("tanist_peer_udp_blocked", &labels, u8::from(is_blocked));
        }
    }
}

/// Everything that the transport counts, by the transport's own names.
fn transport(page: &mut Exposition, metrics: &Metrics) {
    // Counters are numbers with names, so they always serialize.
    let Ok(Value::Object(counters)) = serde_json::to_value(metrics.transport) else { return };
    for (name, value) in counters {
        let help = Counters::meaning(&name).unwrap_or("A counter of the transport.");
        page.single(&format!("tanist_transport_{name}_total"), Kind::Counter, help, value);
    }
}

/// Who asks here.
fn http(page: &mut Exposition, site: &Site) {
    let help = "Connections over TCP that may ask for anything, this one included.";
    page.single("tanist_http_connections", Kind::Gauge, help, site.ordinary.count());
    let help = "Connections over TCP beyond those, on which only health is answered.";
    page.single("tanist_http_reserve_connections", Kind::Gauge, help, site.reserve.count());
    let help = "Connections that were closed to make room for a newer question about health.";
    let evictions = site.reserve.evictions() + site.checks.evictions();
    page.single("tanist_http_evictions_total", Kind::Counter, help, evictions);
    let watchers = site.limits.watchers - site.watchers.available_permits();
    page.single("tanist_http_watchers", Kind::Gauge, "Clients that watch or wait.", watchers);
    page.family("tanist_http_answers_total", Kind::Counter, "Answers over HTTP, by status.");
    for (status, count) in site.counters.read().answers {
        page.sample("tanist_http_answers_total", &[("status", &status.to_string())], count);
    }
}

/// What was not written.
fn lines(page: &mut Exposition) {
    let lost = crate::terminal::log::lost();
    let help = "Log lines that stderr did not take.";
    page.single("tanist_log_lines_dropped_total", Kind::Counter, help, lost.stderr);
    let help = "Changes of role that stdout did not take.";
    page.single("tanist_stdout_lines_dropped_total", Kind::Counter, help, lost.stdout);
}
