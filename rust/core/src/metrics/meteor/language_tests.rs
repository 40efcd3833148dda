//! Languages other than English.

use std::sync::Arc;

use super::{Language, Meteor, Module, Resources, Sources, align};
use crate::corpus::{Corpus, References};
use crate::engine::{Parameters, Resources as Given, Value, evaluate};
use crate::metrics::kernel;
use crate::tables::SharedBytes;
use crate::text::captions::CaptionsBuilder;
use crate::text::tokenize::Tokenizer;

const PARAPHRASES: &str = "0.5\nhund\nvierbeiner\n0.5\nvierbeiner\nhund\n0.5\npes\nvelký hafan\n0.5\nvelký hafan\npes\n\
    0.5\nchien\ntoutou\n0.5\nperro grande\nperrazo\n0.5\nпёс\nсобака\n";

fn sources(language: Language) -> Sources<'static> {
    let has_table = language.modules().contains(&Module::Paraphrase);
    Sources {
        language,
        function_words: "der die le l' el la в на na der the den il",
        prefixes: match language {
            Language::De => "5\n",
            Language::Es => "pág\n",
            Language::Fr => "M\n",
            Language::Ru => "#A\r\nг\r\n",
            _ => "",
        },
        synonyms: "",
        exceptions: "",
        paraphrases: has_table.then_some(PARAPHRASES.as_bytes()),
    }
}

fn build(sources: &Sources<'_>) -> Result<Resources, String> {
    Resources::build(sources, &mut |_| ()).map_err(|error| error.to_string())
}

type Case = (Language, &'static str, &'static str, [u32; 4], [[u32; 4]; 3], [u32; 3], f64);

