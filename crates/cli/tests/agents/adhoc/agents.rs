//! An agent on each machine of a line.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::fleet::tanist;
use crate::support::namespaces::Line;

/// Nothing takes longer, even on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// Agents n1, n2 and so on, each on its machine. Killed when they are dropped, and then the line.
pub(crate) struct Agents {
    children: Vec<Child>,
    home: tempfile::TempDir,
    _line: Line,
}

impl Agents {
    pub(crate) fn start(line: Line, length: usize, algorithm: &str, group: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let made = tanist(home.path()).arg("keygen").arg(home.path().join("key")).status().unwrap();
        assert!(made.success());
        let mut agents = Self { children: Vec::new(), home, _line: line };
        for at in 1..=length {
            let file = agents.path(&format!("n{at}.toml"));
            let interfaces = agents._line.interfaces(at);
            std::fs::write(&file, agents.text(at, length, &interfaces, algorithm, group)).unwrap();
            let log = std::fs::File::create(agents.path(&format!("n{at}.log"))).unwrap();
            let child = agents
                ._line
                .command(at, env!("CARGO_BIN_EXE_tanist"))
                .args(["agent", "-c", &file])
                .stdout(Stdio::null())
                .stderr(log)
                .spawn()
                .unwrap();
            agents.children.push(child);
        }
        agents
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
            self.path("key"),
            self.path(&format!("n{at}.sock")),
        )
    }

    fn path(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    pub(crate) fn line(&self) -> &Line {
        &self._line
    }

    /// A command that asks one of them.
    pub(crate) fn command(&self, at: usize, arguments: &[&str]) -> Command {
        let mut command = tanist(self.home.path());
        command.args(arguments).args(["--socket", &self.path(&format!("n{at}.sock"))]);
        command
    }

    /// What a command says in JSON; nothing while the agent does not answer.
    pub(crate) fn json(&self, at: usize, arguments: &[&str]) -> Option<Value> {
        let output = self.command(at, &[arguments, &["-o", "json"]].concat()).output().unwrap();
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Waits until all of these follow this one, in one group, and gives its number.
    pub(crate) fn follow(&self, nodes: &[usize], leader: usize) -> String {
        let leader = format!("n{leader}");
        let end = Instant::now() + LIMIT;
        loop {
            let seen: Vec<Option<Value>> =
                nodes.iter().map(|at| self.json(*at, &["status"])).collect();
            let number = seen[0].as_ref().map(|status| status["epoch"]["text"].clone());
            let is_so = seen.iter().flatten().all(|status| {
                status["leader"]["node"] == leader.as_str()
                    && status["state"] == "normal"
                    && Some(&status["epoch"]["text"]) == number.as_ref()
            });
            if is_so && seen.iter().all(Option::is_some) {
                return number.unwrap().as_str().unwrap().to_owned();
            }
            assert!(Instant::now() < end, "{nodes:?} do not follow {leader}: {seen:#?}{}", {
                nodes.iter().map(|at| self.log(*at)).collect::<String>()
            });
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Waits until a value that a command tells is as wanted.
    pub(crate) fn when(&self, at: usize, arguments: &[&str], wanted: impl Fn(&Value) -> bool) {
        let end = Instant::now() + LIMIT;
        loop {
            let value = self.json(at, arguments);
            if value.as_ref().is_some_and(&wanted) {
                return;
            }
            assert!(Instant::now() < end, "it stays {value:#?}{}", self.log(at));
            thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn log(&self, at: usize) -> String {
        let path = self.path(&format!("n{at}.log"));
        format!("\nn{at}: {}", std::fs::read_to_string(Path::new(&path)).unwrap())
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
