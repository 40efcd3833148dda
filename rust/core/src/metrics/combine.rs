//! Combinations: the weighted mean of any metrics' scores.
//!
//! A row holds its members' rows side by side, and the formula is the weighted mean of their formulas.

use std::ops::Range;
use std::sync::Arc;

use crate::corpus::Corpus;
use crate::engine::{Image, Kernel, Member, ParameterError, Parameters, Prepared, Resources, Scorer, Worker};

struct Combine {
    parts: Vec<Part>,
}

/// A member, its share of the mean, and its columns in a row.
struct Part {
    kernel: Arc<dyn Kernel>,
    share: f64,
    columns: Range<usize>,
}

/// Builds the combination of `members`, at least one, with weights above 0.
pub(crate) fn build(parameters: &mut Parameters) -> Result<Box<dyn Kernel>, ParameterError> {
    let members = parameters.members("members")?;
    let total: f64 = members.iter().map(|member| member.weight).sum();
    if members.iter().any(|member| member.weight <= 0.0) || !(total > 0.0 && total.is_finite()) {
        return Err(ParameterError("members must be at least one metric, with weights above 0".to_owned()));
    }
    let mut parts: Vec<Part> = Vec::new();
    for Member { weight, kernel } in members {
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

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let prepare = |part: &'a Part| Ok((part.kernel.prepare(corpus, resources)?, part.columns.clone()));
        Ok(Box::new(Scorers(self.parts.iter().map(prepare).collect::<Result<_, _>>()?)))
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
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Workers(self.0.iter().map(|(scorer, columns)| (scorer.worker(), columns.clone())).collect()))
    }
}

/// Each member's worker with its columns.
struct Workers<'a>(Vec<(Box<dyn Worker + 'a>, Range<usize>)>);

impl Worker for Workers<'_> {
    fn statistics(&mut self, image: &Image<'_>, candidate: usize, row: &mut [f64]) {
        for (worker, columns) in &mut self.0 {
            worker.statistics(image, candidate, &mut row[columns.clone()]);
        }
    }
}
