//! `tanist bench`: what it refuses before a process is started.

use assert_cmd::cargo_bin_cmd;

#[test]
fn measurements_that_would_last_for_years_are_refused() {
    for (args, part) in [
        (["failover", "--runs", "4294967295"], "1..=10000"),
        (["idle", "--for", "277000h"], "24h at most"),
    ] {
        let output = cargo_bin_cmd!("tanist").arg("bench").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(part), "{args:?}: {stderr}");
    }
}
