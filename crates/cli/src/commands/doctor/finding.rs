//! What was found, how bad it is, and what helps.

use serde::Serialize;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) severity: Severity,
    /// What it is about: `disk`, `key`, `peers`.
    pub(super) place: &'static str,
    /// What was seen, with the numbers.
    pub(super) what: String,
    /// What helps.
    pub(super) fix: Option<String>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Severity {
    /// As it should be.
    Well,
    /// Good to know.
    Note,
    /// It works, and may not for long.
    Warning,
    /// Something does not work.
    Problem,
}

impl Severity {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Well => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "PROBLEM",
        }
    }
}

/// Everything that was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn well(&mut self, place: &'static str, what: String) {
        self.0.push(Finding { severity: Severity::Well, place, what, fix: None });
    }

    pub(super) fn note(&mut self, place: &'static str, what: String, fix: &str) {
        self.push(Severity::Note, place, what, fix);
    }

    pub(super) fn warn(&mut self, place: &'static str, what: String, fix: &str) {
        self.push(Severity::Warning, place, what, fix);
    }

    pub(super) fn problem(&mut self, place: &'static str, what: String, fix: &str) {
        self.push(Severity::Problem, place, what, fix);
    }

    /// All of them, in the order in which they were found.
    pub(super) fn all(&self) -> &[Finding] {
        &self.0
    }

    /// Whether something does not work.
    pub(super) fn is_bad(&self) -> bool {
        self.count(Severity::Problem) > 0
    }

    pub(super) fn summary(&self) -> String {
        let [problems, warnings, notes, well] =
            [Severity::Problem, Severity::Warning, Severity::Note, Severity::Well]
                .map(|severity| self.count(severity));
        format!("problems: {problems}, warnings: {warnings}, notes: {notes}, ok: {well}")
    }

    fn count(&self, severity: Severity) -> usize {
        self.0.iter().filter(|finding| finding.severity == severity).count()
    }

    fn push(&mut self, severity: Severity, place: &'static str, what: String, fix: &str) {
        self.0.push(Finding { severity, place, what, fix: Some(fix.to_owned()) });
    }
}
