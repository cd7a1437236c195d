//! The compiled type, as three functions that may or may not be there.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads JSON text as the type.
pub type Read = fn(&str) -> Result<(), String>;
/// Reads JSON text as the type and writes it again.
pub type Write = fn(&str) -> Result<String, String>;
/// The schemas that schemars derives: what is accepted and what is written.
pub type Schemars = fn() -> (serde_json::Value, serde_json::Value);

/// The type's samples, as serde writes them.
pub type Sampled = fn() -> Vec<Result<String, String>>;

/// Values of a type that is only written: an output that derives `Serialize` and not `Deserialize`. No value of such a type can be
/// made from its schema, so that nothing could be shown of it (P4); these are written by serde and held against the published schema.
///
/// Give at least one for every variant, and for every `Option` both.
///
/// ```
/// # use flowx_verify::Samples;
/// #[derive(serde::Serialize)]
/// struct Receipt {
///     reference: String,
///     fee_cents: Option<u32>,
/// }
///
/// impl Samples for Receipt {
///     fn samples() -> Vec<Self> {
///         [None, Some(35)]
///             .map(|fee_cents| Receipt { reference: "R-1".to_owned(), fee_cents })
///             .into()
///     }
/// }
/// ```
pub trait Samples: Sized {
    /// The values. None at all shows nothing, and is an error.
    fn samples() -> Vec<Self>;
}

/// What can be done with a compiled type.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Reading, when it is `Deserialize`.
    pub read: Option<Read>,
    /// Reading and writing, when it is `Deserialize` and `Serialize`.
    pub write: Option<Write>,
    /// schemars' view, when it is `JsonSchema`.
    pub schemars: Option<Schemars>,
    /// Its samples, when it is `Samples` and `Serialize`.
    pub samples: Option<Sampled>,
}

impl Probe {
    /// Of a type that can be read.
    pub const fn reads<T: DeserializeOwned>() -> Self {
        Probe {
            read: Some(read::<T>),
            write: None,
            schemars: None,
            samples: None,
        }
    }

    /// Of a type that can be read and written.
    pub const fn both<T: DeserializeOwned + Serialize>() -> Self {
        Probe {
            read: Some(read::<T>),
            write: Some(write::<T>),
            schemars: None,
            samples: None,
        }
    }

    /// Of a type of which nothing is known.
    pub const fn none() -> Self {
        Probe {
            read: None,
            write: None,
            schemars: None,
            samples: None,
        }
    }

    /// The same, with schemars' view.
    pub const fn with_schemars<T: schemars::JsonSchema>(self) -> Self {
        Probe {
            schemars: Some(schemas::<T>),
            ..self
        }
    }

    /// The same, with the type's samples.
    pub const fn with_samples<T: Samples + Serialize>(self) -> Self {
        Probe {
            samples: Some(samples::<T>),
            ..self
        }
    }

    /// Of a type whose samples alone are asked for.
    pub const fn sampled(samples: Option<Sampled>) -> Self {
        Probe {
            samples,
            ..Probe::none()
        }
    }
}

fn samples<T: Samples + Serialize>() -> Vec<Result<String, String>> {
    let write = |value: T| serde_json::to_string(&value).map_err(|e| e.to_string());
    T::samples().into_iter().map(write).collect()
}

fn read<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    serde_json::from_str::<T>(text)
        .map(drop)
        .map_err(|e| e.to_string())
}

fn write<T: DeserializeOwned + Serialize>(text: &str) -> Result<String, String> {
    let value = serde_json::from_str::<T>(text).map_err(|e| e.to_string())?;
    serde_json::to_string(&value).map_err(|e| e.to_string())
}

fn schemas<T: schemars::JsonSchema>() -> (serde_json::Value, serde_json::Value) {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let de = settings
        .clone()
        .for_deserialize()
        .into_generator()
        .into_root_schema_for::<T>();
    let ser = settings
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>();
    (de.to_value(), ser.to_value())
}

/// Finds out, for a concrete type, which traits it has. Used by [`probe!`](crate::probe); method lookup prefers the
/// impl that needs fewer references, so the first that applies wins.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Finder<T>(PhantomData<fn() -> T>);

impl<T> Finder<T> {
    #[doc(hidden)]
    pub const fn new() -> Self {
        Finder(PhantomData)
    }
}

impl<T> Default for Finder<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[doc(hidden)]
pub trait FindBoth {
    fn serde(&self) -> Probe;
}
impl<T: DeserializeOwned + Serialize> FindBoth for &&Finder<T> {
    fn serde(&self) -> Probe {
        Probe::both::<T>()
    }
}
#[doc(hidden)]
pub trait FindRead {
    fn serde(&self) -> Probe;
}
impl<T: DeserializeOwned> FindRead for &Finder<T> {
    fn serde(&self) -> Probe {
        Probe::reads::<T>()
    }
}
#[doc(hidden)]
pub trait FindNone {
    fn serde(&self) -> Probe;
}
impl<T> FindNone for Finder<T> {
    fn serde(&self) -> Probe {
        Probe::none()
    }
}
#[doc(hidden)]
pub trait FindSchemars {
    fn schemars(&self, probe: Probe) -> Probe;
}
impl<T: schemars::JsonSchema> FindSchemars for &Finder<T> {
    fn schemars(&self, probe: Probe) -> Probe {
        probe.with_schemars::<T>()
    }
}
#[doc(hidden)]
pub trait FindNoSchemars {
    fn schemars(&self, probe: Probe) -> Probe;
}
impl<T> FindNoSchemars for Finder<T> {
    fn schemars(&self, probe: Probe) -> Probe {
        probe
    }
}

#[doc(hidden)]
pub trait FindSamples {
    fn samples(&self) -> Option<Sampled>;
}
impl<T: Samples + Serialize> FindSamples for &Finder<T> {
    fn samples(&self) -> Option<Sampled> {
        Some(samples::<T>)
    }
}
#[doc(hidden)]
pub trait FindNoSamples {
    fn samples(&self) -> Option<Sampled>;
}
impl<T> FindNoSamples for Finder<T> {
    fn samples(&self) -> Option<Sampled> {
        None
    }
}

/// The samples of a concrete type, when it has some.
#[doc(hidden)]
#[macro_export]
macro_rules! sampled {
    ($ty:ty) => {{
        #[allow(unused_imports)]
        use $crate::__find::{FindNoSamples as _, FindSamples as _};
        (&&$crate::__find::Finder::<$ty>::new()).samples()
    }};
}

/// A [`Probe`] of a concrete type with whatever it implements.
#[macro_export]
macro_rules! probe {
    ($ty:ty) => {{
        #[allow(unused_imports)]
        use $crate::__find::{
            FindBoth as _, FindNoSchemars as _, FindNone as _, FindRead as _, FindSchemars as _,
        };
        let finder = $crate::__find::Finder::<$ty>::new();
        let probe = (&&&finder).serde();
        let mut probe = (&&finder).schemars(probe);
        probe.samples = $crate::sampled!($ty);
        probe
    }};
}
