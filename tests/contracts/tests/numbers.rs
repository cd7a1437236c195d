//! Integers: their bounds in the contract and in the descriptor, and every way of writing a whole number, each as serde takes them.
#![allow(clippy::unwrap_used)]

mod support;

use flowx_build::contracts::{Contracts, SingleFile};
use flowx_build::project::{LossKind, portable};
use flowx_contracts_corpus::files;
use flowx_manifest::{Direction, Json, closure, json};
use flowx_verify::Probe;
use support::{manifest, subject, validator};

fn number(text: &str) -> Json {
    json::parse(text.as_bytes(), json::Limits::DOCUMENT).unwrap()
}

fn probe(shape: &str) -> (SingleFile, Probe) {
    let (name, text, all) = files().into_iter().find(|f| f.0 == "numbers").unwrap();
    let (_, probe) = all.into_iter().find(|(s, _)| *s == shape).unwrap();
    (SingleFile::parse(name, text).unwrap(), probe)
}

/// A member, the least and the greatest.
type Bound = (&'static str, &'static str, &'static str);

/// The types of `numbers.rs`, member by member.
const BOUNDS: &[(&str, &[Bound])] = &[
    (
        "Unsigned",
        &[
            ("a", "0", "255"),
            ("b", "0", "65535"),
            ("c", "0", "4294967295"),
            ("d", "0", "18446744073709551615"),
            ("e", "0", "18446744073709551615"),
            ("f", "0", "340282366920938463463374607431768211455"),
        ],
    ),
    (
        "Signed",
        &[
            ("a", "-128", "127"),
            ("b", "-32768", "32767"),
            ("c", "-2147483648", "2147483647"),
            ("d", "-9223372036854775808", "9223372036854775807"),
            ("e", "-9223372036854775808", "9223372036854775807"),
            (
                "f",
                "-170141183460469231731687303715884105728",
                "170141183460469231731687303715884105727",
            ),
        ],
    ),
    (
        "NotZero",
        &[
            ("a", "1", "255"),
            ("b", "1", "18446744073709551615"),
            ("c", "-128", "127"),
            ("d", "-9223372036854775808", "9223372036854775807"),
            ("e", "1", "340282366920938463463374607431768211455"),
        ],
    ),
];

#[test]
fn every_integer_is_bounded_as_serde_bounds_it_in_the_contract_and_in_the_descriptor() {
    for (shape, members) in BOUNDS {
        let (file, probe) = probe(shape);
        let contracts = Contracts::new(&file);
        let ty = syn::parse_str(shape).unwrap();
        let mut id = String::new();
        for direction in [Direction::Request, Direction::Response] {
            id = contracts.contract(SingleFile::ROOT, &ty, direction).name;
        }
        let (contracts, findings) = contracts.finish();
        assert!(findings.is_empty());
        let manifest = manifest(contracts);
        let read = probe.read.unwrap();
        // A value of the type, and the same with one member another.
        let with = |member: &str, value: Json| {
            let all = members.iter().map(|(name, ..)| {
                let one = if *name == member {
                    value.clone()
                } else {
                    number("1")
                };
                (*name, one)
            });
            Json::object(all)
        };
        for direction in [Direction::Request, Direction::Response] {
            let exact = closure(&manifest, &id, direction).unwrap();
            let (told, losses) = portable(&manifest.contracts, &id, direction);
            for (member, low, high) in *members {
                let at = |schema: &Json, key: &str| {
                    let found = schema.pointer(&format!("/properties/{member}/{key}"));
                    found.map(Json::to_canonical)
                };
                for (key, bound) in [("minimum", low), ("maximum", high)] {
                    assert_eq!(
                        at(&exact, key).as_deref(),
                        Some(*bound),
                        "{shape}.{member} {key}"
                    );
                    // Some hosts read no literal beyond 64 bits: the bound is not told then, and that is a loss.
                    let narrow = bound.parse::<i64>().is_ok() || bound.parse::<u64>().is_ok();
                    assert_eq!(
                        at(&told, key).as_deref(),
                        narrow.then_some(*bound),
                        "{shape}.{member} {key}"
                    );
                    let listed = losses.iter().any(|l| {
                        l.kind == LossKind::Wider
                            && l.pointer == format!("/{member}")
                            && l.message.contains("64 bits")
                    });
                    let wide = low.len().max(high.len()) > 20;
                    assert_eq!(listed, wide && direction == Direction::Request);
                }
            }
        }
        let accepts = validator(&closure(&manifest, &id, Direction::Request).unwrap());
        for (member, low, high) in *members {
            let down = low
                .parse::<i128>()
                .ok()
                .and_then(|l| l.checked_sub(1))
                .map(|l| l.to_string());
            let up = high
                .parse::<u128>()
                .ok()
                .and_then(|h| h.checked_add(1))
                .map(|h| h.to_string());
            for (text, inside) in [
                (Some((*low).to_owned()), true),
                (Some((*high).to_owned()), true),
                (down, false),
                (up, false),
            ] {
                let Some(text) = text else { continue };
                let value = with(member, number(&text));
                assert_eq!(
                    read(&value.to_canonical()).is_ok(),
                    inside,
                    "{shape}.{member}: {text}"
                );
                // One past 64 bits rounds onto the bound in the validator: the deviation `wide-number`, answered by the reading.
                let wide = text.parse::<i64>().is_err() && text.parse::<u64>().is_err();
                if inside || !wide {
                    assert_eq!(
                        accepts.is_valid(&value.to_value()),
                        inside,
                        "{shape}.{member}: {text}"
                    );
                }
            }
        }
    }
}

/// Numbers as callers write them: a whole one is an integer whatever its spelling, any other is none (decision 025).
const SPELLINGS: &[&str] = &[
    "0",
    "-0",
    "0.0",
    "-0.0",
    "0e5",
    "-0e-5",
    "1",
    "1.0",
    "1.00",
    "1e0",
    "1E+0",
    "10e-1",
    "0.1e1",
    "0.1",
    "1.5",
    "1e-1",
    "-1",
    "-1.0",
    "-1e0",
    "-1.5",
    "5e2",
    "500.0",
    "255",
    "255.0",
    "2.55e2",
    "255.5",
    "256.0",
    "-128.0",
    "-129.0",
    "127.0",
    "128.0",
    "65535.0",
    "65536.0",
    "9007199254740993",
    "9007199254740993.0",
    "9223372036854775807",
    "9223372036854775807.0",
    "9223372036854775808.0",
    "-9223372036854775808.0",
    "18446744073709551615.0",
    "1.8446744073709551615e19",
    "1e19",
    "1e18",
    "123456789012345678.5",
    "1e38",
    "1e39",
    "-1e38",
    "1e100",
    "1e-100",
    "1e308",
];

#[test]
fn a_whole_number_is_read_however_it_is_written_and_by_both_or_by_neither() {
    let (mut tried, mut read_as_integer, mut rounded) = (0, 0, 0);
    let (standard, text, shapes) = files().into_iter().find(|f| f.0 == "standard").unwrap();
    let standard = SingleFile::parse(standard, text).unwrap();
    let integer = |s: &str| {
        let bare = s.strip_prefix("NonZero").unwrap_or(s).to_lowercase();
        let digits = bare.trim_start_matches(['u', 'i']);
        bare.starts_with(['u', 'i']) && (digits.parse::<u32>().is_ok() || digits == "size")
    };
    let alone: Vec<_> = shapes
        .into_iter()
        .filter(|(s, _)| integer(s) || ["f32", "f64", "Wrapping<u8>"].contains(s))
        .collect();
    assert!(alone.len() >= 26, "{}", alone.len());
    let mut all: Vec<_> = alone
        .into_iter()
        .map(|(s, p)| (subject(&standard, s, p).unwrap(), p, "NUMBER"))
        .collect();
    for (shape, around) in [
        ("Buffered", "NUMBER"),
        ("Gap", "NUMBER"),
        ("Tagged", r#"{"n":NUMBER,"t":"A"}"#),
        ("Tagged", r#"{"m":NUMBER,"n":1,"t":"A"}"#),
        ("Tagged", r#"{"k":{"x":NUMBER},"t":"B"}"#),
        ("Pairs", r#"{"a":[1,NUMBER],"b":[[NUMBER,2]],"c":[0,0]}"#),
    ] {
        let (file, probe) = probe(shape);
        all.push((subject(&file, shape, probe).unwrap(), probe, around));
    }
    for (subject, probe, around) in &all {
        let accepts = validator(subject.request.as_ref().unwrap());
        for spelling in SPELLINGS {
            let sent = number(&around.replace("NUMBER", spelling));
            let given = sent.clone().with_whole_numbers();
            let (schema, serde) = (
                accepts.is_valid(&given.to_value()),
                (probe.read.unwrap())(&given.to_canonical()).is_ok(),
            );
            tried += 1;
            read_as_integer += usize::from(serde && *spelling != given.to_canonical());
            let whole = number(spelling).with_whole_numbers().to_canonical();
            let narrow = whole.parse::<i64>().is_ok() || whole.parse::<u64>().is_ok();
            if schema && !serde && !narrow {
                rounded += 1; // wide-number
                continue;
            }
            assert_eq!(schema, serde, "{}: {sent}", subject.id);
            // What the validator says hangs on no spelling, as far as it compares exactly.
            if whole
                .parse::<i64>()
                .is_ok_and(|n| n.unsigned_abs() < 1 << 53)
            {
                assert_eq!(
                    accepts.is_valid(&sent.to_value()),
                    schema,
                    "{}: {sent}",
                    subject.id
                );
            }
        }
    }
    println!(
        "{tried} spellings, {read_as_integer} read in another, {rounded} rounded onto a bound"
    );
    assert!(read_as_integer > 300, "{read_as_integer}");
}
