//! Three machines, each with an agent and a service, and two for clients.

use super::{PROGRAM, VIP, VIP6};
use crate::support::agent::{Agent, Process};
use crate::support::fleet::Fleet;
use crate::support::namespaces::Switch;
use crate::support::wait::{LIMIT, until, within};

/// How many machines have a node; their numbers are those of the nodes.
pub(super) const NODES: usize = 3;

/// What the operator calls a node and its machine.
pub(super) fn name(node: usize) -> &'static str {
    ["db-east-1", "db-east-2", "db-west-1"][node - 1]
}

/// Answers every connection with a name.
const SERVICE: &str = r#"
use IO::Socket::INET;
my $at = IO::Socket::INET->new(LocalPort => 9000, Listen => 128, ReuseAddr => 1) or die "$!\n";
while (my $client = $at->accept) { print $client "$ARGV[0]\n"; close $client; }
"#;

pub(super) struct Machines {
    agents: Vec<Option<Agent>>,
    services: Vec<Option<Process>>,
    pub(super) fleet: Fleet,
    pub(super) switch: Switch,
}

impl Machines {
    /// None: this process may not make namespaces, or there is no perl; it has printed that.
    pub(super) fn start(clients: usize) -> Option<Self> {
        if std::process::Command::new("perl").arg("-v").output().is_err() {
            eprintln!("skipped: there is no perl");
            return None;
        }
        let switch = Switch::new(NODES + clients)?;
        let fleet = Fleet::with_hooks(NODES);
        let settings =
            format!("ADDRESS={VIP}/24 {VIP6}/64\nINTERFACE=eth0\nREPEAT=1 1 1 1 1 1 1 1\n");
        std::fs::write(fleet.file("vip.conf"), settings).unwrap();
        fleet.script("vip", &format!("TANIST_VIP_CONF=@/vip.conf exec {PROGRAM}"));
        let mut machines = Self { agents: Vec::new(), services: Vec::new(), fleet, switch };
        for node in 1..=NODES {
            machines.configure(node);
            machines.agents.push(None);
            machines.services.push(None);
            machines.launch(node);
        }
        Some(machines)
    }

    fn configure(&self, node: usize) {
        let peers: Vec<String> =
            (1..=NODES).map(|node| format!("\"{}=10.77.0.{node}:7400\"", name(node))).collect();
        let hook = self.fleet.file("vip");
        self.fleet.configure_as(
            name(node),
            name(node),
            &[
                ("peers", format!("[{}]", peers.join(", "))),
                ("algorithm", "\"invitation\"".to_owned()),
                ("preempt", "\"never\"".to_owned()),
                ("timing", "{ heartbeat = \"500ms\", suspect_after = \"3s\" }".to_owned()),
                ("hooks", format!("{{ any = {hook:?} }}")),
            ],
        );
    }

    /// Starts what is missing of agent and service of a machine.
    pub(super) fn launch(&mut self, node: usize) {
        let name = name(node);
        if self.services[node - 1].is_none() {
            let mut command = self.switch.command(node, "perl");
            command.args(["-e", SERVICE, name]);
            self.services[node - 1] = Some(Process::start(&mut command));
        }
        if self.agents[node - 1].is_none() {
            let mut command = self.switch.command(node, env!("CARGO_BIN_EXE_tanist"));
            let file = self.fleet.file(&format!("{name}.toml"));
            command.args(["agent", "-c"]).arg(file);
            self.agents[node - 1] = Some(self.fleet.spawn(name, &mut command));
        }
    }

    /// Kills the agent where it stands; the machine and its service go on.
    pub(super) fn kill_agent(&mut self, node: usize) {
        self.agents[node - 1].take().unwrap().kill();
    }

    /// The machine loses its power: no cable, no process.
    pub(super) fn kill_machine(&mut self, node: usize) {
        self.switch.cable(node, "down");
        self.kill_agent(node);
        self.services[node - 1] = None;
    }

    /// The machine has power again. What it knew of addresses is gone, which a namespace keeps.
    pub(super) fn boot(&mut self, node: usize) {
        for address in [format!("{VIP}/24"), format!("{VIP6}/64")] {
            self.switch.ip(node, &["address", "del", &address, "dev", "eth0"]);
        }
        self.switch.cable(node, "up");
        self.launch(node);
    }

    /// Ends the agent in good order, as an upgrade does.
    pub(super) fn stop_agent(&mut self, node: usize) {
        let mut agent = self.agents[node - 1].take().unwrap();
        agent.signal("-TERM");
        assert_eq!(agent.ends(), Some(0), "{}", agent.log());
    }

    /// Waits until these nodes are one group with an active leader, and returns that.
    pub(super) fn leader_of(&self, nodes: &[usize]) -> usize {
        let look = || {
            let status = |node: &usize| self.agents[node - 1].as_ref()?.try_ask("status");
            let all: Vec<serde_json::Value> = nodes.iter().filter_map(status).collect();
            let leader = nodes.iter().zip(&all).find(|(_, status)| status["active"] == true)?.0;
            let names: Vec<&str> = nodes.iter().map(|node| name(*node)).collect();
            let is_in = |status: &serde_json::Value| {
                status["state"] == "normal"
                    && status["leader"]["node"] == name(*leader)
                    && status["members"] == serde_json::json!(names)
            };
            (all.len() == nodes.len() && all.iter().all(is_in)).then_some(*leader)
        };
        within(LIMIT, look, || format!("{nodes:?} are one group:\n{}", self.logs()))
    }

    /// Waits until exactly these machines have both virtual addresses.
    pub(super) fn held_by(&self, nodes: &[usize]) {
        let look = || {
            let holders = |address: &str| -> Vec<usize> {
                (1..=NODES).filter(|node| self.has(*node, address)).collect()
            };
            (holders(VIP) == nodes && holders(VIP6) == nodes).then_some(())
        };
        within(LIMIT, look, || format!("{nodes:?} have the address:\n{}", self.logs()));
    }

    fn has(&self, node: usize, address: &str) -> bool {
        let shown = self.switch.ip(node, &["-o", "address", "show", "dev", "eth0", "to", address]);
        !shown.is_empty()
    }

    /// Makes a machine remember that this node has the IPv6 address.
    pub(super) fn remember(&self, at: usize, node: usize) {
        let mac = self.mac(node);
        let entry = ["neigh", "replace", VIP6, "lladdr", &mac, "dev", "eth0", "nud", "reachable"];
        self.switch.ip(at, &[&["-6"], &entry[..]].concat());
    }

    /// Waits until a machine remembers this node for both addresses.
    pub(super) fn remembers(&self, at: usize, node: usize) {
        let mac = self.mac(node);
        for address in [VIP, VIP6] {
            let shown = || self.switch.ip(at, &["neigh", "show", address, "dev", "eth0"]);
            let what = format!("machine {at} sends {address} to {}, {mac}", name(node));
            until(&what, || shown().contains(&mac).then_some(()));
        }
    }

    fn mac(&self, node: usize) -> String {
        let shown = self.switch.ip(node, &["-o", "link", "show", "dev", "eth0"]);
        let mut words = shown.split_whitespace().skip_while(|word| *word != "link/ether");
        words.nth(1).unwrap().to_owned()
    }

    fn logs(&self) -> String {
        let log = |node| {
            let text = self.fleet.read(&format!("{}.log", name(node)));
            let last: Vec<&str> = text.lines().rev().take(25).collect();
            format!("{}:\n{}\n", name(node), last.into_iter().rev().collect::<Vec<_>>().join("\n"))
        };
        (1..=NODES).map(log).collect()
    }
}
