//! The best tree for given scores: one root, no crossing arcs (Eisner's algorithm).

/// Working memory, reused from sentence to sentence.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// Best score of a span whose left or right end governs it, finished or with its longest arc just drawn.
    complete: [Vec<i64>; 2],
    open: [Vec<i64>; 2],
    /// Where each was divided.
    complete_split: [Vec<u32>; 2],
    open_split: [Vec<u32>; 2],
    pending: Vec<(usize, usize, usize, bool)>,
}

const LEFT: usize = 0; // the right end governs
const RIGHT: usize = 1; // the left end governs

/// Heads of the best projective tree over `words` words with exactly one root: 0 the root, else 1 and up.
///
/// `scores` holds for each word the scores of its heads: root, first word, second word and so on (its own place is not read).
pub(super) fn best_tree(scores: &[i32], words: usize, spans: &mut Spans, heads: &mut Vec<usize>) {
    heads.clear();
    heads.extend((0..words).map(|word| best_head(&scores[word * (words + 1)..][..=words], word)));
    if words > 0 && !is_projective_tree(heads) {
        spans.fill(scores, words);
        spans.read(scores, words, heads);
    }
}

/// The best head of a word alone; the first of equals.
fn best_head(scores: &[i32], word: usize) -> usize {
    let mut best = 0;
    for head in 1..scores.len() {
        if head != word + 1 && scores[head] > scores[best] {
            best = head;
        }
    }
    best
}

/// Whether heads make one tree without crossing arcs.
pub(super) fn is_projective_tree(heads: &[usize]) -> bool {
    let words = heads.len();
    if heads.iter().filter(|&&head| head == 0).count() != 1 {
        return false;
    }
    // No cycle: every way upwards ends within so many steps. Captions are short; the root is mostly near.
    let reaches_root = |mut word: usize| {
        for _ in 0..words {
            match heads[word] {
                0 => return true,
                head => word = head - 1,
            }
        }
        false
    };
    if !(0..words).all(reaches_root) {
        return false;
    }
    // In a tree, arcs cross just if a word inside an arc has its head outside, the arc's ends not counting as outside.
    heads.iter().enumerate().all(|(word, &head)| {
        let (low, high) = if head < word + 1 { (head, word + 1) } else { (word + 1, head) };
        (low + 1..high).all(|inside| (low..=high).contains(&heads[inside - 1]))
    })
}

impl Spans {
    fn fill(&mut self, scores: &[i32], words: usize) {
        let Self { complete, open, complete_split, open_split, .. } = self;
        for table in complete.iter_mut().chain(open.iter_mut()) {
            table.clear();
            table.resize(words * words, 0);
        }
        for table in complete_split.iter_mut().chain(open_split.iter_mut()) {
            table.clear();
            table.resize(words * words, 0);
        }
        let score = |dependent: usize, head: usize| i64::from(scores[dependent * (words + 1) + head + 1]);
        for length in 1..words {
            for from in 0..words - length {
                let to = from + length;
                // Two finished spans that face each other; an arc between their outer ends opens the span.
                let (joined, split) = best_of(from..to, |split| {
                    complete[RIGHT][from * words + split] + complete[LEFT][(split + 1) * words + to]
                });
                let at = from * words + to;
                open[LEFT][at] = joined + score(from, to);
                open[RIGHT][at] = joined + score(to, from);
                open_split[LEFT][at] = split as u32;
                open_split[RIGHT][at] = split as u32;
                let (value, split) =
                    best_of(from..to, |split| complete[LEFT][from * words + split] + open[LEFT][split * words + to]);
                complete[LEFT][at] = value;
                complete_split[LEFT][at] = split as u32;
                let (value, split) = best_of(from + 1..to + 1, |split| {
                    open[RIGHT][from * words + split] + complete[RIGHT][split * words + to]
                });
                complete[RIGHT][at] = value;
                complete_split[RIGHT][at] = split as u32;
            }
        }
    }

