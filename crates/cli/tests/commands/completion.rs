//! Completion in a real bash, and manual pages that a real `man` can show.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo_bin_cmd;

fn stdout(arguments: &[&str]) -> String {
    let output = cargo_bin_cmd!("tanist").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// An agent that knows three nodes and nothing else.
fn pretend_agent(path: &Path) {
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            let members = r#"[{"node":"n1"},{"node":"n2"},{"node":"n12"}]"#;
            // A client that only checks whether an agent is there does not read.
            let _ = writeln!(stream, r#"{{"ok":{{"members":{members}}}}}"#);
        }
    });
}

/// What bash offers for the last of these words.
fn offered(words: &[&str], socket: Option<&Path>) -> Vec<String> {
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("tanist.bash");
    fs::write(&script, stdout(&["completion", "bash"])).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_tanist"));
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let drive = format!(
        "source {}\n\
         COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
         function_of=$(complete -p tanist | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n\
         \"$function_of\" tanist \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        quoted.join(" "),
    );
    let path = std::env::var("PATH").unwrap_or_default();
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &drive]).env("XDG_RUNTIME_DIR", home.path());
    bash.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
    match socket {
        Some(socket) => bash.env("TANIST_SOCKET", socket),
        None => bash.env_remove("TANIST_SOCKET"),
    };
    let output = bash.output().unwrap();
    assert!(output.stderr.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_and_flags() {
    assert_eq!(offered(&["tanist", "stat"], None), ["status"]);
    assert_eq!(offered(&["tanist", "config", "c"], None), ["check"]);
    assert!(offered(&["tanist", "agent", "--d"], None).contains(&"--data-dir".to_owned()));
    assert_eq!(offered(&["tanist", "members", "-o", "y"], None), ["yaml"]);
}

#[test]
fn bash_completes_nodes_that_an_agent_knows() {
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("agent.sock");
    pretend_agent(&socket);
    let nodes = |words: &[&str]| offered(words, Some(&socket));
    assert_eq!(nodes(&["tanist", "status", "--node", ""]), ["n1", "n2", "n12"]);
    assert_eq!(nodes(&["tanist", "status", "--node", "n1"]), ["n1", "n12"]);
    assert_eq!(nodes(&["tanist", "dev", "kill", "n2"]), ["n2"]);
    assert!(!nodes(&["tanist", "dev", ""]).contains(&"n1".to_owned()));
}

#[test]
fn without_an_agent_no_node_is_offered_and_nothing_is_said() {
    assert!(offered(&["tanist", "status", "--node", ""], None).is_empty());
}

#[test]
fn every_shell_has_a_script_and_three_of_them_ask_for_nodes() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&["completion", shell]);
        assert!(script.contains("members") && script.contains("keygen"), "{shell}");
        let asks = script.contains("completion nodes");
        assert_eq!(asks, ["bash", "zsh", "fish"].contains(&shell), "{shell}");
    }
    let zsh = stdout(&["completion", "zsh"]);
    assert!(zsh.starts_with("#compdef tanist\n"), "{zsh}");
    assert!(zsh.contains(":NODE:_tanist_nodes"), "{zsh}");
    assert!(!zsh.contains(":NODE:_default"), "{zsh}");
}

#[test]
fn every_command_has_a_page_that_man_can_show() {
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("man1");
    stdout(&["man", "--out", out.to_str().unwrap()]);
    let mut pages: Vec<String> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    for page in ["tanist.1", "tanist-agent.1", "tanist-config-check.1", "tanist-sim-run.1"] {
        assert!(pages.iter().any(|found| found == page), "no {page} in {pages:?}");
    }
    // What `tanist help run` says is on the page of `tanist run`.
    let helps: Vec<&String> = pages.iter().filter(|page| page.contains("help")).collect();
    assert!(helps.is_empty(), "{helps:?}");
    assert_eq!(stdout(&["man"]), fs::read_to_string(out.join("tanist.1")).unwrap());
    for page in ["tanist.1", "tanist-agent.1", "tanist-config-init.1"] {
        let roff = fs::read_to_string(out.join(page)).unwrap();
        assert!(roff.contains(".SH NAME") && roff.contains(".SH SYNOPSIS"), "{roff}");
        if let Some(text) = rendered(&out.join(page)) {
            assert!(text.contains("SYNOPSIS") && text.contains("Examples:"), "{page}: {text}");
        }
    }
}

/// The page as text; none where `man` is not installed.
fn rendered(page: &Path) -> Option<String> {
    let output = Command::new("man")
        .arg("-l")
        .arg(page)
        .env("MANPAGER", "cat")
        .env("MANWIDTH", "100")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    assert!(output.status.success(), "{output:?}");
    let is_quiet = output.stderr.is_empty();
    assert!(is_quiet, "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
