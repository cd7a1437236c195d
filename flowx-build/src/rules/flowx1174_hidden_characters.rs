use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// Zero-width, bidirectional, tag and control characters in a description, title or purpose.
    ///
    /// ## Why it matters
    ///
    /// A model reads them, a reviewer does not see them. They are how instructions are smuggled past a review.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// /// Looks up a ticket.\u{200B}\u{202E}
    /// ```
    ///
    /// ## Instead
    ///
    /// Write the text anew by hand.
    FLOWX1174, "a text holds characters that a reviewer does not see", Error firm, check
}

/// What is read and not seen.
fn hidden(text: &str) -> Option<char> {
    text.chars().find(|c| {
        (c.is_control() && *c != '\n' && *c != '\t')
            || matches!(*c,
                '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
                | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
                | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
    })
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    let say = |what: &str, bad: char| format!("the {what} holds U+{:04X}, which a model reads and a reviewer does not see", bad as u32);
    let help = "write the text anew by hand";
    for (declared, flow) in view.flows() {
        let decl = &declared.decl;
        let own = decl.agent.as_ref().and_then(|a| a.description.as_ref());
        let texts = [
            ("doc comment", flow.description.as_deref(), decl.signature.ident.span()),
            ("title", flow.title.as_deref(), decl.title.as_ref().map_or(declared.span, |t| t.span)),
            ("owner", flow.owner.as_deref(), decl.owner.as_ref().map_or(declared.span, |t| t.span)),
            ("description", own.map(|d| d.value.as_str()), own.map_or(declared.span, |d| d.span)),
        ];
        for (what, text, span) in texts {
            if let Some(bad) = text.and_then(hidden) {
                sink(declared.error(RULE.code(), span, say(what, bad)).help(help).into());
            }
        }
    }
    for (declared, capability) in view.capabilities() {
        if let Some(bad) = capability.description.as_deref().and_then(hidden) {
            let span = declared.decl.signature.ident.span();
            sink(declared.error(RULE.code(), span, say("doc comment", bad)).help(help).into());
        }
    }
    for declared in view.effects() {
        let text = view.manifest.effects.iter().find(|e| e.id == declared.decl.id.value).and_then(|e| e.description.as_deref());
        if let Some(bad) = text.and_then(hidden) {
            sink(declared.error(RULE.code(), declared.decl.ident.span(), say("doc comment", bad)).help(help).into());
        }
    }
    for declared in view.agents() {
        if let Some(bad) = hidden(&declared.decl.purpose.value) {
            sink(declared.error(RULE.code(), declared.decl.purpose.span, say("purpose", bad)).help(help).into());
        }
    }
    // Descriptions of fields are part of what a model reads too.
    for (declared, _) in view.flows().filter(|(d, _)| d.decl.agent.is_some()) {
        let tool = view.manifest.tools.iter().find(|t| t.annotations.flow_id == declared.decl.id.value);
        let schemas = tool.map(|t| format!("{}{}", t.input_schema.to_canonical(), t.output_schema.to_canonical()));
        if let Some(bad) = schemas.as_deref().and_then(hidden) {
            let message = say("schema of this tool", bad);
            sink(declared.error(RULE.code(), declared.decl.signature.ident.span(), message).help(help).into());
        }
    }
}
