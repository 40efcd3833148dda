//! Enumerations whose values have fixed names.

/// Declares one: each value, and its name behind it.
macro_rules! named {
    ($(#[$about:meta])* $sight:vis enum $kind:ident { $($(#[$each:meta])* $value:ident $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        $sight enum $kind { $($(#[$each])* $value,)+ }

        #[allow(dead_code, reason = "not every enumeration needs all three")]
        impl $kind {
            /// Every value, in the order of their numbers.
            $sight const ALL: [Self; [$($name,)+].len()] = [$(Self::$value,)+];

            /// Its name.
            $sight const fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }

            /// The value of that name.
            $sight fn of(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$value),)+ _ => None }
            }
        }
    };
}

pub(crate) use named;

#[cfg(test)]
mod tests {
    use crate::graph::Status;
    use crate::metrics::meteor::Module;
    use crate::parse::{Relation, Tag};

    macro_rules! assert_named {
        ($($kind:ident)+) => { $(
            for (number, value) in $kind::ALL.into_iter().enumerate() {
                assert_eq!(($kind::of(value.name()), value as usize), (Some(value), number));
            }
            assert_eq!(($kind::of("?"), $kind::of("")), (None, None));
        )+ };
    }

    #[test]
    fn names_lead_back_to_their_values() {
        assert_named!(Tag Relation Status Module);
    }
}
