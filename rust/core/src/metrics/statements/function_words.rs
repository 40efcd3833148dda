//! Words that say nothing of a picture by themselves.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

const FUNCTION_WORDS: &str = "
a an the this that these those i me my we us our ours you your yours he him his she her hers it its they them their
theirs himself herself itself themselves who whom whose which what one ones be is are was were been being am have has
had having do does did done can could may might will would shall should must 's 're 've 'll 'd 'm n't and or but nor so
as if than then though although while when where because of to at by for from in into on onto with within without not
no none yes all both each every any some such own same other others another there here also too very just only more
most much many few several -lrb- -rrb-
";

const ABOUT_THE_PICTURE: &str = "
image images picture pictures photo photos photograph photographs scene scenes shot depict depicts depicted depicting
show shows shown showing capture captures captured capturing feature features featured featuring visible seen appear
appears appearing overall
";

static LIST: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| FUNCTION_WORDS.split_whitespace().chain(ABOUT_THE_PICTURE.split_whitespace()).collect());

/// Whether a token, in lower case, has a letter or a digit and is no article, pronoun, auxiliary verb, conjunction or
/// bare preposition, nor about the picture itself. Numbers, directions and places (`two`, `left`, `under`) are content words.
pub(super) fn is_content(token: &str) -> bool {
    token.chars().any(char::is_alphanumeric) && !LIST.contains(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_places_are_content() {
        let content = ["two", "left", "under", "dog", "3", "the", "of", "image", "--", ""].map(is_content);
        assert_eq!(content, [true, true, true, true, true, false, false, false, false, false]);
    }
}