    fn read(&mut self, scores: &[i32], words: usize, heads: &mut [usize]) {
        let (_, root) = best_of(0..words, |root| {
            self.complete[LEFT][root]
                + self.complete[RIGHT][root * words + words - 1]
                + i64::from(scores[root * (words + 1)])
        });
        heads[root] = 0;
        self.pending.clear();
        self.pending.push((0, root, LEFT, true));
        self.pending.push((root, words - 1, RIGHT, true));
        while let Some((from, to, side, finished)) = self.pending.pop() {
            if from == to {
                continue;
            }
            let at = from * words + to;
            if finished {
                let split = self.complete_split[side][at] as usize;
                if side == LEFT {
                    self.pending.push((from, split, LEFT, true));
                    self.pending.push((split, to, LEFT, false));
                } else {
                    self.pending.push((from, split, RIGHT, false));
                    self.pending.push((split, to, RIGHT, true));
                }
            } else {
                let split = self.open_split[side][at] as usize;
                if side == LEFT {
                    heads[from] = to + 1;
                } else {
                    heads[to] = from + 1;
                }
                self.pending.push((from, split, RIGHT, true));
                self.pending.push((split + 1, to, LEFT, true));
            }
        }
    }
}

/// The largest value, and the first place that has it. The range is not empty.
fn best_of(places: std::ops::Range<usize>, value: impl Fn(usize) -> i64) -> (i64, usize) {
    let mut best = (value(places.start), places.start);
    for place in places.skip(1) {
        let found = value(place);
        if found > best.0 {
            best = (found, place);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every way to give each word a head, those that are trees with one root and no crossing arcs by the definition.
    fn all_trees(words: usize) -> Vec<Vec<usize>> {
        let mut trees = vec![];
        let mut heads = vec![0; words];
        loop {
            if is_tree_by_definition(&heads) {
                trees.push(heads.clone());
            }
            let Some(word) = heads.iter().position(|&head| head < words) else { return trees };
            heads[word] += 1;
            heads[..word].fill(0);
        }
    }

    /// Whether each word descends from the one root, and every word between a head and its dependent descends from the head.
    fn is_tree_by_definition(heads: &[usize]) -> bool {
        let words = heads.len();
        let descends = |word: usize, ancestor: usize| {
            let mut now = word;
            for _ in 0..=words {
                if now == ancestor {
                    return true;
                }
                if now == 0 {
                    return false;
                }
                now = heads[now - 1];
            }
            false
        };
        heads.iter().filter(|&&head| head == 0).count() == 1
            && (1..=words).all(|word| descends(word, 0))
            && (1..=words).all(|word| {
                let head = heads[word - 1];
                (word.min(head) + 1..word.max(head)).all(|between| descends(between, head))
            })
    }

    fn value(scores: &[i32], heads: &[usize]) -> i64 {
        let width = heads.len() + 1;
        heads.iter().enumerate().map(|(word, &head)| i64::from(scores[word * width + head])).sum()
    }

    #[test]
    fn trees_are_told_from_other_heads() {
        let mut heads = vec![0; 4];
        loop {
            assert_eq!(is_projective_tree(&heads), is_tree_by_definition(&heads), "{heads:?}");
            let Some(word) = heads.iter().position(|&head| head < 4) else { break };
            heads[word] += 1;
            heads[..word].fill(0);
        }
    }

    #[test]
    fn of_equally_good_heads_the_first_is_taken() {
        assert_eq!(best_head(&[3, 9, 3, 3], 0), 0);
        assert_eq!(best_head(&[1, 9, 2, 2], 0), 2);
        assert_eq!(best_head(&[1, 2, 9, 2], 1), 1);
    }

    #[test]
    fn no_words_have_no_heads() {
        let mut heads = vec![7];
        best_tree(&[], 0, &mut Spans::default(), &mut heads);
        assert_eq!(heads, [0; 0]);
    }

    proptest! {
        #[test]
        fn the_tree_found_is_the_best_of_all(words in 1usize..=5, seed in proptest::collection::vec(-1_000_000_000i32..1_000_000_000, 30)) {
            let scores = &seed[..words * (words + 1)];
            let mut spans = Spans::default();
            let mut heads = vec![];
            best_tree(scores, words, &mut spans, &mut heads);
            prop_assert!(is_tree_by_definition(&heads));
            let best = all_trees(words).iter().map(|tree| value(scores, tree)).max();
            prop_assert_eq!(Some(value(scores, &heads)), best);
            // Without the short way round it is the same.
            let mut again = vec![0; words];
            spans.fill(scores, words);
            spans.read(scores, words, &mut again);
            prop_assert_eq!(value(scores, &again), value(scores, &heads));
        }
    }
}
