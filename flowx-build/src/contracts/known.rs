//! The types of std and of other crates whose wire form is known, by their canonical paths.

use std::rc::Rc;

use flowx_manifest::{CONVERTED, Json};
use proc_macro2::Span;

use super::attrs::Both;
use super::types::ModuleKey;
use super::wire::{
    Body, Content, Def, Enum, Field, Leaf, Missing, Notes, Record, Tagging, Ty, Variant,
};

/// A generic argument.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    Type(Ty),
    /// `None` when its value is not known.
    Const(Option<u64>),
}

/// What that type is on the wire. `None`: not known here; `Some(Err)`: known to have no single form, and why.
pub(crate) fn lookup(
    path: &[String],
    args: &[Arg],
    pointer_width: u32,
) -> Option<Result<Ty, String>> {
    let krate = match path.first()?.as_str() {
        "core" | "alloc" => "std",
        other => other,
    };
    let name = path.last()?.as_str();
    let types: Vec<Ty> = args
        .iter()
        .filter_map(|a| match a {
            Arg::Type(ty) => Some(ty.clone()),
            Arg::Const(_) => None,
        })
        .collect();
    let ty = match krate {
        "std" => return std_type(path, name, &types, pointer_width),
        "flowx_runtime" | "flowx" if name == "Sensitive" => {
            Ty::Sensitive(Rc::new(types.first()?.clone()))
        }
        _ => foreign(krate, name, &types, args)?,
    };
    Some(Ok(ty))
}

