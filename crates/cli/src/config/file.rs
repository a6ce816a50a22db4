//! The layer that a file gives. A mistake is noted with its line, and reading goes on.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::draft::{Draft, unknown};
use super::key::{KEYS, Key, Kind};
use super::origin::Origin;
use super::value::Value;

/// Reads a file over what is there; `-` is stdin. A file that was not named may be missing.
pub(crate) fn read(draft: &mut Draft, path: &Path, name: &str, is_named: bool) {
    let name: Arc<str> = name.into();
    let nowhere = Origin::File { path: name.clone(), line: None };
    let mut bytes = Vec::new();
    let done = match path == Path::new("-") {
        true => std::io::stdin().read_to_end(&mut bytes).map(|_| bytes),
        false => std::fs::read(path),
    };
    match done.map(String::from_utf8) {
        Ok(Ok(text)) => File { name, text: &text }.lay_over(draft),
        Ok(Err(error)) => {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let place = Origin::File { path: name, line: Some(line) };
            draft.is_file_lost = true;
            draft.refuse(place, None, "the file is not valid UTF-8");
        }
        Err(error) if !is_named && error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) if tanist::is_temporary(&error) => {
            draft.is_file_lost = true;
            draft.lack(nowhere, format!("it cannot be read at the moment: {error}"));
        }
        Err(error) => {
            draft.is_file_lost = true;
            let next = "Name another with -c, or write one with `tanist config init --out FILE`";
            draft.refuse(nowhere, None, format!("it cannot be read: {error}. {next}"));
        }
    }
}

struct File<'a> {
    name: Arc<str>,
    text: &'a str,
}

impl File<'_> {
    fn lay_over(&self, draft: &mut Draft) {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in &errors {
            let place = self.at(error.span().map_or(0, |span| span.start));
            draft.refuse(place, None, error.message().trim());
        }
        // What follows a slip of syntax is a guess, and mistakes in a guess do not help.
        draft.is_file_lost = !errors.is_empty();
        if errors.is_empty() {
            self.walk(draft, "", table.get_ref());
        }
    }

    fn walk(&self, draft: &mut Draft, prefix: &str, table: &DeTable<'_>) {
        // Tables come sorted by name; mistakes are told in the order of the file.
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in entries {
            let dotted = format!("{prefix}{}", name.get_ref());
            let place = self.at(name.span().start);
            let inner = value.get_ref().as_table();
            let is_own = KEYS.iter().any(|key| key.is_table() && key.name == dotted);
            let is_table = KEYS.iter().any(|key| key.name.starts_with(&format!("{dotted}.")));
            match (Key::find(&dotted), inner) {
                (Some(key), _) if !is_own => self.take(draft, key, &dotted, place, value),
                (_, Some(inner)) if is_own || is_table => {
                    self.walk(draft, &format!("{dotted}."), inner);
                }
                (_, None) if is_own || is_table => {
                    let found = value.get_ref().type_str();
                    let what = format!("it must be a table, not {found}; write [{dotted}]");
                    draft.refuse(place, Some(&dotted), what);
                }
                (Some(_) | None, _) => draft.refuse(place, None, unknown(&dotted)),
            }
        }
    }

    fn take(
        &self,
        draft: &mut Draft,
        key: &Key,
        dotted: &str,
        place: Origin,
        value: &Spanned<DeValue<'_>>,
    ) {
        match Value::from_toml(key, value.get_ref()) {
            Ok(read) => draft.settings.put(dotted, read, place),
            // In a list over many lines, the line of the list is where to look.
            Err(what) => return draft.refuse(place, Some(dotted), what),
        }
        if let (Kind::List, Some(items)) = (key.kind, value.get_ref().as_array()) {
            let places = items.iter().map(|item| self.at(item.span().start)).collect();
            draft.settings.place_items(dotted, places);
        }
    }

    fn at(&self, offset: usize) -> Origin {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Origin::File { path: self.name.clone(), line: Some(line) }
    }
}
