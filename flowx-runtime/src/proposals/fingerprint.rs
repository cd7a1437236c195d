//! What a yes covers, as one hash over what runs; never over what was shown.

use flowx_manifest::Json;

use super::model::{Proposal, Shown};

/// Everything that a yes covers. A change of any of it makes the yes worth nothing.
#[derive(Clone, Copy, Debug)]
pub struct Covered<'a> {
    /// The digest of what the manifest says of the flow and its tool.
    pub descriptor: &'a str,
    /// The canonical input, exactly as the handler receives it.
    pub input: &'a str,
    /// The requester's key.
    pub requester: &'a str,
    /// The tenant.
    pub tenant: Option<&'a str>,
    /// The declared agent.
    pub agent: Option<&'a str>,
    /// The digest of its declaration.
    pub agent_declaration: Option<&'a str>,
    /// The skill it works under.
    pub skill: Option<&'a str>,
    /// The version of what the call is about.
    pub subject_version: Option<&'a str>,
}

/// The fingerprint: blake3 over the canonical JSON of what is covered. Not a signature; it holds no secret.
pub fn fingerprint(covered: &Covered<'_>) -> String {
    let optional = |text: Option<&str>| text.map_or(Json::Null, Json::from);
    digest(
        "flowx fingerprint 1",
        &Json::object([
            ("descriptor", Json::from(covered.descriptor)),
            ("input", covered.input.into()),
            ("requester", covered.requester.into()),
            ("tenant", optional(covered.tenant)),
            ("agent", optional(covered.agent)),
            ("agentDeclaration", optional(covered.agent_declaration)),
            ("skill", optional(covered.skill)),
            ("subjectVersion", optional(covered.subject_version)),
        ]),
    )
}

/// The key under which the same call by the same caller is one row: caller, flow, skill and input, and nothing that may change
/// while it waits.
pub fn call_key(requester: &str, flow: &str, skill: Option<&str>, input: &str) -> String {
    digest(
        "flowx call key 1",
        &Json::object([
            ("requester", Json::from(requester)),
            ("flow", flow.into()),
            ("skill", skill.map_or(Json::Null, Json::from)),
            ("input", input.into()),
        ]),
    )
}

/// What a decision has to carry: the fingerprint of the call together with what was shown of it. Whoever read other words, or words
/// about another call, carries another one. So does whoever read it before its last run: a yes to a call that waited is not a yes to
/// running it again after nobody knows how it ended.
pub fn shown_fingerprint(proposal: &Proposal) -> String {
    let run = proposal.execution.as_ref().map(|run| run.token.as_str());
    digest(
        "flowx shown 2",
        &Json::object([
            ("id", Json::from(proposal.id.as_str())),
            ("fingerprint", proposal.fingerprint.as_str().into()),
            ("run", run.map_or(Json::Null, Json::from)),
            ("shown", shown_json(&proposal.shown)),
        ]),
    )
}

fn shown_json(shown: &Shown) -> Json {
    let list = |texts: &[String]| Json::from(texts.to_vec());
    Json::object([
        ("title", Json::from(shown.title.as_str())),
        ("askedBy", shown.asked_by.as_str().into()),
        ("effects", list(&shown.effects)),
        ("permissions", list(&shown.permissions)),
        ("withheld", list(&shown.withheld)),
        (
            "fields",
            Json::Array(
                shown
                    .fields
                    .iter()
                    .map(|f| {
                        Json::object([
                            ("name", Json::from(f.name.as_str())),
                            ("value", f.value.as_str().into()),
                        ])
                    })
                    .collect(),
            ),
        ),
    ])
}

/// blake3 under a domain, so that no two kinds of digest can be taken for each other.
fn digest(domain: &str, value: &Json) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(domain.as_bytes());
    hasher.update(b"\n");
    hasher.update(value.to_canonical().as_bytes());
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Covered<'static> = Covered {
        descriptor: "d",
        input: "{}",
        requester: "agent|0:|1:a",
        tenant: None,
        agent: Some("a"),
        agent_declaration: Some("x"),
        skill: None,
        subject_version: None,
    };

    #[test]
    fn every_part_changes_the_fingerprint() {
        let base = fingerprint(&BASE);
        let others = [
            Covered {
                descriptor: "e",
                ..BASE
            },
            Covered {
                input: "{\"a\":1}",
                ..BASE
            },
            Covered {
                requester: "agent|0:|1:b",
                ..BASE
            },
            Covered {
                tenant: Some(""),
                ..BASE
            },
            Covered {
                agent: None,
                ..BASE
            },
            Covered {
                agent_declaration: Some("y"),
                ..BASE
            },
            Covered {
                skill: Some("s"),
                ..BASE
            },
            Covered {
                subject_version: Some("1"),
                ..BASE
            },
        ];
        for other in &others {
            assert_ne!(fingerprint(other), base, "{other:?}");
        }
        assert_eq!(fingerprint(&BASE), base);
    }

    #[test]
    fn a_value_in_one_part_is_never_taken_for_the_same_value_in_another() {
        let a = fingerprint(&Covered {
            tenant: Some("v"),
            ..BASE
        });
        let b = fingerprint(&Covered {
            skill: Some("v"),
            ..BASE
        });
        let c = fingerprint(&Covered {
            subject_version: Some("v"),
            ..BASE
        });
        assert!(a != b && b != c && a != c);
    }
}
