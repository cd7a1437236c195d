use std::collections::BTreeMap;

use flowx_manifest::Authorization;

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A permission that one capability alone demands and that differs by a letter or two from one that others demand.
    ///
    /// ## Why it matters
    ///
    /// A permission is text in two places: here, and where tokens are made. `orders.refnud` locks everybody out, until somebody grants it to the
    /// wrong people to make it work.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// authorization = permission("orders.refund")   // in two capabilities
    /// authorization = permission("orders.refnud")   // in a third
    /// ```
    ///
    /// ## Instead
    ///
    /// Write the one that was meant; allow it with a reason where both are.
    FLOWX1190, "a permission is nearly another", Warning, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for capability in &view.manifest.capabilities {
        if let Authorization::Permission { permission } = &capability.authorization {
            *times.entry(permission.as_str()).or_default() += 1;
        }
    }
    for (declared, capability) in view.capabilities() {
        let Authorization::Permission { permission } = &capability.authorization else { continue };
        let own = permission.as_str();
        if times.get(own) != Some(&1) {
            continue;
        }
        let near = times.iter().find(|(other, n)| **n > 1 && **other != own && swapped(own, other));
        if let Some((near, _)) = near {
            let message = format!("the permission `{own}` is demanded here alone, and is nearly `{near}`");
            let help = format!("did you mean `{near}`?");
            sink(declared.error(RULE.code(), declared.decl.authorization.span, message).help(help).into());
        }
    }
}

/// Whether two words differ by one letter too many, too few or wrong, or by two neighbours that changed places.
fn swapped(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let rest = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (left, right) = (&a[start..a.len() - rest], &b[start..b.len() - rest]);
    // A last digit tells things apart on purpose.
    let digits = left.iter().chain(right).all(char::is_ascii_digit);
    match (left.len(), right.len()) {
        (0, 1) | (1, 0) | (1, 1) => !digits,
        (2, 2) => left[0] == right[1] && left[1] == right[0],
        _ => false,
    }
}
