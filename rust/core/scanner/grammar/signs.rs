//! Quotation marks, brackets, dashes, markup, numbers, addresses, and what is left.

use super::expression::{Expression, Rule, any_word, none_of, one_of, text};
use super::outcome::{Cut, Rewrite};
use super::words::{before_a_word, clitic, not};
use super::{LINE_ENDS, apostrophe, ascii_letter, blank, digit, inner_mark, line_end, symbol, white, word_letter};

pub(crate) fn double_quotes() -> Vec<Rule> {
    let mark = || text("\"") | text("&quot;");
    vec![
        Rule::new(mark()).followed_by(one_of("A-Za-z0-9$"), Cut::Units(1)).rewrite(Rewrite::OpenQuote),
        Rule::new(mark()).rewrite(Rewrite::CloseQuote),
        Rule::new(text("\u{7F}")).rewrite(Rewrite::Skip),
    ]
}

pub(crate) fn brackets() -> Vec<Rule> {
    let names = [("{", "-LCB-"), ("}", "-RCB-"), ("[", "-LSB-"), ("]", "-RSB-"), ("(", "-LRB-"), (")", "-RRB-")];
    names.map(|(bracket, name)| Rule::new(text(bracket)).rewrite(Rewrite::Become(name))).to_vec()
}

pub(crate) fn marks() -> Vec<Rule> {
    let run_of = |mark| text(mark).some();
    let starred = (text("\\") + text("*")).times(1..=3);
    let ends = one_of(".\u{A1}\u{BF}\u{37E}\u{589}\u{61F}\u{6D4}\u{700}-\u{702}\u{7FA}\u{3002}");
    let runs = run_of("@") | run_of("#") | run_of("_") | run_of("*") | starred | one_of("!?").some();
    vec![
        Rule::new(run_of("-")).rewrite(Rewrite::Hyphens),
        Rule::new(ellipsis()).rewrite(Rewrite::Become("...")),
        Rule::new(runs | inner_mark() | ends | one_of("=/")),
    ]
}

fn ellipsis() -> Expression {
    let spaced = (text(".") + one_of(" \u{A0}")).times(2..=4) + text(".");
    text(".").times(3..=5) | spaced | one_of("\u{85}\u{2026}")
}

pub(crate) fn single_quotes() -> Vec<Rule> {
    let curly = "\u{2018}-\u{201F}\u{91}-\u{94}\u{2039}\u{203A}\u{AB}\u{BB}`";
    let mark = apostrophe() | text("''") | one_of(curly).times(1..=2);
    vec![
        Rule::new(text("'")).followed_by(before_a_word(), Cut::Units(2)).rewrite(Rewrite::OpenQuote),
        Rule::new(clitic() | not() | mark).rewrite(Rewrite::CloseQuote),
    ]
}

pub(crate) fn everything_else() -> Vec<Rule> {
    let invisible = one_of("\u{200B}\u{200E}\u{200F}\u{FEFF}");
    let separators = text("\0") | blank().some() | invisible | text("&nbsp;");
    vec![
        Rule::new(text("<<") | text(">>") | symbol()),
        Rule::new(separators).rewrite(Rewrite::Skip),
        Rule::new(line_end()).rewrite(Rewrite::NextLine),
        Rule::new(none_of(&format!("{LINE_ENDS}\u{85}"))).rewrite(Rewrite::Skip),
    ]
}

/// Faces drawn with punctuation.
pub(crate) fn faces() -> Vec<Rule> {
    vec![
        Rule::new(sideways()).followed_by(none_of("A-Za-z0-9"), Cut::Units(1)).rewrite(Rewrite::Brackets),
        Rule::new(upright()).rewrite(Rewrite::Brackets),
    ]
}

/// `:-)`
fn sideways() -> Expression {
    one_of("<>").maybe() + one_of(":;=") + one_of("o*'-").maybe() + one_of("()DPdpO\\{@|[]")
}

