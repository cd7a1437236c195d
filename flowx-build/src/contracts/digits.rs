//! Regular expressions for the integer keys of a map: exactly the decimal texts that `serde_json` reads as the type.

/// A pattern for an integer type, anchored, valid as an ECMAScript `u` expression.
pub(crate) fn integer(signed: bool, bits: u32, nonzero: bool) -> String {
    let max = if signed {
        (1u128 << (bits - 1)) - 1
    } else {
        u128::MAX >> (128 - bits)
    };
    let positive = up_to(max);
    // `-0` is a float to serde_json, and so no integer.
    let mut alternatives = vec![positive];
    if !nonzero {
        alternatives.push("0".to_owned());
    }
    if signed {
        alternatives.push(format!("-(?:{})", up_to(max + 1)));
    }
    format!("^(?:{})$", alternatives.join("|"))
}

/// Texts of the integers 1..=max without leading zeros.
fn up_to(max: u128) -> String {
    let digits = max.to_string();
    let mut alternatives = Vec::new();
    if digits.len() > 1 {
        let shorter = digits.len() - 2;
        alternatives.push(if shorter == 0 {
            "[1-9]".to_owned()
        } else {
            format!("[1-9][0-9]{{0,{shorter}}}")
        });
    }
    // Of the same length: equal up to a digit, smaller there, anything after.
    for (i, digit) in digits.bytes().enumerate() {
        let low = if i == 0 { b'1' } else { b'0' };
        if digit <= low {
            continue;
        }
        let rest = digits.len() - i - 1;
        let class = if digit - 1 == low {
            (low as char).to_string()
        } else {
            format!("[{}-{}]", low as char, (digit - 1) as char)
        };
        let tail = match rest {
            0 => String::new(),
            1 => "[0-9]".to_owned(),
            n => format!("[0-9]{{{n}}}"),
        };
        alternatives.push(format!("{}{class}{tail}", &digits[..i]));
    }
    alternatives.push(digits);
    alternatives.join("|")
}

#[cfg(test)]
mod tests {
    use super::integer;

    #[test]
    fn every_8_bit_text_is_matched_exactly_when_it_parses() {
        for (signed, nonzero) in [(false, false), (true, false), (false, true), (true, true)] {
            let schema =
                serde_json::json!({ "type": "string", "pattern": integer(signed, 8, nonzero) });
            let validator = jsonschema::validator_for(&schema).unwrap();
            for n in -400i32..400 {
                for text in [n.to_string(), format!("0{n}"), format!("{n}.0")] {
                    let read = if signed {
                        serde_json::from_str::<i8>(&text).map(i32::from)
                    } else {
                        serde_json::from_str::<u8>(&text).map(i32::from)
                    };
                    let expected = read.is_ok_and(|v| !nonzero || v != 0);
                    assert_eq!(
                        validator.is_valid(&text.clone().into()),
                        expected,
                        "{text} signed={signed}"
                    );
                }
            }
            assert!(!validator.is_valid(&"-0".into()));
        }
    }

    #[test]
    fn the_ends_of_every_width_are_in_and_one_beyond_is_out() {
        for bits in [16u32, 32, 64, 128] {
            let max = u128::MAX >> (128 - bits);
            let check = |signed, text: String| {
                let schema = serde_json::json!({ "pattern": integer(signed, bits, false) });
                jsonschema::validator_for(&schema)
                    .unwrap()
                    .is_valid(&text.into())
            };
            assert!(check(false, max.to_string()));
            assert!(check(true, format!("-{}", max / 2 + 1)));
            assert!(check(true, (max / 2).to_string()));
            assert!(!check(true, format!("-{}", max / 2 + 2)));
            assert!(!check(true, (max / 2 + 1).to_string()));
            if bits < 128 {
                assert!(!check(false, (max + 1).to_string()));
            }
        }
    }
}
