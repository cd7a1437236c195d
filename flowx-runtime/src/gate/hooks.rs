//! What an application says about the calls of one flow: what a person reads for its ids, and which version of a thing a yes covers.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use flowx_manifest::{Category, Json};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::shown::NamesOfCall;
use crate::refusal::{Refusal, codes};
use crate::traits::Flow;

type NamesHook =
    Arc<dyn Fn(&str) -> BoxFuture<'static, Result<NamesOfCall, Refusal>> + Send + Sync>;
type VersionHook = Arc<dyn Fn(&str) -> BoxFuture<'static, Result<String, Refusal>> + Send + Sync>;

/// The hooks by flow id and version.
#[derive(Clone, Default)]
pub struct Hooks {
    names: HashMap<String, NamesHook>,
    versions: HashMap<String, VersionHook>,
}

impl Hooks {
    /// `hook` says what the application calls the values of a call: pairs of an argument's path (`ticket_id`, `lines/0/part`) and words.
    pub fn names<F, Fut>(&mut self, hook: impl Fn(F::Input) -> Fut + Send + Sync + 'static)
    where
        F: Flow<Input: serde::de::DeserializeOwned>,
        Fut: Future<Output = Vec<(String, String)>> + Send + 'static,
    {
        let run: NamesHook = Arc::new(move |input| match read::<F>(input) {
            Ok(input) => hook(input)
                .map(|names| Ok(names.into_iter().collect()))
                .boxed(),
            Err(refusal) => std::future::ready(Err(refusal)).boxed(),
        });
        self.names.insert(reference::<F>(), run);
    }

    /// `hook` says the version of what a call is about. A yes covers that version and no other.
    pub fn subject_version<F, Fut>(
        &mut self,
        hook: impl Fn(F::Input) -> Fut + Send + Sync + 'static,
    ) where
        F: Flow<Input: serde::de::DeserializeOwned>,
        Fut: Future<Output = Result<String, Refusal>> + Send + 'static,
    {
        let run: VersionHook = Arc::new(move |input| match read::<F>(input) {
            Ok(input) => hook(input).boxed(),
            Err(refusal) => std::future::ready(Err(refusal)).boxed(),
        });
        self.versions.insert(reference::<F>(), run);
    }

    /// Whether that flow has a hook that says its subject's version.
    pub fn knows_version_of(&self, flow: &str) -> bool {
        self.versions.contains_key(flow)
    }

    /// Every flow that has a hook.
    pub fn flows(&self) -> impl Iterator<Item = &str> {
        self.names
            .keys()
            .chain(self.versions.keys())
            .map(String::as_str)
    }

    pub(super) async fn names_of(&self, flow: &str, input: &str) -> Result<NamesOfCall, Refusal> {
        match self.names.get(flow) {
            Some(hook) => hook(input).await,
            None => Ok(NamesOfCall::new()),
        }
    }

    pub(super) async fn version_of(
        &self,
        flow: &str,
        input: &str,
    ) -> Result<Option<String>, Refusal> {
        match self.versions.get(flow) {
            Some(hook) => hook(input).await.map(Some),
            None => Ok(None),
        }
    }
}

fn reference<F: Flow>() -> String {
    format!("{}@{}", F::INFO.id, F::INFO.version)
}

/// The input as the flow itself will read it.
fn read<F: Flow<Input: serde::de::DeserializeOwned>>(input: &str) -> Result<F::Input, Refusal> {
    serde_json::from_str(input).map_err(|error| {
        let wrong = Json::object([
            ("path", Json::from("")),
            ("message", error.to_string().into()),
        ]);
        Refusal::new(
            codes::INPUT_INVALID,
            Category::Validation,
            "The input does not meet its contract.",
        )
        .with("errors", Json::Array(vec![wrong]))
    })
}
