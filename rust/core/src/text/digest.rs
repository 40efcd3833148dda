//! Digests of rows, by which signatures tell what was read.
//!
//! A row is a key and a text; a digest is the sum of the rows' hashes, so that rows in any order, and parts that are
//! added, give the same one. The hash is the CRC-32 of `key NUL text`, mixed by the last step of MurmurHash3: sums of a
//! CRC alone, which is linear, stay the same where captions change places. A text of white space is an empty one: some
//! formats cannot tell the two apart.

use crc32fast::Hasher;

use crate::text::captions::Captions;

/// The sum of the hashes of rows.
pub fn of_rows<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) -> u32 {
    rows.into_iter().fold(0, |sum, (key, text)| sum.wrapping_add(row(&started(key), text)))
}

/// The rows of these images: id and caption; an image without caption has an empty one. Where captions depend on their
/// neighbours (`in_order`), the number of the image begins the key.
pub fn of_captions<'a>(captions: &Captions, images: impl IntoIterator<Item = &'a str>, in_order: bool) -> u32 {
    let of_image = |(number, id): (usize, &str)| {
        let start = if in_order { started(&format!("{number} {id}")) } else { started(id) };
        let own = captions.image(id).map_or(0..0, |image| captions.captions_of(image));
        if own.is_empty() {
            return row(&start, "");
        }
        own.fold(0, |sum: u32, caption| sum.wrapping_add(row(&start, captions.caption(caption))))
    };
    images.into_iter().enumerate().map(of_image).fold(0, u32::wrapping_add)
}

fn started(key: &str) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(key.as_bytes());
    hasher.update(&[0]);
    hasher
}

fn row(start: &Hasher, text: &str) -> u32 {
    let mut hasher = start.clone();
    if !text.trim().is_empty() {
        hasher.update(text.as_bytes());
    }
    let mut hash = hasher.finalize();
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::captions::CaptionsBuilder;

    fn captions(rows: &[(&str, &str)]) -> Captions {
        let mut builder = CaptionsBuilder::new();
        for (id, text) in rows {
            builder.caption(id, text);
        }
        builder.finish()
    }

    #[test]
    fn rows_in_any_order_have_one_digest_and_other_rows_another() {
        let rows = [("1", "a dog"), ("2", "a bus"), ("1", "a cat")];
        let digest = |rows: &[(&str, &str)], ids: &[&str]| of_captions(&captions(rows), ids.iter().copied(), false);
        let whole = digest(&rows, &["1", "2"]);
        assert_eq!(whole, of_rows(rows));
        assert_eq!(whole, digest(&[rows[1], rows[2], rows[0]], &["2", "1"]));
        assert_eq!(whole, digest(&rows, &["1"]).wrapping_add(digest(&rows, &["2"])));
        for other in [
            [("2", "a dog"), ("1", "a bus"), ("1", "a cat")],
            [("1", "a bus"), ("2", "a dog"), ("1", "a cat")],
            [("1", "a dog"), ("2", "a bus"), ("1", "a dog")],
        ] {
            assert_ne!(whole, digest(&other, &["1", "2"]), "{other:?}");
        }
        assert_eq!(digest(&rows, &["3"]), of_rows([("3", "")]));
        assert_eq!(of_rows([("3", " \t")]), of_rows([("3", "")]));
    }

    #[test]
    fn where_captions_depend_on_their_neighbours_the_order_counts() {
        let rows = captions(&[("1", "a"), ("2", "b")]);
        assert_ne!(of_captions(&rows, ["1", "2"], true), of_captions(&rows, ["2", "1"], true));
    }
}
