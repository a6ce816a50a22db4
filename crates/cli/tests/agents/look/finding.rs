//! How a command finds the agent that it asks.

use crate::support::fleet::Fleet;

#[test]
fn an_agent_is_found_by_its_file_and_a_socket_comes_first() {
    let fleet = Fleet::new(2);
    let mut agents = fleet.group(&["n1", "n2"]);
    let name = |output: std::process::Output| String::from_utf8(output.stdout).unwrap();
    let asked = ["status", "-c", "n1.toml", "-o", "name"];
    assert_eq!(name(fleet.run(&asked)), "n1\n");
    let both = ["status", "-c", "n1.toml", "--socket", "n2.sock", "-o", "name"];
    assert_eq!(name(fleet.run(&both)), "n2\n");
    let variable = fleet.tanist(&asked).env("TANIST_SOCKET", "n2.sock").output().unwrap();
    assert_eq!(name(variable), "n2\n");
    let file = fleet.tanist(&["leader"]).env("TANIST_CONFIG", "n1.toml").output().unwrap();
    assert_eq!(name(file), "n2\n");

    agents[0].kill();
    let gone = fleet.run(&asked);
    assert_eq!(gone.status.code(), Some(3), "{gone:?}");
    let stderr = String::from_utf8_lossy(&gone.stderr).into_owned();
    assert!(stderr.contains("n1.sock") && stderr.contains("n1.toml names"), "{stderr}");
    std::fs::write(fleet.file("bare.toml"), "group = \"billing\"\n").unwrap();
    let bare = fleet.run(&["status", "-c", "bare.toml"]);
    assert_eq!(bare.status.code(), Some(6), "{bare:?}");
    assert!(String::from_utf8_lossy(&bare.stderr).contains("it has no `socket`"), "{bare:?}");
}
