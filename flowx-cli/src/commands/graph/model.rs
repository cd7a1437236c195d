//! The graph itself, whatever it is written as.

use std::collections::{BTreeMap, BTreeSet};

use flowx_manifest::{Authorization, Leave, Manifest, StepTarget, Trigger};

/// Left to right, the column a node stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    Agent,
    Flow,
    Capability,
    Effect,
    Permission,
}

impl Column {
    pub(super) const ALL: [Column; 5] = [
        Column::Agent,
        Column::Flow,
        Column::Capability,
        Column::Effect,
        Column::Permission,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Column::Agent => "agent",
            Column::Flow => "flow",
            Column::Capability => "capability",
            Column::Permission => "permission",
            Column::Effect => "effect",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Column::Agent => "Agents",
            Column::Flow => "Flows",
            Column::Capability => "Capabilities",
            Column::Permission => "Permissions",
            Column::Effect => "Effects",
        }
    }
}

/// What became of something between two manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    Same,
    Added,
    Removed,
    Changed,
}

impl Change {
    pub(super) fn word(self) -> &'static str {
        match self {
            Change::Same => "same",
            Change::Added => "added",
            Change::Removed => "removed",
            Change::Changed => "changed",
        }
    }
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) column: Column,
    /// The id, as people know it.
    pub(super) label: String,
    /// A second, smaller line; may be empty.
    pub(super) note: String,
    /// All that is worth knowing, in lines.
    pub(super) details: Vec<(String, String)>,
    /// Everything that makes the node what it is, for comparing.
    content: String,
    pub(super) change: Change,
}

/// What an edge says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EdgeKind {
    /// A step, a declared effect, a needed permission.
    Plain,
    /// A compensation.
    Undo,
    /// An agent's leave.
    Leave,
    /// An agent's `never`.
    Never,
}

/// An edge between two nodes, by their keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: (Column, String),
    pub(super) to: (Column, String),
    pub(super) kind: EdgeKind,
    pub(super) label: String,
}

/// Nodes by column and key, and the edges between them.
pub(super) struct Graph {
    /// What it is of.
    pub(super) title: String,
    /// Whether it is of two manifests.
    pub(super) compared: bool,
    pub(super) nodes: BTreeMap<(Column, String), Node>,
    pub(super) edges: BTreeMap<Edge, Change>,
}

impl Graph {
    /// One manifest.
    pub(super) fn of(manifest: &Manifest) -> Graph {
        let mut graph = Graph {
            title: format!(
                "{} {}",
                manifest.application.name, manifest.application.version
            ),
            compared: false,
            nodes: BTreeMap::new(),
            edges: BTreeMap::new(),
        };
        for effect in &manifest.effects {
            let details = described(&effect.description);
            graph.node(
                Column::Effect,
                effect.id.to_string(),
                effect.id.to_string(),
                effect.class.to_string(),
                details,
            );
        }
        for capability in &manifest.capabilities {
            graph.capability(capability);
        }
        for flow in &manifest.flows {
            graph.flow(manifest, flow);
        }
        for agent in &manifest.agents {
            graph.agent(manifest, agent);
        }
        graph
    }

    /// Two manifests, with what became of each node and edge.
    pub(super) fn between(base: &Manifest, head: &Manifest) -> Graph {
        let (before, mut after) = (Graph::of(base), Graph::of(head));
        after.compared = true;
        if before.title != after.title {
            after.title = format!("{} → {}", before.title, after.title);
        }
        for (key, node) in &mut after.nodes {
            node.change = match before.nodes.get(key) {
                None => Change::Added,
                Some(old) if old.content != node.content => Change::Changed,
                Some(_) => Change::Same,
            };
        }
        for (edge, change) in &mut after.edges {
            *change = if before.edges.contains_key(edge) {
                Change::Same
            } else {
                Change::Added
            };
        }
        for (key, node) in before.nodes {
            after.nodes.entry(key).or_insert(Node {
                change: Change::Removed,
                ..node
            });
        }
        for (edge, _) in before.edges {
            after.edges.entry(edge).or_insert(Change::Removed);
        }
        after
    }

    fn node(
        &mut self,
        column: Column,
        key: String,
        label: String,
        note: String,
        details: Vec<(String, String)>,
    ) {
        let content = format!("{label}\n{note}\n{details:?}");
        self.nodes.insert(
            (column, key),
            Node {
                column,
                label,
                note,
                details,
                content,
                change: Change::Same,
            },
        );
    }

    fn edge(
        &mut self,
        from: (Column, String),
        to: (Column, String),
        kind: EdgeKind,
        label: String,
    ) {
        self.edges.insert(
            Edge {
                from,
                to,
                kind,
                label,
            },
            Change::Same,
        );
    }

    fn capability(&mut self, capability: &flowx_manifest::Capability) {
        let key = versioned(capability.id.as_str(), capability.version.major);
        let who = match &capability.authorization {
            Authorization::Public {
                approved_by: Some(by),
            } => format!("public (approved by {by})"),
            Authorization::Public { approved_by: None } => "public".to_owned(),
            Authorization::Authenticated {} => "authenticated".to_owned(),
            Authorization::Permission { permission } => {
                let name = permission.to_string();
                self.nodes
                    .entry((Column::Permission, name.clone()))
                    .or_insert_with(|| Node {
                        column: Column::Permission,
                        label: name.clone(),
                        note: String::new(),
                        details: Vec::new(),
                        content: String::new(),
                        change: Change::Same,
                    });
                self.edge(
                    (Column::Capability, key.clone()),
                    (Column::Permission, name),
                    EdgeKind::Plain,
                    String::new(),
                );
                "permission".to_owned()
            }
            Authorization::Internal {} => "internal".to_owned(),
        };
        for effect in &capability.effects {
            self.edge(
                (Column::Capability, key.clone()),
                (Column::Effect, effect.to_string()),
                EdgeKind::Plain,
                String::new(),
            );
        }
        let mut details = described(&capability.description);
        details.push(("version".into(), capability.version.to_string()));
        details.push(("takes".into(), capability.input.name.clone()));
        details.push(("gives".into(), capability.output.name.clone()));
        details.push((
            "idempotent".into(),
            if capability.idempotent { "yes" } else { "no" }.into(),
        ));
        details.push(("effects".into(), joined(&capability.effects)));
        self.node(Column::Capability, key.clone(), key, who, details);
    }

