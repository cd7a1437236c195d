//! How long a comparison takes as the surface grows: `cargo run -p flowx-diff --example scale`.

use std::time::Instant;

use flowx_diff::{DiffOptions, diff, review};
use flowx_manifest::{Json, Manifest, json};

fn application(flows: usize) -> Result<Json, Box<dyn std::error::Error>> {
    let text = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/base.json"))?;
    let mut out = json::parse(&text, json::Limits::DOCUMENT)?;
    let flow = out.pointer("/flows/2").cloned().unwrap_or_default();
    let tool = out.pointer("/tools/1").cloned().unwrap_or_default();
    let contract = out
        .pointer("/contracts/7/schema")
        .cloned()
        .unwrap_or_default();
    let map = out.as_object_mut().ok_or("an object")?;
    for i in 0..flows {
        let (id, contract_id, name) = (
            format!("area.flow{i}"),
            format!("crate::In{i}"),
            format!("area_flow{i}"),
        );
        let put = |json: &mut Json, key: &str, value: Json| {
            if let Some(m) = json.as_object_mut() {
                m.insert(key.to_owned(), value);
            }
        };
        let (mut flow, mut tool) = (flow.clone(), tool.clone());
        put(&mut flow, "id", Json::from(id.as_str()));
        put(
            &mut flow,
            "input",
            Json::object([("type", Json::from(contract_id.as_str()))]),
        );
        let trigger = json::parse(
            format!(
                r#"[{{"kind":"agent","name":"{name}","confirmation":"never","risk":"normal"}}]"#
            )
            .as_bytes(),
            json::Limits::DOCUMENT,
        )?;
        put(&mut flow, "triggers", trigger);
        put(&mut tool, "name", Json::from(name.as_str()));
        let contract = Json::object([
            ("id", Json::from(contract_id)),
            ("schema", contract.clone()),
        ]);
        for (section, entry) in [("flows", flow), ("tools", tool), ("contracts", contract)] {
            if let Some(Json::Array(items)) = map.get_mut(section) {
                items.push(entry);
            }
        }
    }
    Ok(out)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:>6} {:>9} {:>9} {:>9} {:>9}",
        "flows", "read ms", "same ms", "edit ms", "review ms"
    );
    for flows in [50, 100, 200, 500, 1000] {
        let text = application(flows)?.to_canonical();
        let edited = text
            .replacen("\"maximum\":100", "\"maximum\":10", flows / 10)
            .replacen("closed", "shut", 40);
        let start = Instant::now();
        let (a, b) = (
            Manifest::read(text.as_bytes())?,
            Manifest::read(edited.as_bytes())?,
        );
        let read = start.elapsed();
        let start = Instant::now();
        assert!(
            diff(&a, &a.clone(), &DiffOptions::default())
                .findings
                .is_empty()
        );
        let same = start.elapsed();
        let start = Instant::now();
        let report = diff(&a, &b, &DiffOptions::default());
        let edit = start.elapsed();
        let start = Instant::now();
        let _ = review(&a);
        let ms = |d: std::time::Duration| d.as_secs_f64() * 1000.0;
        println!(
            "{flows:>6} {:>9.1} {:>9.1} {:>9.1} {:>9.1}   ({} findings)",
            ms(read),
            ms(same),
            ms(edit),
            ms(start.elapsed()),
            report.findings.len()
        );
    }
    Ok(())
}
