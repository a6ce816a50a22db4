//! `tanist key`, `tanist keygen --node` and `[identity]`: what they write, and what they refuse.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use super::group::socket;
use crate::support::agent::Process;
use crate::support::fleet::{Fleet, tanist};
use crate::support::wait::until;

fn run(home: &Path, arguments: &[&str]) -> Output {
    tanist(home).args(arguments).current_dir(home).output().unwrap()
}

fn well(home: &Path, arguments: &[&str]) -> String {
    let output = run(home, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Fails with this code, and says this.
fn fails(home: &Path, arguments: &[&str], code: i32, words: &str) {
    let output = run(home, arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    assert!(told.contains(words), "{arguments:?}: {told}");
}

fn ids(home: &Path, file: &str) -> Vec<String> {
    let names = well(home, &["key", "status", "--file", file, "-o", "name"]);
    names.lines().map(str::to_owned).collect()
}

#[test]
fn a_key_file_is_changed_step_by_step_and_stays_private() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    well(home, &["keygen", "a.key"]);
    let old = ids(home, "a.key")[0].clone();
    let new = well(home, &["key", "new", "--file", "a.key"]).trim().to_owned();
    assert_eq!(ids(home, "a.key"), [old.clone(), new.clone()]);
    fails(home, &["key", "remove", &old, "--file", "a.key"], 5, "the one in use");
    fails(home, &["key", "use", "00000000", "--file", "a.key"], 5, "no key 00000000");
    fails(home, &["key", "use", "gold", "--file", "a.key"], 2, "8 hexadecimal digits");
    well(home, &["key", "use", &new, "--file", "a.key"]);
    well(home, &["key", "remove", &old, "--file", "a.key"]);
    assert_eq!(ids(home, "a.key"), [new]);
    let mode = fs::metadata(home.join("a.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_key_reaches_another_node_by_file_or_by_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    well(home, &["keygen", "a.key"]);
    fs::copy(home.join("a.key"), home.join("b.key")).unwrap();
    fs::copy(home.join("a.key"), home.join("c.key")).unwrap();
    let secret = well(home, &["key", "new", "--print", "--file", "a.key"]);
    assert!(secret.starts_with("tanist-key-1:") && secret.lines().count() == 1, "{secret}");
    let added = well(home, &["key", "add", "a.key", "--file", "b.key"]);
    assert_eq!(ids(home, "b.key"), ids(home, "a.key"));
    assert_eq!(added.trim(), ids(home, "a.key")[1]);
    // A second time changes nothing, so a step can be repeated.
    assert_eq!(well(home, &["key", "add", "a.key", "--file", "b.key"]), "");
    let mut command = tanist(home);
    command.args(["key", "add", "-", "--file", "c.key"]).current_dir(home);
    let mut adding = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    adding.stdin.take().unwrap().write_all(secret.as_bytes()).unwrap();
    assert!(adding.wait().unwrap().success());
    assert_eq!(ids(home, "c.key"), ids(home, "a.key"));
}

#[test]
fn a_file_that_is_no_key_file_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    fails(home, &["key", "new", "--file", "none.key"], 6, "tanist keygen");
    fs::write(home.join("bad.key"), "hello\n").unwrap();
    fs::set_permissions(home.join("bad.key"), fs::Permissions::from_mode(0o600)).unwrap();
    fails(home, &["key", "new", "--file", "bad.key"], 6, "line 1");
    assert_eq!(fs::read_to_string(home.join("bad.key")).unwrap(), "hello\n");
    well(home, &["keygen", "open.key"]);
    fs::set_permissions(home.join("open.key"), fs::Permissions::from_mode(0o644)).unwrap();
    fails(home, &["key", "status", "--file", "open.key"], 6, "chmod 600");
}

#[test]
fn a_nodes_own_key_is_private_and_its_public_line_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let line = well(home, &["keygen", "--node", "n7", "n7.key"]);
    assert!(line.starts_with("n7 = \"tanist-node-1:") && line.ends_with("\"\n"), "{line}");
    let path = home.join("n7.key");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&path).unwrap().starts_with("tanist-node-secret-1:"));
    fails(home, &["keygen", "--node", "n7", "n7.key"], 1, "exists already");
    fails(home, &["keygen", "--node", "Seven", "x.key"], 2, "letters a to z");
}