/// Answers of METEOR 1.5, with the words and table above as `-s` and `-a`; `-norm` where the language has it,
/// `-lower` otherwise: lengths and function words, counts of the modules in use, chunks and matched words, score.
#[rustfmt::skip]
const CASES: &[Case] = &[
    (Language::Cz, "Např. pes běží na trávě. U.S.A.", "velký hafan běží na trávě . usa", [7, 7, 1, 1], [[4, 4, 1, 1], [1, 2, 0, 0], [0, 0, 0, 0]], [1, 6, 7], 0.472_556_486_911_200_6),
    (Language::Cz, "psi běží", "pes běžel na trávě", [2, 4, 0, 1], [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], [0, 0, 0], 0.0),
    (Language::De, "Der Hund läuft am 5. Mai, Ergebnisse.", "der vierbeiner lief am 5. Mai , Ergebnis", [9, 8, 1, 1], [[4, 4, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]], [2, 6, 6], 0.520_854_997_111_496_1),
    (Language::De, "Die schönen Häuser im Grünen geht's", "die schöne Haus im Grün geht ' s", [8, 8, 1, 1], [[4, 4, 1, 1], [3, 3, 0, 0], [0, 0, 0, 0]], [1, 8, 8], 0.923_255_813_953_488_4),
    (Language::Es, "El perro grande corre en la canción.", "el perrazo corría en la canciones .", [8, 7, 2, 2], [[2, 2, 2, 2], [2, 2, 0, 0], [2, 1, 0, 0]], [1, 8, 7], 0.840_418_353_576_248_2),
    (Language::Es, "la pág. 5 niños rápidamente d'oro", "la pág. 5 niño rápida d ' oro", [8, 8, 1, 1], [[5, 5, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]], [2, 7, 7], 0.752_617_636_358_256_1),
    (Language::Fr, "L'homme d'un chien jouait aujourd'hui.", "l' homme d' un toutou jouer aujourd' hui .", [9, 12, 1, 0], [[4, 4, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]], [3, 6, 6], 0.304_977_045_534_004_8),
    (Language::Fr, "les petites heureuses M. Dupont", "les petite heureux m. dupont", [5, 5, 0, 0], [[3, 3, 0, 0], [2, 2, 0, 0], [0, 0, 0, 0]], [1, 5, 5], 0.679_999_999_999_999_9),
    (Language::Ru, "Собака бежит на траве, г. Москва.", "собаки бежит на траву , г. москва .", [8, 8, 1, 1], [[5, 5, 1, 1], [2, 2, 0, 0], [0, 0, 0, 0]], [1, 8, 8], 0.875),
    (Language::Ru, "большой пёс в доме", "большая собака в дом", [4, 4, 1, 1], [[0, 0, 1, 1], [2, 2, 0, 0], [1, 1, 0, 0]], [1, 4, 4], 0.625),
    (Language::Da, "den lille hunden løber", "den lille hundens løbe", [4, 4, 1, 1], [[1, 1, 1, 1], [2, 2, 0, 0], [0, 0, 0, 0]], [1, 4, 4], 0.75),
    (Language::Hu, "kék mezőtől a házból", "kék mező a ház", [4, 4, 0, 0], [[2, 2, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]], [2, 3, 3], 0.377_000_791_544_985_17),
    (Language::It, "il cane corre velocemente", "il cani correre veloce", [4, 4, 1, 1], [[0, 0, 1, 1], [3, 3, 0, 0], [0, 0, 0, 0]], [1, 4, 4], 0.625),
    (Language::Nl, "de honden lopen snel", "de hond lopend snelle", [4, 4, 0, 0], [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]], [1, 2, 2], 0.275_531_100_322_755_13),
    (Language::No, "den hunden løper fort", "den hundene løpe fort", [4, 4, 1, 1], [[1, 1, 1, 1], [2, 2, 0, 0], [0, 0, 0, 0]], [1, 4, 4], 0.75),
    (Language::Pt, "a construção bonitas", "a construções bonita", [3, 3, 0, 0], [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]], [2, 2, 2], 0.150_000_000_000_000_02),
    (Language::Ro, "câinele aleargă pe iarba verde", "câine alergă pe iarba verzi", [5, 5, 0, 0], [[2, 2, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]], [2, 3, 3], 0.301_600_633_235_988_1),
    (Language::Se, "den hunden springer fort", "den hundarna springa fort", [4, 4, 1, 1], [[1, 1, 1, 1], [2, 2, 0, 0], [0, 0, 0, 0]], [1, 4, 4], 0.75),
    (Language::Tr, "büyük köpekler koşuyor", "büyük köpek koşuyor", [3, 3, 0, 0], [[2, 2, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]], [1, 3, 3], 0.833_333_333_333_333_4),
    (Language::Other, "Isot koirat juoksevat, nyt", "isot koirat juoksi, nyt", [4, 4, 0, 0], [[3, 3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], [2, 3, 3], 0.452_400_949_853_982_16),
];

#[test]
#[expect(clippy::float_cmp, reason = "counts are whole numbers")]
fn every_language_counts_as_the_original() {
    for &(language, hypothesis, reference, lengths, modules, matched, score) in CASES {
        let resources = build(&sources(language)).unwrap();
        let alignment = align(&resources, hypothesis, reference);
        let counts = alignment.statistics.counts();
        let mut expected = [0; 23];
        expected[..4].copy_from_slice(&lengths);
        for (module, four) in resources.modules().into_iter().zip(modules) {
            let at = 4 + 4 * module as usize;
            expected[at..at + 4].copy_from_slice(&four);
        }
        expected[20..].copy_from_slice(&matched);
        assert_eq!(counts, expected.map(f64::from), "{alignment:?}");
        let found = language.tasks()[0].1.score(&counts).score;
        assert!((found - score).abs() < 1e-12, "{hypothesis}: {found}, not {score}");
    }
}

