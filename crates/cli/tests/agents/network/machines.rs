//! Three machines on one switch, with an agent on each.

use std::cell::RefCell;
use std::process::Output;

use serde_json::Value;

use crate::support::agent::Agent;
use crate::support::fleet::Fleet;
use crate::support::lan::Lan;
use crate::support::wait::{LIMIT, within};

/// Agents n1 to n3, each on its machine.
pub(crate) struct Machines {
    pub(crate) agents: Vec<Agent>,
    fleet: Fleet,
    pub(crate) lan: Lan,
}

/// The number of the group and the node that leads it.
pub(crate) struct Led {
    pub(crate) number: String,
    pub(crate) leader: usize,
}

impl Machines {
    /// Nodes that know each other by address. None: this process may not make namespaces, and has
    /// printed that.
    pub(crate) fn new() -> Option<Self> {
        Self::create(Lan::host)
    }

    /// Nodes that know each other by name. None: as above.
    pub(crate) fn with_names() -> Option<Self> {
        let machines = Self::create(|at| format!("db-{at}.test"))?;
        let addresses: Vec<String> = (1..=NODES).map(Lan::host).collect();
        (1..=NODES).for_each(|at| machines.set_hosts(at, &addresses));
        Some(machines)
    }

    fn create(host: impl Fn(usize) -> String) -> Option<Self> {
        let (lan, fleet) = (Lan::new(NODES)?, Fleet::new(NODES));
        let peers: Vec<String> =
            (1..=NODES).map(|at| format!("n{at}={}:{PORT}", host(at))).collect();
        for at in 1..=NODES {
            let name = format!("n{at}");
            let lines = [
                ("peers", format!("{peers:?}")),
                ("algorithm", "\"invitation\"".to_owned()),
                ("timing", TIMING.to_owned()),
            ];
            fleet.configure_as(&name, &name, &lines);
        }
        Some(Self { agents: Vec::new(), fleet, lan })
    }

    /// Starts all agents and waits until they are in one group.
    pub(crate) fn start(&mut self) -> Led {
        self.agents = (1..=NODES).map(|at| self.spawn(at)).collect();
        self.agreed()
    }

    /// Starts the agent of a node again, which must have ended.
    pub(crate) fn restart(&mut self, at: usize) {
        self.agents[at - 1] = self.spawn(at);
    }

    fn spawn(&self, at: usize) -> Agent {
        let (program, name) = (env!("CARGO_BIN_EXE_tanist"), format!("n{at}"));
        let (file, hosts) =
            (self.fleet.file(&format!("{name}.toml")), self.fleet.file(&format!("{name}.hosts")));
        if !hosts.exists() {
            let mut command = self.lan.command(at, program);
            return self.fleet.spawn(&name, command.arg("agent").arg("-c").arg(file));
        }
        // A program in a namespace of `ip` has mounts of its own.
        let mut command = self.lan.command(at, "sh");
        command.args(["-c", r#"mount --bind "$0" /etc/hosts && exec "$1" agent -c "$2""#]);
        self.fleet.spawn(&name, command.arg(hosts).arg(program).arg(file))
    }

    /// Which address each node's name has, on one machine. Counts at once for an agent that runs.
    pub(crate) fn set_hosts(&self, at: usize, addresses: &[String]) {
        let line = |(at, address): (usize, &String)| format!("{address} db-{at}.test\n");
        let text: String = (1..).zip(addresses).map(line).collect();
        // In place: the file itself is mounted.
        std::fs::write(self.fleet.file(&format!("n{at}.hosts")), text).unwrap();
    }

    pub(crate) fn agent(&self, at: usize) -> &Agent {
        &self.agents[at - 1]
    }

    /// Waits until all agents are in one group.
    pub(crate) fn agreed(&self) -> Led {
        let last = RefCell::new(Vec::new());
        let look = || {
            let seen: Vec<Value> = self.agents.iter().map(|agent| agent.ask("status")).collect();
            let led = led(&seen);
            last.replace(seen);
            led
        };
        within(LIMIT, look, || format!("one group: {:#?}{}", last.borrow(), self.logs()))
    }

    /// Waits until a node has sent so many heartbeats more.
    pub(crate) fn beats(&self, at: usize, count: u64) {
        let sent = |metrics: &Value| metrics["sent"]["heartbeat"].as_u64().unwrap_or(0);
        let end = sent(&self.agent(at).ask("metrics")) + count;
        self.agent(at).when("metrics", |metrics| sent(metrics) >= end);
    }

    /// What one node says about the UDP packets between it and another one.
    pub(crate) fn udp(&self, at: usize, other: usize) -> Value {
        let seen = self.agent(at).ask("members");
        let members = seen["members"].as_array().unwrap();
        let other = format!("n{other}");
        members.iter().find(|member| member["node"] == *other).unwrap()["udp"].clone()
    }

    /// Waits until it says this.
    pub(crate) fn udp_becomes(&self, at: usize, other: usize, wanted: &str) {
        let look = || Some(()).filter(|()| self.udp(at, other) == wanted);
        within(LIMIT, look, || {
            format!("{wanted} at n{at} for n{other}: {}{}", self.udp(at, other), self.logs())
        });
    }

    /// Runs a command on a node's machine, about its agent.
    pub(crate) fn run(&self, at: usize, arguments: &[&str]) -> Output {
        let mut command = self.lan.command(at, env!("CARGO_BIN_EXE_tanist"));
        self.fleet.mark(&mut command);
        command.args(arguments).args(["--socket", &format!("n{at}.sock")]).output().unwrap()
    }

    pub(crate) fn logs(&self) -> String {
        self.agents.iter().map(|agent| format!("\n{}", agent.log())).collect()
    }
}

/// The group in which all follow one leader, if they do.
fn led(seen: &[Value]) -> Option<Led> {
    let (number, leader) = (seen[0]["group_number"].as_str()?, seen[0]["leader"]["node"].as_str()?);
    let is_settled = |status: &Value| {
        let members = status["members"].as_array();
        status["group_number"] == *number
            && status["state"] == "normal"
            && status["leader"]["node"] == *leader
            && members.is_some_and(|members| members.len() == NODES)
    };
    let leader_at = leader.strip_prefix('n')?.parse().ok()?;
    let is_all = seen.iter().all(is_settled);
    is_all.then(|| Led { number: number.to_owned(), leader: leader_at })
}

pub(crate) const NODES: usize = 3;
const PORT: u16 = 7400;
/// On a busy machine ten heartbeats in a row may be missing. Questions of a coordinator over the
/// link are signs of life, too, so they are rarer than that.
const TIMING: &str = r#"{ heartbeat = "200ms", suspect_after = "2s", check_every = "5s" }"#;
