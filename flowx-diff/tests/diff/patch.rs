//! Small edits of a manifest, addressed by names: `/flows/ticket.refund/steps/pay/timeout`.

use flowx_manifest::Json;

/// Sets the value at a path, or removes it (`null`). A token in a list is `+` (append), an index, or what names an
/// element: its id, name, code, `agent` for the agent trigger, `POST /route` for a route.
pub(crate) fn apply(root: &mut Json, path: &str, value: &Json) {
    let tokens: Vec<String> = path
        .trim_start_matches('/')
        .split('/')
        .map(|t| t.replace("~1", "/").replace("~0", "~"))
        .collect();
    let (last, way) = tokens.split_last().expect("a path has a last token");
    let mut at = root;
    for token in way {
        at = step(at, token).unwrap_or_else(|| panic!("{path}: nothing at {token}"));
    }
    match at {
        Json::Object(map) => match value {
            Json::Null => {
                map.remove(last)
                    .unwrap_or_else(|| panic!("{path}: nothing to remove"));
            }
            value => {
                map.insert(last.clone(), value.clone());
            }
        },
        Json::Array(items) if last == "+" => items.push(value.clone()),
        Json::Array(items) => {
            let i = find(items, last).unwrap_or_else(|| panic!("{path}: nothing at {last}"));
            match value {
                Json::Null => {
                    items.remove(i);
                }
                value => items[i] = value.clone(),
            }
        }
        _ => panic!("{path}: neither an object nor a list"),
    }
}

fn step<'a>(at: &'a mut Json, token: &str) -> Option<&'a mut Json> {
    match at {
        Json::Object(map) => map.get_mut(token),
        Json::Array(items) => {
            let i = find(items, token)?;
            items.get_mut(i)
        }
        _ => None,
    }
}

fn find(items: &[Json], token: &str) -> Option<usize> {
    let named = |item: &Json| {
        let text = |key: &str| item.get(key).and_then(Json::as_str);
        let route = text("method")
            .zip(text("route"))
            .map(|(m, r)| format!("{m} {r}"));
        ["id", "name", "code", "kind"]
            .iter()
            .any(|k| text(k) == Some(token))
            || route.as_deref() == Some(token)
    };
    items
        .iter()
        .position(named)
        .or_else(|| token.parse().ok().filter(|i| *i < items.len()))
}
