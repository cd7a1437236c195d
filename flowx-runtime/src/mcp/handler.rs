//! What the endpoint answers, independent of the transport.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use flowx_manifest::{Json, Kind};
use http::request::Parts;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    DiscoverResult, ErrorCode, ErrorData, Implementation, InputRequiredResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};

use super::channel::{self, Ends, Kinds, Patience};
use super::content::OutputForm;
use super::envelope::Envelope;
use super::options::McpOptions;
use super::splice::Splice;
use crate::channel::{AskKind, Asking, Channel};
use crate::core::Core;
use crate::gate::gate_codes;
use crate::identity::Principal;
use crate::invocation::{CallOutcome, Invocation, Output, Transport};
use crate::refusal::Refusal;

/// Served revisions, oldest first.
pub(crate) const VERSIONS: [ProtocolVersion; 2] =
    [ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];
/// Where the digest of the manifest stands.
const DIGEST: &str = "dev.flowx/manifestDigest";
/// Where a refusal stands, for clients that take no structured content with an error.
const REFUSAL: &str = "dev.flowx/refusal";
/// The kind of work that an agent says it does, which can only narrow what it may.
const SKILL: &str = "dev.flowx/skill";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

tokio::task_local! {
    /// Who sent the request that is being looked at. The library asks for a tool's schema without saying for whom.
    pub(crate) static CALLER: Arc<Principal>;
}

/// Everything that is the same for all requests.
pub(crate) struct Endpoint {
    pub(crate) core: Arc<Core>,
    pub(crate) options: McpOptions,
    pub(crate) splice: Splice,
    /// By place among the document's tools: the flow's place in the core.
    tools: Vec<usize>,
    schemas: HashMap<&'static str, (usize, OnceLock<Option<Tool>>)>,
    outputs: HashMap<&'static str, OutputForm>,
    resources: Vec<Readable>,
    config: ServerConfig,
    server_info: serde_json::Value,
    list_scope: CacheScope,
}

/// A document that can be read as a resource.
struct Readable {
    resource: Resource,
    /// The flow's place in the core; `None` for the whole manifest.
    flow: Option<usize>,
    /// Its place among the splice's documents.
    text: usize,
}

impl Endpoint {
    pub(crate) fn new(core: Arc<Core>, options: McpOptions, secret: [u8; 16]) -> Endpoint {
        let embedded = core.embedded();
        let place: HashMap<&str, usize> = core
            .flows()
            .iter()
            .enumerate()
            .filter_map(|(i, f)| Some((f.tool.as_deref()?, i)))
            .collect();
        // The core refuses to start unless tools and flows with a trigger are the same set, so none is left out here.
        let entries: Vec<(&'static str, &'static str, usize)> = embedded
            .entries(Kind::Tool)
            .filter_map(|(name, text)| Some((name, text, *place.get(name)?)))
            .collect();

        let mut documents = vec![embedded.text];
        let mut resources = vec![Readable {
            resource: Resource::new("flowx://manifest", "manifest")
                .with_title("The manifest")
                .with_description("Everything this server declares, as it was reviewed.")
                .with_mime_type("application/json")
                .with_size(embedded.text.len() as u64),
            flow: None,
            text: 0,
        }];
        for (i, flow) in core.flows().iter().enumerate() {
            let Some(text) = embedded.entry(Kind::Flow, &flow.reference) else {
                continue;
            };
            // Flows are sorted by id and version: the newest of an id comes last and has the short address.
            let newest = core
                .flows()
                .get(i + 1)
                .is_none_or(|next| next.published.id != flow.published.id);
            let uri = match newest {
                true => format!("flowx://flow/{}", flow.published.id),
                false => format!("flowx://flow/{}", flow.published.key()),
            };
            let mut resource = Resource::new(uri, flow.reference.as_str())
                .with_mime_type("application/json")
                .with_size(text.len() as u64);
            resource.title.clone_from(&flow.published.title);
            resource.description.clone_from(&flow.published.description);
            resources.push(Readable {
                resource,
                flow: Some(i),
                text: documents.len(),
            });
            documents.push(text);
        }

        let manifest = core.manifest();
        let outputs = entries.iter().filter_map(|(name, _, flow)| {
            let tool = manifest.tools.iter().find(|t| t.name.as_str() == *name)?;
            Some((
                *name,
                OutputForm::of(
                    manifest,
                    &core.flows()[*flow].published,
                    tool.output_schema.clone(),
                ),
            ))
        });
        let outputs = outputs.collect();

        let application = &core.manifest().application;
        let implementation =
            Implementation::new(application.name.as_str(), application.version.as_str())
                .with_description(format!("FlowX manifest {}", embedded.digest));
        let mut meta = MetaObject::new();
        meta.insert(DIGEST.to_owned(), embedded.digest.into());
        let mut config = ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_resources()
                .build(),
        );
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config.server_info = implementation;
        config.instructions.clone_from(&options.instructions);
        config.meta = Some(meta);
        let server_info = serde_json::to_value(&config.server_info).unwrap_or_default();

