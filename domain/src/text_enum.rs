//! Closed vocabularies: enums that read and write one lower-case word each.
//!
//! The words are the same in the database, the tool schemas and the answers, so a filter value that was
//! read from a result can be sent back. An unknown word is an error that lists the valid ones
//! (field report 11: bad input and an empty result must not look alike).

/// A word that is not in a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not one of: {}", allowed.join(", "))]
pub struct UnknownValue {
    /// What was given, cut to a length that is safe to repeat.
    pub given: String,
    /// Every valid word.
    pub allowed: Vec<&'static str>,
}

/// Folds what people write (`In Progress`, ` HIGH `) to the form of the vocabulary.
pub fn fold_word(given: &str) -> String {
    given
        .trim()
        .chars()
        .map(|c| if c == ' ' || c == '-' { '_' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Declares an enum whose variants are words, with `ALL`, `as_str` and a parser that lists what is allowed.
macro_rules! text_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant),+ }

        impl $name {
            /// Every value, in the order in which it is shown.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Every word, in the order of [`Self::ALL`].
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word that stands for this value everywhere.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Reads a word as people write it: trimmed, any case, blank or hyphen for underscore.
            pub fn parse(given: &str) -> Result<Self, $crate::UnknownValue> {
                match $crate::text_enum::fold_word(given).as_str() {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::UnknownValue {
                        given: given.chars().take($crate::limits::ECHO_CHARS).collect(),
                        allowed: Self::WORDS.to_vec(),
                    }),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use text_enum;
