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

/// A number as people write it, such as `42.n3`, or null.
pub(super) mod optional_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde hands over a reference")]
    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(to)
    }

    pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse()).transpose().map_err(D::Error::custom)
    }
}

/// A point of the boot-time clock in microseconds.
pub(super) mod boot_micros {
    use serde::{Deserialize, Deserializer, Serializer};
    use tanist_core::Time;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(crate) fn serialize<S: Serializer>(time: &Time, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(time.as_micros())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        u64::deserialize(from).map(Time::from_micros)
    }
}

/// A point of the wall clock in milliseconds since 1970.
pub(super) mod unix_millis {
    use std::time::{Duration, SystemTime};

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::terminal::moment;

    pub(crate) fn serialize<S: Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(moment::unix_millis(*time))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
        let millis = Duration::from_millis(u64::deserialize(from)?);
        Ok(SystemTime::UNIX_EPOCH.checked_add(millis).unwrap_or(SystemTime::UNIX_EPOCH))
    }
}

/// A span in milliseconds, or null.
pub(super) mod optional_millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde hands over a reference")]
    pub(crate) fn serialize<S: Serializer>(
        span: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        span.and_then(|span| u64::try_from(span.as_millis()).ok()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_millis))
    }
}
