//! `tanist members --all`: what each node says of itself, side by side.

use crate::agent::views::{ViewReport, ViewsReport};
use crate::terminal::output::plain;
use crate::terminal::table::{Table, left};

/// A table of what all nodes say, and where they disagree.
pub(super) fn text(seen: &ViewsReport) -> String {
    let columns = ["NODE", "ROLE", "ACTIVE", "STATE", "GROUP NUMBER", "LEADER", "MEMBERS"];
    let mut table = Table::new(columns.map(left));
    for view in &seen.views {
        table.row(row(view));
    }
    let mut text = format!("ASKED BY {}\n{table}", seen.asked_by);
    for line in disagreements(seen) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn row(view: &ViewReport) -> [String; 7] {
    let none = || "-".to_owned();
    let Some(status) = &view.status else {
        let problem = plain(view.problem.as_deref().unwrap_or("no answer"));
        return [view.node.clone(), none(), none(), problem, none(), none(), none()];
    };
    let leader = status.leader.as_ref();
    let number = status.group_number.filter(|_| leader.is_some());
    let members = if leader.is_some() { status.members.join(" ") } else { none() };
    [
        view.node.clone(),
        status.role.to_string(),
        if status.active { "yes" } else { "-" }.to_owned(),
        if status.withdrawn { "withdrawn".to_owned() } else { plain(&status.state) },
        number.map_or_else(none, |number| number.to_string()),
        leader.map_or_else(none, |leader| plain(&leader.node)),
        plain(&members),
    ]
}

/// Where nodes that answered say different things, one sentence each.
pub(super) fn disagreements(seen: &ViewsReport) -> Vec<String> {
    let said = || {
        let one = |view: &ViewReport| Some((view.node.clone(), view.status.clone()?));
        // A node that has withdrawn is meant to be in no group.
        seen.views.iter().filter_map(one).filter(|(_, status)| !status.withdrawn)
    };
    let mut lines = Vec::new();
    let leaders = groups(said().map(|(node, status)| {
        let leader = status.leader.map_or_else(|| "no node".to_owned(), |leader| leader.node);
        (format!("{leader} leads"), node)
    }));
    if leaders.len() > 1 {
        lines.push(format!("DISAGREE on the leader: {}", sides(&leaders)));
    }
    let is_one_leader = leaders.len() == 1;
    let numbers = groups(said().filter_map(|(node, status)| {
        let number = status.group_number.filter(|_| status.leader.is_some())?;
        Some((format!("group number {number}"), node))
    }));
    if is_one_leader && numbers.len() > 1 {
        lines.push(format!("DISAGREE on the group number: {}", sides(&numbers)));
    }
    let active: Vec<String> =
        said().filter(|(_, status)| status.active).map(|(node, _)| node).collect();
    if active.len() > 1 {
        lines.push(format!("MORE THAN ONE ACTIVE LEADER: {}", active.join(" ")));
    }
    lines
}

/// Nodes by what they say, in order of the first that says it.
fn groups(said: impl Iterator<Item = (String, String)>) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (what, node) in said {
        match groups.iter_mut().find(|(known, _)| *known == what) {
            Some((_, nodes)) => nodes.push(node),
            None => groups.push((what, vec![node])),
        }
    }
    groups
}

fn sides(groups: &[(String, Vec<String>)]) -> String {
    let side = |(what, nodes): &(String, Vec<String>)| {
        let say = if nodes.len() == 1 { "says" } else { "say" };
        format!("{} {say} {}", nodes.join(" "), plain(what))
    };
    groups.iter().map(side).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn says(node: &str, role: &str, leader: Option<&str>, number: &str, active: bool) -> Value {
        let leader = leader.map(|leader| json!({ "node": leader, "address": "" }));
        json!({
            "node": node, "address": "", "problem": null,
            "status": {
                "group": "billing", "node": node, "algorithm": "bully", "role": role,
                "state": "normal", "active": active, "group_number": number, "leader": leader,
                "members": ["n1", "n2"], "peers_version": 1, "since_ms": 0, "index": 3,
                "incarnation": 1,
            },
        })
    }

    fn report(views: Value) -> ViewsReport {
        serde_json::from_value(json!({ "asked_by": "n1", "views": views })).unwrap()
    }

    #[test]
    fn nodes_that_agree_are_shown_without_a_word_more() {
        let seen = report(json!([
            says("n1", "member", Some("n2"), "4.n2", false),
            says("n2", "leader", Some("n2"), "4.n2", true),
            { "node": "n3", "address": "", "status": null, "problem": "too old to ask" },
        ]));
        assert!(disagreements(&seen).is_empty(), "{}", text(&seen));
        let text = text(&seen);
        assert!(text.contains("too old to ask") && text.contains("GROUP NUMBER"), "{text}");
    }

    #[test]
    fn the_sides_of_a_cut_are_named() {
        let seen = report(json!([
            says("n1", "member", Some("n2"), "4.n2", false),
            says("n2", "leader", Some("n2"), "4.n2", true),
            says("n3", "leader", Some("n3"), "5.n3", true),
        ]));
        assert_eq!(
            disagreements(&seen),
            [
                "DISAGREE on the leader: n1 n2 say n2 leads; n3 says n3 leads",
                "MORE THAN ONE ACTIVE LEADER: n2 n3",
            ]
        );
    }

    #[test]
    fn one_leader_of_two_groups_is_a_disagreement_and_a_node_between_groups_is_one() {
        let seen = report(json!([
            says("n1", "member", Some("n2"), "4.n2", false),
            says("n2", "leader", Some("n2"), "5.n2", false),
        ]));
        let number = "DISAGREE on the group number: n1 says group number 4.n2; \
                      n2 says group number 5.n2";
        assert_eq!(disagreements(&seen), [number]);
        let seen = report(json!([
            says("n1", "suspended", None, "4.n2", false),
            says("n2", "leader", Some("n2"), "5.n2", false),
        ]));
        let leader = "DISAGREE on the leader: n1 says no node leads; n2 says n2 leads";
        assert_eq!(disagreements(&seen), [leader]);
    }
}
