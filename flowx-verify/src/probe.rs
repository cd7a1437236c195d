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

/// What can be done with a compiled type.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Reading, when it is `Deserialize`.
    pub read: Option<Read>,
    /// Reading and writing, when it is `Deserialize` and `Serialize`.
    pub write: Option<Write>,
    /// schemars' view, when it is `JsonSchema`.
    pub schemars: Option<Schemars>,
}

impl Probe {
    /// Of a type that can be read.
    pub const fn reads<T: DeserializeOwned>() -> Self {
        Probe {
            read: Some(read::<T>),
            write: None,
            schemars: None,
        }
    }

    /// Of a type that can be read and written.
    pub const fn both<T: DeserializeOwned + Serialize>() -> Self {
        Probe {
            read: Some(read::<T>),
            write: Some(write::<T>),
            schemars: None,
        }
    }

    /// Of a type of which nothing is known.
    pub const fn none() -> Self {
        Probe {
            read: None,
            write: None,
            schemars: None,
        }
    }

    /// The same, with schemars' view.
    pub const fn with_schemars<T: schemars::JsonSchema>(self) -> Self {
        Probe {
            schemars: Some(schemas::<T>),
            ..self
        }
    }
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
        (&&finder).schemars(probe)
    }};
}