/// Configurations of two nodes, with an identity for n1.
fn with_identity(more: &str) -> Fleet {
    let home = Fleet::configured(2, "");
    let lines: String = ["n1", "n2"]
        .map(|node| well(home.path(), &["keygen", "--node", node, &format!("{node}.key")]))
        .concat();
    let text = format!(
        "{}\n[identity]\nkey_file = \"n1.key\"\n{more}\n[identity.peer_keys]\n{lines}",
        home.read("n1.toml")
    );
    fs::write(home.file("n1.toml"), text).unwrap();
    home
}

#[test]
fn config_check_looks_at_the_keys_and_show_nests_them() {
    let home = with_identity("");
    let checked = run(home.path(), &["config", "check", "-c", "n1.toml"]);
    assert!(checked.status.success() && checked.stderr.is_empty(), "{checked:?}");
    let shown = well(home.path(), &["config", "show", "-c", "n1.toml", "-o", "json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["identity"]["require"], true);
    let own = shown["identity"]["peer_keys"]["n1"].as_str().unwrap();
    assert!(own.starts_with("tanist-node-1:"), "{shown}");
    let toml = well(home.path(), &["config", "show", "-c", "n1.toml", "-o", "toml"]);
    fs::write(home.file("again.toml"), toml).unwrap();
    well(home.path(), &["config", "check", "-c", "again.toml"]);
    let lenient = run(
        home.path(),
        &["config", "show", "-c", "n1.toml", "--origin", "--set", "identity.require=false"],
    );
    let lenient = String::from_utf8(lenient.stdout).unwrap();
    let row = lenient.lines().find(|line| line.starts_with("identity.require")).unwrap();
    assert!(row.contains("--set") && row.contains("false"), "{row}");
    // A node's own entry must match its own key.
    let check = ["config", "check", "-c", "n1.toml", "--set", "identity.key_file=n2.key"];
    fails(home.path(), &check, 6, "lists another key for n1");
    let check = ["config", "check", "-c", "n1.toml", "--set", "identity.key_file=none.key"];
    fails(home.path(), &check, 6, "tanist keygen --node n1");
    fs::write(home.file("n1.toml"), home.read("n1.toml").replace("\nn2 = ", "\n#")).unwrap();
    let warned = run(home.path(), &["config", "check", "-c", "n1.toml"]);
    let told = String::from_utf8_lossy(&warned.stderr);
    assert!(warned.status.success() && told.contains("n2 is not listed"), "{warned:?}");
}

#[test]
fn a_reload_with_a_broken_key_file_changes_nothing() {
    let home = with_identity("");
    let log = fs::File::create(home.file("log")).unwrap();
    let mut command = home.tanist(&["agent", "-c", "n1.toml"]);
    let _agent = Process::start(command.stdout(Stdio::null()).stderr(log));
    let keys = || {
        let asked = run(home.path(), &["key", "status", "--socket", &socket(1), "-o", "json"]);
        serde_json::from_slice::<Value>(&asked.stdout).ok()
    };
    let before = until("the agent", keys);
    assert_eq!(before["identity"]["is_required"], true);
    let reload = ["reload", "--socket", &socket(1)];
    assert!(well(home.path(), &reload).contains("nothing has changed"));
    let sound = home.read("group.key");
    let lenient = home.read("n1.toml").replace("[identity]\n", "[identity]\nrequire = false\n");
    let strict = home.read("n1.toml");
    fs::write(home.file("n1.toml"), &lenient).unwrap();
    fs::write(home.file("group.key"), "no key\n").unwrap();
    fails(home.path(), &reload, 5, "nothing was changed");
    assert_eq!(keys().unwrap()["identity"]["is_required"], true);
    fs::write(home.file("group.key"), &sound).unwrap();
    well(home.path(), &["key", "new", "--file", "group.key"]);
    assert_eq!(keys().unwrap()["is_reload_due"], true);
    let told = well(home.path(), &reload);
    assert!(told.contains("keys: 2 (using ") && told.contains("identity.require"), "{told}");
    let after = keys().unwrap();
    assert_eq!(after["identity"]["is_required"], false);
    assert_eq!(
        (after["keys"].as_array().unwrap().len(), &after["is_reload_due"]),
        (2, &false.into())
    );
    // A reload also finds a wrong own key.
    fs::copy(home.file("n2.key"), home.file("n1.key")).unwrap();
    fs::write(home.file("n1.toml"), &strict).unwrap();
    fails(home.path(), &reload, 5, "lists another key for n1");
    assert_eq!(keys().unwrap(), after);
}
