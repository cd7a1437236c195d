//! How whoever called can be told and asked something while a call runs. A transport implements [`Channel`]; the gate uses it.

use std::collections::BTreeMap;

use flowx_manifest::Json;
use futures_util::future::BoxFuture;

/// The kinds of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AskKind {
    /// A form in the client.
    Form,
    /// A page on this server's own origin.
    Url,
    /// The caller's own model.
    Model,
}

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// A form in the client.
    Form {
        /// What the person reads.
        message: String,
        /// A flat JSON Schema object of primitives.
        schema: Json,
    },
    /// A page on this server's own origin.
    Url {
        /// What the person reads.
        message: String,
        /// The page.
        url: String,
        /// Names this question in later notifications.
        id: String,
    },
    /// The caller's own model: the parameters of `sampling/createMessage`.
    Model(Json),
}

impl Ask {
    /// Its kind.
    pub fn kind(&self) -> AskKind {
        match self {
            Ask::Form { .. } => AskKind::Form,
            Ask::Url { .. } => AskKind::Url,
            Ask::Model(_) => AskKind::Model,
        }
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Yes, with the content of the form (or the model's result). Whether the content is a yes is for the gate to see.
    Accept(Json),
    /// No.
    Decline,
    /// Closed without an answer.
    Cancel,
    /// No answer in time.
    TimedOut,
    /// The caller has gone.
    Gone,
    /// Something that is no answer.
    Invalid,
}

/// Whether, and how, a caller can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// Not at all.
    Cannot,
    /// On the call's own stream: [`Channel::ask`] waits.
    InCall,
    /// By ending the call with [`CallOutcome::InputRequired`](crate::CallOutcome) and having it repeated.
    ByRetry,
}

/// What a repeated call brings along.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The sealed state that was handed out, byte for byte. To be verified before anything else is looked at.
    pub state: String,
    /// The replies by the names of the questions.
    pub replies: BTreeMap<String, Reply>,
}

/// The way back to whoever called, for the time of one call.
pub trait Channel: Send + Sync + 'static {
    /// Whether and how that kind of question can be asked.
    fn asking(&self, kind: AskKind) -> Asking;

    /// Asks on the call's own stream and waits. Only where [`Channel::asking`] says [`Asking::InCall`].
    fn ask(&self, ask: Ask) -> BoxFuture<'_, Reply>;

    /// What a repeated call brings along.
    fn given(&self) -> Option<&Given> {
        None
    }

    /// Tells how far the call is. Never waits; a transport that cannot tell drops it.
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>);

    /// The client's session, where the transport has one: replies are bound to it.
    fn session(&self) -> Option<&str> {
        None
    }
}

/// A caller that can be told and asked nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoChannel;

impl Channel for NoChannel {
    fn asking(&self, _: AskKind) -> Asking {
        Asking::Cannot
    }

    fn ask(&self, _: Ask) -> BoxFuture<'_, Reply> {
        Box::pin(std::future::ready(Reply::Gone))
    }

    fn progress(&self, _: f64, _: Option<f64>, _: Option<&str>) {}
}
