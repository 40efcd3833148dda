//! The metrics, and their list by name.

use crate::Refused;
use crate::engine::{Built, Parameters};

mod bleu;
pub mod chair;
pub mod cider;
pub mod diversity;
pub mod embedded;
pub mod fluency;
pub mod meteor;
mod rouge;
pub mod sentence;
pub mod spice;
pub mod statements;

use chair::Figure;
use statements::Asked;

/// Every kernel by name: a new metric adds its line here.
const KERNELS: &[(&str, Build)] = &[
    ("bleu", bleu::build),
    ("rouge-n", rouge::build_n),
    ("rouge-l", rouge::build_l),
    ("rouge-s", rouge::build_s),
    ("cider", cider::build_cider),
    ("cider-d", cider::build_cider_d),
    ("meteor", meteor::build),
    ("spice", spice::build),
    ("coverage", |parameters| statements::build(Asked::Coverage, parameters)),
    ("precision", |parameters| statements::build(Asked::Precision, parameters)),
    ("long-f1", |parameters| statements::build(Asked::F1, parameters)),
    ("rubric", |parameters| statements::build(Asked::Rubric, parameters)),
    ("chair-i", |parameters| chair::build(Figure::Instances, parameters)),
    ("chair-s", |parameters| chair::build(Figure::Sentences, parameters)),
    ("chair-recall", |parameters| chair::build(Figure::Recall, parameters)),
    ("sentence", sentence::build),
    ("wmd", embedded::build_wmd),
    ("vifidel", embedded::build_vifidel),
    ("fluency", fluency::build),
    ("self-cider", diversity::build_self_cider),
    ("lsa", diversity::build_lsa),
    ("vendi", diversity::build_vendi),
    ("mbleu", |parameters| diversity::build_mbleu(parameters, false)),
    ("mbleu-mix", |parameters| diversity::build_mbleu(parameters, true)),
    ("div", diversity::build_div),
    ("distinct", diversity::build_distinct),
];

type Build = fn(&mut Parameters) -> Built;

/// Builds the kernel of that name. All parameters of the metric must be given, and no other.
pub fn kernel(name: &str, mut parameters: Parameters) -> Built {
    let (_, build) = KERNELS
        .iter()
        .find(|(listed, _)| *listed == name)
        .ok_or_else(|| Refused(format!("no kernel is named {name:?}")))?;
    let kernel = build(&mut parameters)?;
    parameters.finish()?;
    Ok(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Value;

    #[test]
    fn an_unknown_parameter_is_an_error() {
        let rouge = |names: &[&str]| {
            let parameters = names.iter().map(|&name| (name, Value::Number(1.0))).collect();
            kernel("rouge-l", parameters).err().map(|error| error.to_string())
        };
        assert_eq!(rouge(&["beta"]), None);
        assert_eq!(rouge(&["beta", "gamma"]).as_deref(), Some("no parameter is named gamma"));
        assert_eq!(rouge(&[]).as_deref(), Some("parameter beta is missing"));
    }
}
