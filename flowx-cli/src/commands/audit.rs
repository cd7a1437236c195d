//! `flowx audit`: the trail of what was called, refused, proposed, decided and done.

use std::io::{BufRead, BufReader};
use std::path::Path;

use flowx_manifest::Json;
use flowx_manifest::audit_chain::{Head, Link, Verifier};

use super::operator::Operator;
use super::{print, store};
use crate::cli::{self, AuditVerb, OutputFormat};
use crate::context::Context;
use crate::failure::{FINDINGS, Failure, OK};
use crate::output::visible;

pub(super) fn run(context: &Context, args: &cli::Audit) -> Result<u8, Failure> {
    let json = match context.common().format {
        None | Some(OutputFormat::Human) => false,
        Some(OutputFormat::Json) => true,
        Some(other) => return Err(super::no_format(other, "human and json")),
    };
    match &args.verb {
        AuditVerb::Verify { file, head } => {
            let kept = head.as_deref().map(parse_head).transpose()?;
            let (outcome, waiting) = match (file, args.server.server.as_deref()) {
                (Some(file), _) => (from_file(file, kept)?, 0),
                (None, Some(address)) if store::is_store(address) => {
                    let trail = store::verify(address, kept)?;
                    (trail.outcome, trail.waiting)
                }
                (None, _) => (from_server(&Operator::new(&args.server)?, kept)?, 0),
            };
            report(context, outcome, waiting, json)
        }
        AuditVerb::Export => {
            if let Some(address) = args.server.server.as_deref().filter(|a| store::is_store(a)) {
                let waiting =
                    store::links(address, |link| print(&format!("{}\n", link.to_line())))?;
                not_chained(context, waiting);
                return Ok(OK);
            }
            let operator = Operator::new(&args.server)?;
            let mut after = 0;
            while let Some(last) = page(&operator, after, |line, _| print(&format!("{line}\n")))? {
                after = last;
            }
            Ok(OK)
        }
    }
}

fn parse_head(text: &str) -> Result<Head, Failure> {
    let wrong = || {
        Failure::Usage(format!(
            "--head {text:?}: write SEQ:HASH, as `flowx audit verify` prints it"
        ))
    };
    let (seq, hash) = text.split_once(':').ok_or_else(wrong)?;
    let seq = seq.parse().map_err(|_| wrong())?;
    if hash.len() != 64 || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    Ok(Head {
        seq,
        hash: hash.to_lowercase(),
    })
}

fn from_file(file: &Path, kept: Option<Head>) -> Result<Result<Head, String>, Failure> {
    let opened: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(
            std::fs::File::open(file).map_err(|error| Failure::load(file.display(), error))?,
        ))
    };
    let mut verifier = Verifier::new(Head::default(), kept);
    for (at, line) in opened.lines().enumerate() {
        let line = line.map_err(|error| Failure::load(file.display(), error))?;
        if let Err(why) = check(&mut verifier, &line) {
            return Ok(Err(format!("line {}: {why}", at + 1)));
        }
    }
    let outcome = verifier.finish().map_err(|why| why.to_string());
    if outcome.as_ref().is_ok_and(|head| head.seq == 0) {
        // What a failed export leaves behind must not pass for a chain that was checked.
        return Err(Failure::load(file.display(), "there is no link in it"));
    }
    Ok(outcome)
}

fn from_server(operator: &Operator, kept: Option<Head>) -> Result<Result<Head, String>, Failure> {
    let claimed = operator.get("/flowx/audit/head")?.map_err(Failure::from)?;
    let mut verifier = Verifier::new(Head::default(), kept);
    let (mut after, mut broken) = (0, None);
    while broken.is_none() {
        let last = page(operator, after, |line, _| {
            if broken.is_none() {
                broken = check(&mut verifier, line).err();
            }
            Ok(())
        })?;
        match last {
            Some(last) => after = last,
            None => break,
        }
    }
    if let Some(why) = broken {
        return Ok(Err(why));
    }
    let head = match verifier.finish() {
        Ok(head) => head,
        Err(why) => return Ok(Err(why.to_string())),
    };
    let seq = claimed
        .get("seq")
        .and_then(Json::as_number)
        .and_then(|n| u64::try_from(n.as_u128()?).ok())
        .unwrap_or_default();
    // The trail grows while it is read, so the head told before may be behind, but never ahead of what came.
    if seq > head.seq {
        return Ok(Err(format!(
            "the chain ends at link {}, but its head is link {seq}: the end is missing",
            head.seq
        )));
    }
    Ok(Ok(head))
}

/// Reads one page of the trail; the last number in it, or `None` when there is no more.
fn page(
    operator: &Operator,
    after: u64,
    mut each: impl FnMut(&str, u64) -> Result<(), Failure>,
) -> Result<Option<u64>, Failure> {
    let text = operator
        .text(&format!("/flowx/audit?after={after}"))?
        .map_err(Failure::from)?;
    let mut last = None;
    for line in text.lines().filter(|line| !line.is_empty()) {
        let seq = Link::parse(line).map(|link| link.seq).unwrap_or_default();
        each(line, seq)?;
        last = Some(seq.max(after + 1));
    }
    Ok(last)
}

fn check(verifier: &mut Verifier, line: &str) -> Result<(), String> {
    let link = Link::parse(line).map_err(|why| why.to_string())?;
    verifier.next(&link).map_err(|why| why.to_string())
}

fn report(
    context: &Context,
    outcome: Result<Head, String>,
    waiting: i64,
    json: bool,
) -> Result<u8, Failure> {
    let (text, code) = match &outcome {
        Ok(head) => (
            format!(
                "the chain is whole: {} links, head {}:{}\n",
                head.seq, head.seq, head.hash
            ),
            OK,
        ),
        Err(why) => (
            format!("the chain is broken: {}\n", visible(why, false)),
            FINDINGS,
        ),
    };
    if json {
        let head = outcome
            .as_ref()
            .ok()
            .map(|h| serde_json::json!({ "seq": h.seq, "hash": h.hash }));
        let document = serde_json::json!({
            "schemaVersion": flowx_diff::REPORT_VERSION,
            "whole": outcome.is_ok(),
            "head": head,
            "problem": outcome.err(),
            "waiting": waiting,
        });
        print(&format!("{document:#}\n"))?;
    } else {
        print(&text)?;
    }
    not_chained(context, waiting);
    if code == OK {
        context.note("keep the head (SEQ:HASH) elsewhere and give it back with --head: a chain cut off at its end, or written anew, is found by that alone");
    }
    Ok(code)
}

/// Records are written with what they tell of and linked right after; those between are in no chain yet.
fn not_chained(context: &Context, waiting: i64) {
    if waiting > 0 {
        let records = crate::output::plural(usize::try_from(waiting).unwrap_or_default(), "record");
        context.note(&format!("{records} not chained yet"));
    }
}
