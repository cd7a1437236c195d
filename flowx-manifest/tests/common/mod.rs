//! A manifest in which every section and every optional field is filled.

use flowx_manifest::*;

/// Fills every field, so that a round trip or a schema that forgets one is seen.
pub(crate) fn full() -> Manifest {
    let name = |n: &str| TypeRef {
        name: n.into(),
        sensitive: ["/card".to_owned()].into(),
    };
    let effect: EffectId = "payment-gateway".parse().unwrap();
    let permission: PermissionName = "payment.refund".parse().unwrap();
    let version: Version = "1.2.3".parse().unwrap();
    let flow: FlowId = "ticket.refund".parse().unwrap();
    let error = ErrorSpec {
        code: "refund.already_issued".parse().unwrap(),
        category: Category::Conflict,
    };
    let capability = |id: &str, authorization| Capability {
        id: id.parse().unwrap(),
        version,
        description: Some("Zahlt „zurück“.\nZweite Zeile \u{2028} \"quoted\" \\ \u{1}".into()),
        input: name("crate::RefundOrder"),
        output: TypeRef {
            name: "()".into(),
            sensitive: Default::default(),
        },
        authorization,
        effects: [effect.clone(), "ledger".parse().unwrap()].into(),
        idempotent: false,
        errors: Some(vec![error.clone()]),
        deprecated: Some("use payment.reverse".into()),
    };
    let mut manifest = Manifest {
        schema: SCHEMA_ID.into(),
        schema_version: SCHEMA_VERSION.into(),
        application: Application {
            name: "desk".into(),
            version: "0.1.0".into(),
        },
        effects: vec![
            Effect {
                id: effect.clone(),
                class: EffectClass::Spends,
                description: Some("The card processor.".into()),
            },
            Effect {
                id: "ledger".parse().unwrap(),
                class: EffectClass::Changes,
                description: None,
            },
        ],
        capabilities: vec![
            capability(
                "payment.refund",
                Authorization::Permission {
                    permission: permission.clone(),
                },
            ),
            capability(
                "payment.public",
                Authorization::Public {
                    approved_by: Some("security".into()),
                },
            ),
            capability("payment.anyone", Authorization::Authenticated {}),
            capability("payment.part", Authorization::Internal {}),
        ],
        flows: vec![Flow {
            id: flow.clone(),
            version,
            title: Some("Refund".into()),
            description: Some("Refunds.".into()),
            owner: Some("support".into()),
            deadline: Some("PT30S".parse().unwrap()),
            profile: Profile::Ephemeral,
            input: name("crate::IssueRefund"),
            output: name("crate::RefundIssued"),
            triggers: vec![
                Trigger::Http {
                    method: "POST".into(),
                    route: "/api/v1/refunds".into(),
                    idempotent: true,
                },
                Trigger::Agent {
                    name: "ticket_refund".parse().unwrap(),
                    description: Some("Refund a ticket.".into()),
                    confirmation: Confirmation::RequiredForSideEffects,
                    risk: Risk::High,
                },
            ],
            steps: vec![
                Step {
                    name: "pay".parse().unwrap(),
                    calls: StepTarget::Capability("payment.refund@1.2.3".parse().unwrap()),
                    timeout: Some("PT2S".parse().unwrap()),
                    attempts: Some(3),
                    backoff: Some("PT0.2S".parse().unwrap()),
                    compensation: Some("payment.reverse@1.0.0".parse().unwrap()),
                },
                Step {
                    name: "tell".parse().unwrap(),
                    calls: StepTarget::Flow("mail.send@1.0.0".parse().unwrap()),
                    timeout: None,
                    attempts: None,
                    backoff: None,
                    compensation: None,
                },
            ],
            effects: [effect.clone()].into(),
            permissions: [permission.clone()].into(),
            errors: Some(vec![error]),
            approval: Some(Approval {
                required: true,
                decided_by: DecidedBy::Queue("finance".into()),
                self_approval: false,
                finish: Finish::Redeem,
                expires: Some("P1D".parse().unwrap()),
                grant_expires: Some("PT1H".parse().unwrap()),
                subject_version: true,
            }),
            deprecated: Some("soon gone".into()),
            renamed_from: Some("desk.refund".parse().unwrap()),
        }],
        events: vec![Event {
            id: "order.placed".parse().unwrap(),
            version,
            contract: name("crate::OrderPlaced"),
            produced_by: [flow.clone()].into(),
            consumed_by: Default::default(),
        }],
        agents: vec![Agent {
            id: "estimator".parse().unwrap(),
            purpose: "Estimates.".into(),
            sponsor: "manager".into(),
            changes: Leave::Alone,
            sends: Leave::Propose,
            spends: Leave::ProposeEveryTime,
            reaches_out: Leave::Never,
            tools: [(flow.clone(), Leave::Never)].into(),
            skills: vec![Skill {
                name: "night".into(),
                purpose: "At night.".into(),
                uses: [flow.clone()].into(),
                tools: [(flow.clone(), Leave::Propose)].into(),
            }],
            widened_by: Some("agents.widen".parse().unwrap()),
        }],
        entities: vec![Entity {
            id: "card".parse().unwrap(),
            version,
            states: vec!["open".into(), "archived".into()],
            operations: vec![Operation {
                name: "archive".into(),
                from: ["open".to_owned()].into(),
                to: "archived".into(),
                permission: Some(permission.clone()),
                rules: ["empty".to_owned()].into(),
            }],
        }],
        contracts: vec![
            Contract {
                id: "crate::IssueRefund".into(),
                schema: None,
                request: Some(Json::object([
                    ("type", "object".into()),
                    (
                        "properties",
                        Json::object([(
                            "page",
                            Json::object([(
                                "$ref",
                                contract_ref("crate::Page<crate::Item>").into(),
                            )]),
                        )]),
                    ),
                ])),
                response: Some(Json::Bool(true)),
                renamed_from: Some("crate::Refund".into()),
            },
            Contract {
                id: "crate::Page<crate::Item>".into(),
                schema: Some(Json::object([
                    ("maximum", u128::MAX.into()),
                    ("minimum", i128::MIN.into()),
                    ("multipleOf", Json::from_f64(0.1)),
                    (
                        "not",
                        Json::object([("$ref", contract_ref("crate::IssueRefund").into())]),
                    ),
                ])),
                request: None,
                response: None,
                renamed_from: None,
            },
        ],
        tools: vec![Tool {
            name: "ticket_refund".parse().unwrap(),
            title: Some("Refund".into()),
            description: "Refund a ticket.".into(),
            input_schema: Json::object([("type", "object".into())]),
            output_schema: Json::object([("type", "object".into())]),
            annotations: ToolAnnotations {
                title: Some("Refund".into()),
                read_only_hint: false,
                destructive_hint: true,
                idempotent_hint: false,
                open_world_hint: true,
                flow_id: flow.clone(),
                idempotent: false,
                confirmation_required: true,
                side_effects: [effect.clone()].into(),
                required_permissions: [permission.clone()].into(),
            },
            meta: ToolMeta {
                flow_id: flow,
                idempotent: false,
                confirmation_required: true,
                side_effects: [effect].into(),
                required_permissions: [permission].into(),
            },
        }],
    };
    manifest.canonicalise();
    manifest
}
