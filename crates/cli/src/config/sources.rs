//! Where a configuration is read from: a file, the environment, flags.

use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::file;
use super::key::{KEYS, Key};
use super::origin::Origin;
use crate::library::nearest;

/// The flags that every command with a configuration has.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ConfigArgs {
    /// The file that describes the node [default: /etc/tanist/tanist.toml].
    #[arg(short, long, value_name = "FILE", env = "TANIST_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
    /// Which node this is.
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// Where to listen, if not at the address that the peers are told.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Where the node keeps what must survive a crash.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// Any key of the file, for example timing.heartbeat=500ms; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = crate::commands::pair)]
    set: Vec<(String, String)>,
}

impl ConfigArgs {
    /// Those of a command that names a file and keys only.
    pub(crate) fn of_file(file: &Path, set: &[(String, String)]) -> Self {
        Self { config: Some(file.to_owned()), set: set.to_vec(), ..Self::default() }
    }
}

/// Everything that a configuration is read from. Kept by an agent, to read it again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// The file that was named; else [`FILE`], if it is there.
    pub(crate) file: Option<PathBuf>,
    /// Variables that begin with `TANIST_`, in their order.
    pub(crate) environment: Vec<(String, String)>,
    /// Flag, key and value, in their order.
    pub(crate) flags: Vec<(String, String, String)>,
    /// Whether it is for a local group, which may do what is of no use elsewhere.
    pub(crate) is_experiment: bool,
}

impl Sources {
    /// What the command line and the environment of this process give.
    pub(crate) fn of(args: &ConfigArgs) -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.to_str().filter(|name| name.starts_with(PREFIX))?.to_owned();
            Some((name, value.to_string_lossy().into_owned()))
        });
        let mut environment: Vec<(String, String)> = variables.collect();
        environment.sort();
        // Inside a hook or a job these two tell of the agent around it, not of one to start.
        if environment.iter().any(|(name, _)| name == EVENT) {
            environment.retain(|(name, _)| !["TANIST_GROUP", "TANIST_NODE"].contains(&&**name));
        }
        Self { environment, is_experiment: false, ..Self::of_experiment(args) }
    }

    /// What the command line alone gives: for local groups, which must not mix with anything around
    /// them.
    pub(crate) fn of_experiment(args: &ConfigArgs) -> Self {
        let named = [("node", &args.node), ("listen", &args.listen), ("data_dir", &args.data_dir)];
        let named = named.into_iter().filter_map(|(key, value)| {
            let flag = format!("--{}", key.replace('_', "-"));
            value.as_ref().map(|value| (flag, key.to_owned(), value.clone()))
        });
        let set = args.set.iter();
        let set = set.map(|(key, value)| ("--set".to_owned(), key.clone(), value.clone()));
        // A flag of its own is more particular than `--set`, wherever it stands.
        let flags = set.chain(named).collect();
        let (file, environment) = (args.config.clone(), Vec::new());
        Self { file, environment, flags, is_experiment: true }
    }

    /// The file that is read.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(|| PathBuf::from(FILE))
    }

    /// The file, as people are told of it.
    pub(crate) fn name(&self) -> String {
        let path = self.path();
        if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
    }

    /// All layers, one over the other.
    pub(super) fn draft(&self) -> Draft {
        let mut draft = Draft::default();
        draft.put_defaults();
        file::read(&mut draft, &self.path(), &self.name(), self.file.is_some());
        for (name, value) in &self.environment {
            put_variable(&mut draft, name, value);
        }
        for (flag, key, value) in &self.flags {
            draft.put_text(key, value, Origin::Flag(flag.clone()));
        }
        draft
    }
}

fn put_variable(draft: &mut Draft, name: &str, value: &str) {
    let origin = Origin::Variable(name.to_owned());
    match KEYS.iter().find(|key| key.variable() == name && key.name != "socket") {
        // Empty is how a shell or a container says "not set".
        Some(_) if value.is_empty() => {}
        Some(key) => draft.put_text(key.name, value, origin),
        None if CHILDREN.contains(&name) => {}
        None => {
            let hint =
                meant_by(name).map_or_else(String::new, |near| format!("; did you mean {near}?"));
            draft.warn(origin, None, format!("no key has this variable, so it is ignored{hint}"));
        }
    }
}

/// The variable that was probably meant.
fn meant_by(name: &str) -> Option<String> {
    let last = name.strip_prefix(PREFIX).unwrap_or(name).to_lowercase();
    // The right name without its table is a likelier slip than a similar name.
    if let Some(key) = KEYS.iter().find(|key| key.last_name() == last) {
        return Some(key.variable());
    }
    let known: Vec<String> = KEYS.iter().map(Key::variable).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    nearest(name, &known).first().map(|near| (*near).to_owned())
}

const PREFIX: &str = "TANIST_";
/// Set for every hook and every job.
const EVENT: &str = "TANIST_EVENT";

/// The file that is read if none is named.
pub(crate) const FILE: &str = "/etc/tanist/tanist.toml";

/// What `tanist run` and hooks tell their children, and what names an agent to clients: an agent
/// that is started from there must not take it for its own. `TANIST_SOCKET` is among them, since
/// it says where to ask, not where to answer.
const CHILDREN: &[&str] = &[
    EVENT,
    "TANIST_ROLE",
    "TANIST_STATE",
    "TANIST_GROUP_NUMBER",
    "TANIST_GROUP_COUNTER",
    "TANIST_LEADER",
    "TANIST_LEADER_ADDR",
    "TANIST_OLD_LEADER",
    "TANIST_REASON",
    "TANIST_MEMBERS",
    "TANIST_PRIMARY",
    "TANIST_INDEX",
    "TANIST_SOCKET",
    "TANIST_CONFIG",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_without_its_table_leads_to_the_one_with_it() {
        let meant = |name| meant_by(name).unwrap_or_default();
        assert_eq!(meant("TANIST_HEARTBEAT"), "TANIST_TIMING_HEARTBEAT");
        assert_eq!(meant("TANIST_SUSPECT_AFTER"), "TANIST_TIMING_SUSPECT_AFTER");
        assert_eq!(meant("TANIST_TIMING_HEARTBEET"), "TANIST_TIMING_HEARTBEAT");
    }
}