/// `^_^`
fn upright() -> Expression {
    let eye = || one_of("^x=~<>'-");
    let bare = eye() + text("_") + eye();
    let in_brackets = text("(") + eye() + one_of("_.").maybe() + eye() + text(")");
    let dash_mouth = text("(") + one_of("^x=~<>'") + text("-") + one_of("^x=~<>'`") + text(")");
    // Surely meant as a right eye from a set; but the suite takes the brackets literally, and the tilde as "anything up
    // to the next".
    let dot_mouth = one_of("^x=~<>") + text(".[^x=") + none_of("<").many() + text("<>]");
    bare | in_brackets | dash_mouth | dot_mouth
}

// HTML and XML: tags, entities, angle brackets.

/// An element's opening or closing tag, a comment, a declaration. A quoted value may hold anything, line ends too.
pub(crate) fn tag() -> Expression {
    let name = || one_of("A-Za-z") + one_of("A-Za-z0-9_:.-").many();
    let spaces = || text(" ").many();
    let value = text("'") + none_of("'").many() + text("'") | text("\"") + none_of("\"").many() + text("\"");
    let attribute = name() + (spaces() + text("=") + spaces() + value).maybe();

    let declaration = one_of("!?") + one_of("A-Za-z-") + none_of(">\r\n").many();
    let opening = name() + (text(" ").some() + attribute).many() + spaces() + text("/").maybe();
    let closing = text("/") + name();
    text("<") + (declaration | opening | closing) + spaces() + text(">")
}

pub(crate) fn tags_and_entities() -> Vec<Rule> {
    let dash = text("&") + any_word("md mdash ndash") + text(";") | one_of("\u{96}\u{97}\u{2013}-\u{2015}");
    let number = text("#") + one_of("0-9").some();
    let entity = text("&") + (any_word("ht tl ur lr qc ql qr odq cdq") | number) + text(";");
    vec![
        Rule::new(tag()).rewrite(Rewrite::JoinBlanks),
        Rule::new(dash).rewrite(Rewrite::Become("--")),
        Rule::new(text("&amp;")).rewrite(Rewrite::Ampersand),
        Rule::new(entity),
    ]
}

pub(crate) fn angle_brackets() -> Vec<Rule> {
    vec![
        Rule::new(text("<") | text("&lt;")).rewrite(Rewrite::Become("<")),
        Rule::new(text(">") | text("&gt;")).rewrite(Rewrite::Become(">")),
    ]
}

// Numbers, dates, fractions, money, telephone numbers.

pub(crate) fn numbers() -> Vec<Rule> {
    let slash = || one_of("/-");
    let date = digit().times(1..=2) + slash() + digit().times(1..=2) + slash() + digit().times(2..=4);
    let raised = one_of("\u{2070}\u{B9}\u{B2}\u{B3}\u{2074}-\u{2079}").some();
    let lowered = one_of("\u{2080}-\u{2089}").some();
    let raised_sign = one_of("\u{207A}\u{207B}\u{208A}\u{208B}");
    vec![
        Rule::new(date),
        Rule::new(one_of("+-").maybe() + figure()).rewrite(Rewrite::DropSoftHyphens),
        Rule::new(raised_sign.maybe() + (raised | lowered)),
        Rule::new(fraction()).rewrite(Rewrite::JoinBlanks),
        Rule::new(one_of("\u{BC}-\u{BE}\u{2153}-\u{215E}")).rewrite(Rewrite::Fraction),
    ]
}

/// Digits with separators between them, and perhaps one before them.
fn figure() -> Expression {
    let separator = one_of(".:,\u{AD}\u{66B}\u{66C}");
    digit().some() | digit().many() + (separator + digit().some()).some()
}

/// `3/4`, `1 3/4`, `1-3/4`.
fn fraction() -> Expression {
    let quantity = || digit().times(1..=4);
    let bar = text("\\").maybe() + text("/") | text("\u{2044}");
    (quantity() + one_of(" \u{A0}-")).maybe() + quantity() + bar + quantity()
}

