//! `tanist sim mobility`: shares, figures, a map, and what it refuses.

use std::fs;
use std::process::Output;

use assert_cmd::cargo_bin_cmd;
use serde_json::Value;

fn mobility(args: &[&str]) -> Output {
    let output = cargo_bin_cmd!("tanist").args(["sim", "mobility"]).args(args).output();
    output.expect("tanist can be started")
}

fn json(args: &[&str]) -> Value {
    let output = mobility(&[args, &["-o", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON was asked for")
}

#[test]
fn forty_nodes_that_hear_many_agree_nearly_all_the_time_under_both_algorithms() {
    for algorithm in ["adhoc-diffusing", "adhoc-expanding-ring"] {
        let args = ["--nodes", "40", "--time", "60s", "--area", "500x500", "--algorithm"];
        let told = json(&[&args[..], &[algorithm]].concat());
        let share = told["agreed"]["nodes"].as_f64().expect("a number");
        assert!(share > 0.97 && share <= 1.0, "{told}");
        assert!(told["agreed"]["components"].as_f64().expect("a number") <= share + 0.05, "{told}");
        assert!(told["transmissions"].as_u64() < told["receptions"].as_u64(), "{told}");
        assert!(told["links_changed"].as_u64() > Some(100), "no node moved: {told}");
        assert!(told["elections"]["won"].as_u64() >= Some(1), "{told}");
        assert_eq!(told["time_us"], 60_000_000);
    }
}

#[test]
fn a_seed_gives_the_same_run_and_another_seed_another() {
    let args = ["--nodes", "12", "--time", "20s", "--area", "600x600", "--loss", "distance"];
    let with = |seed: &str| json(&[&args[..], &["--seed", seed]].concat());
    assert_eq!(with("5"), with("5"));
    assert_ne!(with("5")["receptions"], with("6")["receptions"]);
}

#[test]
fn nodes_that_seldom_meet_agree_less_and_the_exit_code_says_so() {
    let args = ["--nodes", "20", "--time", "30s", "--range", "300", "--heartbeat", "5s"];
    let output = mobility(&[&args[..], &["--at-least", "0.999"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("less than 0.999"), "{stderr}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("of components and time"), "{stdout}");
    let replay = stdout.lines().find(|line| line.starts_with("Replay: tanist sim mobility "));
    assert!(replay.is_some_and(|line| line.contains(" --heartbeat 5s ")), "{stdout}");
}

#[test]
fn the_map_shows_every_node_and_names_a_leader() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("map.svg");
    let path = path.to_str().expect("a name");
    let args = ["--nodes", "30", "--time", "20s", "--area", "500x400", "--svg", path];
    assert_eq!(mobility(&args).status.code(), Some(0));
    let svg = fs::read_to_string(path).expect("it was written");
    assert!(svg.starts_with("<svg"), "{svg}");
    assert!(svg.matches("<circle").count() > 30, "{svg}");
    assert!(svg.contains(">n30</text>"), "the best of all leads");
}

#[test]
fn what_cannot_be_run_is_refused_with_the_reason() {
    for (args, part) in [
        (vec!["--algorithm", "bully"], "adhoc-diffusing"),
        (vec!["--speed", "0..3"], "0.1"),
        (vec!["--speed", "5..3"], "smaller speed comes first"),
        (vec!["--area", "100"], "2000x2000"),
        (vec!["--loss", "much"], "share between 0 and 1"),
        (vec!["--nodes", "0"], "1..=2000"),
        (vec!["--nodes", "2", "--time", "25h"], "at most 24h"),
        (vec!["--option", "ttl=3"], "Nothing was run"),
        (vec!["--at-least", "nan"], "from 0 to 1"),
        (vec!["--at-least", "7"], "from 0 to 1"),
        (vec!["--nodes", "2", "--time", "0s"], "longer than zero"),
        (vec!["--nodes", "2", "--time", "1m", "--message", "277000h"], "no message would arrive"),
        (
            vec!["--nodes", "50", "--time", "24h", "--heartbeat", "1us"],
            "at most 200 million; choose a longer heartbeat",
        ),
    ] {
        let output = mobility(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(part), "{args:?}: {stderr}");
    }
}
