//! Whether the files and directories that a configuration names are there and usable.
//!
//! Asked by `tanist config check`, as the user who runs it: run it as the agent's user. Nothing is
//! made or changed. Left out: addresses, which another process may hold until the agent starts.

use std::fs::{self, Metadata};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use tanist::key::{Keyring, ReadKeyError};
use tanist::private_file::{self, PrivateFileError};
use tanist::store::Store;

use super::Config;
use super::origin::{Finding, Severity};
use super::secrets::SecretsError;

/// Everything that is found.
pub(crate) fn look(config: &Config) -> Vec<Finding> {
    let mut look = Look { config, findings: Vec::new() };
    look.at_key();
    look.at_identity();
    look.at_data_dir();
    look.at_token();
    look.at_parents();
    look.at_hooks();
    look.at_health();
    look.findings
}

struct Look<'a> {
    config: &'a Config,
    findings: Vec<Finding>,
}

impl Look<'_> {
    fn at_key(&mut self) {
        let path = &self.config.key_file;
        if !path.exists() {
            let shown = path.display();
            let what = format!(
                "{shown} is not there; copy it from another node, or make the group's first with \
                 `tanist keygen {shown}`"
            );
            self.note(Severity::Error, "key_file", what);
        } else if let Err(error) = Keyring::read(path) {
            self.note(of_key(&error), "key_file", error.to_string());
        }
    }

    /// This node's own key, and whether its line is that key's.
    fn at_identity(&mut self) {
        let Some(table) = &self.config.identity else { return };
        let shown = table.key_file.display();
        if !table.key_file.exists() {
            let node = &self.config.node;
            let what = format!(
                "{shown} is not there; make it here, on the node itself, with `tanist keygen \
                 --node {node} {shown}`"
            );
            self.note(Severity::Error, "identity.key_file", what);
        } else if let Err(error) = table.read(&self.config.node) {
            let severity = match &error {
                SecretsError::Read(error) => of_key(error),
                SecretsError::OtherKey { .. } => Severity::Error,
            };
            self.note(severity, "identity.key_file", error.to_string());
        }
    }

    fn at_data_dir(&mut self) {
        let path = &self.config.data_dir;
        let shown = path.display();
        // The nearest that is there decides whether the rest can be made.
        let there = path.ancestors().find(|path| !is_empty(path) && fs::metadata(path).is_ok());
        let there = there.unwrap_or(Path::new("."));
        if !there.is_dir() {
            let what = format!("{} is no directory; name another", there.display());
            self.note(Severity::Error, "data_dir", what);
        } else if access(there, Access::WRITE_OK | Access::EXEC_OK).is_err() {
            let what = if there == path {
                format!("you may not write in {shown}; give it to the agent's user")
            } else {
                let there = there.display();
                format!("{shown} is not there and cannot be made in {there}; make it")
            };
            self.note(Severity::Error, "data_dir", format!("{what}, and check as that user"));
        } else if there == path
            && let Err(error) = Store::check(path)
        {
            self.note(Severity::Error, "data_dir", error.to_string());
        }
    }

    fn at_token(&mut self) {
        let Some(path) = self.config.http.token_file.clone() else {
            return;
        };
        if let Err(error) = private_file::open(&path) {
            self.note(of_owner(&error), "http.token_file", error.to_string());
        }
    }

    /// Files that the agent makes need a directory.
    fn at_parents(&mut self) {
        let made = [("socket", &self.config.socket), ("trace", &self.config.trace)];
        for (name, path) in made {
            let parent = path.as_deref().and_then(Path::parent).filter(|path| !is_empty(path));
            if let Some(parent) = parent.filter(|path| !path.is_dir()) {
                let what = format!("the directory {} is not there; make it", parent.display());
                self.note(Severity::Warning, name, what);
            }
        }
    }

    fn at_hooks(&mut self) {
        let hooks = self.config.hooks.clone();
        let all: [(&str, Option<PathBuf>); 7] = [
            ("hooks.pre_leader", hooks.pre_leader),
            ("hooks.leader", hooks.leader),
            ("hooks.member", hooks.member),
            ("hooks.suspended", hooks.suspended),
            ("hooks.members", hooks.members),
            ("hooks.stop", hooks.stop),
            ("hooks.any", hooks.any),
        ];
        for (name, path) in all {
            if let Some(what) = path.as_deref().and_then(what_hinders) {
                self.note(Severity::Error, name, what);
            }
        }
    }

    fn at_health(&mut self) {
        let Some(program) = self.config.health.as_ref().and_then(|health| health.command.first())
        else {
            return;
        };
        let found = if program.contains('/') {
            what_hinders(Path::new(program))
        } else {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let mut places = std::env::split_paths(&path).map(|place| place.join(program));
            let is_there = places.any(|path| what_hinders(&path).is_none());
            (!is_there).then(|| format!("`{program}` is not in PATH; give its whole path"))
        };
        if let Some(what) = found {
            self.note(Severity::Error, "health.command", what);
        }
    }

    fn note(&mut self, severity: Severity, key: &str, what: String) {
        let place = self.config.settings.origin(key);
        self.findings.push(Finding { severity, place, key: Some(key.to_owned()), what });
    }
}

/// A file with keys of another user may be this agent's user's.
fn of_key(error: &ReadKeyError) -> Severity {
    match error {
        ReadKeyError::Private(error) => of_owner(error),
        ReadKeyError::Read { .. }
        | ReadKeyError::NotText { .. }
        | ReadKeyError::Parse { .. }
        | ReadKeyError::Identity { .. } => Severity::Error,
    }
}

/// Root may look on behalf of the agent's user, to whom a file may belong; no other user may.
fn of_owner(error: &PrivateFileError) -> Severity {
    match error {
        PrivateFileError::Owner { user: 0, .. } => Severity::Warning,
        PrivateFileError::Owner { .. }
        | PrivateFileError::Open { .. }
        | PrivateFileError::NotAFile { .. }
        | PrivateFileError::Exposed { .. } => Severity::Error,
    }
}

/// Why a program cannot be run.
fn what_hinders(program: &Path) -> Option<String> {
    let shown = program.display();
    match fs::metadata(program) {
        Ok(found) if is_executable(&found) => None,
        Ok(found) if found.is_file() => {
            Some(format!("{shown} is not executable; run chmod +x {shown}"))
        }
        Ok(_) => Some(format!("{shown} is no file; name a program, without arguments")),
        Err(error) if program.to_string_lossy().contains(' ') => {
            Some(format!("{shown}: {error}; it is a path, not a command line"))
        }
        Err(error) => Some(format!("{shown}: {error}")),
    }
}

fn is_executable(found: &Metadata) -> bool {
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

fn is_empty(path: &Path) -> bool {
    path.as_os_str().is_empty()
}
