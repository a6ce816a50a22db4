//! Handing over on request, and what an operator is told while elections are paused.

mod handing_over;
mod paused;

use serde_json::Value;

use crate::support::agent::Agent;
use crate::support::fleet::Fleet;

/// No silent node is suspected on a busy machine, and nodes that rejoin are found quickly.
const TIMING: &str = "[timing]\nsuspect_after = \"5s\"\ncheck_every = \"500ms\"\n";

/// Three nodes whose leader keeps leading, and the number of the one that leads and acts.
struct Three {
    fleet: Fleet,
    agents: Vec<Agent>,
}

impl Three {
    fn start(algorithm: &str) -> Self {
        Self::start_with(&format!("algorithm = {algorithm:?}\npreempt = \"never\""))
    }

    fn start_with(lines: &str) -> Self {
        let fleet = Fleet::configured(3, &format!("{lines}\n{TIMING}"));
        let agents: Vec<Agent> = (1..=3).map(|node| fleet.start(&format!("n{node}"))).collect();
        agents.iter().for_each(|agent| agent.members_are(&["n1", "n2", "n3"]));
        Self { fleet, agents }
    }

    fn agent(&self, node: usize) -> &Agent {
        &self.agents[node - 1]
    }

    /// The node that all follow, once it acts.
    fn leader(&self) -> usize {
        let status = self.agent(1).when("status", |status| status["leader"].is_object());
        let leader: usize = number(&status["leader"]["node"]);
        self.agent(leader).when("status", |status| status["active"] == true);
        leader
    }

    /// Runs a command at a node: its exit code, and what it printed.
    fn run(&self, node: usize, arguments: &[&str]) -> (i32, String) {
        let socket = format!("n{node}.sock");
        let output = self.fleet.run(&[arguments, &["--socket", &socket]].concat());
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(text).unwrap())
    }

    /// The JSON that a command prints, which must succeed.
    fn json(&self, node: usize, arguments: &[&str]) -> Value {
        let (code, text) = self.run(node, &[arguments, &["-o", "json"]].concat());
        assert_eq!(code, 0, "{arguments:?}: {text}");
        serde_json::from_str(&text).unwrap()
    }
}

/// The number in the name of a node.
fn number(name: &Value) -> usize {
    name.as_str().unwrap().trim_start_matches('n').parse().unwrap()
}
