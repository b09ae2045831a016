//! Enums whose variants are words: in files, on the command line, on screens.

/// Lets serde keep a type with `#[serde(try_from = "String", into = "String")]` as the text that is typed for it.
#[macro_export]
macro_rules! stored_as_text {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = <$name as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<$name, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }
    };
}

/// Declares an enum with the word of each variant: `ALL`, `name`, `from_name`, and serde by that word.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visibility enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl $name {
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$variant),+];
            const NAMES: &'static [&'static str] = &[$($word),+];

            pub const fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }

            pub fn from_name(name: &str) -> Option<$name> {
                Self::ALL.into_iter().find(|variant| variant.name() == name)
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        $crate::words_schema!($name);

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let word = <String as $crate::serde::Deserialize>::deserialize(deserializer)?;
                let unknown = || $crate::serde::de::Error::unknown_variant(&word, Self::NAMES);
                $name::from_name(&word).ok_or_else(unknown)
            }
        }
    };
}

/// Declares an enum with the word of each variant and `Other` for a word of another program or version, which is kept: `KNOWN`,
/// `name`, `Display`, from text and serde by the word.
#[macro_export]
macro_rules! open_words {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
        ..
        $(#[$other_meta:meta])*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, $crate::serde::Serialize, $crate::serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive($crate::schemars::JsonSchema))]
        #[serde(from = "String", into = "String")]
        $visibility enum $name {
            $($(#[$variant_meta])* $variant,)+
            $(#[$other_meta])*
            Other(std::borrow::Cow<'static, str>),
        }

        impl $name {
            pub const KNOWN: [$name; [$($word),+].len()] = [$($name::$variant),+];

            pub fn name(&self) -> &str {
                match self {
                    $($name::$variant => $word,)+
                    $name::Other(word) => word,
                }
            }

            fn of(word: std::borrow::Cow<'static, str>) -> $name {
                match &*word {
                    $($word => $name::$variant,)+
                    _ => $name::Other(word),
                }
            }
        }

        impl From<&'static str> for $name {
            fn from(word: &'static str) -> $name {
                $name::of(word.into())
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> $name {
                $name::of(word.into())
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> String {
                word.to_string()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.name())
            }
        }
    };
}

/// The schema of an enum of words, in builds that make schemas.
#[cfg(feature = "schema")]
#[macro_export]
macro_rules! words_schema {
    ($name:ident) => {
        impl $crate::schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $crate::schemars::json_schema!({ "type": "string", "enum": Self::NAMES })
            }
        }
    };
}

#[cfg(not(feature = "schema"))]
#[macro_export]
macro_rules! words_schema {
    ($name:ident) => {};
}

#[cfg(test)]
mod tests {
    use crate::plan::{PhaseKind, StopReason};
    use crate::target::Caveat;

    #[test]
    fn words_come_back_and_others_are_refused() {
        assert!(PhaseKind::ALL.into_iter().all(|kind| PhaseKind::from_name(kind.name()) == Some(kind)));
        assert!(
            StopReason::ALL.into_iter().all(|reason| StopReason::from_name(reason.name()) == Some(reason))
        );
        assert!(Caveat::ALL.into_iter().all(|caveat| Caveat::from_name(caveat.name()) == Some(caveat)));
        assert_eq!((PhaseKind::WarmUp.name(), PhaseKind::from_name("WarmUp")), ("warm-up", None));
    }
}
