//! How typed values of an agent are written in JSON: one module for each form, for serde's `with`.

/// A role, or `-` for a node that is not in the group.
pub(super) mod role_or_dash {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use tanist::RoleKind;

    #[expect(clippy::ref_option, reason = "serde hands over a reference")]
    pub(crate) fn serialize<S: Serializer>(
        role: &Option<RoleKind>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(role.map_or(NONE, RoleKind::name))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<RoleKind>, D::Error> {
        match String::deserialize(from)?.as_str() {
            NONE => Ok(None),
            text => text.parse().map(Some).map_err(D::Error::custom),
        }
    }

    const NONE: &str = "-";
}
