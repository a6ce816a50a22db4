//! The OpenAPI document: every path is requested, and every answer is checked against it.

use serde_json::{Map, Value};

use super::agents::{Agents, TOKEN};
use super::client::{Answer, get, head, raw, request};
use crate::support::wait::until;

#[test]
fn every_path_of_the_document_answers_as_it_says() {
    let agents = Agents::start(1, "");
    let to = agents.fleet.http(1);
    until("it leads", || {
        raw(to, &head(to, "GET", "/leader", &[], "")).ok().filter(|a| a.status == 200)
    });
    let document = get(to, "/v1/openapi.json").json();
    let mut paths: Vec<(&String, &Value)> = document["paths"].as_object().unwrap().iter().collect();
    assert!(paths.len() >= 20);
    // A node that leaves answers no further requests.
    paths.sort_by_key(|(path, _)| *path == "/v1/leave");
    let bearer = format!("Bearer {TOKEN}");
    let mut judged = 0;
    for (path, methods) in paths {
        for (method, described) in methods.as_object().unwrap() {
            let (headers, body) = match described.get("requestBody") {
                Some(body) => {
                    let schema = &body["content"]["application/json"]["schema"];
                    let json = ("Content-Type", "application/json");
                    (vec![("Authorization", bearer.as_str()), json], example(schema).to_string())
                }
                None => (vec![("Accept", "application/json")], String::new()),
            };
            if path == "/v1/watch" {
                continue;
            }
            let answer = request(to, &method.to_uppercase(), path, &headers, &body);
            judge(&document, path, described, &answer);
            judged += 1;
        }
    }
    assert!(judged >= 19, "{judged}");
}

#[test]
fn every_refusal_and_every_event_has_the_shape_of_the_document() {
    let agents = Agents::start(1, "");
    let to = agents.fleet.http(1);
    until("it leads", || {
        raw(to, &head(to, "GET", "/leader", &[], "")).ok().filter(|a| a.status == 200)
    });
    let document = get(to, "/v1/openapi.json").json();
    let paths = document["paths"].as_object().unwrap();
    for (path, methods) in paths {
        let described = methods.as_object().unwrap().values().next().unwrap();
        let method = methods.as_object().unwrap().keys().next().unwrap().to_uppercase();
        let foreign = request(to, &method, path, &[("Host", "evil.example")], "");
        assert_eq!(foreign.status, 421);
        judge(&document, path, described, &foreign);
        if method == "POST" {
            judge(&document, path, described, &request(to, "POST", path, &[], ""));
        } else {
            judge(&document, path, described, &get(to, &format!("{path}?nonsense=1")));
        }
    }
    let event = super::client::Watch::start(to, None).next().unwrap();
    let schemas = &document["components"]["schemas"];
    check(&document, &schemas["Snapshot"], &event.data, "snapshot");
    let status = get(to, "/v1/status").json();
    let last = format!("{}.0", status["incarnation"]);
    let event = super::client::Watch::start(to, Some(&last)).next().unwrap();
    check(&document, &schemas["Change"], &event.data, "change");
}

/// Checks an answer against the description of its path.
fn judge(document: &Value, path: &str, described: &Value, answer: &Answer) {
    let responses = described["responses"].as_object().unwrap();
    let response = responses.get(&answer.status.to_string());
    let response = response.unwrap_or_else(|| panic!("{path}: not in the document: {answer:?}"));
    let response = resolve(document, response);
    let kind = answer.header("content-type").unwrap().split(';').next().unwrap();
    let content = response["content"].as_object().unwrap();
    let content = content.get(kind).unwrap_or_else(|| panic!("{path}: {kind} in {answer:?}"));
    let is_versioned = path.starts_with("/v1/");
    assert_eq!(answer.header("tanist-index").is_some(), is_versioned, "{path}: {answer:?}");
    match kind {
        "application/json" => check(document, &content["schema"], &answer.json(), path),
        "application/x-ndjson" => {
            for line in answer.body.lines() {
                let line = serde_json::from_str(line).unwrap();
                check(document, &content["schema"], &line, path);
            }
        }
        _ => assert!(answer.body.ends_with('\n'), "{path}: {answer:?}"),
    }
}

/// The smallest body that a schema allows.
fn example(schema: &Value) -> Value {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let one = |name: &Value| {
        let kind = &schema["properties"][name.as_str().unwrap()]["type"];
        let value = if kind == "integer" { Value::from(1) } else { Value::from("1") };
        (name.as_str().unwrap().to_owned(), value)
    };
    Value::Object(required.iter().map(one).collect::<Map<_, _>>())
}

fn resolve<'a>(document: &'a Value, what: &'a Value) -> &'a Value {
    match what.get("$ref").and_then(Value::as_str) {
        Some(place) => {
            document.pointer(&place[1..]).unwrap_or_else(|| panic!("there is no {place}"))
        }
        None => what,
    }
}

/// The part of JSON Schema that the document uses; an unknown keyword is a failure.
fn check(document: &Value, schema: &Value, value: &Value, place: &str) {
    let schema = resolve(document, schema).as_object().unwrap();
    for (word, rule) in schema {
        match word.as_str() {
            "type" => {
                let kinds = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                let is_one = kinds.iter().any(|kind| is_kind(kind.as_str().unwrap(), value));
                assert!(is_one, "{place}: {value} is no {rule}");
            }
            "enum" => assert!(rule.as_array().unwrap().contains(value), "{place}: {value}"),
            "required" => {
                for name in rule.as_array().unwrap() {
                    let name = name.as_str().unwrap();
                    assert!(value.get(name).is_some(), "{place}: no {name} in {value}");
                }
            }
            "properties" => {
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(document, rule, value, &format!("{place}.{name}"));
                    }
                }
            }
            "items" => {
                for value in value.as_array().unwrap() {
                    check(document, rule, value, &format!("{place}[]"));
                }
            }
            "anyOf" => {
                // Either null or the other schema.
                let is_null = |rule: &&Value| rule["type"] == "null";
                let rules = rule.as_array().unwrap();
                if !(value.is_null() && rules.iter().any(|rule| is_null(&rule))) {
                    let rule = rules.iter().find(|rule| !is_null(rule)).unwrap();
                    check(document, rule, value, place);
                }
            }
            "description" | "examples" => {}
            other => panic!("{place}: this test does not know `{other}`"),
        }
    }
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type"),
    }
}
