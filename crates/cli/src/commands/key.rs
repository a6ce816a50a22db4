//! `tanist key`: the keys of a group, in a file that holds several, and what links rest on.
//!
//! A rotation is `new` on one node, `add` on the others, `use` on all, `remove` on all, with a
//! `reload` of every agent between the steps: any two nodes always have a key in common. The file is
//! replaced as a whole, so a crash leaves the old one or the new one. Left out: copying keys between
//! machines.

mod status;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tanist::GroupKey;
use tanist::key::{KeyId, Keyring, KeyringError};
use zeroize::Zeroizing;

use crate::agent::secrets::describe;
use crate::config::{Config, ConfigArgs, Sources};
use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::output;

/// What can be done with the keys of a group.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    New(New),
    Add(Add),
    Use(Use),
    Remove(Remove),
    Status(status::Args),
}

impl Command {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        match self {
            Self::New(args) => args.run(),
            Self::Add(args) => args.run(),
            Self::Use(args) => args.run(),
            Self::Remove(args) => args.run(),
            Self::Status(args) => args.run(),
        }
    }
}

/// Make a new key and add it to the key file: accepted, and not used yet.
///
/// Its id is printed. The key itself is printed only with --print, for `tanist key add -` on the
/// other nodes.
#[derive(Debug, clap::Args)]
#[command(after_help = NEW_EXAMPLES)]
pub(crate) struct New {
    /// Print the key instead of its id; anyone who sees it can be a node of the group.
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    ring: Ring,
}

/// Add the keys of another key file to this node's: accepted, and not used yet.
#[derive(Debug, clap::Args)]
#[command(after_help = ADD_EXAMPLES)]
pub(crate) struct Add {
    /// The file with the key, as another node has it; `-` is stdin.
    #[arg(value_name = "KEYFILE")]
    from: PathBuf,
    #[command(flatten)]
    ring: Ring,
}

/// Use this key from the next reload on; the others are still accepted.
#[derive(Debug, clap::Args)]
#[command(after_help = USE_EXAMPLES)]
pub(crate) struct Use {
    /// The key, by the id that `tanist key status` shows.
    #[arg(value_parser = key_id)]
    id: KeyId,
    #[command(flatten)]
    ring: Ring,
}

/// Accept this key no more from the next reload on. The key in use cannot be removed.
#[derive(Debug, clap::Args)]
#[command(after_help = REMOVE_EXAMPLES)]
pub(crate) struct Remove {
    /// The key, by the id that `tanist key status` shows.
    #[arg(value_parser = key_id)]
    id: KeyId,
    #[command(flatten)]
    ring: Ring,
}

/// Which key file is meant.
#[derive(Debug, clap::Args)]
struct Ring {
    /// The key file [default: `key_file` of the configuration].
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The configuration that names it [default: /etc/tanist/tanist.toml].
    #[arg(short, long, value_name = "FILE", env = "TANIST_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
}

impl New {
    fn run(&self) -> anyhow::Result<Exit> {
        let (path, mut ring) = self.ring.read()?;
        let key = GroupKey::generate()?;
        let id = key.id();
        ring.add(key.clone()).map_err(|error| refused(&path, error))?;
        ring.write(&path)?;
        output::complain(&format!(
            "{}: keys: {}. {id} is new and accepted. Next: add it on every other node (tanist key \
             add), reload all, then use it: tanist key use {id}",
            path.display(),
            describe(&ring)
        ));
        if self.print {
            output::print(&Zeroizing::new(format!("{}\n", *key.to_text())))?;
        } else {
            output::print(&format!("{id}\n"))?;
        }
        Ok(Exit::Well)
    }
}

impl Add {
    fn run(&self) -> anyhow::Result<Exit> {
        let (path, mut ring) = self.ring.read()?;
        let given = keys_of(&self.from)?;
        let mut added = Vec::new();
        for key in given.keys() {
            match ring.add(key.clone()) {
                Ok(()) => added.push(key.id()),
                // What is there already needs nothing, so that a step can be repeated.
                Err(KeyringError::Twice { .. }) => {}
                Err(error) => return Err(refused(&path, error).into()),
            }
        }
        let shown = path.display();
        if added.is_empty() {
            output::complain(&format!("{shown} has all of them already; nothing was changed"));
            return Ok(Exit::Well);
        }
        ring.write(&path)?;
        let keys = describe(&ring);
        output::complain(&format!("{shown}: keys: {keys}. They count with: tanist reload"));
        let lines: String = added.iter().map(|id| format!("{id}\n")).collect();
        output::print(&lines)?;
        Ok(Exit::Well)
    }
}

