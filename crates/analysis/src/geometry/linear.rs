//! Small systems of linear equations with a symmetric, positive definite matrix.

pub(super) type Matrix = Vec<Vec<f64>>;

/// The lower triangle whose product with its transpose is the matrix (Cholesky); none where it is not positive definite.
pub(super) fn factor(matrix: &Matrix) -> Option<Matrix> {
    let size = matrix.len();
    let mut lower = vec![vec![0.0; size]; size];
    for row in 0..size {
        for column in 0..=row {
            let dot: f64 = (0..column).map(|index| lower[row][index] * lower[column][index]).sum();
            let rest = matrix[row][column] - dot;
            if row == column {
                if rest <= 0.0 || !rest.is_finite() {
                    return None;
                }
                lower[row][row] = rest.sqrt();
            } else {
                lower[row][column] = rest / lower[column][column];
            }
        }
    }
    Some(lower)
}

/// The vector that the factored matrix turns into this one.
pub(super) fn solved(lower: &Matrix, right: &[f64]) -> Vec<f64> {
    let size = right.len();
    let mut vector = right.to_vec();
    for row in 0..size {
        let dot: f64 = (0..row).map(|index| lower[row][index] * vector[index]).sum();
        vector[row] = (vector[row] - dot) / lower[row][row];
    }
    for row in (0..size).rev() {
        let dot: f64 = (row + 1..size).map(|index| lower[index][row] * vector[index]).sum();
        vector[row] = (vector[row] - dot) / lower[row][row];
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_of_two() {
        let lower = factor(&vec![vec![4.0, 2.0], vec![2.0, 3.0]]).expect("it is positive definite");
        let solution = solved(&lower, &[10.0, 9.0]);
        assert!((solution[0] - 1.5).abs() < 1e-12 && (solution[1] - 2.0).abs() < 1e-12, "{solution:?}");
        assert!(factor(&vec![vec![1.0, 2.0], vec![2.0, 1.0]]).is_none());
    }
}
