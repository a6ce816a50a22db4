//! What the environment of an agent that takes part in experiments tells it.
//!
//! Only agents that are started with `--dev` read these variables; any other agent warns that no
//! key has them. They exist for tests of upgrades: a release speaks the versions that it was built
//! to speak.

use tanist::Builder;
use tanist::transport::version::Versions;

use crate::problem::Problem;

/// Tells the node which versions of the wire it speaks, if the environment does.
pub(super) fn apply(builder: Builder) -> Result<Builder, Problem> {
    match std::env::var(WIRE_VERSIONS) {
        Ok(text) => Ok(builder.wire_versions(wire_versions(&text)?)),
        // It is not set.
        Err(_) => Ok(builder),
    }
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
