//! What stands after the question mark.
//!
//! Values are numbers, durations and names, so nothing is percent-encoded; what is, is refused with
//! the parameter's name.

use std::time::Duration;

use super::refusal::Refusal;

/// Parameters by name, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads it; no name may come twice.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            if pairs.iter().any(|(known, _)| known == name) {
                return Err(Refusal::BadQuery(format!("`{name}` comes twice")));
            }
            pairs.push((name.to_owned(), value.to_owned()));
        }
        Ok(Self(pairs))
    }

    /// Refuses every name but these.
    pub(super) fn only(&self, names: &[&str]) -> Result<(), Refusal> {
        match self.0.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            Some((name, _)) if names.is_empty() => {
                Err(Refusal::BadQuery(format!("there is no `{name}` here, nor anything else")))
            }
            Some((name, _)) => {
                let names = names.join("`, `");
                Err(Refusal::BadQuery(format!("there is no `{name}` here; there is `{names}`")))
            }
            None => Ok(()),
        }
    }

    /// Whether the name is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// Its value.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Its value as a number.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let wrong = |text| Refusal::BadQuery(format!("{name}={text} is not a number"));
        self.text(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }

    /// Its value as a span of time.
    pub(super) fn duration(&self, name: &str) -> Result<Option<Duration>, Refusal> {
        let wrong = |what| Refusal::BadQuery(format!("{name}: {what}"));
        self.text(name).map(|text| crate::duration::read(text).map_err(wrong)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_or_not_understood_is_named() {
        let query = Query::parse("wait=60s&index=7&leader").unwrap();
        assert_eq!(query.duration("wait").unwrap(), Some(Duration::from_secs(60)));
        assert_eq!(query.number("index").unwrap(), Some(7));
        assert!(query.has("leader") && !query.has("after"));
        assert!(query.only(&["wait", "index", "leader"]).is_ok());
        for (text, name) in [("index=x", "index=x"), ("wait=60", "wait: `60`"), ("a=1&a=2", "`a`")]
        {
            let refusal = Query::parse(text)
                .and_then(|query| query.number("index").map(|_| query))
                .and_then(|query| query.duration("wait"))
                .unwrap_err();
            assert!(refusal.to_string().contains(name), "{refusal}");
        }
        assert!(query.only(&["wait"]).unwrap_err().to_string().contains("index"));
    }
}
