//! An agent on each machine of a line.

use std::cell::RefCell;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::support::agent::Agent;
use crate::support::fleet::Fleet;
use crate::support::namespaces::Line;
use crate::support::wait::within;

/// The limit of a wait: elections over radio are slow on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// Agents n1, n2 and so on, each on its machine.
pub(crate) struct Agents {
    agents: Vec<Agent>,
    fleet: Fleet,
    line: Line,
}

impl Agents {
    pub(crate) fn start(line: Line, length: usize, algorithm: &str, group: &str) -> Self {
        let mut all = Self { agents: Vec::new(), fleet: Fleet::new(length), line };
        for at in 1..=length {
            let name = format!("n{at}");
            let file = all.path(&format!("{name}.toml"));
            let interfaces = all.line.interfaces(at);
            std::fs::write(&file, all.text(at, length, &interfaces, algorithm, group)).unwrap();
            let mut command = all.line.command(at, env!("CARGO_BIN_EXE_tanist"));
            all.agents.push(all.fleet.spawn(&name, command.args(["agent", "-c", &file])));
        }
        all
    }

    fn text(
        &self,
        at: usize,
        length: usize,
        interfaces: &[&str],
        algorithm: &str,
        group: &str,
    ) -> String {
        let peers: Vec<String> = (1..=length).map(|at| format!("n{at}")).collect();
        format!(
            "group = \"rovers\"\nnode = \"n{at}\"\npeers = {peers:?}\nalgorithm = \"{algorithm}\"\n\
             data_dir = {:?}\nkey_file = {:?}\nsocket = {:?}\n\
             [timing]\nmessage_max = \"100ms\"\nprocessing_max = \"200ms\"\nheartbeat = \"1s\"\n\
             suspect_after = \"6s\"\n\
             [radio]\ninterfaces = {interfaces:?}\ngroup = \"{group}\"\n",
            self.path(&format!("n{at}.data")),
            self.path("group.key"),
            self.path(&format!("n{at}.sock")),
        )
    }

    fn path(&self, name: &str) -> String {
        self.fleet.file(name).display().to_string()
    }

    pub(crate) fn line(&self) -> &Line {
        &self.line
    }

    /// A command that asks one of them.
    pub(crate) fn command(&self, at: usize, arguments: &[&str]) -> Command {
        let mut command = self.fleet.tanist(arguments);
        command.args(["--socket", &self.path(&format!("n{at}.sock"))]);
        command
    }

    /// The JSON that a command prints; none while the agent does not answer.
    pub(crate) fn json(&self, at: usize, arguments: &[&str]) -> Option<Value> {
        let output = self.command(at, &[arguments, &["-o", "json"]].concat()).output().unwrap();
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Waits until these nodes follow this leader in one group, and returns the group number.
    pub(crate) fn follow(&self, nodes: &[usize], leader: usize) -> String {
        let leader = format!("n{leader}");
        let last = RefCell::new(Vec::new());
        let look = || {
            let seen: Vec<Option<Value>> =
                nodes.iter().map(|at| self.agents[at - 1].try_ask("status")).collect();
            let found = followed(&seen, &leader);
            last.replace(seen);
            found
        };
        within(LIMIT, look, || {
            let logs: String = nodes.iter().map(|at| self.log(*at)).collect();
            format!("{nodes:?} to follow {leader}: {:#?}{logs}", last.borrow())
        })
    }

    /// Waits until the JSON of a command is as wanted.
    pub(crate) fn when(&self, at: usize, arguments: &[&str], wanted: impl Fn(&Value) -> bool) {
        let last = RefCell::new(None);
        let look = || {
            let value = self.json(at, arguments);
            let is_so = value.as_ref().is_some_and(&wanted);
            last.replace(value);
            is_so.then_some(())
        };
        within(LIMIT, look, || format!("as wanted; it stays {:#?}{}", last.borrow(), self.log(at)));
    }

    pub(crate) fn log(&self, at: usize) -> String {
        format!("\nn{at}: {}", self.agents[at - 1].log())
    }
}

/// The number of the group in which all follow one leader, if they do.
fn followed(seen: &[Option<Value>], leader: &str) -> Option<String> {
    let number = seen.first()?.as_ref()?["group_number"].as_str()?;
    let follows = |status: &Value| {
        status["leader"]["node"] == leader
            && status["state"] == "normal"
            && status["group_number"] == number
    };
    seen.iter().all(|status| status.as_ref().is_some_and(follows)).then(|| number.to_owned())
}
