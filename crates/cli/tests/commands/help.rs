//! Every command explains itself, and a mistake on the command line exits with 2.

use assert_cmd::cargo_bin_cmd;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["dev"],
    &["dev", "logs"],
    &["agent"],
    &["run"],
    &["status"],
    &["members"],
    &["leader"],
    &["watch"],
    &["is-leader"],
    &["history"],
    &["wait"],
    &["top"],
    &["why"],
    &["doctor"],
    &["step-down"],
    &["rejoin"],
    &["pause"],
    &["resume"],
    &["reload"],
    &["leave"],
    &["priority"],
    &["wait", "leader"],
    &["wait", "member"],
    &["wait", "merged"],
    &["keygen"],
    &["key"],
    &["key", "new"],
    &["key", "add"],
    &["key", "use"],
    &["key", "remove"],
    &["key", "status"],
    &["config"],
    &["config", "init"],
    &["config", "check"],
    &["config", "show"],
    &["hook"],
    &["hook", "test"],
    &["completion"],
    &["man"],
    &["store"],
    &["store", "adopt"],
    &["bench"],
    &["bench", "failover"],
    &["bench", "idle"],
    &["trace"],
    &["trace", "check"],
    &["trace", "story"],
    &["trace", "merge"],
    &["check"],
    &["algorithms"],
    &["compare"],
    &["sim"],
    &["sim", "list"],
    &["sim", "run"],
    &["sim", "sweep"],
    &["sim", "fuzz"],
    &["sim", "mutants"],
];

fn stdout(args: &[&str]) -> String {
    let output = cargo_bin_cmd!("tanist").args(args).output().expect("tanist can be started");
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("help is text")
}

#[test]
fn every_command_has_help_with_examples() {
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            let text = stdout(&[*command, &[flag]].concat());
            assert!(text.contains("Usage: tanist"), "{command:?}: {text}");
            assert!(text.contains("Examples:"), "{command:?}: {text}");
        }
    }
}

#[test]
fn version_is_told() {
    assert!(stdout(&["-V"]).starts_with("tanist 0."));
    assert_eq!(stdout(&["-V"]), stdout(&["--version"]));
}

#[test]
fn alone_it_says_what_it_is_in_eight_lines() {
    let text = stdout(&[]);
    assert_eq!(text.lines().count(), 8, "{text}");
    assert!(text.contains("tanist sim run "), "{text}");
    assert!(text.contains("tanist --help"), "{text}");
}

#[test]
fn slips_exit_with_2_and_say_what_there_is() {
    for (args, hint) in [
        (&["sim"][..], "Usage"),
        (&["doctor", "-o", "name"], "no names to print; choose table"),
        (&["elect"], "unrecognized subcommand"),
        (&["take-part"], "`take-part` is called `rejoin`"),
        (&["take-part", "--node", "n3"], "`take-part` is called `rejoin`"),
        (&["check", "bully", "--hasty", "0"], "`--hasty` is called `--early-timers`"),
        (&["check", "bully", "--hasty=0"], "`--hasty` is called `--early-timers`"),
        (
            &["check", "bully", "--must-suffice"],
            "`--must-suffice` is called `--require-within-counter`",
        ),
        (&["sim", "run"], "<SCENARIO>"),
        (&["sim", "run", "bully-figure-10-7"], "bully-figure-10-8"),
        (&["sim", "run", "zzzzzzzzzzzzzzzzzzzzzzzzzzzz"], "tanist sim list"),
        (&["sim", "run", "no/such/file"], "cannot read no/such/file"),
        (&["sim", "run", "bully-figure-10-8", "--option", "waits"], "NAME=VALUE"),
        (&["sim", "run", "bully-figure-10-8", "--option", "waits=never"], "early"),
        (&["sim", "run", "bully-figure-10-8", "--option", "pace=slow"], "tanist algorithms"),
        (&["sim", "run", "bully-figure-10-8", "--trace", "-", "--svg", "-"], "stdout"),
        (&["sim", "run", "bully-figure-10-8", "-o", "yaml"], "json"),
        (&["sim", "sweep", "paxos", "--nodes", "2..4"], "bully-lecture"),
        (&["sim", "sweep", "bully"], "--nodes"),
        (&["sim", "sweep", "bully", "--nodes", "4..2"], "smaller"),
        (&["sim", "sweep", "bully", "--nodes", "1"], "--nodes 2..64"),
        (&["sim", "sweep", "bully", "--nodes", "2..4", "--case", "none"], "all-detect"),
        (&["sim", "fuzz", "--algorithm", "paxos"], "invitation"),
        (&["sim", "fuzz", "--jobs", "0"], "--jobs"),
    ] {
        let output = cargo_bin_cmd!("tanist").args(args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(hint), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn the_catalogue_names_every_algorithm_and_option() {
    let catalogue: serde_json::Value =
        serde_json::from_str(&stdout(&["algorithms", "-o", "json"])).unwrap();
    let table = stdout(&["algorithms"]);
    let algorithms = catalogue.as_array().unwrap();
    assert!(algorithms.len() >= 3);
    for algorithm in algorithms {
        for field in ["name", "source", "network", "model", "guarantee"] {
            assert!(algorithm[field].is_string(), "{field} of {algorithm}");
        }
        assert!(table.contains(algorithm["name"].as_str().unwrap()));
        for option in algorithm["options"].as_array().unwrap() {
            assert_eq!(option["default"], option["values"][0]["name"]);
            assert_eq!(option["values"][0]["literal"], false);
            assert!(option["about"].is_string());
            assert!(table.contains(option["name"].as_str().unwrap()));
        }
    }
}

#[test]
fn tables_are_a_hundred_columns_wide_and_have_no_trailing_spaces() {
    for args in [
        &["algorithms"][..],
        &["sim", "list"],
        &["sim", "run", "bully-figure-10-8"],
        &["sim", "sweep", "bully", "--nodes", "2..5"],
    ] {
        for line in stdout(args).lines() {
            assert_eq!(line, line.trim_end(), "{args:?}");
            assert!(line.chars().count() <= 100, "{args:?}: {line}");
        }
    }
}

#[cfg(not(feature = "mutants"))]
#[test]
fn without_the_feature_mutants_are_hidden_and_say_how_to_get_them() {
    assert!(!stdout(&["sim", "--help"]).contains("mutants"));
    assert!(!stdout(&["sim", "fuzz", "--help"]).contains("--mutant"));
    for args in [&["sim", "mutants"][..], &["sim", "fuzz", "--mutant", "skip-save"]] {
        let output = cargo_bin_cmd!("tanist").args(args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains("--features mutants"), "{args:?}: {stderr}");
    }
}
