//! Each rule by an example, with parses written by hand as CoreNLP 3.6.0 would give them.

use proptest::prelude::*;

use super::SceneGraph;
use crate::parse::{Relation, Tag, Word};

/// Reads `word/TAG/head/relation`, or `word=lemma/TAG/head/relation`; heads count from 1, and 0 is the root.
fn parse(caption: &str) -> Vec<Word> {
    let word = |part: &str| {
        let fields: Vec<&str> = part.split('/').collect();
        let (text, lemma) = fields[0].split_once('=').unwrap_or((fields[0], fields[0]));
        Word {
            text: text.to_owned(),
            lemma: lemma.to_owned(),
            tag: Tag::of(fields[1]).expect("a tag"),
            head: fields[2].parse::<usize>().expect("a number").checked_sub(1),
            relation: Relation::of(fields[3]).expect("a relation"),
        }
    };
    caption.split_whitespace().map(word).collect()
}

/// `dog | dog – brown | dog – run on – grass`, sorted, each once.
fn tuples(graph: &SceneGraph) -> String {
    let name = |object: usize| graph.objects[object].name.as_str();
    let mut tuples: Vec<String> = graph.objects.iter().map(|object| object.name.clone()).collect();
    tuples.extend(graph.attributes.iter().map(|of| format!("{} – {}", name(of.object), of.name)));
    let relations = graph.relations.iter();
    tuples.extend(relations.map(|of| format!("{} – {} – {}", name(of.subject), of.predicate, name(of.object))));
    tuples.sort();
    tuples.dedup();
    tuples.join(" | ")
}

fn check(cases: &[(&str, &str)]) {
    for (caption, expected) in cases {
        assert_eq!(tuples(&SceneGraph::of(&parse(caption))), *expected, "{caption}");
    }
}

#[test]
fn nouns_are_objects_with_their_modifiers() {
    check(&[
        ("a/DT/2/det dog/NN/0/ROOT", "dog"),
        ("a/DT/5/det brown/JJ/5/amod and/CC/2/cc white/JJ/2/conj dog/NN/0/ROOT", "dog | dog – brown | dog – white"),
        ("a/DT/3/det police/NN/3/compound car/NN/0/ROOT", "car | car – police"),
        ("two/CD/2/nummod dogs=dog/NNS/0/ROOT", "dog | dog – two"),
        ("one/CD/2/nummod dog/NN/0/ROOT", "dog"),
        ("dogs=dog/NNS/0/ROOT two/CD/1/nummod", "dog"),
        ("twenty/CD/3/nummod two/CD/3/nummod dogs=dog/NNS/0/ROOT", "dog | dog – twenty"),
    ]);
}

#[test]
fn verbs_relate_their_subjects_and_objects() {
    check(&[
        (
            "a/DT/2/det man/NN/3/nsubj rides=ride/VBZ/0/ROOT a/DT/5/det horse/NN/3/dobj",
            "horse | man | man – ride – horse",
        ),
        ("a/DT/2/det dog/NN/3/nsubj barks=bark/VBZ/0/ROOT", "dog | dog – bark"),
        (
            "a/DT/2/det dog/NN/3/nsubj climbs=climb/VBZ/0/ROOT up/RP/3/compound:prt on/IN/7/case a/DT/7/det rock/NN/3/nmod",
            "dog | dog – climb up on – rock | rock",
        ),
        ("a/DT/2/det girl/NN/0/ROOT wearing=wear/VBG/2/acl a/DT/5/det hat/NN/3/dobj", "girl | girl – wear – hat | hat"),
        ("there/EX/2/expl is=be/VBZ/0/ROOT a/DT/4/det lamp/NN/2/nsubj", "lamp"),
    ]);
}

#[test]
fn what_is_joined_shares() {
    check(&[
        (
            "a/DT/2/det dog/NN/5/nsubj and/CC/2/cc cat/NN/2/conj sit/VBP/0/ROOT and/CC/5/cc sleep/VBP/5/conj",
            "cat | cat – sit | dog | dog – sit | dog – sleep",
        ),
        (
            "men=man/NNS/2/nsubj run/VBP/0/ROOT away/RP/2/compound:prt from/IN/5/case rain/NN/2/nmod and/CC/5/cc \
             towards/IN/8/case fire/NN/5/conj",
            "fire | man | man – run away from – rain | man – run towards – fire | rain",
        ),
    ]);
}

#[test]
fn passive_verbs_relate_their_agents_only() {
    check(&[
        (
            "a/DT/2/det ball/NN/4/nsubjpass is=be/VBZ/4/auxpass thrown=throw/VBN/0/ROOT by/IN/7/case a/DT/7/det boy/NN/4/nmod",
            "ball | boy | boy – throw – ball",
        ),
        (
            "a/DT/2/det ball/NN/4/nsubjpass is=be/VBZ/4/auxpass thrown=throw/VBN/0/ROOT in/IN/7/case a/DT/7/det park/NN/4/nmod",
            "ball | park",
        ),
        (
            "a/DT/2/det horse/NN/0/ROOT being=be/VBG/4/auxpass led=lead/VBN/2/acl by/IN/6/case men=man/NNS/4/nmod",
            "horse | horse – lead – man | man",
        ),
    ]);
}

