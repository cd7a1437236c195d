//! `#[agent(…)]`: an agent, who answers for it, and the leave it has.

use flowx_manifest::{AgentId, Leave, PermissionName};
use proc_macro2::{Span, TokenStream};

use crate::args::{Arg, Args, path_text};
use crate::item::{On, plain_type};
use crate::problem::{Problems, codes};
use crate::{AgentDecl, SkillDecl, Spanned};

const AGENT_KEYS: &[&str] = &[
    "id",
    "purpose",
    "sponsor",
    "changes",
    "sends",
    "spends",
    "reaches_out",
    "alone",
    "propose",
    "propose_every_time",
    "never",
    "skill",
    "widened_by",
];

/// Reads `#[agent(…)]`; `span` is the attribute's own place.
///
/// # Errors
/// Everything that is wrong with the declaration.
pub fn parse_agent(span: Span, args: TokenStream, on: On<'_>) -> Result<AgentDecl, Problems> {
    let mut problems = Problems::default();
    let target = plain_type(on, "`#[agent]`", &mut problems);
    if let On::Type { fields, ident, .. } = on
        && !fields.is_some_and(syn::Fields::is_empty)
    {
        problems.push(
            codes::SHAPE,
            ident.span(),
            "`#[agent]` stands on a unit struct: an agent holds nothing here",
        );
    }
    let mut args = Args::read(
        args,
        "`#[agent]`",
        span,
        AGENT_KEYS,
        &["skill"],
        &mut problems,
    );
    let id = args.demand_name::<AgentId>("id", "id = \"estimator\"");
    let purpose = args.demand_text("purpose", "purpose = \"prepares offers\"");
    let sponsor = args.demand_text("sponsor", "sponsor = \"anna\"");
    let [changes, sends, spends, reaches_out] =
        ["changes", "sends", "spends", "reaches_out"].map(|class| {
            args.word(class, Leave::ALL)
                .map_or(Leave::Propose, |l| l.value)
        });
    let tools = leaves(&mut args);
    let mut skills: Vec<SkillDecl> = Vec::new();
    while let Some(arg) = args.take("skill") {
        let Some(skill) = skill(&arg, args.problems) else {
            continue;
        };
        if skills.iter().any(|s| s.name.value == skill.name.value) {
            args.problems.push(
                codes::LISTED_TWICE,
                skill.name.span,
                format!("a skill `{}` stands above", skill.name.value),
            );
        }
        skills.push(skill);
    }
    let widened_by = args.name::<PermissionName>("widened_by");
    let decl = (|| {
        let (ident, _) = target?;
        Some(AgentDecl {
            ident: ident.clone(),
            id: id?,
            purpose: purpose?,
            sponsor: sponsor?,
            changes,
            sends,
            spends,
            reaches_out,
            tools,
            skills,
            widened_by,
        })
    })();
    problems.finish(decl)
}

/// `alone(path, …)`, `propose(…)`, `propose_every_time(…)`, `never(…)`; one flow in one list.
fn leaves(args: &mut Args<'_>) -> Vec<(Spanned<Leave>, syn::Path)> {
    let mut all: Vec<(Spanned<Leave>, syn::Path)> = Vec::new();
    for leave in Leave::ALL {
        let Some(arg) = args.take(leave.as_str()) else {
            continue;
        };
        for path in arg.paths(&format!("{leave}(ticket::refund)"), args.problems) {
            if let Some((other, _)) = all.iter().find(|(_, p)| *p == path) {
                let text = path_text(&path);
                let message = format!(
                    "`{text}` stands in `{}` and in `{leave}`: say one",
                    other.value
                );
                args.problems.push(codes::LISTED_TWICE, arg.span, message);
            }
            all.push((
                Spanned {
                    value: *leave,
                    span: arg.span,
                },
                path,
            ));
        }
    }
    all
}

fn skill(arg: &Arg, problems: &mut Problems) -> Option<SkillDecl> {
    const KEYS: &[&str] = &[
        "name",
        "purpose",
        "uses",
        "alone",
        "propose",
        "propose_every_time",
        "never",
    ];
    const EXAMPLE: &str = "skill(name = \"refunds\", purpose = \"…\", uses(ticket::refund))";
    let tokens = arg.list(EXAMPLE, problems)?;
    let mut args = Args::read(tokens, "`skill(…)`", arg.span, KEYS, &[], &mut *problems);
    let name = args.demand_text("name", "name = \"refunds\"");
    let purpose = args.demand_text("purpose", "purpose = \"pays back what was bought\"");
    let uses = args
        .demand("uses", "uses(ticket::refund)")
        .map(|arg| arg.paths(EXAMPLE, args.problems));
    let tools = leaves(&mut args);
    Some(SkillDecl {
        name: name?,
        purpose: purpose?,
        uses: uses?,
        tools,
    })
}
