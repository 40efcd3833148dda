//! ROUGE (Lin 2004), as the CIDEr paper writes it (appendix, eq. 9 to 15) and as the COCO code computes ROUGE-L.

use crate::corpus::Corpus;
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resources, mean_of, with_memory};
use crate::numeric::f_measure;
use crate::text::ngram::MAX_ORDER;
use crate::text::vocabulary::Word;

/// ROUGE-N: recall of the references' n-grams of that order.
#[derive(Debug, Clone, Copy)]
struct RougeN(usize);

/// Builds ROUGE-N of order `n`.
pub(crate) fn build_n(parameters: &mut Parameters) -> Built {
    Ok(Box::new(RougeN(parameters.count("n", 1..=MAX_ORDER)?)))
}

impl Kernel for RougeN {
    fn prepare<'a>(&'a self, _: &'a Corpus, _: &'a Resources) -> Prepared<'a> {
        Ok(mean_of(|image, candidate| self.caption_score(image, candidate)))
    }
}

impl RougeN {
    fn caption_score(self, image: &Image<'_>, candidate: usize) -> f64 {
        let ngrams = image.ngrams();
        let mut counts = vec![0; ngrams.distinct()];
        for entry in ngrams.entries(candidate, self.0) {
            counts[entry.ngram as usize] = entry.count;
        }
        let first = image.candidate_count();
        let (mut matches, mut all) = (0, 0);
        for reference in first..first + image.reference_count() {
            for entry in ngrams.entries(reference, self.0) {
                matches += entry.count.min(counts[entry.ngram as usize]);
                all += entry.count;
            }
        }
        if all == 0 { 0.0 } else { f64::from(matches) / f64::from(all) }
    }
}

/// ROUGE-L: F of the longest common subsequence; precision and recall each take their best reference.
#[derive(Debug, Clone, Copy)]
struct RougeL {
    beta: f64,
}

/// Builds ROUGE-L with weight `beta`.
pub(crate) fn build_l(parameters: &mut Parameters) -> Built {
    Ok(Box::new(RougeL { beta: parameters.positive("beta")? }))
}

impl Kernel for RougeL {
    fn prepare<'a>(&'a self, _: &'a Corpus, _: &'a Resources) -> Prepared<'a> {
        Ok(with_memory(Subsequences::default, |subsequences, image, candidate, row| {
            row.copy_from_slice(&[self.caption_score(subsequences, image, candidate), 1.0]);
        }))
    }
}

impl RougeL {
    fn caption_score(self, subsequences: &mut Subsequences, image: &Image<'_>, candidate: usize) -> f64 {
        let candidate = image.candidate_tokens(candidate);
        subsequences.of(candidate);
        let (mut precision, mut recall) = (0.0_f64, 0.0_f64);
        for reference in image.reference_tokens() {
            // The COCO code splits an empty caption into one empty token, which equals only itself.
            let common = match (candidate.len(), reference.len()) {
                (0, 0) => 1,
                _ => subsequences.longest_common_with(reference),
            };
            precision = precision.max(common as f64 / candidate.len().max(1) as f64);
            recall = recall.max(common as f64 / reference.len().max(1) as f64);
        }
        f_measure(precision, recall, self.beta * self.beta)
    }
}

/// Compares one sentence with others by their longest common subsequence: 64 cells of the classic table per machine word
/// (Hyyrö 2004). The memory is used again for the next sentence.
#[derive(Debug, Default)]
pub(crate) struct Subsequences {
    sentence: Vec<Word>,
    /// Machine words per mask.
    blocks: usize,
    /// For each word, the number of its mask; 0 for those that the sentence lacks.
    numbers: Vec<u32>,
    /// Where in the sentence a word stands, a bit per place; mask 0 is empty.
    masks: Vec<u64>,
    /// A zero bit marks a place where the table's row rises by one.
    row: Vec<u64>,
}

impl Subsequences {
    /// Makes this the sentence that others are compared with.
    pub(crate) fn of(&mut self, sentence: &[Word]) {
        for &word in &self.sentence {
            self.numbers[word as usize] = 0;
        }
        self.sentence.clear();
        self.sentence.extend_from_slice(sentence);
        self.blocks = sentence.len().div_ceil(64);
        self.masks.clear();
        self.masks.resize(self.blocks, 0);
        let words = sentence.iter().max().map_or(0, |&last| last as usize + 1);
        self.numbers.resize(self.numbers.len().max(words), 0);
        for (place, &word) in sentence.iter().enumerate() {
            let number = &mut self.numbers[word as usize];
            if *number == 0 {
                *number = (self.masks.len() / self.blocks) as u32;
                self.masks.resize(self.masks.len() + self.blocks, 0);
            }
            self.masks[*number as usize * self.blocks + place / 64] |= 1 << (place % 64);
        }
    }

