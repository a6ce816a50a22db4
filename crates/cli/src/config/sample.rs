//! The file that `tanist config init` writes: every key, most of them as comments.

use super::key::{KEYS, Key};
use super::value::Value;

/// What is known before the file is written.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) group: String,
    /// `n1=10.0.0.1:7400`.
    pub(crate) peers: Vec<String>,
    pub(crate) node: String,
}

impl Sample {
    /// The file: what must be given is given, everything else is a comment with its default.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from(HEAD);
        let mut table = "";
        for key in KEYS.iter().filter(|key| !is_special(key)) {
            let (of, _) = key.name.split_once('.').unwrap_or(("", key.name));
            if of != table {
                table = of;
                text.push_str(&format!("\n{}\n[{table}]\n", about_table(table)));
            }
            text.push_str(&self.line(key));
        }
        text
    }

    fn line(&self, key: &Key) -> String {
        let name = key.last_name();
        let given = match key.name {
            "group" => Some(Value::Text(self.group.clone()).to_toml()),
            "node" => Some(Value::Text(self.node.clone()).to_toml()),
            "peers" => return self.peers_lines(key),
            "data_dir" => Some(format!("\"/var/lib/tanist/{}\"", self.group)),
            "key_file" => Some(key.example.to_owned()),
            "socket" => Some(format!("\"/run/tanist/{}.sock\"", self.group)),
            _ => None,
        };
        let mark = if given.is_some() { "" } else { "# " };
        let line = format!("{mark}{name} = {}", given.unwrap_or_else(|| key.example.to_owned()));
        format!("{line:<COMMENT_AT$} # {}\n", key.about)
    }

    fn peers_lines(&self, key: &Key) -> String {
        let rows =
            self.peers.iter().map(|peer| format!("  {},\n", Value::Text(peer.clone()).to_toml()));
        format!("{:<COMMENT_AT$} # {}\n{}]\n", "peers = [", key.about, rows.collect::<String>())
    }
}

/// Keys for experiments and for kinds of networks of which few have one: docs/config.md has them.
fn is_special(key: &Key) -> bool {
    ["work", "zones", "racks"].contains(&key.name) || key.name.starts_with("radio.")
}

fn about_table(table: &str) -> &'static str {
    match table {
        "identity" => {
            "# Keys of the nodes' own, so that a stolen node's files speak as that node only."
        }
        "timing" => "# The same on all nodes. suspect_after is at least heartbeat + Tm + Tp.",
        "http" => "# For load balancers and people; without it there is no HTTP.",
        "hooks" => "# Programs (paths, not command lines) that run one at a time, in order.",
        "health" => "# A program that says whether this node is fit to lead.",
        "log" => "# On stderr.",
        _ => "#",
    }
}

const HEAD: &str = "\
# A node of a group. Check this file with: tanist config check -c FILE
# Any key may also be given as TANIST_… in the environment or with --set; see where each value
# comes from with: tanist config show --origin
# Lines with # show what is not given: a default, or an example.

";

/// Where the comment behind a value begins.
const COMMENT_AT: usize = 44;

#[cfg(test)]
mod tests {
    use super::super::{Config, Sources};
    use super::*;

    fn sample() -> Sample {
        let peers = ["n1=10.0.0.1:7400", "n2=10.0.0.2:7400"].map(str::to_owned).to_vec();
        Sample { group: "billing".to_owned(), peers, node: "n2".to_owned() }
    }

    fn load(text: &str) -> Config {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tanist.toml");
        std::fs::write(&path, text).unwrap();
        Config::load(&Sources { file: Some(path), ..Sources::default() }).unwrap()
    }

    #[test]
    fn it_is_a_configuration_without_warnings() {
        let config = load(&sample().text());
        assert_eq!((config.group.as_str(), config.node.as_str()), ("billing", "n2"));
        assert_eq!(config.peers.all().len(), 2);
        assert!(config.warnings.is_empty());
        assert!(sample().text().lines().all(|line| line.chars().count() <= 100));
    }

    #[test]
    fn every_comment_is_a_line_that_works_and_a_default_says_the_default() {
        let base = load(&sample().text());
        for key in KEYS.iter().filter(|key| !is_special(key)) {
            let mut text = sample().text();
            let comment = format!("# {} = ", key.last_name());
            let (table, _) = key.name.split_once('.').unwrap_or(("group =", key.name));
            let from = text.find(&format!("{table}]")).unwrap_or(0);
            let Some(at) = text[from..].find(&comment) else { continue };
            // A key is longer than a line.
            if key.example.contains('…') {
                continue;
            }
            text.replace_range(from + at..from + at + 2, "");
            let changes = load(&text).changes_against(&base);
            let is_default = key.default.is_some();
            assert_eq!(changes.is_empty(), is_default, "{}: {changes:?}", key.name);
        }
    }
}
