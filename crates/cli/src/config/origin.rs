//! Where a value comes from, so that a mistake can be told at its place.

use std::fmt;
use std::sync::Arc;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The default.
    Default,
    /// The name of this machine.
    Hostname,
    /// A file, as the user named it; without a line where something is missing from it.
    File { path: Arc<str>, line: Option<usize> },
    /// A variable of the environment.
    Variable(String),
    /// A flag, with the key for `--set`.
    Flag(String),
}

impl Origin {
    /// Whether it was given for this node.
    pub(crate) const fn is_given(&self) -> bool {
        match self {
            Self::Default => false,
            Self::Hostname | Self::File { .. } | Self::Variable(_) | Self::Flag(_) => true,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Hostname => f.write_str("hostname"),
            Self::File { path, line: Some(line) } => write!(f, "{path}:{line}"),
            Self::File { path, line: None } => f.write_str(path),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// Something to tell about a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) place: Origin,
    /// The dotted name of the key, if it is about one.
    pub(crate) key: Option<String>,
    /// Cause and remedy.
    pub(crate) what: String,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    /// No agent starts with it.
    Error,
    /// It could not be read, and another try may succeed. For programs it is an error like others.
    #[serde(rename = "error")]
    Unavailable,
    /// It works, and may not be what was meant.
    Warning,
}

impl Severity {
    /// Whether no agent starts with it.
    pub(crate) const fn is_error(self) -> bool {
        match self {
            Self::Error | Self::Unavailable => true,
            Self::Warning => false,
        }
    }
}

impl fmt::Display for Finding {
    /// File and line come first, so that an editor finds them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if self.severity == Severity::Warning {
            f.write_str("warning: ")?;
        }
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.what)
    }
}
