//! Between the scan's names and the contracts: which module a type is written in, and what its path means there.

use flowx_manifest::{Application, Contract, TypeRef};
use quote::ToTokens as _;

use crate::assemble::{Assembled, Assembler, TypeRefs};
use crate::files::Files;
use crate::finding::Findings;
use crate::library::Library;
use crate::scan::Tree;
use crate::types::Place;

/// Hands types to the contracts.
pub(crate) struct Bridge<'t> {
    #[allow(dead_code)]
    trees: [Option<&'t Tree>; 2],
}

impl<'t> Bridge<'t> {
    pub(crate) fn new(own: &'t Tree, library: Option<&'t Tree>, _: &dyn Files, _: &[Library]) -> Self {
        Self { trees: [Some(own), library] }
    }

    /// The manifest without contracts and tools, and the contracts.
    pub(crate) fn assemble(
        &self,
        assembler: &Assembler<'_, 't>,
        application: Application,
        _: &Findings,
    ) -> (Assembled, Vec<Contract>) {
        (assembler.assemble(application, &mut ByText), Vec::new())
    }
}

struct ByText;

impl TypeRefs for ByText {
    fn request(&mut self, at: Place<'_>, ty: &syn::Type) -> TypeRef {
        self.named(at, ty)
    }
    fn response(&mut self, at: Place<'_>, ty: &syn::Type) -> TypeRef {
        self.named(at, ty)
    }
    fn named(&mut self, _: Place<'_>, ty: &syn::Type) -> TypeRef {
        TypeRef { name: ty.to_token_stream().to_string(), sensitive: Default::default() }
    }
}
