//! Exit codes of `tanist run`.

use std::fs;

use crate::support::agent::Process;
use crate::support::dev::Dev;
use crate::support::fleet::Fleet;

fn code_of(fleet: &Fleet, script: &str) -> Option<i32> {
    fleet.job(1, &[], script).status().unwrap().code()
}

#[test]
fn the_code_of_the_command_is_passed_on() {
    let fleet = Fleet::configured(1, "");
    assert_eq!(code_of(&fleet, "exit 0"), Some(0));
    assert_eq!(code_of(&fleet, "exit 7"), Some(7));
}

#[test]
fn a_command_that_a_signal_killed_exits_with_128_and_the_signal() {
    let fleet = Fleet::configured(1, "");
    assert_eq!(code_of(&fleet, "kill -TERM $$"), Some(143));
    assert_eq!(code_of(&fleet, "kill -KILL $$"), Some(137));
}

#[test]
fn a_command_that_is_not_there_is_told_before_anybody_leads() {
    let fleet = Fleet::configured(1, "");
    // There is no agent either: the command is checked first.
    let mut run = fleet.tanist(&["run", "--socket", "nowhere.sock", "--", "no-such-command"]);
    let output = run.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(127), "{stderr}");
    assert!(stderr.contains("no-such-command") && stderr.contains("PATH"), "{stderr}");
    for name in ["./group.key", "."] {
        let mut run = fleet.tanist(&["run", "--socket", "nowhere.sock", "--", name]);
        let output = run.output().unwrap();
        assert_eq!(output.status.code(), Some(126), "{name}: {output:?}");
    }
}

#[test]
fn a_command_that_only_the_system_finds_wanting_exits_with_127() {
    let fleet = Fleet::configured(1, "");
    fs::write(fleet.file("script"), "#!/no/such/interpreter\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(fleet.file("script"), executable).unwrap();
    let output = fleet.tanist(&["run", "-c", "n1.toml", "--", "./script"]).output().unwrap();
    assert_eq!(output.status.code(), Some(127), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("./script"), "{output:?}");
}

#[test]
fn without_an_agent_it_exits_with_125() {
    let fleet = Fleet::configured(1, "");
    let output = fleet.tanist(&["run", "--socket", "nowhere.sock", "--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere.sock"), "{output:?}");
}

#[test]
fn a_key_that_no_file_would_take_is_not_ignored() {
    let fleet = Fleet::configured(1, "");
    for more in [&[][..], &["--socket", "n1.sock"], &["--node", "n1"]] {
        let mut run = fleet.tanist(&["run", "--set", "timing.heartbeat=1s"]);
        let output = run.args(more).args(["--", "touch", "started"]).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{more:?}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("--set timing.heartbeat=1s") && stderr.contains("-c"), "{stderr}");
    }
    assert!(!fleet.file("started").exists());
}

#[test]
fn a_node_of_another_group_is_refused() {
    let fleet = Fleet::configured(1, "");
    let output = fleet.job(1, &["--group", "shipping"], "touch started").output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("billing") && stderr.contains("shipping"), "{stderr}");
    assert!(!fleet.file("started").exists());
    let status = fleet.job(1, &["--group", "billing"], "touch started").status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(fleet.file("started").exists());
}

#[test]
fn a_node_that_does_not_lead_in_time_exits_with_124_and_has_run_nothing() {
    let fleet = Fleet::new(0);
    let mut dev = Dev::start(&["--nodes", "2", "--algorithm", "bully"]);
    dev.agree("all 2 nodes");
    let socket = dev.directory().join("n1.sock");
    let socket = socket.to_str().unwrap();
    let mut run =
        fleet.tanist(&["run", "--socket", socket, "--wait", "200ms", "--", "touch", "started"]);
    let output = run.output().unwrap();
    assert_eq!(output.status.code(), Some(124), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--wait"), "{output:?}");
    assert!(!fleet.file("started").exists());
}

#[test]
fn the_command_is_told_what_it_runs_for() {
    let fleet = Fleet::configured(1, "");
    let output = fleet.job(1, &[], "env").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let value = |name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(&format!("TANIST_{name}=")));
        found.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
    };
    assert_eq!((value("EVENT"), value("ROLE")), ("leader".to_owned(), "leader".to_owned()));
    assert_eq!((value("GROUP"), value("NODE")), ("billing".to_owned(), "n1".to_owned()));
    assert_eq!((value("LEADER"), value("MEMBERS")), ("n1".to_owned(), "n1".to_owned()));
    assert_eq!(value("GROUP_NUMBER"), format!("{}.n1", value("GROUP_COUNTER")));
    assert_eq!(value("REASON"), "start");
    // The command can ask the agent itself.
    let asked = fleet
        .job(1, &[], "\"$TANIST_PROGRAM\" leader > leader")
        .env("TANIST_PROGRAM", env!("CARGO_BIN_EXE_tanist"))
        .status();
    assert_eq!(asked.unwrap().code(), Some(0));
    assert_eq!(fleet.read("leader"), "n1\n");
}

#[test]
fn a_command_sees_the_standard_streams_of_tanist_run() {
    let fleet = Fleet::configured(1, "");
    fs::write(fleet.file("in"), "words\n").unwrap();
    let mut run = fleet.job(1, &[], "cat; echo more >&2");
    let output = run.stdin(fs::File::open(fleet.file("in")).unwrap()).output().unwrap();
    assert_eq!(output.stdout, b"words\n");
    assert!(String::from_utf8_lossy(&output.stderr).ends_with("more\n"), "{output:?}");
}

#[test]
fn a_command_that_ends_lets_the_next_node_run_it() {
    let fleet = Fleet::configured(2, "");
    let script = "echo $TANIST_NODE >> runs; test $(wc -l < runs) -lt 2 || sleep 1000";
    let mut runs = [1, 2].map(|node| Process::start(&mut fleet.job(node, &[], script)));
    let text = fleet.read_when("runs", |text| text.lines().count() == 2);
    let names: Vec<&str> = text.lines().collect();
    assert_ne!(names[0], names[1], "one node ran it twice: {text}");
    for run in &mut runs {
        run.signal("-TERM");
        run.ends();
    }
    fleet.no_process_runs();
}
