//! Yes or no, for load balancers and supervisors: the status code is the answer, and the body is a
//! line or a list for people.

use std::sync::Arc;

use hyper::StatusCode;
use tanist::{Metrics, RoleKind};

use super::Site;
use super::answer::{Reply, text};
use super::query::Query;
use super::refusal::Refusal;
use crate::agent::report::StatusReport;

/// Whether the node is the active leader of its group.
pub(super) fn leader(site: &Site, query: &Query) -> Result<Reply, Refusal> {
    query.only(&[])?;
    let status = site.agent.status();
    let node = &status.node;
    Ok(match site.agent.activity().active() {
        Some(lead) => {
            yes(format!("{node} leads {}", lead.view().called(site.agent.group().names())))
        }
        None => no(match (status.waiting(), status.role) {
            (Some(waiting), _) => format!("{node} does not act: {waiting}"),
            (None, RoleKind::Member) => format!("{node} does not lead: it is a member"),
            (None, RoleKind::Leader | RoleKind::Suspended) => {
                format!("{node} does not lead: it is in no group")
            }
        }),
    })
}

/// Whether the node is in a group that another one leads.
pub(super) fn member(site: &Site, query: &Query) -> Result<Reply, Refusal> {
    query.only(&[])?;
    let status = site.agent.status();
    let (node, role) = (&status.node, status.role);
    Ok(match &status.leader {
        Some(leader) if is_member(site) => yes(format!("{node} is a member under {}", leader.node)),
        Some(_) | None => no(format!("{node} is not a member: it is {}", standing(role))),
    })
}

/// A role as a sentence has it.
const fn standing(role: RoleKind) -> &'static str {
    match role {
        RoleKind::Leader => "the leader",
        RoleKind::Member => "a member",
        RoleKind::Suspended => "suspended",
    }
}

/// Whether the node is in a group that another one leads.
pub(super) fn is_member(site: &Site) -> bool {
    site.agent.status().role == RoleKind::Member
}

/// Whether the thread that elects answers.
pub(super) async fn livez(site: &Site, query: &Query) -> Result<Reply, Refusal> {
    query.only(&[])?;
    let driver = match metrics(site).await {
        Ok(_) => Check::good("driver", "ok".to_owned()),
        Err(refusal) => Check::bad("driver", refusal.to_string()),
    };
    Ok(list("livez", &[driver]))
}

/// Whether the node is in a group; with `?leader` also whether its leader can be used.
pub(super) async fn readyz(site: &Site, query: &Query) -> Result<Reply, Refusal> {
    query.only(&["leader"])?;
    let status = site.agent.status();
    let metrics = metrics(site).await;
    let mut checks = match &metrics {
        Ok(_) => {
            let ok = || "ok".to_owned();
            // A node whose disk fails ends at once, so one that answers has a disk.
            vec![Check::good("peer socket", ok()), Check::good("store", ok())]
        }
        Err(refusal) => {
            let why = refusal.to_string();
            vec![Check::bad("peer socket", why.clone()), Check::bad("store", why)]
        }
    };
    checks.push(match status.role {
        RoleKind::Suspended => Check::bad("group", status.state.clone()),
        RoleKind::Leader | RoleKind::Member => Check::good("group", status.state.clone()),
    });
    let is_active = site.agent.activity().active().is_some();
    checks.extend(refusals(site, &status, is_active, metrics.as_deref().ok()));
    let leader = match &status.leader {
        None => Check::bad("leader", "unknown".to_owned()),
        Some(leader) if leader.node == status.node && is_active => {
            Check::good("leader", format!("{} is active", leader.node))
        }
        Some(leader) if leader.node == status.node => {
            Check::bad("leader", format!("{} does not act yet", leader.node))
        }
        Some(leader) if is_linked(site, metrics.as_deref().ok(), &leader.node) => {
            Check::good("leader", leader.node.clone())
        }
        Some(leader) => Check::bad("leader", format!("{} has no link with this node", leader.node)),
    };
    // Without being asked for, a leader that cannot be used yet is not held against the node.
    if query.has("leader") || leader.is_good || status.leader.is_none() {
        checks.push(leader);
    }
    Ok(list("readyz", &checks))
}

/// The peers with the right key that give this node no link, if that keeps it from being of use: it
/// leads and must not act, it is in no group, or more nodes refuse it than are in its group. A node
/// that was told something else must not make the healthy ones unready.
fn refusals(
    site: &Site,
    status: &StatusReport,
    is_active: bool,
    metrics: Option<&Metrics>,
) -> Option<Check> {
    let told: Vec<String> = metrics?
        .peers
        .iter()
        .filter_map(|peer| {
            Some(format!(
                "{} refuses this node: {}",
                site.agent.name(peer.id),
                peer.refusal.as_ref()?
            ))
        })
        .collect();
    let is_held = is_held_back(status.role, is_active, told.len(), status.members.len());
    is_held.then(|| Check::bad("peers", told.join("; ")))
}

/// Whether being refused by so many peers keeps a node from being of use.
fn is_held_back(role: RoleKind, is_active: bool, refusing: usize, members: usize) -> bool {
    refusing > 0
        && match role {
            RoleKind::Leader => !is_active,
            RoleKind::Member => refusing > members,
            RoleKind::Suspended => true,
        }
}

/// What the node counts, if its thread answers soon.
pub(super) async fn metrics(site: &Site) -> Result<Arc<Metrics>, Refusal> {
    site.question.metrics(site.agent.group()).await
}

fn is_linked(site: &Site, metrics: Option<&Metrics>, node: &str) -> bool {
    let is_it = |peer: &&tanist::PeerView| site.agent.name(peer.id) == node;
    metrics
        .and_then(|metrics| metrics.peers.iter().find(is_it))
        .is_some_and(|peer| peer.is_connected)
}

/// One line of a checklist.
struct Check {
    name: &'static str,
    is_good: bool,
    what: String,
}

impl Check {
    const fn good(name: &'static str, what: String) -> Self {
        Self { name, is_good: true, what }
    }

    const fn bad(name: &'static str, what: String) -> Self {
        Self { name, is_good: false, what }
    }
}

fn list(name: &str, checks: &[Check]) -> Reply {
    let is_good = checks.iter().all(|check| check.is_good);
    let mut lines: String = checks
        .iter()
        .map(|check| {
            let sign = if check.is_good { '+' } else { '-' };
            format!("[{sign}]{} {}\n", check.name, check.what)
        })
        .collect();
    let verdict = if is_good { "passed" } else { "failed" };
    lines.push_str(&format!("{name} check {verdict}\n"));
    text(if is_good { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, lines)
}

fn yes(line: String) -> Reply {
    text(StatusCode::OK, line + "\n")
}

fn no(line: String) -> Reply {
    text(StatusCode::SERVICE_UNAVAILABLE, line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_makes_only_those_unready_whom_it_holds_back() {
        for (role, is_active, refusing, members, expected) in [
            (RoleKind::Leader, false, 0, 1, false),
            (RoleKind::Leader, false, 1, 1, true),
            (RoleKind::Leader, true, 1, 2, false),
            (RoleKind::Member, false, 1, 2, false),
            (RoleKind::Member, false, 3, 2, true),
            (RoleKind::Suspended, false, 1, 0, true),
        ] {
            assert_eq!(
                is_held_back(role, is_active, refusing, members),
                expected,
                "{role} {refusing}"
            );
        }
    }
}
