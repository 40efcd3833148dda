//! Sentence: the cosine of the vector of a caption with those of its references.

use crate::corpus::Corpus;
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resource, Resources, with_memory};
use crate::sentence_vectors::{Memory, SentenceVectors, Spelled, cosine};

/// What a caption is compared with.
#[derive(Debug, Clone, Copy)]
enum Compared {
    /// The sum of the references' unit vectors.
    Centroid,
    /// Each reference: the mean.
    Mean,
    /// Each reference: the largest.
    Best,
}

/// The metric with its parameter.
#[derive(Debug, Clone, Copy)]
struct Sentence(Compared);

/// Builds Sentence: `references`.
pub(crate) fn build(parameters: &mut Parameters) -> Built {
    let choices = [("centroid", Compared::Centroid), ("mean", Compared::Mean), ("best", Compared::Best)];
    Ok(Box::new(Sentence(parameters.choice("references", &choices)?)))
}

impl Resource for SentenceVectors {
    const NAME: &'static str = "sentence vectors";
}

impl Kernel for Sentence {
    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let spelled = Spelled::of(resources.need::<SentenceVectors>()?, &corpus.vocabulary);
        Ok(with_memory(Scratch::default, move |scratch, image, candidate, row| {
            row[0] = scratch.score(self.0, &spelled, image, candidate);
            row[1] = 1.0;
        }))
    }
}

/// The memory of a thread, with the vectors of the references of the image that it scored last.
#[derive(Default)]
struct Scratch {
    memory: Memory,
    candidate: Vec<f64>,
    image: Option<usize>,
    references: Vec<Vec<f64>>,
    spare: Vec<Vec<f64>>,
}

impl Scratch {
    fn score(&mut self, compared: Compared, spelled: &Spelled, image: &Image<'_>, candidate: usize) -> f64 {
        if self.image.replace(image.number()) != Some(image.number()) {
            self.read_references(compared, spelled, image);
        }
        let is_known = spelled.read(image.candidate(candidate), &mut self.memory, &mut self.candidate);
        if self.references.is_empty() || !is_known {
            return 0.0;
        }
        let cosines = self.references.iter().map(|reference| cosine(&self.candidate, reference));
        match compared {
            Compared::Best => cosines.fold(-1.0, f64::max),
            Compared::Centroid | Compared::Mean => cosines.sum::<f64>() / self.references.len() as f64,
        }
    }

    /// The unit vectors of the references that have one; their sum alone where the caption is compared with that.
    fn read_references(&mut self, compared: Compared, spelled: &Spelled, image: &Image<'_>) {
        self.spare.append(&mut self.references);
        for words in image.references() {
            let mut vector = self.spare.pop().unwrap_or_default();
            if !spelled.read(words, &mut self.memory, &mut vector) {
                self.spare.push(vector);
                continue;
            }
            match (compared, self.references.first_mut()) {
                (Compared::Centroid, Some(sum)) => {
                    sum.iter_mut().zip(&vector).for_each(|(sum, number)| *sum += number);
                    self.spare.push(vector);
                }
                _ => self.references.push(vector),
            }
        }
    }
}
