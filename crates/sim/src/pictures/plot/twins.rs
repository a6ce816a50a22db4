//! Which curves of a plot lie on each other.

/// How a curve lies among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Twin {
    /// The first curve with the very same points.
    pub(crate) same_as: Option<usize>,
    /// How many earlier curves run along it for the greater part.
    pub(crate) rank: usize,
    /// How many curves run along each other there, itself included.
    pub(crate) of: usize,
}

impl Twin {
    /// How a line is dashed so that the earlier ones show between: the first not at all.
    pub(crate) fn dash(self) -> &'static str {
        match self.rank {
            0 => "",
            1 => "9 9",
            2 => "3 9",
            _ => "2 6 7 9",
        }
    }

    /// How far to the side its marks stand, in steps: those of all together are centred.
    pub(crate) fn shift(self) -> f64 {
        let number = |items: usize| f64::from(u32::try_from(items).unwrap_or(u32::MAX));
        number(self.rank) - number(self.of.saturating_sub(1)) / 2.0
    }
}

/// Compares curves, each given as points in order of their number of nodes.
pub(crate) fn twins(curves: &[Vec<(u32, f64)>]) -> Vec<Twin> {
    let mut leaders: Vec<usize> = Vec::new();
    for (at, curve) in curves.iter().enumerate() {
        let leader =
            (0..at).find(|other| leaders[*other] == *other && runs_along(curve, &curves[*other]));
        leaders.push(leader.unwrap_or(at));
    }
    let twin = |at: usize| Twin {
        same_as: (0..at)
            .find(|other| !curves[at].is_empty() && are_equal(&curves[at], &curves[*other])),
        rank: (0..at).filter(|other| leaders[*other] == leaders[at]).count(),
        of: leaders.iter().filter(|leader| **leader == leaders[at]).count(),
    };
    (0..curves.len()).map(twin).collect()
}

fn are_equal(one: &[(u32, f64)], other: &[(u32, f64)]) -> bool {
    one.len() == other.len() && shared(one, other) == one.len()
}

/// Whether most points of a curve are points of another one.
fn runs_along(one: &[(u32, f64)], other: &[(u32, f64)]) -> bool {
    !one.is_empty() && shared(one, other) * 2 > one.len().min(other.len())
}

fn shared(one: &[(u32, f64)], other: &[(u32, f64)]) -> usize {
    let is_near = |a: f64, b: f64| (a - b).abs() <= a.abs().max(b.abs()) * NEAR;
    let is_there = |(n, value): &&(u32, f64)| {
        other.iter().any(|(other, theirs)| n == other && is_near(*value, *theirs))
    };
    one.iter().filter(is_there).count()
}

/// Relative: nearer values look the same.
const NEAR: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_curves_name_the_first_and_similar_ones_are_dashed() {
        let flat = vec![(2, 1.0), (3, 4.0), (4, 4.0)];
        let late = vec![(2, 2.0), (3, 4.0), (4, 4.0)];
        let other = vec![(2, 9.0), (3, 9.0)];
        let found = twins(&[flat.clone(), other, late, flat]);
        assert_eq!(found[0], Twin { same_as: None, rank: 0, of: 3 });
        assert_eq!(found[1], Twin { same_as: None, rank: 0, of: 1 });
        assert_eq!(found[2], Twin { same_as: None, rank: 1, of: 3 });
        assert_eq!(found[3], Twin { same_as: Some(0), rank: 2, of: 3 });
        let shifts: Vec<f64> = found.iter().map(|twin| twin.shift()).collect();
        assert_eq!(shifts, [-1.0, 0.0, 0.0, 1.0]);
        assert!(found[0].dash().is_empty() && !found[3].dash().is_empty());
        assert_eq!(twins(&[Vec::new(), Vec::new()])[1].same_as, None);
    }
}
