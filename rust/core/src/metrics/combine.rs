//! Combinations: the weighted mean of any metrics' scores.
//!
//! A row holds its members' rows side by side, and the formula is the weighted mean of their formulas.

use std::ops::Range;

use crate::corpus::Corpus;
use crate::engine::kernel::{Context, Image, Kernel, Member, ParameterError, Parameters, Scorer, kernel};

struct Combine {
    parts: Vec<Part>,
}

/// A member, its share of the mean, and its columns in a row.
struct Part {
    kernel: Box<dyn Kernel>,
    share: f64,
    columns: Range<usize>,
}

/// Builds the combination of `members`, at least one, with weights above 0.
pub(crate) fn build(parameters: &Parameters) -> Result<Box<dyn Kernel>, ParameterError> {
    let members = parameters.members("members")?;
    let total: f64 = members.iter().map(|member| member.weight).sum();
    if members.iter().any(|member| member.weight <= 0.0) || !(total > 0.0 && total.is_finite()) {
        return Err(ParameterError("members must be at least one metric, with weights above 0".to_owned()));
    }
    let mut parts: Vec<Part> = Vec::new();
    for Member { weight, kernel: name, parameters } in members {
        let kernel = kernel(name, parameters)?;
        let start = parts.last().map_or(0, |part| part.columns.end);
        parts.push(Part { share: weight / total, columns: start..start + kernel.width(), kernel });
    }
    Ok(Box::new(Combine { parts }))
}

impl Combine {
    fn mean(&self, numbers: &[f64], score: impl Fn(&dyn Kernel, &[f64]) -> f64) -> f64 {
        self.parts.iter().map(|part| part.share * score(&*part.kernel, &numbers[part.columns.clone()])).sum()
    }
}

impl Kernel for Combine {
    fn width(&self) -> usize {
        self.parts.last().map_or(0, |part| part.columns.end)
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, context: &'a Context) -> Box<dyn Scorer + 'a> {
        let prepare = |part: &'a Part| (part.kernel.prepare(corpus, context), part.columns.clone());
        Box::new(Scorers(self.parts.iter().map(prepare).collect()))
    }

    fn score(&self, sums: &[f64]) -> f64 {
        self.mean(sums, |kernel, sums| kernel.score(sums))
    }

    fn row_score(&self, row: &[f64]) -> f64 {
        self.mean(row, |kernel, row| kernel.row_score(row))
    }
}

/// Each member's scorer with its columns.
struct Scorers<'a>(Vec<(Box<dyn Scorer + 'a>, Range<usize>)>);

impl Scorer for Scorers<'_> {
    fn statistics(&self, image: &Image<'_>, candidate: usize, row: &mut [f64]) {
        for (scorer, columns) in &self.0 {
            scorer.statistics(image, candidate, &mut row[columns.clone()]);
        }
    }
}
