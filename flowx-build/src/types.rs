//! What a return type says, through aliases of `Result`.

use syn::{GenericArgument, Item, PathArguments, Type};

use crate::scan::{ModuleId, Ns, Resolved, Tree};

/// Where a type is written.
#[derive(Clone, Copy, Debug)]
pub struct Place<'t> {
    /// The tree.
    pub tree: &'t Tree,
    /// The module.
    pub module: ModuleId,
}

/// The type without invisible groups and brackets around it.
pub(crate) fn ungroup(ty: &Type) -> &Type {
    match ty {
        Type::Group(g) => ungroup(&g.elem),
        Type::Paren(p) => ungroup(&p.elem),
        ty => ty,
    }
}

type Typed<'t> = (Place<'t>, Type);

/// The output and error of a return type: `Result<Output, Error>`, or an alias of it with some of its parameters filled in.
///
/// # Errors
/// When it is something else, or cannot be followed; the text says why.
pub(crate) fn result_of<'t>(at: Place<'t>, ty: &Type) -> Result<(Typed<'t>, Typed<'t>), String> {
    follow(at, ty, 0)
}

fn follow<'t>(at: Place<'t>, ty: &Type, depth: usize) -> Result<(Typed<'t>, Typed<'t>), String> {
    let Type::Path(path) = ungroup(ty) else {
        return Err("the return type is not a `Result<Output, Error>`".to_owned());
    };
    let arguments: Vec<Type> = match path.path.segments.last().map(|s| &s.arguments) {
        Some(PathArguments::AngleBracketed(args)) => args
            .args
            .iter()
            .filter_map(|a| match a {
                GenericArgument::Type(ty) => Some(ty.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let alias = match at.tree.resolver().resolve(at.module, &path.path, Ns::Type) {
        Ok(Resolved::Std(name)) if name == "std::result::Result" => {
            return match <[Type; 2]>::try_from(arguments) {
                Ok([output, error]) => Ok(((at, output), (at, error))),
                Err(_) => Err("`Result` has an output and an error".to_owned()),
            };
        }
        Ok(Resolved::Item(item)) => item,
        Ok(Resolved::Foreign { krate, path }) => {
            return Err(format!(
                "`{krate}::{path}` is of another crate, and what it stands for the scan cannot see; write `Result<Output, Error>`"
            ));
        }
        Ok(_) => return Err("the return type is not a `Result<Output, Error>`".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let Item::Type(of) = alias.item else {
        return Err(format!(
            "`{}` is not a `Result<Output, Error>`",
            alias.qualified()
        ));
    };
    if depth > 64 {
        return Err(format!(
            "the alias `{}` stands for itself",
            alias.qualified()
        ));
    }
    let there = Place {
        tree: alias.tree,
        module: alias.module,
    };
    let (output, error) = follow(there, &of.ty, depth + 1)?;
    let mut given = arguments.into_iter();
    let mut filled: Vec<(String, Option<Typed<'t>>)> = Vec::new();
    for parameter in of.generics.type_params() {
        let value = match given.next() {
            Some(ty) => Some((at, ty)),
            None => parameter.default.clone().map(|(_, ty)| (there, ty)),
        };
        filled.push((parameter.ident.to_string(), value));
    }
    let fill = |(place, ty): Typed<'t>| -> Result<Typed<'t>, String> {
        if let Type::Path(p) = ungroup(&ty)
            && let Some(ident) = p.path.get_ident()
            && let Some((_, value)) = filled.iter().find(|(name, _)| ident == name)
        {
            return value
                .clone()
                .ok_or_else(|| format!("`{}` lacks an argument", alias.qualified()));
        }
        // `type R<T> = Result<Vec<T>, E>` mixes two places in one type.
        let text = quote::ToTokens::to_token_stream(&ty).to_string();
        let mentions = |name: &str| {
            text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .any(|word| word == name)
        };
        if filled.iter().any(|(name, _)| mentions(name)) {
            return Err(format!(
                "`{}` wraps its parameter in another type; write `Result<…, …>` out",
                alias.qualified()
            ));
        }
        Ok((place, ty))
    };
    Ok((fill(output)?, fill(error)?))
}