impl Use {
    fn run(&self) -> anyhow::Result<Exit> {
        self.ring.change(|ring| ring.activate(self.id))
    }
}

impl Remove {
    fn run(&self) -> anyhow::Result<Exit> {
        self.ring.change(|ring| ring.remove(self.id))
    }
}

impl Ring {
    fn path(&self) -> anyhow::Result<PathBuf> {
        if let Some(path) = &self.file {
            return Ok(path.clone());
        }
        let around = Sources::of(&ConfigArgs::default());
        let config = Config::load(&Sources { file: self.config.clone(), ..around })
            .context("which key file? Name it with --file, or a configuration with -c")?;
        Ok(config.key_file)
    }

    fn read(&self) -> anyhow::Result<(PathBuf, Keyring)> {
        let path = self.path()?;
        let ring = read(&path)?;
        Ok((path, ring))
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Keyring) -> Result<(), KeyringError>,
    ) -> anyhow::Result<Exit> {
        let (path, mut ring) = self.read()?;
        change(&mut ring).map_err(|error| refused(&path, error))?;
        ring.write(&path)?;
        let (path, keys) = (path.display(), describe(&ring));
        output::complain(&format!("{path}: keys: {keys}. It counts with: tanist reload"));
        Ok(Exit::Well)
    }
}

fn read(path: &Path) -> Result<Keyring, Problem> {
    Keyring::read_to_edit(path).map_err(|error| {
        let hint = if path.exists() { "" } else { ". The group's first key: tanist keygen FILE" };
        Problem::BadFile(format!("{error}{hint}"))
    })
}

/// The keys of a file that another node has, or of stdin.
fn keys_of(from: &Path) -> anyhow::Result<Keyring> {
    if from != Path::new("-") {
        return Ok(read(from)?);
    }
    let mut text = Zeroizing::new(String::with_capacity(STDIN_MAX));
    let mut input = std::io::stdin().lock().take(STDIN_MAX as u64);
    input.read_to_string(&mut text).context("error: cannot read a key from stdin")?;
    Keyring::parse(&text).map_err(|error| {
        let what = format!("stdin does not hold a key, so nothing was changed: {error}");
        Problem::BadFile(what).into()
    })
}

fn refused(path: &Path, error: KeyringError) -> Problem {
    Problem::Refused(format!("{}: {error}; nothing was changed", path.display()))
}

fn key_id(text: &str) -> Result<KeyId, String> {
    KeyId::parse(text)
        .ok_or_else(|| "an id has 8 hexadecimal digits; `tanist key status` lists them".to_owned())
}

/// As long as a key file may be; a text that grows leaves copies of a secret behind.
const STDIN_MAX: usize = 4096;

macro_rules! with_exit_codes {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n\nThe agent takes up the change with `tanist reload`.\n\nExit codes:\n",
            "  0 the file was changed or needs no change, 5 refused, 6 it is no key file"
        )
    };
}

const NEW_EXAMPLES: &str = with_exit_codes!(
    "  tanist key new
  tanist key new --file /etc/tanist/group.key
  tanist key new --print | ssh n2 tanist key add -"
);
const ADD_EXAMPLES: &str = with_exit_codes!(
    "  tanist key add /root/from-n1.key
  tanist key add - --file /etc/tanist/group.key"
);
const USE_EXAMPLES: &str = with_exit_codes!("  tanist key use 1a2b3c4d");
const REMOVE_EXAMPLES: &str = with_exit_codes!("  tanist key remove 99887766");

pub(crate) const EXAMPLES: &str = "\
A rotation without an outage, with `tanist reload` on every node after each step:
  tanist key new --print      on one node; `tanist key add -` on the others
  tanist key use ID           on every node
  tanist key remove OLD       on every node, when no link in `tanist key status` has the old key

Examples:
  tanist key status
  tanist key new -c tanist.toml
  tanist key use 1a2b3c4d --file /etc/tanist/group.key";
