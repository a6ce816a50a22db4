//! Which agent a command asks: where its socket is, and how that is known.
//!
//! ```text
//! --socket, TANIST_SOCKET > --node of `tanist dev` > -c FILE, TANIST_CONFIG > /etc/tanist/tanist.toml
//!                         > the first node of `tanist dev` that answers
//! ```
//!
//! A file is read for its `socket` only, so that a user who may ask need not be able to read the key.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::client::Client;
use crate::config::FILE;
use crate::dev::places;
use crate::problem::Problem;

/// What the user said of the agent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place<'a> {
    pub(crate) socket: Option<&'a Path>,
    pub(crate) config: Option<&'a Path>,
    pub(crate) node: Option<&'a str>,
}

/// A socket, and the file that names it if it was found by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) socket: PathBuf,
    named_by: Option<PathBuf>,
}

impl Place<'_> {
    /// A connection to the agent.
    pub(crate) fn connect(&self) -> anyhow::Result<Client> {
        let found = self.find()?;
        Ok(Client::connect(&found.socket).map_err(|problem| found.explain(problem))?)
    }

    /// Where the agent is.
    pub(crate) fn find(&self) -> anyhow::Result<Found> {
        self.find_with(Path::new(FILE), places::local_group)
    }

    /// `dev` finds the directory of a local group by its name.
    fn find_with(
        &self,
        default: &Path,
        dev: impl Fn(Option<&str>) -> anyhow::Result<PathBuf>,
    ) -> anyhow::Result<Found> {
        if let Some(socket) = self.socket {
            return Ok(Found { socket: socket.to_owned(), named_by: None });
        }
        if let Some(node) = self.node {
            return self.local(node, dev);
        }
        if let Some(file) = self.config {
            let name = file.display();
            let socket = socket_in(file).map_err(|why| {
                Problem::BadFile(format!(
                    "{name}: {why}, so no agent was asked. Name its socket with --socket"
                ))
            })?;
            return Ok(Found { socket, named_by: Some(file.to_owned()) });
        }
        let why_not = match socket_in(default) {
            Ok(socket) => return Ok(Found { socket, named_by: Some(default.to_owned()) }),
            Err(why_not) => why_not,
        };
        let dev = dev(None)?;
        if let Some(socket) = first_alive(&dev) {
            return Ok(Found { socket, named_by: None });
        }
        let (default, dev) = (default.display(), dev.display());
        let what = format!(
            "no agent was found. Tried: --socket and TANIST_SOCKET (not given), -c and TANIST_CONFIG \
             (not given), {default} ({why_not}), the group of `tanist dev` (none runs in {dev}). Name \
             the agent with --socket PATH or -c FILE, or start a local group: tanist dev"
        );
        Err(Problem::Unreachable(what).into())
    }

    /// A node of a group that `tanist dev` runs: `n3`, or `blue/n3` of the group called blue; `blue/`
    /// is the first node of it that answers.
    fn local(
        &self,
        node: &str,
        dev: impl Fn(Option<&str>) -> anyhow::Result<PathBuf>,
    ) -> anyhow::Result<Found> {
        let (name, node) = match node.split_once('/') {
            Some((name, node)) => (Some(name), node),
            None => (None, node),
        };
        let directory = dev(name)?;
        let socket = if node.is_empty() { first_alive(&directory) } else { None };
        let socket = socket.unwrap_or_else(|| places::socket_of(&directory, node));
        Ok(Found { socket, named_by: None })
    }
}

impl Found {
    /// Adds where the socket's name comes from.
    fn explain(&self, problem: Problem) -> Problem {
        match (&self.named_by, problem) {
            (Some(file), Problem::Unreachable(what)) => {
                let file = file.display();
                Problem::Unreachable(format!(
                    "{what} The socket is the one that {file} names; another is asked with --socket \
                     PATH or -c FILE, a node of the group of `tanist dev` with --node NODE"
                ))
            }
            (_, problem) => problem,
        }
    }
}

/// The socket that a file names, or why it names none.
fn socket_in(file: &Path) -> Result<PathBuf, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("it cannot be read: {error}"))?;
    let table: toml::Table = text.parse().map_err(|_| "it is not TOML".to_owned())?;
    let socket = table.get("socket").and_then(toml::Value::as_str);
    socket.map(PathBuf::from).ok_or_else(|| "it has no `socket`".to_owned())
}

/// The first node of a local group that answers.
fn first_alive(dev: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(dev).into_iter().flatten();
    let mut sockets: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "sock"))
        .filter(|path| path.file_name().is_some_and(|name| name != places::ORDERS))
        .collect();
    sockets.sort();
    sockets.into_iter().find(|path| UnixStream::connect(path).is_ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    struct Machine {
        folder: tempfile::TempDir,
    }

    impl Machine {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap() }
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        }

        fn find(&self, place: Place<'_>) -> Result<PathBuf, String> {
            let (default, dev) = (self.folder.path().join("tanist.toml"), self.folder.path());
            let found = place.find_with(&default, |_| Ok(dev.to_owned()));
            found.map(|found| found.socket).map_err(|error| error.to_string())
        }
    }

    #[test]
    fn the_more_particular_word_wins() {
        let machine = Machine::new();
        let (socket, node) = (Some(Path::new("/given.sock")), Some("n3"));
        let file = machine.file("other.toml", "socket = \"/other.sock\"\nnode = \"n1\"\n");
        let config = Some(file.as_path());
        machine.file("tanist.toml", "group = \"billing\"\nsocket = \"/default.sock\"\n");
        let find = |place| machine.find(place).unwrap();
        assert_eq!(find(Place { socket, config, node: None }), Path::new("/given.sock"));
        assert_eq!(find(Place { config, ..Place::default() }), Path::new("/other.sock"));
        let of_dev = machine.folder.path().join("n3.sock");
        assert_eq!(find(Place { node, config, socket: None }), of_dev);
        assert_eq!(find(Place::default()), Path::new("/default.sock"));
    }

    #[test]
    fn without_a_default_file_a_node_of_dev_is_asked_and_then_all_that_was_tried_is_told() {
        let machine = Machine::new();
        let error = machine.find(Place::default()).unwrap_err();
        for tried in ["--socket", "TANIST_SOCKET", "-c", "tanist.toml", "tanist dev"] {
            assert!(error.contains(tried), "{tried} in {error}");
        }
        let path = machine.folder.path().join("n2.sock");
        let _listener = UnixListener::bind(&path).unwrap();
        assert_eq!(machine.find(Place::default()).unwrap(), path);
        machine.file("tanist.toml", "group = \"billing\"\n");
        assert_eq!(machine.find(Place::default()).unwrap(), path, "that file names no socket");
    }

    #[test]
    fn a_named_file_without_a_socket_is_an_error_and_nothing_else_is_asked() {
        let machine = Machine::new();
        machine.file("tanist.toml", "socket = \"/default.sock\"\n");
        for (text, why) in [("group = \"a\"\n", "no `socket`"), ("=", "not TOML")] {
            let file = machine.file("mine.toml", text);
            let error =
                machine.find(Place { config: Some(&file), ..Place::default() }).unwrap_err();
            assert!(error.contains("mine.toml") && error.contains(why), "{error}");
        }
    }
}
