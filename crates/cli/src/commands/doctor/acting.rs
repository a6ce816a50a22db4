//! Whether the group acts as far as one of its nodes can tell, and if not, why.
//!
//! A leader knows whether it acts. A member knows only who leads, so for a group that is led
//! elsewhere nothing is said here: ask the leader.

use crate::agent::report::{MembersReport, SettingsReport};

/// Why the group of a node does not act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Idle {
    /// The reason, in one sentence.
    pub(super) why: String,
    /// What to do.
    pub(super) fix: &'static str,
    /// Whether it may be over in a moment: an election is on, or a leader has just been elected.
    pub(super) may_pass: bool,
    /// Whether an operator wanted it so.
    pub(super) is_wanted: bool,
}

/// Judges what a node says of itself. None: its group acts, or is led by another node.
pub(super) fn judge(seen: &MembersReport, settings: &SettingsReport) -> Option<Idle> {
    let status = &seen.status;
    let node = &status.node;
    let idle = |why: String, fix| Idle { why, fix, may_pass: false, is_wanted: false };
    let Some(leader) = &status.leader else {
        return Some(match (status.withdrawn, status.paused) {
            (true, _) if !status.healthy => {
                idle(format!("{node} has withdrawn: its health check fails"), "see its log")
            }
            (true, _) => {
                let why = format!("{node} has withdrawn and takes no part");
                Idle { is_wanted: true, ..idle(why, "bring it back: tanist rejoin") }
            }
            (false, true) => idle(paused(node), "let elections go on: tanist resume"),
            (false, false) => {
                let why = format!("{node} has no leader; its state is {}", status.state);
                Idle { may_pass: true, ..idle(why, "if it lasts: tanist why") }
            }
        });
    };
    if leader.node != *node {
        let is_lost = |name: &str| {
            seen.members.iter().any(|member| member.node == name && !member.is_connected)
        };
        let is_over = status.paused && !seen.radio && is_lost(&leader.node);
        return is_over.then(|| idle(paused(node), "let elections go on: tanist resume"));
    }
    if status.active {
        return None;
    }
    let why = match settings.waits_for.as_deref() {
        Some([]) => format!("{node} is elected; its pre_leader check has not permitted it yet"),
        Some(nodes) => {
            let reasons: Vec<String> = nodes.iter().map(|node| reason(seen, node)).collect();
            format!("{node} is elected and waits before acting: {}", reasons.join("; "))
        }
        None => format!("{node} is elected and does not act yet"),
    };
    let fix = match settings.waits_for.as_deref() {
        Some([]) => "see what the hook says: tanist hook test pre_leader",
        Some(_) | None => "correct what is named below, or stop that node",
    };
    Some(Idle { may_pass: true, ..idle(why, fix) })
}

fn paused(node: &str) -> String {
    format!("{node} has no live leader, and elections are paused")
}

/// Why a leader waits for a node.
fn reason(seen: &MembersReport, node: &str) -> String {
    let member = seen.members.iter().find(|member| member.node == node);
    let is_refused =
        member.is_some_and(|member| member.refusal.is_some() || member.refused_here.is_some());
    match member {
        Some(_) if is_refused => format!("{node} is running and gives no link"),
        Some(member) if member.is_connected => {
            format!("{node} is connected and not in this group")
        }
        Some(_) | None => format!("{node} may be running and is not in this group"),
    }
}

#[cfg(test)]
mod tests;
