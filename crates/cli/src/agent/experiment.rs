//! What the environment of an agent that takes part in experiments tells it.
//!
//! Only agents that are started with `--dev` read these variables; any other agent warns that no
//! key has them. They exist for tests of upgrades and of what nodes tell each other: a release speaks
//! the versions that it was built to speak, and all processes of one machine read the same clock.

use tanist::Builder;
use tanist::transport::version::Versions;

use crate::problem::Problem;

/// Tells the node which release it plays and what its clock says, if the environment does.
pub(super) fn apply(mut builder: Builder) -> Result<Builder, Problem> {
    // An error means that a variable is not set.
    if let Ok(text) = std::env::var(WIRE_VERSIONS) {
        builder = builder.wire_versions(wire_versions(&text)?);
    }
    if let Ok(version) = std::env::var(PROGRAM_VERSION) {
        builder = builder.program(version);
    }
    if let Ok(text) = std::env::var(CLOCK_AHEAD) {
        builder = builder.clock_ahead_ms(clock_ahead(&text)?);
    }
    Ok(builder)
}

fn clock_ahead(text: &str) -> Result<i64, Problem> {
    let read = crate::duration::read(text).ok();
    let millis = read.and_then(|span| i64::try_from(span.as_millis()).ok());
    millis.ok_or_else(|| {
        Problem::Usage(format!("{CLOCK_AHEAD}: `{text}` is not a duration; write 90s"))
    })
}

fn wire_versions(text: &str) -> Result<Versions, Problem> {
    let wrong = || {
        let Versions { min, max } = Versions::KNOWN;
        let what = format!(
            "{WIRE_VERSIONS}: `{text}` is not a range of versions that this program knows; write \
             {min}, {max} or {min}..{max}"
        );
        Problem::Usage(what)
    };
    Versions::parse(text).ok_or_else(wrong)
}

/// The versions of the wire that the node speaks: `2`, or `2..3`.
const WIRE_VERSIONS: &str = "TANIST_DEV_WIRE_VERSIONS";

/// The release that the node says it is: `0.9.0`.
const PROGRAM_VERSION: &str = "TANIST_DEV_PROGRAM_VERSION";
/// How far its wall clock seems to be ahead: `90s`.
const CLOCK_AHEAD: &str = "TANIST_DEV_CLOCK_AHEAD";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_is_not_known_is_refused_with_those_that_are() {
        assert_eq!(wire_versions("2..3").unwrap(), Versions { min: 2, max: 3 });
        let told = wire_versions("2..9").unwrap_err().to_string();
        assert!(told.contains("`2..9`") && told.contains("write 2, 3 or 2..3"), "{told}");
    }
}
