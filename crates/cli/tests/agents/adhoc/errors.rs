//! Errors of an agent that cannot use its radio: each names the cause and what to do.

use crate::support::fleet::tanist;
use crate::support::namespaces::Line;

fn refusal(line: &Line, interfaces: &str, extra: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("key");
    assert!(tanist(home.path()).arg("keygen").arg(&key).status().unwrap().success());
    let set = |name: &str, value: &str| format!("{name}={value}");
    let here = |name: &str| home.path().join(name).display().to_string();
    let output = line
        .command(1, env!("CARGO_BIN_EXE_tanist"))
        .args(["agent", "-c", "/dev/null"])
        .args(["--set", "group=rovers", "--set", "node=n1", "--set", "peers=n1,n2"])
        .args(["--set", "algorithm=adhoc-diffusing", "--set", &set("data_dir", &here("data"))])
        .args(["--set", &set("key_file", &here("key"))])
        .args(["--set", &set("radio.interfaces", interfaces)])
        .args(extra)
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_agent_without_a_way_out_says_what_is_missing() {
    let Some(line) = Line::new(2) else { return };
    let missing = refusal(&line, "wlan9", &[]);
    assert!(missing.contains("there is no interface `wlan9`"), "{missing}");
    line.link(1, "down");
    let down = refusal(&line, "right", &[]);
    assert!(down.contains("ip link set right up"), "{down}");
    let nothing = refusal(&line, "all", &[]);
    assert!(nothing.contains("no interface is up"), "{nothing}");
    let key = refusal(&line, "right", &["--set", "key_file=/nowhere/key"]);
    assert!(key.contains("/nowhere/key"), "{key}");
}
