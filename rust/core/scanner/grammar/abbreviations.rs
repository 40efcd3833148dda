//! Abbreviations: which words keep their period, and when a period also ends the sentence.

use super::characters::{ascii_letter, blank, digit, upper, white};
use super::expression::{Expression, any_word, none_of, one_of, text};
use super::markup::tag;
use super::outcome::{Cut, Rewrite};
use super::rule::Rule;

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
pub(crate) fn dotted(periods: usize) -> Expression {
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
    any_word(TITLES) | text("m") + one_of("ft") + text("g") | dotted(0)
}

pub(crate) fn abbreviations() -> Vec<Rule> {
    let sentence_start = white().some() + (any_word(SENTENCE_STARTERS) | tag()) + white();
    let any_unit = || none_of("");
    vec![
        Rule::new(dotted(0) + text(".")).followed_by(sentence_start, Cut::BeforeWhite).rewrite(Rewrite::PeriodApart),
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
        Rule::new(dotted(0)).followed_by(white(), Cut::BeforeWhite),
    ]
}