    fn flow(&mut self, manifest: &Manifest, flow: &flowx_manifest::Flow) {
        let key = flow.key();
        let from = (Column::Flow, key.clone());
        for step in &flow.steps {
            let to = match &step.calls {
                StepTarget::Capability(target) => (
                    Column::Capability,
                    versioned(&target.id, target.version.major),
                ),
                StepTarget::Flow(target) => {
                    (Column::Flow, versioned(&target.id, target.version.major))
                }
            };
            self.edge(from.clone(), to, EdgeKind::Plain, step.name.to_string());
            if let Some(undo) = &step.compensation {
                let to = (Column::Capability, versioned(&undo.id, undo.version.major));
                self.edge(
                    from.clone(),
                    to,
                    EdgeKind::Undo,
                    format!("undoes {}", step.name),
                );
            }
        }
        let mut details = described(&flow.description);
        details.push(("version".into(), flow.version.to_string()));
        let mut note = Vec::new();
        for trigger in &flow.triggers {
            match trigger {
                Trigger::Agent {
                    name,
                    confirmation,
                    risk,
                    ..
                } => {
                    details.push((
                        "tool".into(),
                        format!("{name}, confirmation {confirmation}, risk {risk}"),
                    ));
                    note.push(format!("tool, {}", confirmation.as_str().replace('_', " ")));
                }
                Trigger::Http { method, route, .. } => {
                    details.push(("route".into(), format!("{method} {route}")));
                    note.push(format!("{method} {route}"));
                }
            }
        }
        details.push((
            "owner".into(),
            flow.owner.clone().unwrap_or_else(|| "nobody".into()),
        ));
        if let Some(deadline) = &flow.deadline {
            details.push(("deadline".into(), deadline.as_str().into()));
        }
        if let Some(approval) = &flow.approval {
            let who = if approval.required {
                "every caller"
            } else {
                "agents"
            };
            details.push((
                "approval".into(),
                format!("{who}, finish {}", approval.finish),
            ));
        }
        details.push(("takes".into(), flow.input.name.clone()));
        details.push(("gives".into(), flow.output.name.clone()));
        details.push(("effects".into(), joined(&flow.effects)));
        details.push(("permissions".into(), joined(&flow.permissions)));
        let classes: BTreeSet<&str> = manifest
            .effects
            .iter()
            .filter(|e| flow.effects.contains(&e.id))
            .map(|e| e.class.as_str())
            .collect();
        if !classes.is_empty() {
            details.push((
                "reaches".into(),
                classes.into_iter().collect::<Vec<_>>().join(", "),
            ));
        }
        self.node(Column::Flow, key.clone(), key, note.join(" · "), details);
    }

    fn agent(&mut self, manifest: &Manifest, agent: &flowx_manifest::Agent) {
        let from = (Column::Agent, agent.id.to_string());
        for (flow, leave) in &agent.tools {
            // Leave is by flow id: every major of it is meant.
            for flow in manifest.flows.iter().filter(|f| f.id == *flow) {
                let kind = if *leave == Leave::Never {
                    EdgeKind::Never
                } else {
                    EdgeKind::Leave
                };
                self.edge(
                    from.clone(),
                    (Column::Flow, flow.key()),
                    kind,
                    leave.as_str().replace('_', " "),
                );
            }
        }
        let details = vec![
            (String::new(), agent.purpose.clone()),
            ("sponsor".into(), agent.sponsor.clone()),
            ("changes".into(), agent.changes.to_string()),
            ("sends".into(), agent.sends.to_string()),
            ("spends".into(), agent.spends.to_string()),
            ("reaches out".into(), agent.reaches_out.to_string()),
            (
                "tool by tool".into(),
                joined(
                    agent
                        .tools
                        .iter()
                        .map(|(flow, leave)| format!("{flow}: {leave}")),
                ),
            ),
            (
                "skills".into(),
                joined(agent.skills.iter().map(|skill| &skill.name)),
            ),
        ];
        self.node(
            Column::Agent,
            agent.id.to_string(),
            agent.id.to_string(),
            format!("sponsor {}", agent.sponsor),
            details,
        );
    }

    /// Edges whose both ends are drawn, with both ends' places in `order`.
    pub(super) fn edges(&self) -> impl Iterator<Item = (&Edge, Change)> {
        self.edges
            .iter()
            .filter(|(edge, _)| {
                self.nodes.contains_key(&edge.from) && self.nodes.contains_key(&edge.to)
            })
            .map(|(edge, change)| (edge, *change))
    }
}

fn versioned(id: &str, major: u64) -> String {
    format!("{id}@{major}")
}

fn described(text: &Option<String>) -> Vec<(String, String)> {
    text.iter()
        .map(|text| (String::new(), text.clone()))
        .collect()
}

fn joined<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if all.is_empty() {
        "none".to_owned()
    } else {
        all.join(", ")
    }
}