/// Stems of the original where newer rules of Snowball give others.
#[test]
fn stemmers_are_in_the_state_of_the_original() {
    let cases = [
        (Language::De, "ergebnisse", "ergebniss"),
        (Language::De, "ergebnis", "ergebnis"),
        (Language::Hu, "mezőtől", "mezőtől"),
        (Language::Hu, "karakterből", "karakterből"),
        (Language::Pt, "consegução", "conseguçã"),
        (Language::Pt, "grupostruções", "grupostruçõ"),
        (Language::Cz, "psi", "psi"),
    ];
    for (language, word, stem) in cases {
        assert_eq!(language.stems().stem(word), stem);
    }
}

#[test]
fn every_language_has_what_it_needs() {
    for language in Language::ALL {
        assert_eq!(language.modules()[0], Module::Exact);
        assert!(language.tasks().iter().any(|(task, _)| *task == "li"));
        assert_eq!(language.prefixes().is_some(), language.apostrophes().is_some());
    }
}

#[test]
fn a_cache_keeps_the_language_and_its_modules() {
    for language in Language::ALL.into_iter().skip(1) {
        for paraphrases in [sources(language).paraphrases, None] {
            let built = build(&Sources { paraphrases, ..sources(language) }).unwrap();
            let read = Resources::from_bytes(&(Arc::new(built.as_bytes().to_vec()) as SharedBytes)).unwrap();
            assert_eq!(read.language(), language);
            assert_eq!(read.modules(), built.modules());
            assert_eq!(read.modules().contains(&Module::Paraphrase), paraphrases.is_some());
        }
    }
}

#[test]
fn files_must_be_those_of_the_language() {
    let error = |sources: Sources<'_>| build(&sources).unwrap_err();
    assert!(error(Sources { paraphrases: None, ..sources(Language::En) }).contains("not optional for en"));
    assert!(error(Sources { paraphrases: Some(b""), ..sources(Language::Da) }).contains("no paraphrases for da"));
    assert!(error(Sources { synonyms: "dog\n1\n", ..sources(Language::De) }).contains("no synonyms for de"));
}

fn given(parameters: &[(&str, &str)]) -> Parameters {
    parameters.iter().map(|(name, value)| (*name, Value::Text((*value).to_owned()))).collect()
}

#[test]
fn the_kernel_takes_a_language_and_its_tasks() {
    let score = |parameters: &[(&str, &str)]| {
        let kernel = kernel("meteor", given(parameters)).map_err(|error| error.to_string())?;
        let (_, hypothesis, reference, ..) = CASES[2];
        let counts = align(&build(&sources(Language::De)).unwrap(), hypothesis, reference).statistics.counts();
        Ok::<f64, String>(kernel.row_score(&[&counts[..], &[0.0]].concat()))
    };
    assert!((score(&[("language", "de")]).unwrap() - CASES[2].6).abs() < 1e-12);
    assert_eq!(score(&[("language", "de"), ("task", "rank")]), score(&[("language", "de")]));
    assert_eq!(score(&[]), score(&[("language", "en"), ("task", "rank")]));
    assert!(score(&[("language", "de"), ("task", "adq")]).is_err_and(|error| error.contains("rank, li")));
    assert!(score(&[("language", "da"), ("task", "rank")]).is_err_and(|error| error.contains("one of li")));
    assert!(score(&[("language", "fi")]).is_err_and(|error| error.contains("en, cz, de")));
}

#[test]
fn resources_of_another_language_are_refused() {
    let (references, candidates) = (CaptionsBuilder::new().finish(), CaptionsBuilder::new().finish());
    let references = Arc::new(References::encode(&references, &[], Tokenizer::None, 1));
    let corpus = Corpus::encode(references, &candidates, &[], 1);
    let refused = |given: Given| evaluate(&corpus, &[&Meteor::default()], &given).unwrap_err().missing.to_string();
    let german = Arc::new(build(&sources(Language::De)).unwrap());
    assert!(refused(Given::new(1).with(german)).contains("of language en (those given are of de)"));
    assert_eq!(refused(Given::new(1)), "needs METEOR's tables, which were not given");
}
