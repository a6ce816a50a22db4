//! JSON values written as YAML, in blocks.
//!
//! A text stands without quotes only if every YAML there is reads it as that text: letters first,
//! then letters, digits and a few harmless signs, and none of the words that some version takes for
//! a boolean or for nothing. Everything else is quoted and escaped as in JSON. Left out: long texts
//! in blocks, anchors, tags.

use serde_json::Value;

/// A document, ending with a line break.
pub(crate) fn text(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0);
    // What was written begins behind a colon or dash that a document does not have.
    let start = out.find(|c: char| c != ' ' && c != '\n').unwrap_or(0);
    out.drain(..start);
    out.push('\n');
    out
}

/// Writes a value behind a key's colon or an item's dash.
fn write(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, field) in fields {
                new_line(out, depth);
                out.push_str(&scalar(name));
                out.push(':');
                write(out, field, depth + 1);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                new_line(out, depth);
                out.push('-');
                match item {
                    // The first field of a table stands on the line of its dash.
                    Value::Object(fields) if !fields.is_empty() => {
                        let mut inner = String::new();
                        write(&mut inner, item, depth + 1);
                        out.push(' ');
                        out.push_str(inner.trim_start());
                    }
                    Value::Object(_)
                    | Value::Array(_)
                    | Value::String(_)
                    | Value::Number(_)
                    | Value::Bool(_)
                    | Value::Null => write(out, item, depth + 1),
                }
            }
        }
        Value::Object(_) => out.push_str(" {}"),
        Value::Array(_) => out.push_str(" []"),
        Value::String(text) => out.extend([" ", &scalar(text)]),
        Value::Number(_) | Value::Bool(_) | Value::Null => out.extend([" ", &value.to_string()]),
    }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
}

fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_word = WORDS.contains(&text.to_ascii_lowercase().as_str());
    if begins_well && text.chars().all(is_plain) && !is_word {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            ' '..='~' => quoted.push(c),
            // Whatever some reader may not print or may take for a line break.
            _ if c.is_alphanumeric() && u32::from(c) < 0x2000 => quoted.push(c),
            _ => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

/// Words that YAML 1.1 or 1.2 does not read as texts.
const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn assert_same(value: &Value) {
        let text = text(value);
        let read: Value = serde_norway::from_str(&text).unwrap_or_else(|error| {
            panic!("{error}\n{text}");
        });
        assert_eq!(&read, value, "{text}");
    }

    #[test]
    fn it_reads_as_people_write_it() {
        let value =
            json!({ "group": "billing", "members": [{ "node": "n1", "up": true }], "a": [] });
        assert_eq!(text(&value), "a: []\ngroup: billing\nmembers:\n  - node: n1\n    up: true\n");
    }

    #[test]
    fn texts_that_look_like_something_else_stay_texts() {
        for word in [
            "",
            " ",
            "yes",
            "No",
            "on",
            "OFF",
            "true",
            "null",
            "~",
            "y",
            "n",
            "1",
            "1.5",
            "1e3",
            "0x1F",
            "1_000",
            "12:30:45",
            "2026-11-16",
            "- a",
            "a: b",
            "a #b",
            "#a",
            "*a",
            "&a",
            "!a",
            "|",
            ">",
            "%a",
            "@a",
            "`a",
            "'a'",
            "\"a\"",
            "{a}",
            "[a]",
            "a\nb",
            "a\tb",
            "a\\b",
            "\u{1b}[31m",
            "\u{7f}",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "ä",
            "★",
            "🔒",
            "a,b",
            "?",
            "-",
            "---",
            "...",
            "=",
            "<<",
            "n1=10.0.0.1:7400",
            "Infinity",
            ".inf",
            "NaN",
        ] {
            assert_same(&json!(word));
            assert_same(&json!({ word: [word, { "a": word }] }));
        }
    }

    #[test]
    fn every_shape_is_read_back() {
        for value in [
            json!(null),
            json!(-7.5),
            json!([]),
            json!({}),
            json!([[1, [2, []]], [{ "a": {} }], [[{ "b": [{}] }]]]),
            json!({ "a": { "b": { "c": [1, { "d": [null, true] }] } }, "e": { "f": [] } }),
            json!([{ "a": [1, 2], "b": { "c": 1 } }, { "a": [] }]),
        ] {
            assert_same(&value);
        }
    }
}
