//! The rules of a comparison: one file each, with its id, classes, page and checker. Fixtures stand in
//! `tests/rules/<id>/`.

mod bump;
pub(crate) mod cx;
pub(crate) mod foreign;
mod list;
mod pairs;
pub(crate) mod shapes;
pub(crate) mod text;
mod tools;
mod words;

mod agent_added;
mod agent_removed;
mod agent_sponsor_changed;
mod agent_widening_changed;
mod alternative_added;
mod alternative_removed;
mod application_renamed;
mod approval_details_changed;
mod approval_loosened;
mod approval_tightened;
mod authorization_relaxed;
mod authorization_tightened;
mod backoff_changed;
mod capability_added;
mod capability_effect_added;
mod capability_effect_removed;
mod capability_input_changed;
mod capability_output_changed;
mod capability_removed;
mod compensation_added;
mod compensation_changed;
mod compensation_removed;
mod confirmation_strengthened;
mod confirmation_weakened;
mod contract_renamed;
mod contract_undecided;
mod contract_words_changed;
mod deadline_changed;
mod declaration_out_of_sight;
mod default_changed;
mod deprecation_changed;
mod effect_added;
mod effect_class_lowered;
mod effect_class_raised;
mod effect_removed;
mod entity_added;
mod entity_removed;
mod error_added;
mod error_category_changed;
mod error_removed;
mod errors_not_compared;
mod event_added;
mod event_contract_changed;
mod event_ends_changed;
mod event_removed;
mod flow_added;
mod flow_input_changed;
mod flow_output_changed;
mod flow_removed;
mod flow_renamed;
mod format_changed;
mod format_version_changed;
mod hidden_characters_added;
mod hint_changed;
mod idempotence_promised;
mod idempotence_withdrawn;
mod idempotency_key_demanded;
mod idempotency_key_dropped;
mod initial_state_changed;
mod leave_narrowed;
mod leave_widened;
mod limit_loosened;
mod limit_tightened;
mod member_added;
mod member_optional;
mod member_removed;
mod member_renamed;
mod member_required;
mod null_allowed;
mod null_refused;
mod object_closed;
mod object_opened;
mod operation_added;
mod operation_loosened;
mod operation_removed;
mod operation_target_changed;
mod operation_tightened;
mod output_schema_added;
mod output_schema_removed;
mod owner_changed;
mod pattern_changed;
mod reach_effect_added;
mod reach_effect_removed;
mod reach_permission_added;
mod reach_permission_removed;
mod retries_changed;
mod risk_lowered;
mod risk_raised;
mod route_changed;
mod sensitivity_gained;
mod sensitivity_lost;
mod stance_words_changed;
mod state_added;
mod state_removed;
mod steps_changed;
mod timeout_changed;
mod tool_added_unconfirmed;
mod tool_description_changed;
mod tool_facts_changed;
mod tool_leads_elsewhere;
mod tool_name_twice;
mod tool_renamed;
mod tool_schema_words_changed;
mod tool_title_changed;
mod trigger_added;
mod trigger_removed;
mod type_changed;
mod type_narrowed;
mod type_widened;
mod value_added;
mod value_removed;
mod version_does_not_tell;
mod words_changed;

use flowx_manifest::Json;

use crate::report::{Class, Finding};

pub(crate) use cx::Cx;
pub(crate) use list::ALL;
pub(crate) use pairs::{
    approvals, barrier, catalogues, kept_routes, leaves, member_is_gone, operations, routes,
    skills, stance, steps, text_change, type_change, type_refs,
};

/// What of the document a rule is about; one axis of the symmetry audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Area {
    Document,
    Flow,
    Capability,
    Effect,
    Event,
    Agent,
    Entity,
    Contract,
    Tool,
}

/// What happened to it; the other axis. Each has a mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    Add,
    Remove,
    /// Stricter, narrower, safer.
    Tighten,
    /// Weaker, wider, riskier.
    Loosen,
    /// Its own mirror.
    Change,
}