    /// Length of the longest common subsequence.
    pub(crate) fn longest_common_with(&mut self, other: &[Word]) -> usize {
        self.row.clear();
        self.row.resize(self.blocks, u64::MAX);
        for &word in other {
            let number = self.numbers.get(word as usize).map_or(0, |&number| number as usize);
            let mut carry = false;
            for (cells, equal) in self.row.iter_mut().zip(&self.masks[number * self.blocks..]) {
                let matched = *cells & equal;
                let (sum, over) = cells.overflowing_add(matched);
                let (sum, over_again) = sum.overflowing_add(u64::from(carry));
                carry = over || over_again;
                *cells = sum | (*cells & !equal);
            }
        }
        // Bits behind the end of the sentence stay ones.
        self.row.iter().map(|cells| cells.count_zeros() as usize).sum()
    }
}

/// ROUGE-S: F of ordered word pairs at most `distance` apart; each side takes its best reference.
#[derive(Debug, Clone, Copy)]
struct RougeS {
    distance: usize,
    beta: f64,
}

/// Builds ROUGE-S.
pub(crate) fn build_s(parameters: &mut Parameters) -> Built {
    Ok(Box::new(RougeS { distance: parameters.count("distance", 1..=1000)?, beta: parameters.positive("beta")? }))
}

impl Kernel for RougeS {
    fn prepare<'a>(&'a self, _: &'a Corpus, _: &'a Resources) -> Prepared<'a> {
        Ok(mean_of(|image, candidate| self.caption_score(image, candidate)))
    }
}

impl RougeS {
    fn caption_score(self, image: &Image<'_>, candidate: usize) -> f64 {
        let candidate = self.skip_bigrams(image.candidate(candidate));
        let (mut precision, mut recall) = (0.0_f64, 0.0_f64);
        for reference in image.references() {
            let reference = self.skip_bigrams(reference);
            let common = common_items(&candidate, &reference);
            if common > 0 {
                precision = precision.max(common as f64 / candidate.len() as f64);
                recall = recall.max(common as f64 / reference.len() as f64);
            }
        }
        f_measure(precision, recall, self.beta * self.beta)
    }

    /// All pairs, sorted, repeats kept.
    fn skip_bigrams(self, words: &[Word]) -> Vec<(Word, Word)> {
        let mut pairs: Vec<_> = words
            .iter()
            .enumerate()
            .flat_map(|(k, &first)| words[k + 1..].iter().take(self.distance).map(move |&second| (first, second)))
            .collect();
        pairs.sort_unstable();
        pairs
    }
}

/// Size of the intersection of two sorted multisets.
fn common_items<T: Ord>(a: &[T], b: &[T]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                (i, j, common) = (i + 1, j + 1, common + 1);
            }
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(a: &[Word], b: &[Word]) -> usize {
        let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..a.len() {
            for j in 0..b.len() {
                rows[i + 1][j + 1] = if a[i] == b[j] { rows[i][j] + 1 } else { rows[i][j + 1].max(rows[i + 1][j]) };
            }
        }
        rows[a.len()][b.len()]
    }

    /// Two texts of up to 200 words. Of few different words most places match; of many, whole machine words have no match.
    fn texts() -> impl Strategy<Value = (Vec<Word>, Vec<Word>)> {
        prop_oneof![Just(5 as Word), Just(2000)].prop_flat_map(|words| {
            let text = || prop::collection::vec(0..words, 0..200);
            (text(), text())
        })
    }

    proptest! {
        #[test]
        fn bit_rows_equal_the_table(pairs in prop::collection::vec(texts(), 1..4)) {
            let mut subsequences = Subsequences::default();
            for (a, b) in pairs {
                subsequences.of(&a);
                prop_assert_eq!(subsequences.longest_common_with(&b), table(&a, &b));
                prop_assert_eq!(subsequences.longest_common_with(&a), a.len());
            }
        }
    }
}
