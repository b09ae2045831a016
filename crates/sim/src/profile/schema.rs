//! One declaration for each key of a profile: its name, type, default, bounds and meaning. `section!` makes of it the
//! struct, how it is read, the check of its bounds, and its rows in `docs/reference/profiles.md`; `words!` likewise for a key
//! whose value is one of some words.

use crate::flaw::Flaw;

#[derive(Clone, Copy, Debug)]
pub struct Section {
    pub path: &'static str,
    pub meaning: &'static str,
    pub keys: &'static [Key],
}

#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    /// The type of its value, as in Rust.
    pub kind: &'static str,
    /// As in Rust; a key without one is needed.
    pub default: Option<&'static str>,
    pub bounds: Option<(f64, f64)>,
    pub meaning: &'static str,
}

/// The words that can be the value of a key.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    pub kind: &'static str,
    pub meaning: &'static str,
    pub words: &'static [(&'static str, &'static str)],
}

/// `Name at "[path]" = "meaning" { key: type = default, in low..=high => "meaning"; … }`
macro_rules! section {
    (
        $(#[$outer:meta])*
        $name:ident at $path:literal = $summary:literal {
            $(
                $(#[$attribute:meta])*
                $key:ident: $type:ty $(= $default:expr)? $(, in $low:literal ..= $high:literal)? => $meaning:literal;
            )+
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        $(#[$outer])*
        #[doc = $summary]
        pub struct $name {
            $($(#[$attribute])* #[doc = $meaning] pub $key: $type,)+
        }

        impl $name {
            pub(crate) const SECTION: $crate::profile::schema::Section = $crate::profile::schema::Section {
                path: $path,
                meaning: $summary,
                keys: &[$($crate::profile::schema::Key {
                    name: stringify!($key),
                    kind: stringify!($type),
                    default: section!(@shown $($default)?),
                    bounds: section!(@bounds $($low, $high)?),
                    meaning: $meaning,
                }),+],
            };

            #[allow(dead_code, reason = "a section may have no bounds")]
            pub(crate) fn check_bounds(&self) -> Result<(), $crate::flaw::Flaw> {
                $($($crate::profile::schema::within(stringify!($key), &self.$key, $low as f64, $high as f64)?;)?)+
                Ok(())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Given {
                    $($key: section!(@given $type $(, $default)?),)+
                }
                let given = Given::deserialize(deserializer)?;
                Ok($name { $($key: section!(@value given.$key $(, $default)?),)+ })
            }
        }
    };
    (@shown $default:expr) => { Some(stringify!($default)) };
    (@shown) => { None };
    (@bounds $low:literal, $high:literal) => { Some(($low as f64, $high as f64)) };
    (@bounds) => { None };
    (@given $type:ty, $default:expr) => { Option<$type> };
    (@given $type:ty) => { $type };
    (@value $given:expr, $default:expr) => {
        match $given {
            Some(value) => value,
            None => $default,
        }
    };
    (@value $given:expr) => { $given };
}

/// `Name = "meaning" { Variant = "word" => "meaning"; … }`
macro_rules! words {
    (
        $(#[$outer:meta])*
        $name:ident = $summary:literal {
            $($(#[$attribute:meta])* $variant:ident = $word:literal => $meaning:literal;)+
        }
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $(#[$outer])*
        #[doc = $summary]
        pub enum $name {
            $($(#[$attribute])* #[doc = $meaning] #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub(crate) const WORDS: $crate::profile::schema::Words = $crate::profile::schema::Words {
                kind: stringify!($name),
                meaning: $summary,
                words: &[$(($word, $meaning)),+],
            };
        }
    };
}

/// Sections of which nothing need be given: each of their keys has a default.
macro_rules! all_by_default {
    ($($name:ident),+) => {
        $(impl Default for $name {
            fn default() -> $name {
                toml::from_str("").expect("each key of the section has a default")
            }
        })+
    };
}

pub(crate) use {all_by_default, section, words};

/// What the value of a key consists of, for the check of its bounds.
pub(crate) trait Numbers {
    /// The first number that is not in the range; not a number is in none.
    fn outside(&self, low: f64, high: f64) -> Option<f64>;
}

impl Numbers for f64 {
    fn outside(&self, low: f64, high: f64) -> Option<f64> {
        if (low..=high).contains(self) { None } else { Some(*self) }
    }
}

impl Numbers for u32 {
    fn outside(&self, low: f64, high: f64) -> Option<f64> {
        f64::from(*self).outside(low, high)
    }
}

impl Numbers for u64 {
    fn outside(&self, low: f64, high: f64) -> Option<f64> {
        (*self as f64).outside(low, high)
    }
}

impl<T: Numbers> Numbers for Option<T> {
    fn outside(&self, low: f64, high: f64) -> Option<f64> {
        self.as_ref()?.outside(low, high)
    }
}

impl<T: Numbers> Numbers for Vec<T> {
    fn outside(&self, low: f64, high: f64) -> Option<f64> {
        self.iter().find_map(|number| number.outside(low, high))
    }
}

pub(crate) fn within(key: &str, value: &impl Numbers, low: f64, high: f64) -> Result<(), Flaw> {
    let Some(value) = value.outside(low, high) else { return Ok(()) };
    // Written out, 1e300 would fill the screen.
    let shown = if value.abs() < 1e15 { value.to_string() } else { format!("{value:e}") };
    Err(Flaw::new(key, format!("{shown} is not between {low} and {high}")))
}

pub(crate) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}