/// One rule.
pub(crate) struct Rule {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) classes: &'static [Class],
    /// The cells of the grid that it fills: area, aspect (the field or fact), action.
    pub(crate) cells: &'static [(Area, &'static str, Action)],
    /// Who notices, unless a finding says it better.
    pub(crate) consequence: &'static str,
    /// What to do, unless a finding says it better.
    pub(crate) fix: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) check: fn(&Cx<'_>, &mut Sink),
}

/// Declares `RULE`: the doc comment is the page.
macro_rules! rule {
    (
        $(#[doc = $doc:literal])*
        $id:literal $name:literal [$($class:ident),+]
        cells $cells:expr;
        consequence $consequence:literal;
        fix $fix:literal;
        check $check:expr;
    ) => {
        pub(crate) static RULE: crate::rules::Rule = crate::rules::Rule {
            id: $id,
            name: $name,
            classes: &[$(crate::report::Class::$class),+],
            cells: $cells,
            consequence: $consequence,
            fix: $fix,
            doc: concat!($($doc, "\n"),*),
            check: $check,
        };
    };
}
pub(crate) use rule;

impl Rule {
    /// A finding of this rule, of its first class.
    pub(crate) fn finding(
        &'static self,
        subject: impl Into<String>,
        pointer: impl Into<String>,
    ) -> Finding {
        Finding {
            id: self.id,
            class: self.classes[0],
            subject: subject.into(),
            pointer: pointer.into(),
            message: String::new(),
            consequence: self.consequence.to_owned(),
            fix: self.fix.to_owned(),
            witness: None,
            fingerprint: String::new(),
            allowed: false,
            allowed_by: None,
            before: None,
            after: None,
            reached_by: Vec::new(),
            source: None,
        }
    }
}

/// Filling in a finding, in the order that reads well.
impl Finding {
    pub(crate) fn class(mut self, class: Class) -> Self {
        self.class = class;
        self
    }

    pub(crate) fn says(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    pub(crate) fn change(
        mut self,
        before: impl Into<Option<Json>>,
        after: impl Into<Option<Json>>,
    ) -> Self {
        self.before = before.into();
        self.after = after.into();
        self
    }

    pub(crate) fn so(mut self, consequence: impl Into<String>) -> Self {
        self.consequence = consequence.into();
        self
    }

    pub(crate) fn instead(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }

    pub(crate) fn with_witness(mut self, witness: Option<Json>) -> Self {
        self.witness = witness;
        self
    }

    pub(crate) fn through(mut self, reached_by: impl IntoIterator<Item = String>) -> Self {
        self.reached_by = reached_by.into_iter().collect();
        self.reached_by.sort();
        self.reached_by.dedup();
        self
    }
}

/// Collects findings; joins those that say the same of the same thing.
#[derive(Default)]
pub(crate) struct Sink {
    findings: Vec<Finding>,
}

impl Sink {
    pub(crate) fn add(&mut self, mut finding: Finding) {
        finding.seal();
        let same = |f: &&mut Finding| {
            f.id == finding.id
                && f.fingerprint == finding.fingerprint
                && f.subject == finding.subject
        };
        match self.findings.iter_mut().find(same) {
            Some(known) => {
                known.class = known.class.min(finding.class);
                known.reached_by.extend(finding.reached_by);
                known.reached_by.sort();
                known.reached_by.dedup();
            }
            None => self.findings.push(finding),
        }
    }

    /// What has been found by now.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter()
    }

    /// The bump that the findings about a subject, or about what it is reached through, ask of it.
    pub(crate) fn needed(&self, subject: &str) -> crate::report::Bump {
        let about = |f: &&Finding| {
            f.subject == subject
                || f.reached_by.iter().any(|r| {
                    r == subject || r.strip_prefix(subject).is_some_and(|r| r.starts_with(' '))
                })
        };
        self.findings
            .iter()
            .filter(about)
            .map(|f| f.class.bump())
            .max()
            .unwrap_or(crate::report::Bump::None)
    }

    pub(crate) fn finish(self) -> Vec<Finding> {
        self.findings
    }
}
