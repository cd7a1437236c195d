//! Permissions and tenant, as token issuers write them.

use std::collections::BTreeSet;

use flowx_manifest::PermissionName;
use serde_json::{Map, Value};

/// The permissions of a token: every claim that carries some, as a list or as words between spaces. Names that cannot be permissions
/// are left out: they grant nothing.
pub(super) fn permissions(claims: &Map<String, Value>) -> BTreeSet<PermissionName> {
    let mut out = BTreeSet::new();
    for claim in ["permission", "permissions", "scope", "scp"] {
        match claims.get(claim) {
            Some(Value::String(words)) => {
                out.extend(words.split(' ').filter_map(|w| PermissionName::new(w).ok()))
            }
            Some(Value::Array(items)) => {
                out.extend(
                    items
                        .iter()
                        .filter_map(Value::as_str)
                        .filter_map(|w| PermissionName::new(w).ok()),
                );
            }
            _ => {}
        }
    }
    out
}

/// The tenant of a token. Two claims that differ are no tenant but a refusal.
pub(super) fn tenant(claims: &Map<String, Value>) -> Result<Option<String>, &'static str> {
    let mut found: Option<&str> = None;
    for claim in ["tid", "tenant_id"] {
        match claims.get(claim) {
            None | Some(Value::Null) => {}
            Some(Value::String(tenant)) if !tenant.is_empty() => {
                if found.is_some_and(|f| f != tenant) {
                    return Err("tid and tenant_id differ");
                }
                found = Some(tenant);
            }
            Some(_) => return Err("a tenant that is not a word"),
        }
    }
    Ok(found.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(json: &str) -> Map<String, Value> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn permissions_come_from_four_claims_as_lists_or_words() {
        let all = permissions(&claims(
            r#"{"permission":"a.one","permissions":["b.two","not one, two"],"scope":"c.three d.four","scp":["e.five"]}"#,
        ));
        assert_eq!(
            all.iter().map(|p| p.as_str()).collect::<Vec<_>>(),
            ["a.one", "b.two", "c.three", "d.four", "e.five"]
        );
    }

    #[test]
    fn a_permission_is_one_exact_word() {
        let some = permissions(&claims(r#"{"scope":"payment.refund.all Payment.Refund"}"#));
        assert!(!some.contains("payment.refund"));
    }

    #[test]
    fn two_tenants_are_none() {
        assert_eq!(
            tenant(&claims(r#"{"tid":"a","tenant_id":"a"}"#)),
            Ok(Some("a".into()))
        );
        assert!(tenant(&claims(r#"{"tid":"a","tenant_id":"b"}"#)).is_err());
        assert!(tenant(&claims(r#"{"tid":7}"#)).is_err());
        assert_eq!(tenant(&claims("{}")), Ok(None));
    }
}
