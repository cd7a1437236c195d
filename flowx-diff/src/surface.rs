//! The surface of a server that is not FlowX: a saved or fetched `tools/list`.

use flowx_manifest::json::{self, JsonError, Limits};
use flowx_manifest::{Json, Manifest};

/// One tool as any MCP server sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignTool {
    /// The name; the unit of comparison.
    pub name: String,
    /// The whole descriptor.
    pub descriptor: Json,
}

/// All tools of one server, in the order sent.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ToolList {
    /// The tools. A name can stand here twice; the comparison says so.
    pub tools: Vec<ForeignTool>,
}

/// What can be compared.
#[derive(Clone, Debug)]
pub enum Surface {
    /// A FlowX manifest.
    Manifest(Box<Manifest>),
    /// Tools only.
    Tools(ToolList),
}

/// The text is no list of tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    /// Not strict JSON.
    #[error("not a JSON document that can be trusted: {0}")]
    Json(#[from] JsonError),
    /// JSON of another shape.
    #[error("not a list of tools: {0}")]
    Shape(String),
}

/// Reads a list of tools: `{"tools": […]}`, a whole JSON-RPC answer around it, a list of such pages, or the bare list.
///
/// # Errors
/// When the bytes are not strict JSON, hold no list, or an element has no name.
pub fn from_tools_list(bytes: &[u8]) -> Result<ToolList, SurfaceError> {
    tools_of(&json::parse(bytes, Limits::DOCUMENT)?)
}

fn tools_of(value: &Json) -> Result<ToolList, SurfaceError> {
    let mut list = ToolList::default();
    collect(value, &mut list)?;
    Ok(list)
}

fn collect(value: &Json, list: &mut ToolList) -> Result<(), SurfaceError> {
    let shape = |text: &str| Err(SurfaceError::Shape(text.to_owned()));
    if let Some(result) = value.get("result") {
        return collect(result, list);
    }
    let (items, bare) = match (value.get("tools"), value) {
        (Some(Json::Array(items)), _) => (items, false),
        (None, Json::Array(items)) => (items, true),
        _ => return shape("expected {\"tools\": [...]}"),
    };
    for item in items {
        if bare && (item.get("tools").is_some() || item.get("result").is_some()) {
            collect(item, list)?;
            continue;
        }
        match item.get("name").and_then(Json::as_str) {
            Some(name) => list.tools.push(ForeignTool {
                name: name.to_owned(),
                descriptor: item.clone(),
            }),
            None => return shape("a tool without a name"),
        }
    }
    Ok(())
}

impl Surface {
    /// Reads whichever of the two the bytes are: a document with `schemaVersion` is a manifest, anything else a list
    /// of tools.
    ///
    /// # Errors
    /// The reader's own error, as text.
    pub fn read(bytes: &[u8]) -> Result<Surface, String> {
        let value =
            json::parse(bytes, Limits::DOCUMENT).map_err(|e| SurfaceError::from(e).to_string())?;
        if value.get("schemaVersion").is_some() {
            Manifest::read(bytes)
                .map(|m| Surface::Manifest(Box::new(m)))
                .map_err(|e| e.to_string())
        } else {
            tools_of(&value)
                .map(Surface::Tools)
                .map_err(|e| e.to_string())
        }
    }

    /// The tools alone: of a manifest, its descriptors as sent.
    pub fn to_tools(&self) -> ToolList {
        match self {
            Surface::Tools(list) => list.clone(),
            Surface::Manifest(m) => ToolList {
                tools: m
                    .tools
                    .iter()
                    .map(|t| ForeignTool {
                        name: t.name.to_string(),
                        descriptor: descriptor(t),
                    })
                    .collect(),
            },
        }
    }
}

/// The descriptor of a manifest's tool as JSON.
pub(crate) fn descriptor(tool: &flowx_manifest::Tool) -> Json {
    let text =
        serde_json::to_string(tool).expect("a descriptor has string keys only and serialises");
    json::parse(text.as_bytes(), Limits::DOCUMENT).unwrap_or_default()
}
