//! Words, compounds of words, contractions, abbreviations, and a few forms that are words by decree.

use super::expression::{Expression, Rule, any_word, none_of, one_of, text};
use super::outcome::{Cut, Rewrite};
use super::signs::tag;
use super::{
    ampersand, apostrophe, ascii_letter, blank, digit, inner_mark, letter, letter_or_digit, loose_apostrophe, upper,
    white, word_letter,
};

/// Letters and digits that begin with a letter; sentences that were glued together (`end.Next`) are one word.
pub(crate) fn word() -> Expression {
    let stretch = word_letter() + (word_letter() | digit()).many();
    stretch.joined_by(one_of(".!?"))
}

/// Parts of letters and digits joined by hyphens or underscores; a part may begin with `d'`, `l'` or `o'`.
fn compound() -> Expression {
    let elided = one_of("dDoOlL") + loose_apostrophe() + letter_or_digit();
    let part = elided.maybe() + letter_or_digit().some();
    part.joined_by(one_of("_\u{58A}\u{2010}\u{2011}-"))
}

/// ASCII compounds, which may hold periods and commas in their first part and end in a dotted abbreviation.
fn hyphened() -> Expression {
    let first = one_of("A-Za-z0-9") + one_of("A-Za-z0-9.,\u{AD}").many();
    let acronym = dotted_letters(1) + text(".");
    first + (text("-") + (one_of("A-Za-z0-9\u{AD}").some() | acronym)).some()
}

/// Capitals joined by `&` or `+`: `AT&T`.
fn capital_groups() -> Expression {
    let capitals = || one_of("A-Z").some();
    capitals() + ((text("+") | ampersand()) + capitals()).some()
}

pub(crate) fn programming_languages() -> Vec<Rule> {
    vec![Rule::new(text("c++") | one_of("CcFf") + text("#"))]
}

/// Words, alone or with a clitic behind them.
pub(crate) fn words() -> Vec<Rule> {
    // The stem of `n't` may not end in n: that n is the clitic's.
    let negated = one_of("A-Za-z\u{AD}").many() + one_of("A-MO-Za-mo-z") + one_of("\u{AD}").many();
    let rules = [
        Rule::new(word()).followed_by(clitic(), Cut::BeforeClitic),
        Rule::new(negated).followed_by(not(), Cut::BeforeNot),
        Rule::new(word()),
    ];
    rules.map(|rule| rule.rewrite(Rewrite::DropSoftHyphens)).to_vec()
}

pub(crate) fn fixed_forms() -> Vec<Rule> {
    let bracket_names = text("-") + any_word("rrb lrb rcb lcb rsb lsb") + text("-");
    let ratings = text("S") + ampersand() + (text("P-500") | text("Ls"));
    let french = text("cap") + apostrophe() + text("n") | text("c") + apostrophe() + text("est");
    let prefixes = text("c.d.s") | text("pro-") | text("anti-");
    vec![Rule::new(bracket_names | prefixes | ratings | french).rewrite(Rewrite::Ampersand)]
}

/// `and/or`, with two or three parts; and the signs that share their rank.
pub(crate) fn slashed_words() -> Vec<Rule> {
    let part = || one_of("A-Za-z0-9").some() + (text("-") + ascii_letter().some()).times(0..=2);
    let slash = text("\\").maybe() + text("/");
    let slashed = part() + (slash + part()).times(1..=2);
    vec![Rule::new(slashed | one_of("A-Z").many() + text("$") | text("#"))]
}

/// Before a comma, semicolon or colon a word keeps its period.
pub(crate) fn words_before_inner_marks() -> Vec<Rule> {
    vec![with_period(word()).rewrite(Rewrite::DropSoftHyphens)]
}

pub(crate) fn compounds() -> Vec<Rule> {
    let kinds =
        [(hyphened(), Rewrite::DropSoftHyphens), (compound(), Rewrite::Keep), (capital_groups(), Rewrite::Ampersand)];
    let rules =
        kinds.map(|(kind, rewrite)| [with_period(kind.clone()).rewrite(rewrite), Rule::new(kind).rewrite(rewrite)]);
    rules.into_iter().flatten().collect()
}

fn with_period(token: Expression) -> Rule {
    Rule::new(token + text(".")).followed_by(inner_mark(), Cut::Units(1))
}

/// A straight quotation mark that opens: a letter and something that is not a blank follow.
pub(crate) fn before_a_word() -> Expression {
    ascii_letter() + none_of(" \t\n\r\u{A0}")
}

// Apostrophes: clitics that come off, contractions that stay whole, words that were fused.

/// `'s`, `'re` and their like.
pub(crate) fn clitic() -> Expression {
    apostrophe() + (one_of("msdMSD") | any_word("re ve ll"))
}

/// `n't`.
pub(crate) fn not() -> Expression {
    text("n") + loose_apostrophe() + text("t")
}

/// Two words written as one. The first becomes a token, the second is scanned again.
pub(crate) fn fused_words() -> Vec<Rule> {
    vec![
        Rule::new(any_word("cannot 'twas")).rewrite(Rewrite::GiveBack(3)),
        Rule::new(any_word("'tis gonna gotta lemme gimme wanna")).rewrite(Rewrite::GiveBack(2)),
    ]
}