pub(crate) fn money() -> Vec<Rule> {
    let signs = "\u{A2}-\u{A5}\u{80}\u{20A0}\u{20AC}\u{60B}\u{E3F}\u{20A4}\u{FFE0}\u{FFE1}\u{FFE5}\u{FFE6}";
    vec![Rule::new(one_of(signs)).rewrite(Rewrite::Money)]
}

pub(crate) fn two_digit_years() -> Vec<Rule> {
    let year = apostrophe() + one_of("0-9") + one_of("0-9");
    vec![Rule::new(year).followed_by(white(), Cut::BeforeWhite)]
}

pub(crate) fn phone_numbers() -> Vec<Rule> {
    let digits = |counts| one_of("0-9").times(counts);
    let gap = || one_of(" \u{A0}-");
    let plus = || (text("+") + text("+").maybe()).maybe();

    let area = text("(") + digits(2..=3) + text(")") + one_of(" \u{A0}").maybe();
    let country_and_area = plus() + (digits(2..=4) + gap()).maybe() + digits(2..=4) + gap();
    let spaced = (area | country_and_area) + digits(3..=4) + gap().maybe() + digits(3..=5);

    let country = plus() + digits(2..=4) + text(".");
    let dotted = country.maybe() + digits(2..=4) + text(".") + digits(3..=4) + text(".") + digits(3..=5);
    vec![Rule::new(spaced | dotted).rewrite(Rewrite::Phone)]
}

// Addresses on the web, e-mail, handles, hashtags, file names.

const EXTENSIONS: &str = "
    bat bmp c class cgi cpp dll doc docx exe gif gz h htm html jar java jpeg jpg mov mp3 pdf php pl png ppt ps py sql
    tar txt wav x xml zip";

pub(crate) fn addresses() -> Vec<Rule> {
    vec![Rule::new(with_scheme() | without_scheme() | e_mail() | handle_or_hashtag())]
}

/// An address does not end in punctuation.
fn last_unit() -> Expression {
    none_of(" \t\n\u{C}\r\"<>|.!?(){},-")
}

fn with_scheme() -> Expression {
    text("http") + text("s").maybe() + text("://") + none_of(" \t\n\u{C}\r\"<>|(){}").some() + last_unit()
}

/// A host and perhaps a path.
fn without_scheme() -> Expression {
    let label = none_of(" \t\n\u{C}\r\"<>|.!?(){},");
    let after_www = text("www.") + (label.some() + text(".")).some() + ascii_letter().times(2..=4);
    // No capitals, digits or hyphens, and no comma: the suite's rule excludes all from `,` to `_`.
    let plain_label = none_of(" \t\n\u{C}\r\"`'<>|!(){}$,-_");
    let common = (plain_label.some() + text(".")).some() + any_word("com net org edu");
    let path = text("/") + none_of(" \t\n\u{C}\r\"<>|()").some() + last_unit();
    (after_www | common) + path.maybe()
}

fn e_mail() -> Expression {
    let user = one_of("a-zA-Z0-9") + none_of(" \t\n\u{C}\r\"<>|()\u{A0}{}").many();
    let label = || none_of(" \t\n\u{C}\r\"<>|(){}.\u{A0}").some();
    let open = text("&lt;") | text("<");
    let close = text("&gt;") | text(">");
    open.maybe() + user + text("@") + (label() + text(".")).many() + label() + close.maybe()
}

fn handle_or_hashtag() -> Expression {
    text("@") + one_of("a-zA-Z_") + one_of("a-zA-Z_0-9").many() | text("#") + word_letter().some()
}

pub(crate) fn file_names() -> Vec<Rule> {
    let stem = (word_letter() | digit()).some().joined_by(text("."));
    let name = stem + text(".") + any_word(EXTENSIONS);
    vec![Rule::new(name).followed_by(white() | one_of(".?!,"), Cut::Units(1))]
}
