//! The rows of a sweep as a picture: a panel of messages and a panel of time, a curve for each
//! case. Theory may be a bound for the messages of a case; for its time it never is.

use tanist_core::election::Algorithm;

use super::letters::letters;
use super::{Plot, Point, Series, Sketch, Theory, draw};
use crate::algorithms;
use crate::studies::sweep::{Formula, Row, Verdict, formula};

/// Draws the rows of an algorithm's sweep, as a standalone SVG. They come case by case.
#[must_use]
pub fn sweep(algorithm: Algorithm, rows: &[Row]) -> String {
    let name = algorithm.name();
    let messages = Plot {
        title: format!("{name}: messages"),
        y_label: "messages".to_owned(),
        series: series(rows, |formula| formula.messages, messages),
    };
    let time = Plot {
        title: format!("{name}: time"),
        y_label: "simulated ms".to_owned(),
        series: series(rows, |formula| formula.time, time),
    };
    let of_messages = by_case(rows).map(|rows| theory(algorithm, rows[0].case)).collect();
    let of_time = vec![Theory::Value; time.series.len()];
    let sketch = |(plot, theory): (_, Vec<Theory>)| {
        let plot: &Plot = plot;
        Sketch { plot, theory, letters: letters(algorithm, &plot.series) }
    };
    draw(&[(&messages, of_messages), (&time, of_time)].map(sketch))
}

/// One curve per case: what was measured, and what theory says.
fn series(
    rows: &[Row],
    text: fn(Formula) -> &'static str,
    point: fn(&Row) -> Point,
) -> Vec<Series> {
    let of_case = |rows: &[Row]| Series {
        name: rows[0].case.to_owned(),
        formula: formula(rows[0].algorithm, rows[0].case).map(text).map(str::to_owned),
        points: rows.iter().map(point).collect(),
    };
    by_case(rows).map(of_case).collect()
}

fn messages(row: &Row) -> Point {
    let (measured, theory) = (row.messages.to_f64(), row.theory_messages.to_f64());
    Point { n: row.n, measured, theory, spread: row.spread }
}

fn time(row: &Row) -> Point {
    let (measured, theory) = (row.time_us.to_f64() / 1e3, row.theory_time_us.to_f64() / 1e3);
    Point { n: row.n, measured, theory, spread: None }
}

fn by_case(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|one, next| one.case == next.case)
}

/// What theory says of the messages of a case.
fn theory(algorithm: Algorithm, case: &str) -> Theory {
    let cases = algorithms::study(algorithm).sweeps;
    match cases.iter().find(|other| other.name == case).map(|case| case.verdict) {
        Some(Verdict::AtMost) => Theory::Bound,
        Some(Verdict::Exact | Verdict::ExactMean | Verdict::Sampled) | None => Theory::Value,
    }
}

#[cfg(test)]
mod tests {
    use crate::pictures::svg::assert_balanced;
    use crate::studies::sweep;

    use super::*;

    fn picture(name: &str, case: &str) -> String {
        let algorithm = Algorithm::from_name(name).unwrap();
        let rows = sweep::sweep(algorithm, Some(case), 2..=9, &mut |_| {});
        assert!(rows.iter().all(|row| row.is_match), "{rows:?}");
        let svg = super::sweep(algorithm, &rows);
        assert_balanced(&svg);
        svg
    }

    #[test]
    fn messages_below_a_bound_are_right_and_the_curve_says_that_it_is_a_bound() {
        let svg = picture("ring-hirschberg-sinclair", "all-bound");
        assert!(svg.contains("16 points, 0 off the curve"), "{svg}");
        assert!(!svg.contains("class=\"off\""), "{svg}");
        assert_eq!(svg.matches(">at most 8N + 8 ceil(N lg N)</text>").count(), 1, "{svg}");
        assert_eq!(svg.matches(">dotted curves: bounds</text>").count(), 1, "{svg}");
        let curve = svg.find("<title>all-bound, at most</title>").expect("it is drawn");
        assert!(svg[curve..].split("/>").next().is_some_and(|line| line.contains("dasharray")));
        let most = svg.split("all-bound, 9 nodes: ").nth(1).expect("it is drawn");
        assert!(most.split('<').next().is_some_and(|text| text.contains(", at most ")), "{svg}");
    }

    #[test]
    fn the_legend_says_what_the_letters_of_formulas_mean() {
        let svg = picture("ring-hirschberg-sinclair", "all-mean");
        let [messages, time] = svg.split_once("time</text>").map(<[&str; 2]>::from).unwrap();
        assert!(messages.contains(">E(k): what a node spends on one side in"), "{messages}");
        assert!(!messages.contains(">P: "), "{messages}");
        assert!(time.contains(">P: the smallest power of two"), "{time}");
        let svg = picture("ring-peterson", "all-worst");
        assert!(svg.contains(">P: the largest power of two"), "{svg}");
        assert_eq!(svg.matches(">N: nodes; d: the delay of a message</text>").count(), 2);
    }

    #[test]
    fn a_case_of_exact_numbers_is_no_bound() {
        let svg = picture("ring-hirschberg-sinclair", "one-best");
        assert!(!svg.contains("at most") && !svg.contains("bounds"), "{svg}");
    }
}