        Endpoint {
            splice: Splice::new(entries.iter().map(|e| e.1).collect(), &documents, secret),
            tools: entries.iter().map(|e| e.2).collect(),
            schemas: entries
                .iter()
                .map(|e| (e.0, (e.2, OnceLock::new())))
                .collect(),
            list_scope: if core.list_depends_on_caller() {
                CacheScope::Private
            } else {
                CacheScope::Public
            },
            outputs,
            resources,
            config,
            server_info,
            options,
            core,
        }
    }

    /// The library's typed copy of a descriptor, for what it checks of requests by itself; never sent.
    fn schema_of(&self, name: &str, principal: &Principal) -> Option<Tool> {
        let (flow, tool) = self.schemas.get(name)?;
        if !self.core.visible(principal, &self.core.flows()[*flow]) {
            return None;
        }
        let read = || serde_json::from_str(self.core.embedded().entry(Kind::Tool, name)?).ok();
        tool.get_or_init(read).clone()
    }

    fn stamp(&self, meta: &mut Option<MetaObject>, modern: bool) {
        if modern {
            meta.get_or_insert_default()
                .insert(SERVER_INFO.to_owned(), self.server_info.clone());
        }
    }
}

/// One request's handler. Cheap: the library makes one per request.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) endpoint: Arc<Endpoint>,
    /// Who calls over a transport that has one caller.
    pub(crate) only: Option<Arc<Principal>>,
}

impl Handler {
    fn principal(&self, cx: &RequestContext<RoleServer>) -> Result<Arc<Principal>, ErrorData> {
        if let Some(only) = &self.only {
            return Ok(Arc::clone(only));
        }
        let parts = cx.extensions.get::<Parts>();
        parts
            .and_then(|p| p.extensions.get::<Arc<Principal>>())
            .cloned()
            .ok_or_else(|| {
                tracing::error!("a request has reached the MCP handler without a caller");
                ErrorData::internal_error("no caller", None)
            })
    }

    fn envelope(cx: &RequestContext<RoleServer>) -> Result<Envelope, ErrorData> {
        let parts = cx.extensions.get::<Parts>();
        let found = cx
            .extensions
            .get::<Envelope>()
            .or_else(|| parts?.extensions.get::<Envelope>());
        found.cloned().ok_or_else(|| {
            tracing::error!(
                "a request has reached the MCP handler without having been read strictly"
            );
            ErrorData::internal_error("no message", None)
        })
    }

