//! Whether the files and directories that a configuration names are there and usable.
//!
//! Asked by an agent that starts, by a reload and by `tanist config check`, as the user who runs
//! them. Nothing is made or changed. Left out: what may be otherwise a moment later, such as an
//! address or a store that another process holds.

use std::path::Path;

use rustix::fs::{Access, access};
use rustix::io::Errno;
use tanist::key::{Keyring, ReadKeyError};
use tanist::private_file::PrivateFileError;
use tanist::store::Store;
use tanist::{StartError, StartErrorKind};

use super::Config;
use super::origin::{Finding, Severity};
use super::programs;
use super::secrets::SecretsError;
use crate::http::{self, HttpError};

/// Everything that is found.
pub(crate) fn look(config: &Config) -> Vec<Finding> {
    let mut look = Look { config, findings: Vec::new() };
    look.at_key();
    look.at_identity();
    look.at_data_dir();
    look.at_token();
    look.at_parents();
    look.at_programs();
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
                "{shown} does not exist; copy it from another node, or make the group's first with \
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
                "{shown} does not exist; make it here, on the node itself, with `tanist keygen \
                 --node {node} {shown}`"
            );
            self.note(Severity::Error, "identity.key_file", what);
        } else if let Err(error) = table.read(self.config.me, &self.config.node) {
            let severity = match &error {
                SecretsError::Read(error) => of_key(error),
                SecretsError::OtherKey { .. } => Severity::Error,
            };
            self.note(severity, "identity.key_file", error.to_string());
        }
    }

    fn at_data_dir(&mut self) {
        let path = &self.config.data_dir;
        let node = self.config.me;
        if let Err(error) = Store::check(path, node, &self.config.group) {
            let error = StartError::from(error);
            let severity = match error.kind() {
                StartErrorKind::Configuration | StartErrorKind::Store => Severity::Error,
                StartErrorKind::Resource => Severity::Unavailable,
            };
            return self.note(severity, "data_dir", error.to_string());
        }
        let is_there = path.is_dir();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let place = if is_there { path } else { parent.unwrap_or(Path::new(".")) };
        let Err(error) = access(place, Access::WRITE_OK | Access::EXEC_OK) else { return };
        // A disk that was mounted read-only after an error is repaired without a change here.
        let severity = if error == Errno::ROFS { Severity::Unavailable } else { Severity::Error };
        let (shown, place) = (path.display(), place.display());
        let what = if is_there {
            format!("{shown} cannot be written: {error}; give it to the agent's user")
        } else {
            format!("{shown} does not exist and cannot be made in {place}: {error}; make it")
        };
        self.note(severity, "data_dir", format!("{what}, and check as that user"));
    }

    fn at_token(&mut self) {
        let Err(error) = http::check_token(&self.config.http) else { return };
        let severity = match &error {
            HttpError::TokenPrivate(error) => of_owner(error),
            error if error.is_temporary() => Severity::Unavailable,
            HttpError::Address { .. }
            | HttpError::Socket(_)
            | HttpError::TokenFile { .. }
            | HttpError::TokenWeak { .. }
            | HttpError::Thread(_) => Severity::Error,
        };
        self.note(severity, "http.token_file", error.to_string());
    }

    /// Files that the agent makes need a directory. That of a socket may be made by the service
    /// manager, together with the agent.
    fn at_parents(&mut self) {
        let made = [
            ("socket", &self.config.socket, Severity::Warning),
            ("trace", &self.config.trace, Severity::Error),
        ];
        for (name, path, severity) in made {
            let parent = path.as_deref().and_then(Path::parent);
            let parent = parent.filter(|path| !path.as_os_str().is_empty() && !path.is_dir());
            if let Some(parent) = parent {
                let what = format!("the directory {} does not exist; make it", parent.display());
                self.note(severity, name, what);
            }
        }
    }

    fn at_programs(&mut self) {
        for (severity, key, what) in programs::look(self.config) {
            self.note(severity, key, what);
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
        error if error.is_temporary() => Severity::Unavailable,
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
        error if error.is_temporary() => Severity::Unavailable,
        PrivateFileError::Owner { .. }
        | PrivateFileError::Open { .. }
        | PrivateFileError::NotAFile { .. }
        | PrivateFileError::Exposed { .. } => Severity::Error,
    }
}