fn std_type(
    path: &[String],
    name: &str,
    types: &[Ty],
    pointer_width: u32,
) -> Option<Result<Ty, String>> {
    let first = || types.first().cloned();
    let seq = |set| {
        Some(Ty::Seq {
            item: Rc::new(first()?),
            set,
        })
    };
    let int = |signed, bits| {
        Some(Ty::Int {
            signed,
            bits,
            nonzero: false,
        })
    };
    let nonzero = |signed, bits| {
        Some(Ty::Int {
            signed,
            bits,
            nonzero: true,
        })
    };
    let named = |name: &'static str, request: Json, response: Json, key| {
        Some(Ty::Leaf(Rc::new(Leaf {
            name,
            request,
            response,
            key,
        })))
    };
    let ty = match name {
        "bool" | "AtomicBool" => Some(Ty::Bool),
        "char" => Some(Ty::Char),
        "str" | "String" | "Path" | "PathBuf" => Some(Ty::Str),
        "u8" | "AtomicU8" => int(false, 8),
        "u16" | "AtomicU16" => int(false, 16),
        "u32" | "AtomicU32" => int(false, 32),
        "u64" | "AtomicU64" => int(false, 64),
        "u128" => int(false, 128),
        "usize" | "AtomicUsize" => int(false, pointer_width),
        "i8" | "AtomicI8" => int(true, 8),
        "i16" | "AtomicI16" => int(true, 16),
        "i32" | "AtomicI32" => int(true, 32),
        "i64" | "AtomicI64" => int(true, 64),
        "i128" => int(true, 128),
        "isize" | "AtomicIsize" => int(true, pointer_width),
        "NonZeroU8" => nonzero(false, 8),
        "NonZeroU16" => nonzero(false, 16),
        "NonZeroU32" => nonzero(false, 32),
        "NonZeroU64" => nonzero(false, 64),
        "NonZeroU128" => nonzero(false, 128),
        "NonZeroUsize" => nonzero(false, pointer_width),
        "NonZeroI8" => nonzero(true, 8),
        "NonZeroI16" => nonzero(true, 16),
        "NonZeroI32" => nonzero(true, 32),
        "NonZeroI64" => nonzero(true, 64),
        "NonZeroI128" => nonzero(true, 128),
        "NonZeroIsize" => nonzero(true, pointer_width),
        "NonZero" => match first()? {
            Ty::Int { signed, bits, .. } => nonzero(signed, bits),
            other => Some(other),
        },
        "f32" | "f64" => Some(Ty::Float),
        "Option" => Some(Ty::Option(Rc::new(first()?))),
        "Vec" | "VecDeque" | "LinkedList" | "BinaryHeap" => seq(false),
        "HashSet" | "BTreeSet" => seq(true),
        "HashMap" | "BTreeMap" => Some(Ty::Map {
            key: Rc::new(first()?),
            value: Rc::new(types.get(1)?.clone()),
        }),
        // serde asks these for nothing of their own.
        "Box" | "Arc" | "Rc" | "Cow" | "Cell" | "RefCell" | "Mutex" | "RwLock" | "Wrapping"
        | "Saturating" | "Reverse"
            if !types.is_empty() =>
        {
            first()
        }
        "Weak" => Some(Ty::Option(Rc::new(first()?))),
        "PhantomData" => Some(Ty::Unit),
        "Duration" => Some(checked(record(
            "Duration",
            vec![
                field(
                    "secs",
                    Ty::Int {
                        signed: false,
                        bits: 64,
                        nonzero: false,
                    },
                ),
                field(
                    "nanos",
                    Ty::Int {
                        signed: false,
                        bits: 32,
                        nonzero: false,
                    },
                ),
            ],
        ))),
        "SystemTime" => Some(checked(record(
            "SystemTime",
            vec![
                field(
                    "secs_since_epoch",
                    Ty::Int {
                        signed: false,
                        bits: 64,
                        nonzero: false,
                    },
                ),
                field(
                    "nanos_since_epoch",
                    Ty::Int {
                        signed: false,
                        bits: 32,
                        nonzero: false,
                    },
                ),
            ],
        ))),
        "Range" | "RangeInclusive" => Some(record(
            "Range",
            vec![field("start", first()?), field("end", first()?)],
        )),
        "RangeFrom" => Some(record("RangeFrom", vec![field("start", first()?)])),
        "RangeTo" => Some(record("RangeTo", vec![field("end", first()?)])),
        "Bound" => Some(enumeration(
            "Bound",
            vec![
                ("Unbounded", None),
                ("Included", Some(first()?)),
                ("Excluded", Some(first()?)),
            ],
        )),
        "Result" => Some(enumeration(
            "Result",
            vec![("Ok", Some(first()?)), ("Err", Some(types.get(1)?.clone()))],
        )),
        "Ipv4Addr" => named(
            "Ipv4Addr",
            pattern(IPV4, Some("ipv4")),
            pattern(IPV4, Some("ipv4")),
            true,
        ),
        "Ipv6Addr" => named("Ipv6Addr", format("ipv6"), format("ipv6"), true),
        "IpAddr" => {
            let either = Json::object([(
                "anyOf",
                Json::Array(vec![pattern(IPV4, Some("ipv4")), format("ipv6")]),
            )]);
            named("IpAddr", either.clone(), either, true)
        }
        "SocketAddr" | "SocketAddrV4" | "SocketAddrV6" => named(
            "SocketAddr",
            format("socket-address"),
            format("socket-address"),
            true,
        ),
        "OsString" | "OsStr" => {
            return Some(Err(
                "`OsString` has another form on every platform".to_owned()
            ));
        }
        _ => None,
    };
    // A bare name that std has, but not where the path says.
    (path.len() <= 2 || ty.is_some())
        .then_some(ty)
        .flatten()
        .map(Ok)
}

