//! Samples of which agents are active, taken while an attack runs.

use serde_json::{Value, json};

use crate::support::agent::Agent;
use crate::support::wait::{LIMIT, within};

/// Takes at least so many samples, and more until `is_done`. No two agents may be active at once.
pub(crate) fn watch(agents: &[&Agent], least: usize, mut is_done: impl FnMut() -> bool) {
    let mut taken = 0;
    let look = || {
        at_most_one_is_active(agents);
        taken += 1;
        (taken >= least && is_done()).then_some(())
    };
    within(LIMIT, look, || format!("samples, and then what was waited for:\n{}", describe(agents)));
}

/// Fails if two agents are active at one moment.
pub(crate) fn at_most_one_is_active(agents: &[&Agent]) {
    let active = active(agents);
    assert!(active.len() < 2, "{} nodes act at once: {active:#?}", active.len());
}

/// The status of each active agent, at one moment between two rounds of questions: an agent that is
/// active in both rounds, in one leadership, is active in between.
pub(crate) fn active(agents: &[&Agent]) -> Vec<Value> {
    let ask = |agent: &Agent| agent.try_ask("status").filter(|status| status["active"] == true);
    let first: Vec<(&Agent, Value)> =
        agents.iter().filter_map(|agent| Some((*agent, ask(agent)?))).collect();
    if first.len() < 2 {
        return first.into_iter().map(|(_, status)| status).collect();
    }
    let is_same = |one: &Value, other: &Value| {
        ["incarnation", "index"].iter().all(|name| one[*name] == other[*name])
    };
    let is_still_active =
        |(agent, before): &(&Agent, Value)| ask(agent).filter(|after| is_same(before, after));
    first.iter().filter_map(is_still_active).collect()
}

/// Whether all are in one group of exactly these nodes, with an active leader.
pub(crate) fn are_whole(agents: &[&Agent], nodes: &[&str]) -> bool {
    let is_in = |agent: &&Agent| {
        let status = agent.ask("status");
        status["role"] != "suspended" && status["members"] == json!(nodes)
    };
    agents.iter().all(is_in) && active(agents).len() == 1
}

/// Whether each agent has a link with every peer.
pub(crate) fn are_linked(agents: &[&Agent]) -> bool {
    let is_linked = |member: &Value| member["is_self"] == true || member["is_connected"] == true;
    agents.iter().all(|agent| {
        let seen = agent.ask("members");
        seen["members"].as_array().unwrap().iter().all(is_linked)
    })
}

/// The number of an agent's group.
pub(crate) fn group_number(agent: &Agent) -> Value {
    agent.ask("status")["group_number"].clone()
}

fn describe(agents: &[&Agent]) -> String {
    let about = |agent: &&Agent| {
        let (status, log) = (agent.try_ask("status"), agent.log());
        let tail: Vec<&str> = log.lines().rev().take(20).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        format!("{}\n{}\n", json!(status), tail.join("\n"))
    };
    agents.iter().map(about).collect()
}
