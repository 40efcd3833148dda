//! Self-CIDEr and LSA (Wang and Chan, CVPR 2019), and the Vendi score (Friedman and Dieng, TMLR 2023): how evenly the
//! spectrum of a set's similarity matrix is spread.
//!
//! With λ₁ ≥ … the eigenvalues and m the number of captions, r = √λ₁ / Σ√λᵢ and the diversity is −log_m r: 0 when all
//! captions say the same, 1 when no two share anything. Vendi's is a number of captions: exp(−Σ pᵢ ln pᵢ), where pᵢ are
//! the shares of the eigenvalues of the matrix with ones on its diagonal.

use super::similarity::Similarity;
use crate::corpus::Corpus;
use crate::engine::{Built, Kernel, Parameters, Prepared, Resources, Unit, with_memory};
use crate::numeric::spectrum::Spectrum;

/// Row: diversity, 1, and 1 where the matrix has a negative eigenvalue.
const WIDTH: usize = 3;

struct Spectral {
    similarity: Similarity,
    /// What is made of the eigenvalues.
    measure: fn(&[f64]) -> f64,
    /// Whether each caption counts alike, however similar to itself: the diagonal is brought to 1.
    alike: bool,
}

/// Builds Self-CIDEr, over the similarity that `kernel` names.
pub(crate) fn build_self_cider(parameters: &mut Parameters) -> Built {
    Ok(Box::new(Spectral { similarity: Similarity::build(parameters)?, measure: diversity, alike: false }))
}

/// Builds LSA.
pub(crate) fn build_lsa(parameters: &mut Parameters) -> Built {
    let similarity = Similarity::Words(parameters.flag("stop")?);
    Ok(Box::new(Spectral { similarity, measure: diversity, alike: false }))
}

/// Builds the Vendi score, over the similarity that `kernel` names.
pub(crate) fn build_vendi(parameters: &mut Parameters) -> Built {
    Ok(Box::new(Spectral { similarity: Similarity::build(parameters)?, measure: effective_number, alike: true }))
}

impl Kernel for Spectral {
    fn width(&self) -> usize {
        WIDTH
    }

    fn unit(&self) -> Unit {
        Unit::Set
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let is_inner_product = self.similarity.is_inner_product();
        let similarities = self.similarity.prepare(corpus, resources)?;
        Ok(with_memory(<(Vec<f64>, Spectrum)>::default, move |(matrix, spectrum), image, _, row| {
            let size = image.candidate_count();
            matrix.clear();
            matrix.resize(size * size, 0.0);
            similarities.fill(image, matrix);
            if self.alike {
                with_unit_diagonal(matrix, size);
            }
            let values = spectrum.values(matrix, size);
            row[0] = (self.measure)(values);
            row[1] = 1.0;
            row[2] = f64::from(u8::from(!is_inner_product && least_is_negative(values)));
        }))
    }
}

/// −log_m (√λ₁ / Σ√λᵢ) of the eigenvalues, largest first; of negative ones the size is taken, which makes them singular
/// values. 0 for a single caption and where all eigenvalues are 0: nothing varies there.
///
/// Values below the rounding error of the largest count as 0: their roots would be far above it.
pub fn diversity(eigenvalues: &[f64]) -> f64 {
    let largest = eigenvalues.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if eigenvalues.len() < 2 || largest == 0.0 {
        return 0.0;
    }
    let floor = rounding(eigenvalues.len(), largest);
    let roots: f64 = eigenvalues.iter().map(|value| value.abs()).filter(|&value| value > floor).map(f64::sqrt).sum();
    // 0 − x, so that equal captions have 0 and not −0.
    0.0 - (largest.sqrt() / roots).ln() / (eigenvalues.len() as f64).ln()
}

/// Divides each similarity by the roots of both captions' similarities to themselves, which become 1; 0 stays 0.
fn with_unit_diagonal(matrix: &mut [f64], size: usize) {
    let roots: Vec<f64> = (0..size).map(|i| matrix[i * size + i].sqrt()).collect();
    for (row, own) in matrix.chunks_exact_mut(size.max(1)).zip(&roots) {
        for (entry, root) in row.iter_mut().zip(&roots).filter(|(entry, _)| **entry != 0.0) {
            *entry /= own * root;
        }
    }
}

/// exp(−Σ pᵢ ln pᵢ) of the shares pᵢ of the eigenvalues, of whose negative ones the size is taken: how many captions
/// would be as varied if no two shared anything. 0 where all are 0: nobody says anything there.
fn effective_number(eigenvalues: &[f64]) -> f64 {
    let largest = eigenvalues.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let floor = rounding(eigenvalues.len(), largest);
    let sizes = || eigenvalues.iter().map(|value| value.abs()).filter(|&size| size > floor);
    let total: f64 = sizes().sum();
    let entropy: f64 = sizes().map(|size| size / total).map(|share| 0.0 - share * share.ln()).sum();
    if total == 0.0 { 0.0 } else { entropy.exp() }
}

/// Whether an eigenvalue is below 0 by more than rounding.
fn least_is_negative(eigenvalues: &[f64]) -> bool {
    let largest = eigenvalues.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    eigenvalues.iter().any(|&value| value < -rounding(eigenvalues.len(), largest))
}

fn rounding(count: usize, largest: f64) -> f64 {
    4.0 * count as f64 * f64::EPSILON * largest
}