#[test]
fn plain_verbs_share_the_subject_of_a_passive_one() {
    check(&[
        (
            "a/DT/2/det dog/NN/4/nsubjpass is=be/VBZ/4/auxpass fed=feed/VBN/0/ROOT and/CC/4/cc sleeps=sleep/VBZ/4/conj",
            "dog | dog – sleep",
        ),
        (
            "a/DT/2/det dog/NN/4/nsubjpass was=be/VBD/4/auxpass fed=feed/VBN/0/ROOT and/CC/4/cc slept=sleep/VBD/4/conj",
            "dog",
        ),
    ]);
}

#[test]
fn copulas_give_attributes_and_places() {
    check(&[
        ("a/DT/2/det dog/NN/4/nsubj is=be/VBZ/4/cop brown/JJ/0/ROOT", "dog | dog – brown"),
        (
            "a/DT/2/det dog/NN/6/nsubj is=be/VBZ/6/cop in/IN/6/case a/DT/6/det box/NN/0/ROOT",
            "box | dog | dog – in – box",
        ),
        ("it/PRP/3/nsubj is=be/VBZ/3/cop red/JJ/0/ROOT", "it | it – red"),
    ]);
}

#[test]
fn prepositions_of_several_words_are_one() {
    check(&[
        (
            "a/DT/2/det cat/NN/3/nsubj sits=sit/VBZ/0/ROOT in/IN/5/case front/NN/3/nmod of/IN/8/case a/DT/8/det house/NN/5/nmod",
            "cat | cat – sit in front of – house | front | house",
        ),
        (
            "a/DT/2/det cat/NN/4/nsubj is=be/VBZ/4/cop next/JJ/0/ROOT to/TO/7/case a/DT/7/det dog/NN/4/nmod",
            "cat | cat – next to – dog | dog",
        ),
        ("a/DT/2/det cat/NN/0/ROOT out/RB/5/advmod of/IN/5/case bed/NN/2/nmod", "bed | cat | cat – out of – bed"),
        ("a/DT/2/det man/NN/0/ROOT with/IN/4/case in/IN/2/dep", "man"),
    ]);
}

#[test]
fn inside_is_part_of_a_preposition_unless_it_is_a_noun() {
    check(&[
        (
            "a/DT/2/det dog/NN/3/nsubj sits=sit/VBZ/0/ROOT inside/RB/3/advmod of/IN/7/case a/DT/7/det house/NN/4/nmod",
            "dog | dog – sit inside of – house | house",
        ),
        (
            "the/DT/2/det inside/NN/0/ROOT of/IN/5/case a/DT/5/det house/NN/2/nmod",
            "house | inside | inside – of – house",
        ),
    ]);
}

#[test]
fn quantities_of_several_words_count() {
    check(&[
        (
            "a/DT/2/det couple/NN/5/nsubj of/IN/4/case dogs=dog/NNS/2/nmod run/VBP/0/ROOT",
            "couple | dog | dog – a | dog – run",
        ),
        (
            "lots=lot/NNS/4/nsubj of/IN/3/case people/NNS/1/nmod stand/VBP/0/ROOT",
            "lot | people | people – lot | people – stand",
        ),
        (
            "one/CD/5/nsubj of/IN/4/case the/DT/4/det dogs=dog/NNS/1/nmod sleeps=sleep/VBZ/0/ROOT",
            "dog | dog – one | dog – sleep",
        ),
        (
            "a/DT/2/det bunch/NN/0/ROOT of/IN/4/case apples=apple/NNS/2/nmod and/CC/4/cc pears=pear/NNS/4/conj",
            "apple | apple – a | bunch | bunch – of – pear | pear",
        ),
        ("a/DT/2/det group/NN/0/ROOT of/IN/4/case dogs=dog/NNS/2/nmod", "dog | group | group – of – dog"),
        // `of` that is no preposition of what is counted.
        ("a/DT/2/det couple/NN/5/nsubj of/IN/4/dep dogs=dog/NNS/2/nmod run/VBP/0/ROOT", "couple | couple – run | dog"),
    ]);
}