    fn is_modern(cx: &RequestContext<RoleServer>) -> bool {
        cx.protocol_version()
            .is_some_and(|v| v.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
    }

    fn first_page(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
        match request.and_then(|r| r.cursor.as_ref()) {
            None => Ok(()),
            Some(_) => Err(ErrorData::invalid_params(
                "unknown cursor: every list is one page",
                None,
            )),
        }
    }

    fn channel(&self, cx: &RequestContext<RoleServer>, envelope: &Envelope) -> Ends {
        let modern = Self::is_modern(cx);
        let parts = cx.extensions.get::<Parts>();
        let session = parts
            .and_then(|p| p.headers.get("mcp-session-id"))
            .and_then(|s| s.to_str().ok())
            .map(str::to_owned);
        // Over HTTP a 2025-11-25 client can be asked in a session alone: its answer is another request.
        let in_call = session.is_some() || self.only.is_some();
        let options = &self.endpoint.options;
        Ends {
            peer: cx.peer.clone(),
            token: cx.meta.get_progress_token(),
            kinds: Kinds::of(cx.client_capabilities().as_ref()),
            asking: match (modern, in_call) {
                (true, _) => Asking::ByRetry,
                (false, true) => Asking::InCall,
                (false, false) => Asking::Cannot,
            },
            given: if modern {
                channel::given(envelope)
            } else {
                None
            },
            session: if modern { None } else { session },
            patience: Patience {
                timeout: options.ask_timeout,
                keep_alive: options.ask_keep_alive,
            },
        }
    }

    fn answer(
        &self,
        outcome: CallOutcome,
        name: &str,
        modern: bool,
    ) -> Result<CallToolResponse, ErrorData> {
        match outcome {
            CallOutcome::Done(output) => self.done(&output, name, modern),
            // A state that is not the one that was handed out for this call: the request is wrong, and no answer to it (SEP-2322).
            CallOutcome::Refused(refusal) if modern && is_foreign_state(&refusal) => Err(
                ErrorData::invalid_params("requestState rejected", Some(said(&refusal).to_value())),
            ),
            CallOutcome::Refused(refusal) => Ok(self.refused(&refusal, modern).into()),
            CallOutcome::Unknown => Err(unknown_tool(name)),
            CallOutcome::InputRequired { asks, state } => {
                let mut requests = rmcp::model::InputRequests::new();
                for (name, ask) in asks {
                    let request = channel::request_of(&ask).ok_or_else(|| {
                        tracing::error!(kind = ?ask.kind(), "a question that cannot be written in the protocol");
                        ErrorData::internal_error("the question cannot be put", None)
                    })?;
                    requests.insert(name, request);
                }
                let mut result = InputRequiredResult::new(Some(requests), Some(state));
                self.endpoint.stamp(&mut result.meta, modern);
                Ok(result.into())
            }
            CallOutcome::CannotAsk { needs, refusal } if modern => {
                let mut error =
                    ErrorData::missing_required_client_capability(channel::needed(needs));
                // The protocol's own error, and beside its data what every refusal says.
                if let Some(serde_json::Value::Object(data)) = &mut error.data {
                    let said = said(&self.explain(refusal, needs)).to_value();
                    data.insert(REFUSAL.to_owned(), said);
                }
                Err(error)
            }
            CallOutcome::CannotAsk { needs, refusal } => {
                Ok(self.refused(&self.explain(refusal, needs), modern).into())
            }
        }
    }

    /// Says what would have to be otherwise, since a model, and the person it works for, can do something about it.
    fn explain(&self, mut refusal: Refusal, needs: AskKind) -> Refusal {
        let how = match needs {
            _ if !self.endpoint.options.legacy_sessions && self.only.is_none() => {
                "this server is set up without sessions (`McpOptions::legacy_sessions`), so it can ask clients of protocol 2026-07-28 only"
            }
            AskKind::Form => "the client would have to declare the capability `elicitation`",
            AskKind::Url => "the client would have to declare the capability `elicitation.url`",
            AskKind::Model => "the client would have to declare the capability `sampling`",
        };
        refusal.message = format!("{} ({how})", refusal.message).into();
        refusal
    }

    fn done(
        &self,
        output: &Output,
        name: &str,
        modern: bool,
    ) -> Result<CallToolResponse, ErrorData> {
        let form = self
            .endpoint
            .outputs
            .get(name)
            .ok_or_else(|| unknown_tool(name))?;
        let content = form
            .write(output, &|literal| self.endpoint.splice.number(literal))
            .map_err(|error| {
                tracing::error!(%error, "a flow's output is no JSON");
                ErrorData::internal_error("the output cannot be written", None)
            })?;
        let mut result = CallToolResult::success(content.blocks);
        result.structured_content = Some(content.structured);
        self.endpoint.stamp(&mut result.meta, modern);
        Ok(result.into())
    }

    fn refused(&self, refusal: &Refusal, modern: bool) -> CallToolResult {
        if let Some(what) = refusal.operator_detail() {
            tracing::warn!(code = %refusal.code, what, "refused");
        }
        let said = said(refusal);
        let mut result = CallToolResult::error(vec![ContentBlock::text(said.to_canonical())]);
        // No structured content: clients hold it against the output schema even when it is an error, and throw the refusal away
        // (docs/decisions/021-where-a-refusal-stands.md).
        self.endpoint.stamp(&mut result.meta, modern);
        result
            .meta
            .get_or_insert_default()
            .insert(REFUSAL.to_owned(), said.to_value());
        result
    }
}

/// What a caller is told of a refusal.
fn said(refusal: &Refusal) -> Json {
    let mut members = vec![
        ("code", Json::from(&*refusal.code)),
        ("category", Json::from(refusal.category.as_str())),
        ("message", Json::from(&*refusal.message)),
    ];
    members.extend(refusal.detail.clone().map(|detail| ("detail", detail)));
    Json::object(members)
}

fn is_foreign_state(refusal: &Refusal) -> bool {
    let outcome = refusal
        .detail
        .as_ref()
        .and_then(|d| d.get("outcome"))
        .and_then(Json::as_str);
    refusal.code == gate_codes::CONFIRMATION_REFUSED && outcome == Some("state_refused")
}

fn unknown_tool(name: &str) -> ErrorData {
    let name = crate::gate::visible_short(name);
    ErrorData::invalid_params(format!("Unknown tool: {name}"), None)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.endpoint.config.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&VERSIONS)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut result = DiscoverResult::from_server_info(VERSIONS.to_vec(), self.get_info());
        result
            .instructions
            .clone_from(&self.endpoint.options.instructions);
        result.ttl_ms = millis(self.endpoint.options.list_ttl);
        // The same for everybody.
        result.cache_scope = CacheScope::Public;
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        match &self.only {
            Some(only) => self.endpoint.schema_of(name, only),
            None => CALLER
                .try_with(|caller| self.endpoint.schema_of(name, caller))
                .ok()
                .flatten(),
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Self::first_page(request.as_ref())?;
        let principal = self.principal(&cx)?;
        let Endpoint {
            core,
            splice,
            tools,
            options,
            list_scope,
            ..
        } = &*self.endpoint;
        let tools = splice.tools(|at| core.visible(&principal, &core.flows()[tools[at]]));
        let mut result = ListToolsResult::with_all_items(tools)
            .with_ttl_ms(millis(options.list_ttl))
            .with_cache_scope(*list_scope);
        self.endpoint.stamp(&mut result.meta, Self::is_modern(&cx));
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let principal = self.principal(&cx)?;
        let envelope = Self::envelope(&cx)?;
        let core = &self.endpoint.core;
        let Some(flow) = core.tool(&principal, &request.name) else {
            return Err(unknown_tool(&request.name));
        };
        let transport = if self.only.is_some() {
            Transport::Stdio
        } else {
            Transport::Mcp
        };
        let mut invocation = Invocation::new(
            flow.reference.as_str(),
            principal,
            envelope.arguments(),
            transport,
        );
        invocation.skill = match envelope.meta(SKILL) {
            None => None,
            Some(Json::String(skill)) => Some(skill.clone()),
            Some(_) => {
                return Err(ErrorData::invalid_params(
                    format!("`{SKILL}` must be a string"),
                    None,
                ));
            }
        };
        let modern = Self::is_modern(&cx);
        let (channel, wire) = channel::channel(self.channel(&cx, &envelope));
        let channel: Arc<dyn Channel> = Arc::new(channel);
        let call = wire.drive(core.call(invocation, channel));
        // Dropping the call is how it is told that nobody waits any more.
        let outcome = tokio::select! {
            outcome = call => outcome,
            () = cx.ct.cancelled() => return Err(ErrorData::new(ErrorCode::INTERNAL_ERROR, "cancelled", None)),
        };
        self.answer(outcome, &request.name, modern)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Self::first_page(request.as_ref())?;
        let principal = self.principal(&cx)?;
        let visible = self
            .endpoint
            .resources
            .iter()
            .filter(|r| self.endpoint.may_read(&principal, r));
        let mut result =
            ListResourcesResult::with_all_items(visible.map(|r| r.resource.clone()).collect())
                .with_ttl_ms(millis(self.endpoint.options.list_ttl))
                // The manifest itself is there for some callers only, whatever they see of tools.
                .with_cache_scope(CacheScope::Private);
        self.endpoint.stamp(&mut result.meta, Self::is_modern(&cx));
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Self::first_page(request.as_ref())?;
        let mut result = ListResourceTemplatesResult::with_all_items(Vec::new())
            .with_ttl_ms(millis(self.endpoint.options.list_ttl))
            .with_cache_scope(CacheScope::Public);
        self.endpoint.stamp(&mut result.meta, Self::is_modern(&cx));
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let principal = self.principal(&cx)?;
        let found = self
            .endpoint
            .resources
            .iter()
            .find(|r| r.resource.uri == request.uri);
        let Some(found) = found.filter(|r| self.endpoint.may_read(&principal, r)) else {
            let data = serde_json::json!({ "uri": request.uri });
            return Err(ErrorData::resource_not_found(
                "Resource not found",
                Some(data),
            ));
        };
        let text = self.endpoint.splice.text(found.text);
        let contents = ResourceContents::text(text, request.uri).with_mime_type("application/json");
        let mut result = ReadResourceResult::new(vec![contents])
            .with_ttl_ms(millis(self.endpoint.options.list_ttl))
            .with_cache_scope(CacheScope::Private);
        self.endpoint.stamp(&mut result.meta, Self::is_modern(&cx));
        Ok(ReadResourceResponse::Complete(result))
    }
}

impl Endpoint {
    fn may_read(&self, principal: &Principal, readable: &Readable) -> bool {
        match readable.flow {
            None => self.core.may_read_manifest(principal),
            Some(flow) => self.core.visible(principal, &self.core.flows()[flow]),
        }
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
