//! One value: read from a file or from text, written as a table, a file or JSON shows it.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tanist::{Algorithm, Preempt};
use tanist_core::duration;
use toml::de::DeValue;

use super::key::{Key, Kind};
use crate::commands;

/// A value of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Number(u32),
    Bool(bool),
    Duration(Duration),
    Address(SocketAddr),
    Algorithm(Algorithm),
    Preempt(Preempt),
    List(Vec<String>),
}

impl Value {
    /// Reads what the environment or the command line gives.
    pub(crate) fn from_text(key: &Key, text: &str) -> Result<Self, String> {
        match key.kind {
            Kind::Text | Kind::Path | Kind::Texts => filled(text),
            Kind::Number | Kind::Numbers => number(text, 10),
            Kind::Bool => text
                .parse()
                .map(Self::Bool)
                .map_err(|_| format!("`{text}` is not a truth value; write true or false")),
            Kind::Duration => crate::duration::read(text).map(Self::Duration),
            Kind::Address => text.parse().map(Self::Address).map_err(|_| {
                format!("`{text}` is not an address to listen on; write {}", key.example)
            }),
            Kind::Algorithm => commands::algorithm(text)
                .map(Self::Algorithm)
                .map_err(|known| format!("`{text}` is not an algorithm; {known}")),
            Kind::Preempt => preempt(text).map(Self::Preempt),
            Kind::Choice(words) if words.contains(&text) => Ok(Self::Text(text.to_owned())),
            Kind::Choice(words) => Err(format!("`{text}` is none of {}", words.join(", "))),
            Kind::List => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Ok(Self::List(parts.map(str::to_owned).collect()))
            }
        }
    }

    /// Reads what a file gives.
    pub(crate) fn from_toml(key: &Key, value: &DeValue<'_>) -> Result<Self, String> {
        match (key.kind, value) {
            (Kind::Number | Kind::Numbers, DeValue::Integer(digits)) => {
                number(digits.as_str(), digits.radix())
            }
            (Kind::Bool, DeValue::Boolean(is_so)) => Ok(Self::Bool(*is_so)),
            (Kind::List, DeValue::Array(items)) => {
                let texts = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
                let texts: Option<Vec<String>> = texts.collect();
                texts.map(Self::List).ok_or_else(|| wrong_type(key, "a list with something else"))
            }
            (Kind::Duration | Kind::Preempt, DeValue::Integer(digits)) => {
                let digits = digits.as_str();
                Err(format!("{digits} has no unit; write \"{digits}ms\" or \"{digits}s\""))
            }
            (Kind::Number | Kind::Numbers | Kind::Bool | Kind::List, other) => {
                Err(wrong_type(key, other.type_str()))
            }
            (_, DeValue::String(text)) => Self::from_text(key, text),
            (_, other) => Err(wrong_type(key, other.type_str())),
        }
    }

    /// The number, if it is one.
    pub(crate) const fn as_number(&self) -> Option<u32> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// The truth value, if it is one.
    pub(crate) const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(is_so) = self { Some(*is_so) } else { None }
    }

    /// The span, if it is one.
    pub(crate) const fn as_span(&self) -> Option<Duration> {
        if let Self::Duration(span) = self { Some(*span) } else { None }
    }

    /// The address, if it is one.
    pub(crate) const fn as_address(&self) -> Option<SocketAddr> {
        if let Self::Address(address) = self { Some(*address) } else { None }
    }

    /// The algorithm, if it is one.
    pub(crate) const fn as_algorithm(&self) -> Option<Algorithm> {
        if let Self::Algorithm(algorithm) = self { Some(*algorithm) } else { None }
    }

    /// Whether a higher node takes over, if it says that.
    pub(crate) const fn as_preempt(&self) -> Option<Preempt> {
        if let Self::Preempt(preempt) = self { Some(*preempt) } else { None }
    }

    /// The texts; none if it is no list.
    pub(crate) fn as_list(&self) -> &[String] {
        if let Self::List(texts) = self { texts } else { &[] }
    }

    /// As a program reads it.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Bool(is_so) => json!(is_so),
            Self::List(texts) => json!(texts),
            Self::Text(_)
            | Self::Duration(_)
            | Self::Address(_)
            | Self::Algorithm(_)
            | Self::Preempt(_) => json!(self.to_string()),
        }
    }

    /// As a file has it.
    pub(crate) fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        match self {
            Self::Number(_) | Self::Bool(_) => self.to_string(),
            Self::List(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
                format!("[{}]", texts.join(", "))
            }
            Self::Text(_)
            | Self::Duration(_)
            | Self::Address(_)
            | Self::Algorithm(_)
            | Self::Preempt(_) => quoted(&self.to_string()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(is_so) => write!(f, "{is_so}"),
            Self::Duration(span) => f.write_str(&duration::print(*span)),
            Self::Address(address) => write!(f, "{address}"),
            Self::Algorithm(algorithm) => f.write_str(algorithm.name()),
            Self::Preempt(preempt) => write!(f, "{preempt}"),
            Self::List(texts) => f.write_str(&texts.join(",")),
        }
    }
}