pub(crate) fn kept_whole() -> Vec<Rule> {
    let decades = one_of("2-9") + text("0s");
    let beginning = apostrophe() + (text("n") + apostrophe().maybe() | any_word("em til till cause") | decades);
    let ending = any_word("l d j dunkin somethin ol") + apostrophe();
    let fixed = any_word("cont'd cont'd. nor'easter c'mon e'er s'mores ev'ry li'l nat'l");
    vec![
        Rule::new(beginning | ending | with_inner_apostrophe() | fixed),
        // y'all
        Rule::new(text("y") + apostrophe()).followed_by(letter(), Cut::Units(1)),
    ]
}

/// Names and transliterations: O'Neil, Hawai'i, o'o.
fn with_inner_apostrophe() -> Expression {
    let after_capital = one_of("A-HJ-XZn") + loose_apostrophe() + letter() + letter().some();
    let between_vowels =
        letter().some() + one_of("aeiouyAEIOUY") + loose_apostrophe() + one_of("aeiouA-Z") + letter().many();
    let bird = text("o") + loose_apostrophe() + text("o");
    after_capital | between_vowels | bird
}

/// Clitics with nothing before them.
pub(crate) fn detached_clitics() -> Vec<Rule> {
    let before_other_text = Rule::new(clitic() | not()).followed_by(none_of("A-Za-z"), Cut::Units(1));
    vec![before_other_text.rewrite(Rewrite::CloseQuote)]
}

// Abbreviations: which words keep their period, and when a period also ends the sentence.

/// May end a sentence. A word with a capital is an abbreviation only with that capital.
const ORDINARY: &str = "
    jan feb mar apr jun jul aug sep sept oct nov dec   mon tue tues wed thu thurs fri
    ala ariz Az Ark calif colo conn ct dak Del fla ga Ill ind kan kans ky La Mass md mich minn Miss mo mont neb nev
    okla Ore Pa penn tenn Tex va vt Wash wis wisc wyo
    inc co cos corp ltd plc bancorp bhd assn univ intl sys
    rt tel est ext sq jr sr bros ed.d ph.d blvd rd esq etc al seq bldg";

/// Comes before a name or a place, and so never ends a sentence.
const TITLES: &str = "
    mr mrs ms Miss mlle mme msgr messrs dr drs prof profs hon pres asst assoc
    sen sens rep reps atty attys gov govs adm adj adv dept treas ens insp
    lt col gen rev maj sgt cpl pvt capt brig cmdr comdr lieut pfc spc sfc supt supts det
    st ste ave mt ft alex wm jos cie a.k.a cf vs ph invt elec natl";

/// Abbreviations only before a number.
const BEFORE_NUMBERS: &str = "ca. fig. figs. prop. no. nos. art. bldg. pp. op.";

/// Words that, capitalised after a letter and a period, show that a new sentence begins.
const SENTENCE_STARTERS: &str = "
    About According Additionally After An A As At But Earlier He Her Here However If In It Last Many More Mr. Ms. Now
    Once One Other Our She Since So Some Such That The Their Then There These They This We When While What Yet You";

/// Single letters with periods between them, at least this many periods; or a pair of nations.
pub(crate) fn dotted_letters(periods: usize) -> Expression {
    let more = text(".") + ascii_letter();
    let letters = ascii_letter() + if periods == 0 { more.many() } else { more.some() };
    let nations = any_word("canada sino korean eu japan non") + text("-U.S") | any_word("u.s.-u.k u.s.-u.s.s.r");
    letters | nations
}

fn ordinary() -> Expression {
    // Proprietary companies; their vowel is never a capital.
    let proprietary = text("p") + text("p").maybe() + text("t") + one_of("ey") + text("s").maybe();
    (any_word(ORDINARY) | proprietary) + text(".")
}

fn title() -> Expression {
    any_word(TITLES) | text("m") + one_of("ft") + text("g") | dotted_letters(0)
}

pub(crate) fn abbreviations() -> Vec<Rule> {
    let sentence_start = white().some() + (any_word(SENTENCE_STARTERS) | tag()) + white();
    let any_unit = || none_of("");
    vec![
        Rule::new(dotted_letters(0) + text("."))
            .followed_by(sentence_start, Cut::BeforeWhite)
            .rewrite(Rewrite::PeriodApart),
        Rule::new(any_word(BEFORE_NUMBERS)).followed_by(white().maybe() + digit(), Cut::AfterLastPeriod),
        Rule::new((text("pt") + one_of("eyEY") | text("co")) + text("."))
            .followed_by(blank() + any_word("ltd lim"), Cut::AfterLastPeriod),
        Rule::new(ordinary())
            .followed_by(white() + (white() | upper() | tag()), Cut::BeforeWhite)
            .rewrite(Rewrite::PeriodTwice),
        Rule::new(ordinary()).followed_by(any_unit() + any_unit(), Cut::Units(2)),
        Rule::new(ordinary()).rewrite(Rewrite::PeriodTwice),
        Rule::new(title() + text(".")),
        Rule::new(title()).followed_by(blank(), Cut::Units(1)),
        Rule::new(dotted_letters(0)).followed_by(white(), Cut::BeforeWhite),
    ]
}
