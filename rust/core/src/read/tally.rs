//! Counting offenders, so that one message names a few and says how many there are.

/// Offenders that a message names; the others are only counted.
const NAMED: usize = 5;

/// Offenders of one kind: the first one's sentence, the names of the first few, and their number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    first: String,
    named: Vec<String>,
    count: usize,
}

impl Tally {
    /// Begins with the first offender: its sentence, and its name in the list of offenders.
    pub fn new(sentence: String, name: String) -> Self {
        Self { first: sentence, named: vec![name], count: 1 }
    }

    /// Counts another offender.
    pub fn add(&mut self, name: String) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(name);
        }
    }

    /// The first one's sentence, and who the others are.
    pub fn sentence(&self) -> String {
        if self.count == 1 {
            return self.first.clone();
        }
        let unnamed = self.count - self.named.len();
        let more = if unnamed > 0 { format!(" and {unnamed} more") } else { String::new() };
        format!("{} (also {}{more})", self.first, self.named[1..].join(", "))
    }
}