fn foreign(krate: &str, name: &str, types: &[Ty], args: &[Arg]) -> Option<Ty> {
    let first = || types.first().cloned();
    let text =
        |name: &'static str, format_name: &'static str| Some(leaf(name, format(format_name)));
    let constant = || {
        args.iter().find_map(|a| match a {
            Arg::Const(n) => *n,
            Arg::Type(_) => None,
        })
    };
    match (krate, name) {
        ("serde_json", "Value") | ("serde_json", "RawValue") => Some(Ty::Any),
        ("serde_json", "Map") => Some(Ty::Map {
            key: Rc::new(Ty::Str),
            value: Rc::new(Ty::Any),
        }),
        ("serde_json", "Number") => Some(Ty::Leaf(Rc::new(Leaf {
            name: "Number",
            request: kind("number"),
            response: kind("number"),
            key: false,
        }))),
        ("uuid", "Uuid") => Some(uuid()),
        ("uuid", "NonNilUuid") => Some(checked(uuid())),
        ("chrono", "DateTime") => text("DateTime", "date-time"),
        ("chrono", "NaiveDate") => text("NaiveDate", "date"),
        ("chrono", "NaiveDateTime") => text("NaiveDateTime", "partial-date-time"),
        ("chrono", "NaiveTime") => text("NaiveTime", "partial-time"),
        ("chrono", "Weekday") => Some(Ty::Leaf(Rc::new(Leaf {
            name: "Weekday",
            request: format("weekday"),
            response: strings(&["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]),
            key: true,
        }))),
        ("chrono", "Month") => Some(Ty::Leaf(Rc::new(Leaf {
            name: "Month",
            request: format("month"),
            response: strings(&[
                "January",
                "February",
                "March",
                "April",
                "May",
                "June",
                "July",
                "August",
                "September",
                "October",
                "November",
                "December",
            ]),
            key: true,
        }))),
        ("jiff", "Timestamp") => text("Timestamp", "date-time"),
        ("jiff", "Zoned") => text("Zoned", "zoned-date-time"),
        ("jiff", "Date") => text("Date", "date"),
        ("jiff", "Time") => text("Time", "partial-time"),
        ("jiff", "DateTime") => text("DateTime", "partial-date-time"),
        ("jiff", "Span") => text("Span", "duration"),
        ("jiff", "SignedDuration") => text("SignedDuration", "duration"),
        ("url", "Url") => text("Url", "uri"),
        ("rust_decimal", "Decimal") => Some(Ty::Leaf(Rc::new(Leaf {
            name: "Decimal",
            request: any_of(vec![format("decimal"), decimal_number()]),
            response: pattern(r"^-?[0-9]+(\.[0-9]+)?$", None),
            key: true,
        }))),
        ("bigdecimal", "BigDecimal") => Some(Ty::Leaf(Rc::new(Leaf {
            name: "BigDecimal",
            request: any_of(vec![format("decimal"), kind("number")]),
            response: kind("string"),
            key: true,
        }))),
        ("semver", "Version") => Some(leaf("Version", pattern(SEMVER, Some("semver")))),
        ("semver", "VersionReq") => Some(leaf("VersionReq", format("semver-requirement"))),
        ("smol_str", "SmolStr")
        | ("compact_str", "CompactString")
        | ("ecow", "EcoString")
        | ("camino", "Utf8PathBuf")
        | ("camino", "Utf8Path")
        | ("arcstr", "ArcStr")
        | ("kstring", "KString")
        | ("flexstr", "SharedStr") => Some(Ty::Str),
        ("ipnet", "IpNet" | "Ipv4Net" | "Ipv6Net") | ("ipnetwork", "IpNetwork") => {
            text("IpNet", "ip-network")
        }
        ("bytes", "Bytes" | "BytesMut") | ("serde_bytes", "ByteBuf" | "Bytes") => Some(bytes()),
        ("indexmap", "IndexMap")
        | ("hashbrown", "HashMap")
        | ("linked_hash_map", "LinkedHashMap")
        | ("dashmap", "DashMap") => Some(Ty::Map {
            key: Rc::new(first()?),
            value: Rc::new(types.get(1)?.clone()),
        }),
        ("indexmap", "IndexSet") | ("hashbrown", "HashSet") | ("dashmap", "DashSet") => {
            Some(Ty::Seq {
                item: Rc::new(first()?),
                set: true,
            })
        }
        ("smallvec", "SmallVec") => match first()? {
            Ty::Array(item, _) => Some(Ty::Seq { item, set: false }),
            item => Some(Ty::Seq {
                item: Rc::new(item),
                set: false,
            }),
        },
        ("tinyvec", "TinyVec" | "ArrayVec") => match first()? {
            Ty::Array(item, n) if name == "ArrayVec" => Some(Ty::AtMost(item, n)),
            Ty::Array(item, _) => Some(Ty::Seq { item, set: false }),
            _ => None,
        },
        ("arrayvec", "ArrayVec") => Some(Ty::AtMost(Rc::new(first()?), constant()?)),
        ("arrayvec", "ArrayString") => Some(Ty::Leaf(Rc::new(Leaf {
            name: "ArrayString",
            // Its room is counted in bytes.
            request: Json::object([
                ("type", "string".into()),
                ("maxLength", constant()?.into()),
                ("$comment", CONVERTED.into()),
            ]),
            response: kind("string"),
            key: true,
        }))),
        ("either", "Either") => Some(enumeration(
            "Either",
            vec![
                ("Left", Some(first()?)),
                ("Right", Some(types.get(1)?.clone())),
            ],
        )),
        ("ordered_float", "OrderedFloat" | "NotNan") => Some(Ty::Float),
        ("num_bigint", _) => None,
        ("triomphe", "Arc") => first(),
        _ => None,
    }
}

/// What `#[serde(with = "module")]` makes of a type. `None`: not known.
pub(crate) fn module(path: &[String], own: &Ty, reading: bool) -> Option<Ty> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let optional = matches!(names.last(), Some(&"option"))
        || names.last().is_some_and(|n| n.ends_with("_option"));
    // A number of seconds beyond the years of the type is refused.
    let integer = checked(Ty::Int {
        signed: true,
        bits: 64,
        nonzero: false,
    });
    let wrap = |ty: Ty| {
        if optional {
            Ty::Option(Rc::new(ty))
        } else {
            ty
        }
    };
    match names.as_slice() {
        ["serde_bytes"] => Some(match own {
            Ty::Option(_) => Ty::Option(Rc::new(bytes())),
            _ => bytes(),
        }),
        ["chrono", "serde", unit] if unit.starts_with("ts_") => Some(wrap(integer)),
        ["chrono", "naive", "serde", unit] if unit.starts_with("ts_") => Some(wrap(integer)),
        ["jiff", "fmt", "serde", "timestamp", _, kind] => Some(if *kind == "optional" {
            Ty::Option(Rc::new(integer))
        } else {
            integer
        }),
        ["time", "serde", "rfc3339"] => Some(leaf("OffsetDateTime", format("date-time"))),
        ["time", "serde", "rfc3339", "option"] => Some(Ty::Option(Rc::new(leaf(
            "OffsetDateTime",
            format("date-time"),
        )))),
        ["time", "serde", "timestamp", ..] => Some(wrap(integer)),
        [
            "uuid",
            "serde",
            "simple" | "compact" | "urn" | "hyphenated" | "braced",
        ] if !reading => match names[2] {
            "compact" => None,
            form => Some(leaf_of("Uuid", uuid_pattern(form))),
        },
        ["uuid", "serde", "simple" | "urn" | "hyphenated" | "braced"] => {
            Some(leaf_of("Uuid", uuid_pattern(names[2])))
        }
        ["rust_decimal", "serde", "str"] => Some(leaf("Decimal", format("decimal"))),
        ["rust_decimal", "serde", "float"] => Some(match reading {
            true => lookup(&["rust_decimal".to_owned(), "Decimal".to_owned()], &[], 64)?.ok()?,
            false => Ty::Leaf(Rc::new(Leaf {
                name: "Decimal",
                request: kind("number"),
                response: kind("number"),
                key: false,
            })),
        }),
        _ => None,
    }
}

const IPV4: &str = "^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$";

/// The grammar of semver 2.0.0.
const SEMVER: &str = "^(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)(?:-(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\\+[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*)?$";

fn uuid_pattern(form: &str) -> Json {
    let h = "[0-9a-fA-F]";
    let hyphenated = format!("{h}{{8}}-{h}{{4}}-{h}{{4}}-{h}{{4}}-{h}{{12}}");
    let text = match form {
        "simple" => format!("^{h}{{32}}$"),
        "urn" => format!("^urn:uuid:{hyphenated}$"),
        "braced" => format!("^\\{{{hyphenated}\\}}$"),
        "hyphenated" => format!("^{hyphenated}$"),
        _ => format!("^(?:{h}{{32}}|(?:urn:uuid:)?{hyphenated}|\\{{{hyphenated}\\}})$"),
    };
    pattern(&text, None)
}

/// Read in four spellings, written hyphenated.
fn uuid() -> Ty {
    let response = Json::object([("type", "string".into()), ("format", "uuid".into())]);
    Ty::Leaf(Rc::new(Leaf {
        name: "Uuid",
        request: uuid_pattern("any"),
        response,
        key: true,
    }))
}

/// A string or an array of bytes when read, an array when written.
fn bytes() -> Ty {
    let byte = Json::object([
        ("type", "integer".into()),
        ("minimum", 0u8.into()),
        ("maximum", 255u8.into()),
    ]);
    let array = Json::object([("type", "array".into()), ("items", byte)]);
    Ty::Leaf(Rc::new(Leaf {
        name: "Bytes",
        request: any_of(vec![array.clone(), kind("string")]),
        response: array,
        key: false,
    }))
}

/// A number that may have more digits than there is room for.
fn decimal_number() -> Json {
    Json::object([("type", "number".into()), ("$comment", CONVERTED.into())])
}

fn leaf(name: &'static str, form: Json) -> Ty {
    leaf_of(name, form)
}

fn leaf_of(name: &'static str, form: Json) -> Ty {
    Ty::Leaf(Rc::new(Leaf {
        name,
        request: form.clone(),
        response: form,
        key: true,
    }))
}

fn kind(name: &str) -> Json {
    Json::object([("type", name.into())])
}

fn format(name: &str) -> Json {
    Json::object([("type", "string".into()), ("format", name.into())])
}

fn pattern(text: &str, format: Option<&str>) -> Json {
    let mut entries = vec![("type", "string".into()), ("pattern", text.into())];
    entries.extend(format.map(|f| ("format", f.into())));
    Json::object(entries)
}

fn strings(all: &[&str]) -> Json {
    Json::object([("type", "string".into()), ("enum", all.to_vec().into())])
}

fn any_of(all: Vec<Json>) -> Json {
    Json::object([("anyOf", Json::Array(all))])
}

fn field(name: &str, ty: Ty) -> Field {
    Field {
        span: Span::call_site(),
        written: name.to_owned(),
        read: vec![name.to_owned()],
        ty,
        missing: Missing::AskType,
        skip_ser: false,
        skip_de: false,
        skip_if: false,
        flatten: false,
        notes: Notes::default(),
    }
}

fn checked(ty: Ty) -> Ty {
    Ty::Checked(Rc::new(ty))
}

/// A struct of std: serde's own impls deny unknown fields, and ask every field.
fn record(name: &str, mut fields: Vec<Field>) -> Ty {
    for field in &mut fields {
        field.missing = Missing::Error;
    }
    inline(
        name,
        Body::Struct(Record {
            fields,
            closed: true,
            tag: None,
        }),
    )
}

fn enumeration(name: &str, variants: Vec<(&str, Option<Ty>)>) -> Ty {
    let variants = variants
        .into_iter()
        .map(|(name, ty)| Variant {
            span: Span::call_site(),
            written: name.to_owned(),
            read: vec![name.to_owned()],
            content: match ty {
                None => Content::Unit,
                Some(ty) => Content::Newtype(Box::new(field("", ty))),
            },
            skip_ser: false,
            skip_de: false,
            other: false,
            untagged: false,
            notes: Notes::default(),
        })
        .collect();
    inline(
        name,
        Body::Enum(Enum {
            tagging: Tagging::External,
            variants,
            closed: false,
        }),
    )
}

fn inline(name: &str, body: Body) -> Ty {
    Ty::Inline(Rc::new(Def {
        name: name.to_owned(),
        module: ModuleKey(0),
        span: Span::call_site(),
        notes: Notes::default(),
        body,
        refused: Both::default(),
    }))
}
