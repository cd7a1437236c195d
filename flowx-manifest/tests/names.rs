//! Each kind of name: what is one, what is not, and that its published pattern says the same.
#![allow(clippy::unwrap_used)]

use flowx_manifest::*;

#[track_caller]
fn holds<T: std::str::FromStr<Err = NameError> + std::fmt::Display>(good: &[&str], bad: &[&str]) {
    for text in good {
        assert_eq!(
            text.parse::<T>()
                .unwrap_or_else(|e| panic!("{e}"))
                .to_string(),
            *text
        );
    }
    for text in bad {
        let error = text
            .parse::<T>()
            .err()
            .unwrap_or_else(|| panic!("{text:?} was accepted"));
        assert!(text.ends_with(&error.text), "{error}");
    }
}

#[test]
fn a_name_has_the_form_of_its_kind_or_is_refused() {
    let not_dotted = [
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "A.b",
        "a.B",
        "a b.c",
        "1a.b",
        "a.é",
        "a.b\n",
        "a\u{200b}.b",
    ];
    holds::<FlowId>(
        &["ticket.refund", "a.b.c", "a1.b_2-c"],
        &[&not_dotted[..], &["ticket"]].concat(),
    );
    holds::<CapabilityId>(
        &["payment.refund"],
        &[&not_dotted[..], &["payment"]].concat(),
    );
    holds::<ErrorCode>(&["refund.already_issued"], &not_dotted);
    holds::<EventId>(&["order.placed"], &not_dotted);
    holds::<EffectId>(&["ledger", "payment-gateway", "db.orders"], &not_dotted);
    holds::<AgentId>(&["estimator"], &not_dotted);
    holds::<EntityId>(&["card"], &not_dotted);
    holds::<StepName>(&["find", "pay_2"], &["", "Find", "a.b", "a-b", "2a"]);
    holds::<ToolName>(&["ticket_refund", "A-b"], &["", "a.b", "a b", "é"]);
    holds::<PermissionName>(
        &["payment.refund", "read:all"],
        &["", "a b", "a,b", "a\"b", "a\\b", "é", "a\u{7f}"],
    );
    let long = format!("a.{}", "b".repeat(127));
    holds::<FlowId>(&[], &[&long]);
    holds::<ToolName>(&["a".repeat(64).as_str()], &["a".repeat(65).as_str()]);
}

#[test]
fn versions_and_durations_are_exact() {
    holds::<Version>(
        &["0.0.0", "1.20.3"],
        &[
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "01.2.3",
            "1.2.3-a",
            "1..3",
            "v1.2.3",
            "1.2.99999999999999999999",
        ],
    );
    holds::<VersionedId>(
        &["a.b@1.0.0"],
        &["a.b", "a.b@1", "@1.0.0", "a b@1.0.0", "a.b@1.0.0@2.0.0"],
    );
    holds::<IsoDuration>(
        &["PT30S", "PT0.2S", "P7D", "P1DT2H3M4.567S", "PT1H"],
        &[
            "",
            "P",
            "PT",
            "PT0S",
            "30s",
            "PT-1S",
            "-PT1S",
            "P1M",
            "P1Y",
            "PT1.S",
            "PT1.2345S",
            "PT1S2M",
            "P1DT",
            "PT999999999999S",
            "P4000D",
        ],
    );
    let millis = |s: &str| s.parse::<IsoDuration>().unwrap().millis();
    assert_eq!(millis("PT0.2S"), 200);
    assert_eq!(millis("PT1M30S"), 90_000);
    assert_eq!(millis("P1DT1H"), 90_000_000);
}

#[cfg(feature = "schema")]
mod patterns {
    use super::*;

    #[track_caller]
    fn agrees<T: std::str::FromStr + schemars::JsonSchema>(texts: &[&str]) {
        let validator = jsonschema::validator_for(schemars::schema_for!(T).as_value()).unwrap();
        for text in texts {
            let (pattern, parser) = (
                validator.is_valid(&serde_json::json!(text)),
                text.parse::<T>().is_ok(),
            );
            // A pattern may describe less than the parser checks (lengths, sums), never refuse what the parser takes.
            assert!(
                pattern || !parser,
                "{text:?} is refused by the pattern alone"
            );
            if text.len() < 60 && !text.contains('\n') {
                assert_eq!(pattern, parser, "{text:?}");
            }
        }
    }

    #[test]
    fn a_published_pattern_says_what_the_parser_does() {
        let texts = [
            "", "a", "a.b", "a-b", "a_b.c1", "A", "a b", "1", ".", "a.", "a,b", "é",
        ];
        agrees::<FlowId>(&texts);
        agrees::<CapabilityId>(&texts);
        agrees::<EffectId>(&texts);
        agrees::<EventId>(&texts);
        agrees::<AgentId>(&texts);
        agrees::<EntityId>(&texts);
        agrees::<ErrorCode>(&texts);
        agrees::<StepName>(&texts);
        agrees::<ToolName>(&texts);
        agrees::<PermissionName>(&["a", "a.b", "a b", "a,b", "", "a\"b", "a'b", "a\\b"]);
        agrees::<Version>(&["1.0.0", "01.0.0", "1.0", "1.0.0-a", "a"]);
        agrees::<VersionedId>(&["a.b@1.0.0", "a@1.0.0", "a.b", "a.b@1"]);
        agrees::<IsoDuration>(&["PT1S", "P1D", "PT1H2M3.4S", "1s", "P1Y", "PT1.2345S"]);
    }
}