#[test]
fn pronouns_stand_for_the_noun_nearest_to_the_root() {
    check(&[
        (
            "a/DT/2/det man/NN/3/nsubj walks=walk/VBZ/0/ROOT his/PRP$/5/nmod:poss dog/NN/3/dobj",
            "dog | man | man – have – dog | man – walk – dog",
        ),
        // Of nouns that are equally near, the first.
        (
            "a/DT/2/det man/NN/6/nsubj and/CC/2/cc a/DT/5/det dog/NN/2/conj ride/VBP/0/ROOT their/PRP$/8/nmod:poss bike/NN/6/dobj",
            "bike | dog | dog – ride – bike | man | man – have – bike | man – ride – bike",
        ),
        // The root comes after the pronoun.
        (
            "an=a/DT/2/det officer/NN/6/nsubj is=be/VBZ/6/cop on/IN/6/case his/PRP$/6/nmod:poss bike/NN/0/ROOT",
            "bike | officer | officer – on – bike",
        ),
        // Only some pronouns stand for plurals.
        (
            "girls=girl/NNS/2/nsubj wait/VBP/0/ROOT on/IN/5/case a/DT/5/det bench/NN/2/nmod with/IN/8/case her/PRP$/8/nmod:poss bag/NN/5/nmod",
            "bag | bench | bench – have – bag | bench – with – bag | girl | girl – wait on – bench",
        ),
    ]);
}

#[test]
fn spans_name_the_words() {
    let graph = SceneGraph::of(&parse(
        "a/DT/2/det man/NN/3/nsubj sits=sit/VBZ/0/ROOT next/JJ/3/advmod to/TO/7/case his/PRP$/7/nmod:poss dog/NN/4/nmod",
    ));
    let objects: Vec<_> = graph.objects.iter().map(|object| object.words.clone()).collect();
    assert_eq!(objects, [vec![1, 5], vec![6]]);
    let relations: Vec<_> = graph.relations.iter().map(|of| (of.predicate.as_str(), of.words.clone())).collect();
    assert_eq!(relations, [("have", vec![]), ("sit next to", vec![2, 3, 4])]);
}

#[test]
fn no_words_make_no_graph() {
    assert_eq!(SceneGraph::of(&[]), SceneGraph::default());
}

#[test]
fn a_pronoun_stands_for_a_noun_of_its_sentence() {
    let man = "a/DT/2/det man/NN/3/nsubj waits=wait/VBZ/0/ROOT";
    let hers = "women=woman/NNS/2/nsubj see/VBP/0/ROOT his/PRP$/4/nmod:poss dog/NN/2/dobj";
    let mut words = parse(man);
    words.extend(parse(hers).into_iter().map(|word| Word { head: word.head.map(|head| head + 3), ..word }));
    let apart = SceneGraph::of_sentences(&words, &[3]);
    assert_eq!(tuples(&apart), "dog | man | man – wait | woman | woman – see – dog");
    assert!(tuples(&SceneGraph::of(&words)).contains("man – have – dog"));
}

fn any_word() -> impl Strategy<Value = Word> {
    const TEXTS: [&str; 16] = [
        "a", "of", "the", "dog", "dogs", "lots", "couple", "in", "front", "next", "to", "by", "out", "be", "his",
        "them",
    ];
    let head = prop_oneof![Just(None), (0_usize..14).prop_map(Some), Just(Some(usize::MAX))];
    let tags = prop::sample::select(&Tag::ALL);
    let relations = prop::sample::select(&Relation::ALL);
    (prop::sample::select(&TEXTS[..]).prop_map(str::to_owned), tags, head, relations)
        .prop_map(|(text, tag, head, relation)| Word { lemma: text.clone(), text, tag, head, relation })
}

proptest! {
    #[test]
    fn any_tree_gives_a_sound_graph(words in prop::collection::vec(any_word(), 0..14)) {
        let graph = SceneGraph::of(&words);
        let is_sound = |numbers: &[usize]| numbers.iter().all(|&number| number < words.len());
        for object in &graph.objects {
            prop_assert!(is_sound(&object.words) && !object.words.is_empty());
        }
        for attribute in &graph.attributes {
            prop_assert!(attribute.object < graph.objects.len() && is_sound(&attribute.words));
        }
        for relation in &graph.relations {
            prop_assert!(relation.subject < graph.objects.len() && relation.object < graph.objects.len());
            prop_assert!(is_sound(&relation.words) && !relation.predicate.is_empty());
        }
        prop_assert_eq!(&graph, &SceneGraph::of(&words));
    }

    #[test]
    fn a_text_says_what_its_sentences_say(
        sentences in prop::collection::vec(prop::collection::vec(any_word(), 0..8), 1..4),
    ) {
        let (mut words, mut ends, mut said) = (Vec::new(), Vec::new(), Vec::new());
        for sentence in &sentences {
            said.extend(tuples(&SceneGraph::of(sentence)).split(" | ").filter(|one| !one.is_empty()).map(str::to_owned));
            let first = words.len();
            let placed = |word: &Word| Word { head: word.head.map(|head| head.saturating_add(first)), ..word.clone() };
            words.extend(sentence.iter().map(placed));
            ends.push(words.len());
        }
        said.sort();
        said.dedup();
        let text = SceneGraph::of_sentences(&words, &ends);
        prop_assert_eq!(tuples(&text), said.join(" | "));
        prop_assert!(text.objects.iter().all(|one| one.words.iter().all(|&word| words[word].lemma == one.name
            || words[word].tag == Tag::Prp || words[word].tag == Tag::PrpPossessive)));
    }
}
