//! How fast something grows: the straight line that fits best, by least squares.

/// Growth per second of values that were seen at these seconds. None: too few to say.
pub(crate) fn per_second(samples: &[(f64, f64)]) -> Option<f64> {
    let count = f64::from(u32::try_from(samples.len()).ok()?);
    let mean = |of: fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|(x, _)| *x), mean(|(_, y)| *y));
    let covariance: f64 = samples.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = samples.iter().map(|(x, _)| (x - mean_x) * (x - mean_x)).sum();
    (samples.len() >= 3 && variance > 0.0).then(|| covariance / variance)
}

#[test]
fn a_line_is_found_again_and_what_swings_has_no_slope() {
    let line: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), 3.0 + 2.0 * f64::from(x))).collect();
    assert!((per_second(&line).unwrap() - 2.0).abs() < 1e-9);
    let swing: Vec<(f64, f64)> = (0..9).map(|x| (f64::from(x), f64::from(x % 2))).collect();
    assert!(per_second(&swing).unwrap().abs() < 1e-9);
    assert_eq!(per_second(&line[..2]), None);
}
