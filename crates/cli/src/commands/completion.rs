//! `tanist completion`: what a shell needs to complete commands, flags and names of nodes.
//!
//! The scripts come from clap. Names of nodes change while the shell runs, so the scripts of bash,
//! zsh and fish ask for them with `tanist completion nodes`, which asks the agents. Left out: names
//! of nodes in elvish and PowerShell.

use clap::CommandFactory as _;
use clap_complete::aot;
use serde_json::Value;

use crate::Cli;
use crate::control::client::Client;
use crate::control::place::Place;
use crate::control::protocol::Ask;
use crate::exit::Exit;
use crate::terminal::output;

/// Write a script with which a shell completes commands, flags and names of nodes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Which shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Whom it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
    /// For the scripts: the names of the nodes that an agent here knows.
    #[value(hide = true)]
    Nodes,
}

impl Args {
    /// Writes it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let text = match self.shell {
            Shell::Bash => script(aot::Bash) + BASH_NODES,
            Shell::Zsh => zsh(&script(aot::Zsh)),
            Shell::Fish => script(aot::Fish) + FISH_NODES,
            Shell::Elvish => script(aot::Elvish),
            Shell::Powershell => script(aot::PowerShell),
            Shell::Nodes => nodes().unwrap_or_default(),
        };
        output::print(&text)?;
        Ok(Exit::Well)
    }
}

fn script(shell: impl aot::Generator) -> String {
    let mut text = Vec::new();
    aot::generate(shell, &mut Cli::command(), "tanist", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Whatever zsh would complete as a file and is called a node is completed as one.
fn zsh(script: &str) -> String {
    let lines = script.lines().map(|line| {
        let is_node = line.contains(":NODE:_default")
            || line.contains("'::node -- ")
            || line.contains("':node -- ");
        let line = if is_node { line.replace(":_default", ":_tanist_nodes") } else { line.into() };
        line + "\n"
    });
    // Behind the first line, which zsh reads by itself.
    let mut lines: Vec<String> = lines.collect();
    lines.insert(1.min(lines.len()), ZSH_NODES.to_owned());
    lines.concat()
}

/// The names of the nodes, one on a line; nothing if no agent answers, since a shell that waits for
/// a completion has no use for an error.
fn nodes() -> anyhow::Result<String> {
    let given = std::env::var_os("TANIST_SOCKET").map(std::path::PathBuf::from);
    let path = Place { socket: given.as_deref(), ..Place::default() }.find()?.socket;
    let seen: Value = Client::connect(&path)?.ask(&Ask::Members)?;
    let members = seen["members"].as_array().cloned().unwrap_or_default();
    let names = members.iter().filter_map(|member| member["node"].as_str());
    Ok(names.map(|name| format!("{name}\n")).collect())
}

/// Commands of `tanist dev` that take a node are completed with nodes, and so is `--node`.
const BASH_NODES: &str = r#"
_tanist_with_nodes() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
    local is_node=
    [[ "$previous" == --node ]] && is_node=yes
    if [[ "${COMP_WORDS[1]}" == dev && "$current" != -* ]]; then
        case "$previous" in kill|pause|resume|restart|cut|logs) is_node=yes ;; esac
    fi
    if [[ -n "$is_node" ]]; then
        COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" completion nodes 2>/dev/null)" -- "$current"))
        return 0
    fi
    _tanist "$@"
}
complete -F _tanist_with_nodes -o bashdefault -o default tanist
"#;

const ZSH_NODES: &str = r#"
_tanist_nodes() {
    local -a names
    names=(${(f)"$(tanist completion nodes 2>/dev/null)"})
    compadd -a names
}
"#;

const FISH_NODES: &str = r#"
complete -c tanist -l node -x -a '(tanist completion nodes 2>/dev/null)'
complete -c tanist \
    -n '__fish_seen_subcommand_from dev; and __fish_seen_subcommand_from kill pause resume restart cut logs' \
    -x -a '(tanist completion nodes 2>/dev/null)'
"#;

const EXAMPLES: &str = "\
Examples:
  source <(tanist completion bash)
  tanist completion zsh > ~/.zfunc/_tanist
  tanist completion fish > ~/.config/fish/completions/tanist.fish";
