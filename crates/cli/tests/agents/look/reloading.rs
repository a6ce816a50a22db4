//! Reloading the configuration of a running agent.

use std::fs;

use crate::support::dev::Dev;

#[test]
fn a_reload_changes_what_can_change_and_names_what_needs_a_new_start() {
    let mut dev = Dev::start(&["--nodes", "2", "--algorithm", "bully"]);
    dev.agree("all 2 nodes");
    let file = dev.directory().join("n1.toml");
    let sound = fs::read_to_string(&file).unwrap();
    let reload = || dev.run(&["reload", "--node", "n1"]);
    let said = |output: &std::process::Output| {
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout.clone()).unwrap()
    };
    assert!(said(&reload()).contains("nothing has changed"));

    let slower = sound.replace("[timing]\n", "[timing]\ncheck_every = \"3s\"\n");
    fs::write(&file, format!("{slower}\n[log]\nlevel = \"debug\"\n")).unwrap();
    let text = said(&reload());
    let (live, waiting) = text.split_once("Only with a new start").expect(&text);
    assert!(live.contains("log.level: info -> debug"), "{text}");
    assert!(waiting.contains("timing.check_every: 2s -> 3s"), "{text}");
    // A change that needs a restart is reported again; an applied one is not.
    let text = said(&reload());
    assert!(text.contains("check_every") && !text.contains("log.level"), "{text}");
}

#[test]
fn a_reload_gives_the_node_its_new_priority() {
    let mut dev = Dev::start(&["--nodes", "3", "--algorithm", "invitation"]);
    let leader = dev.agree("all 3 nodes");
    let raised = if leader == "n1" { "n2" } else { "n1" };
    let file = dev.directory().join(format!("{raised}.toml"));
    let sound = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("priority = 50\n{sound}")).unwrap();
    let done = dev.run(&["reload", "--node", raised]);
    assert!(done.status.success(), "{done:?}");
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains("priority: nothing -> 50"), "{text}");
    dev.act(&["kill", &leader]);
    dev.status_when(raised, |status| status["leader"]["node"] == raised);
}

#[test]
fn a_file_that_is_not_sound_changes_nothing_and_is_told_with_its_line() {
    let mut dev = Dev::start(&["--nodes", "2", "--algorithm", "bully"]);
    dev.agree("all 2 nodes");
    // A leader that has just been elected becomes active a moment later.
    let before = dev.status_when("n2", |status| status["active"] == true);
    let file = dev.directory().join("n2.toml");
    let sound = fs::read_to_string(&file).unwrap();
    let line = sound.lines().take_while(|line| *line != "[timing]").count() + 2;
    fs::write(&file, sound.replace("[timing]\n", "[timing]\nhartbeat = \"300ms\"\n")).unwrap();
    let refused = dev.run(&["reload", "--node", "n2"]);
    assert_eq!(refused.status.code(), Some(5), "{refused:?}");
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(text.contains("nothing was changed"), "{text}");
    let place = format!("n2.toml:{line}:");
    assert!(text.contains(&place) && text.contains("heartbeat"), "{place} {text}");
    assert_eq!(dev.json(&["status", "--node", "n2"]), before);
}
