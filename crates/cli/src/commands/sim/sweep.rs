//! `tanist sim sweep`: messages and time of an algorithm's cases, counted and by formula.

use serde_json::{Number, Value, json};
use tanist_core::election::Algorithm;
use tanist_sim::pictures::plot;
use tanist_sim::studies::sweep::{self, Row};
use tanist_sim::studies::theory::Amount;

use crate::commands::algorithm;
use crate::commands::sizes::Sizes;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::terminal::output::{self, Format, Target};
use crate::terminal::progress;
use crate::terminal::table::{Table, left, right};

/// Count messages and time for many sizes of group, and compare with theory.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Whose cases.
    #[arg(value_parser = algorithm)]
    algorithm: Algorithm,
    /// Only this case [default: all of the algorithm].
    #[arg(long)]
    case: Option<String>,
    /// How many nodes: `2..64` with both ends, or one number.
    #[arg(long, value_name = "A..B")]
    nodes: Sizes,
    /// Write one line per case and size; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    csv: Option<Target>,
    /// Draw what was counted on the curves that theory predicts; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    svg: Option<Target>,
    /// How to write the result [default: table, if there is no other output].
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Format>,
}

impl Args {
    /// Runs the cases.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        output::is_report_wanted(self.output, &[self.csv.as_ref(), self.svg.as_ref()])?;
        let rows = self.rows()?;
        if let Some(target) = &self.csv {
            target.fill(|to| to.write_all(sweep::csv(&rows).as_bytes()))?;
        }
        if let Some(target) = &self.svg {
            target.fill(|to| to.write_all(plot::sweep(self.algorithm, &rows).as_bytes()))?;
        }
        let has_files = self.csv.is_some() || self.svg.is_some();
        match self.output {
            None if has_files => {}
            None | Some(Format::Table) => output::print(&table(&rows).to_string())?,
            Some(Format::Json) => output::print_json(&rows.iter().map(entry).collect::<Value>())?,
        }
        Ok(verdict(&rows))
    }

    fn rows(&self) -> Result<Vec<Row>, Problem> {
        let cases = sweep::cases(self.algorithm);
        let name = self.algorithm.name();
        if let Some(case) = &self.case
            && !cases.contains(&case.as_str())
        {
            let known = cases.join(", ");
            let what = format!("{name} has no case {case:?}; it has {known}. Nothing was run.");
            return Err(Problem::Usage(what));
        }
        let Sizes(sizes) = &self.nodes;
        let count = self.case.as_ref().map_or(cases.len(), |_| 1) as u64;
        let bar = progress::bar(count * u64::from(sizes.end() - sizes.start() + 1), name);
        let rows = sweep::sweep(self.algorithm, self.case.as_deref(), sizes.clone(), &mut |row| {
            bar.inc(1);
            bar.set_message(row.case);
        });
        bar.finish_and_clear();
        if rows.is_empty() {
            let what =
                "no case means anything for so few nodes; nothing was run. Try --nodes 2..64";
            return Err(Problem::Usage(what.to_owned()));
        }
        Ok(rows)
    }
}

/// The rows of each case; they come case by case.
fn by_case(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|one, next| one.case == next.case)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        left("CASE"),
        right("NODES"),
        right("ROWS"),
        right("MATCH"),
        right("95 %"),
        left("FIRST MISMATCH"),
    ]);
    for rows in by_case(rows) {
        let matches = rows.iter().filter(|row| row.is_match).count();
        let first = rows.iter().find(|row| !row.is_match);
        table.row([
            rows[0].case.to_owned(),
            format!("{}..{}", rows[0].n, rows[rows.len() - 1].n),
            rows.len().to_string(),
            matches.to_string(),
            widest(rows),
            first.map_or_else(|| "-".to_owned(), mismatch),
        ]);
    }
    table
}

/// The widest confidence interval of a case, if theory's figures are means.
fn widest(rows: &[Row]) -> String {
    let widths = rows.iter().filter_map(|row| row.spread).map(|spread| spread.confidence);
    let widest = widths
        .fold(None, |widest: Option<f64>, next| Some(widest.map_or(next, |most| most.max(next))));
    widest.map_or_else(|| "-".to_owned(), |width| format!("±{width:.1}"))
}

/// What was counted, where it is not what theory says.
fn mismatch(row: &Row) -> String {
    let mut parts = vec![format!("n = {}", row.n)];
    if row.messages != row.theory_messages {
        parts.push(format!("{} messages, theory {}", row.messages, row.theory_messages));
    }
    if row.time_us != row.theory_time_us {
        parts.push(format!("{} us, theory {}", row.time_us, row.theory_time_us));
    }
    if parts.len() == 1 {
        parts.push("an assertion is violated".to_owned());
    }
    parts.join("; ")
}

fn entry(row: &Row) -> Value {
    json!({
        "algorithm": row.algorithm.name(),
        "case": row.case,
        "n": row.n,
        "messages": number(row.messages),
        "theory_messages": number(row.theory_messages),
        "time_us": number(row.time_us),
        "theory_time_us": number(row.theory_time_us),
        "match": row.is_match,
        "messages_ci95": row.spread.map(|spread| spread.confidence),
    })
}

/// The amount with the digits that the CSV has.
fn number(amount: Amount) -> Value {
    amount.to_string().parse::<Number>().map_or(Value::Null, Value::Number)
}

fn verdict(rows: &[Row]) -> Exit {
    let mut off = rows.iter().filter(|row| !row.is_match);
    let Some(first) = off.next() else { return Exit::Well };
    let (algorithm, case, rest) = (first.algorithm.name(), first.case, off.count());
    let more = if rest == 0 { String::new() } else { format!(" (and {rest} more rows)") };
    output::complain(&format!("{algorithm} {case}: {}{more}", mismatch(first)));
    Exit::Violated
}

const EXAMPLES: &str = "\
Examples:
  tanist sim sweep bully --nodes 2..64
  tanist sim sweep bully-lecture --case worst --nodes 2..40 --csv worst.csv --svg worst.svg
  tanist sim sweep invitation --nodes 8 -o json

Exit codes:
  0 every row is what theory says, 1 one is not, 2 usage";
