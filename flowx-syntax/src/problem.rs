//! What is wrong with a declaration, as data: the macros make compiler errors of it, the scan makes findings.

use std::fmt;

use proc_macro2::Span;

/// One mistake in a declaration.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The rule's id, `FLOWX1104`.
    pub code: &'static str,
    /// What is wrong and how to mend it, in one line.
    pub message: String,
    /// Where it stands.
    pub span: Span,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

/// Every mistake of one declaration; never empty when returned as an error.
#[derive(Clone, Debug, Default)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Adds one.
    pub fn push(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.0.push(Problem {
            code,
            message: message.into(),
            span,
        });
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The declaration, when nothing is wrong and all of it could be read.
    pub(crate) fn finish<T>(self, decl: Option<T>) -> Result<T, Problems> {
        match decl {
            Some(decl) if self.is_empty() => Ok(decl),
            _ => {
                debug_assert!(
                    !self.is_empty(),
                    "a declaration that could not be read has a problem that says why"
                );
                Err(self)
            }
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl From<Problem> for syn::Error {
    fn from(problem: Problem) -> syn::Error {
        syn::Error::new(problem.span, &problem)
    }
}

impl From<Problems> for syn::Error {
    /// All of them combined, each at its span.
    fn from(problems: Problems) -> syn::Error {
        problems
            .0
            .into_iter()
            .map(syn::Error::from)
            .reduce(|mut all, next| {
                all.combine(next);
                all
            })
            .unwrap_or_else(|| {
                syn::Error::new(Span::call_site(), "this declaration could not be read")
            })
    }
}

/// The ids of what this crate finds wrong. An id is never used again for something else.
pub mod codes {
    /// No stance is declared.
    pub const NO_STANCE: &str = "FLOWX1010";
    /// A flow declares no steps.
    pub const NO_STEPS: &str = "FLOWX1023";
    /// A profile that no engine backs.
    pub const PROFILE: &str = "FLOWX1028";
    /// A permission stance names nothing.
    pub const EMPTY_PERMISSION: &str = "FLOWX1030";
    /// A stance that cannot be enforced.
    pub const STANCE: &str = "FLOWX1037";
    /// A word outside its closed vocabulary: a key, a value, a method.
    pub const UNKNOWN_WORD: &str = "FLOWX1104";
    /// A key twice.
    pub const TWICE: &str = "FLOWX1105";
    /// An id, version, duration, route or name that does not have the form of its kind.
    pub const FORM: &str = "FLOWX1106";
    /// An item that the attribute cannot stand on, or a signature of another shape.
    pub const SHAPE: &str = "FLOWX1107";
    /// A key that must be there is not.
    pub const MISSING: &str = "FLOWX1108";
    /// Two steps of one name.
    pub const STEP_TWICE: &str = "FLOWX1109";
    /// One effect, flow or tool twice in one list.
    pub const LISTED_TWICE: &str = "FLOWX1162";
    /// Arguments that cannot be read at all.
    pub const SYNTAX: &str = "FLOWX1163";
    /// A part of a declaration that takes effect only with another that is not there.
    pub const IDLE: &str = "FLOWX1164";
}
