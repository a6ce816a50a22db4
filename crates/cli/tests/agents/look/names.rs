//! Nodes with names of their own, on every surface that people see.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use crate::support::agent::Agent;
use crate::support::fleet::Fleet;
use crate::support::wait::until;

const NAMES: [&str; 3] = ["db-east-1", "db-east-2", "db-west-1"];

/// Three nodes with names, hooks that write their variables, HTTP and traces.
struct Named {
    fleet: Fleet,
    agents: Vec<Agent>,
}

impl Named {
    fn start() -> Self {
        let fleet = Fleet::with_hooks(NAMES.len());
        fleet.script("hook", "env | grep ^TANIST_ | sort >> @/$TANIST_NODE.variables");
        for node in 1..=NAMES.len() {
            configure(&fleet, node, &NAMES);
        }
        let agents: Vec<Agent> = NAMES.iter().map(|name| fleet.start(name)).collect();
        agents.iter().for_each(|agent| agent.members_are(&NAMES));
        Self { fleet, agents }
    }

    /// What a command prints at a node; it must exit with this code.
    fn says(&self, at: &str, code: i32, arguments: &[&str]) -> String {
        let socket = format!("{at}.sock");
        let output = self.fleet.run(&[arguments, &["--socket", &socket]].concat());
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        text
    }

    /// The leader, once it acts.
    fn leader(&self) -> &'static str {
        let name = until("a leader that acts", || {
            let acts = |agent: &&Agent| agent.ask("status")["active"] == true;
            self.agents.iter().find(acts).map(|agent| agent.ask("status")["node"].clone())
        });
        NAMES.into_iter().find(|known| name == *known).unwrap()
    }
}

fn configure(fleet: &Fleet, node: usize, names: &[&str]) {
    let peers: Vec<String> =
        (1..).zip(names).map(|(node, name)| format!("{name}={}", fleet.peer(node))).collect();
    let name = NAMES[node - 1];
    let hook = fleet.file("hook");
    fleet.configure_as(
        name,
        // One of them is told its short form.
        if node == 2 { "n2" } else { name },
        &[
            ("peers", format!("{peers:?}")),
            ("algorithm", "\"invitation\"".to_owned()),
            ("preempt", "\"never\"".to_owned()),
            ("priorities", "{ db-west-1 = 30, n1 = 20 }".to_owned()),
            ("trace", format!("{:?}", fleet.file(&format!("{name}.jsonl")))),
            ("hooks", format!("{{ any = {hook:?} }}")),
            ("http", format!("{{ listen = \"{}\" }}", fleet.http(node))),
        ],
    );
}

/// Fails if a text calls one of the nodes by its short form. Group numbers have that: `2.n3`.
fn is_by_name(text: &str) {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '.';
    let words = text.split(|letter: char| !is_part(letter));
    let short: Vec<&str> =
        words.filter(|word| ["n1", "n2", "n3"].contains(&word.trim_matches('.'))).collect();
    assert_eq!(short, [""; 0], "short forms in:\n{text}");
}

fn get(at: SocketAddr, path: &str) -> String {
    let mut connection = TcpStream::connect(at).unwrap();
    write!(connection, "GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    connection.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn nodes_are_called_by_their_names_everywhere_and_found_by_both_forms() {
    let named = Named::start();
    let leader = named.leader();
    let standby = NAMES.into_iter().find(|name| *name != leader).unwrap();
    for command in ["status", "members", "leader", "history", "why"] {
        for form in ["wide", "json", "yaml"] {
            let text = named.says(standby, 0, &[command, "-o", form]);
            assert!(text.contains(leader), "{command} -o {form}: {text}");
            is_by_name(&text);
        }
    }
    for arguments in [&["members", "--all"][..], &["doctor", "-o", "json"], &["key", "status"]] {
        let text = named.says(standby, 0, arguments);
        assert!(text.contains(leader), "{arguments:?}: {text}");
        is_by_name(&text);
    }
    // A short form is understood, and answered with the name.
    for member in ["db-west-1", "n3"] {
        named.says(standby, 0, &["wait", "member", member, "--timeout", "10s"]);
    }
    let unknown = named.says(standby, 2, &["wait", "member", "db-north-1"]);
    assert!(unknown.contains("that has db-east-1 db-east-2 db-west-1"), "{unknown}");

    let number = 1 + NAMES.iter().position(|name| *name == standby).unwrap();
    let dry = named.says(leader, 0, &["switchover", "--to", &format!("n{number}"), "--dry-run"]);
    assert_eq!(dry, format!("{leader} would hand over to {standby}; nothing was done\n"));
    let done = named.says(standby, 0, &["switchover", "--to", standby]);
    assert!(done.starts_with(&format!("{standby} leads and acts in group ")), "{done}");
    is_by_name(&done);
    named.agents.iter().for_each(|agent| agent.members_are(&NAMES));
    let refused = named.says(leader, 5, &["switchover", "--to", "db-north-1"]);
    assert!(refused.contains("db-north-1 is not in the peer list"), "{refused}");

    let at = named.fleet.http(number);
    for path in ["/v1/status", "/v1/members", "/v1/history", "/leader", "/readyz", "/metrics"] {
        let text = get(at, path);
        assert!(text.contains("db-"), "{path}: {text}");
        is_by_name(&text);
    }
    for name in NAMES {
        let log = named.fleet.read(&format!("{name}.log"));
        // What an operator asked for is logged as it was written.
        let told = |line: &&str| !line.contains(" requested");
        is_by_name(&log.lines().filter(told).collect::<Vec<_>>().join("\n"));
        let told = named.fleet.read_when(&format!("{name}.variables"), |text| {
            text.contains("TANIST_MEMBERS=db-east-1 db-east-2 db-west-1\n")
        });
        assert!(told.contains(&format!("TANIST_NODE={name}\n")), "{told}");
        is_by_name(&told);
    }
    let story = named.fleet.run(&[
        "trace",
        "story",
        "db-east-1.jsonl",
        "db-east-2.jsonl",
        "db-west-1.jsonl",
    ]);
    let story = String::from_utf8([story.stdout, story.stderr].concat()).unwrap();
    assert!(story.contains("db-west-1") && story.contains("db-east-2"), "{story}");
}

/// Two nodes with the same list in another order would be each other's number.
#[test]
fn a_list_in_another_order_is_refused_by_name() {
    let fleet = Fleet::with_hooks(2);
    fleet.script("hook", "true");
    configure(&fleet, 1, &NAMES);
    configure(&fleet, 3, &["db-east-2", "db-east-1", "db-west-1"]);
    let agents = ["db-east-1", "db-west-1"].map(|name| fleet.start(name));
    agents[0].when("members", |seen| {
        let members = seen["members"].as_array().unwrap();
        let refusal = members[2]["refusal"].as_str().unwrap_or_default();
        refusal.contains("names n1:db-east-2 n2:db-east-1 n3:db-west-1")
    });
    let problems = fleet.problems("db-east-1");
    assert!(problems.contains("db-west-1 has names n1:db-east-2"), "{problems}");
}