fn filled(text: &str) -> Result<Value, String> {
    if text.is_empty() {
        return Err("it must not be empty".to_owned());
    }
    Ok(Value::Text(text.to_owned()))
}

fn number(digits: &str, radix: u32) -> Result<Value, String> {
    let digits = digits.trim_start_matches('+');
    u32::from_str_radix(digits, radix)
        .map(Value::Number)
        .map_err(|_| format!("`{digits}` is not a whole number between 0 and {}", u32::MAX))
}

fn preempt(text: &str) -> Result<Preempt, String> {
    match text {
        "always" => Ok(Preempt::Always),
        "never" => Ok(Preempt::Never),
        text => crate::duration::read(text.strip_prefix("after ").unwrap_or(text))
            .map(Preempt::After)
            .map_err(|_| {
                format!("`{text}` is neither always nor never nor a duration such as 30s")
            }),
    }
}

fn wrong_type(key: &Key, found: &str) -> String {
    let expected = match key.kind {
        Kind::Text | Kind::Path | Kind::Texts | Kind::Algorithm | Kind::Preempt => "a text",
        Kind::Choice(_) => "a word",
        Kind::Address => "an address in quotes",
        Kind::Number | Kind::Numbers => "a whole number without quotes",
        Kind::Bool => "true or false, without quotes",
        Kind::Duration => "a duration in quotes",
        Kind::List => "a list of texts",
    };
    format!("it must be {expected}, not {found}; write {} = {}", key.last_name(), key.example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_written_so_that_it_is_read_again() {
        for text in ["0s", "250us", "1ms", "250ms", "1500ms", "2s", "90s"] {
            assert_eq!(duration::parse(text).map(duration::print).as_deref(), Some(text));
        }
        assert_eq!(duration::parse("1.5s").map(duration::print).as_deref(), Some("1500ms"));
        assert_eq!(duration::parse("2m").map(duration::print).as_deref(), Some("120s"));
    }

    #[test]
    fn what_is_shown_as_a_file_is_read_as_the_same_value() {
        for (name, text) in [
            ("group", "it's \"quoted\" \\ and\nbroken"),
            ("timing.heartbeat", "250ms"),
            ("peers", "n1=a:1,n2=b:2"),
            ("preempt", "30s"),
            ("listen", "[::1]:7400"),
            ("algorithm", "bully"),
            ("priority", "7"),
            ("identity.require", "false"),
        ] {
            let key = Key::find(name).unwrap();
            let value = Value::from_text(key, text).unwrap();
            let line = format!("value = {}", value.to_toml());
            let table = toml::de::DeTable::parse(&line).unwrap();
            let read = table.get_ref().get("value").unwrap();
            assert_eq!(Value::from_toml(key, read.get_ref()), Ok(value), "{line}");
        }
    }
}
