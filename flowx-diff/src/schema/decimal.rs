//! JSON numbers as they are written, without the rounding of doubles.

use std::cmp::Ordering;

use flowx_manifest::json::Number;

/// `digits * 10^exponent`, with no zero at the end of the digits; `0` is `0 * 10^0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// The number; `None` when it has more digits than 128 bits hold, or an exponent that nobody means.
    pub(crate) fn of(number: &Number) -> Option<Decimal> {
        let text = number.as_str();
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").parse::<i128>().ok()?;
        let exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        if exponent.unsigned_abs() > 10_000 {
            return None;
        }
        Some(Decimal { digits, exponent }.trimmed())
    }

    fn trimmed(mut self) -> Decimal {
        while self.digits != 0 && self.digits % 10 == 0 {
            self.digits /= 10;
            self.exponent += 1;
        }
        if self.digits == 0 {
            self.exponent = 0;
        }
        self
    }

    /// Whether it has no fraction.
    pub(crate) fn is_whole(self) -> bool {
        self.exponent >= 0
    }

    /// The integer, when it is one that fits.
    pub(crate) fn as_i128(self) -> Option<i128> {
        self.scaled(0)
    }

    /// The greatest integer that is not above it; `None` when that does not fit.
    pub(crate) fn floor(self) -> Option<i128> {
        match u32::try_from(-self.exponent) {
            Ok(places) => Some(match 10_i128.checked_pow(places) {
                Some(unit) => self.digits.div_euclid(unit),
                None => -i128::from(self.digits < 0),
            }),
            Err(_) => self.as_i128(),
        }
    }

    /// The least integer that is not below it; `None` when that does not fit.
    pub(crate) fn ceil(self) -> Option<i128> {
        let floor = self.floor()?;
        Some(if self.is_whole() { floor } else { floor + 1 })
    }

    /// The digits for another exponent, which is not above its own.
    fn scaled(self, exponent: i32) -> Option<i128> {
        let places = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        self.digits.checked_mul(10_i128.checked_pow(places)?)
    }

    /// Which is greater; `None` when they are too far apart in size to be written side by side.
    pub(crate) fn compare(self, other: Decimal) -> Option<Ordering> {
        let signs = self.digits.signum().cmp(&other.digits.signum());
        if signs != Ordering::Equal || self.digits == 0 {
            return Some(signs);
        }
        let size = |d: Decimal| {
            i64::from(d.digits.unsigned_abs().checked_ilog10().unwrap_or(0)) + i64::from(d.exponent)
        };
        let sizes = size(self).cmp(&size(other));
        if sizes != Ordering::Equal {
            return Some(if self.digits > 0 {
                sizes
            } else {
                sizes.reverse()
            });
        }
        let least = self.exponent.min(other.exponent);
        Some(self.scaled(least)?.cmp(&other.scaled(least)?))
    }

    /// Whether it is a whole number of times the other; `None` when that cannot be written out.
    pub(crate) fn is_multiple_of(self, unit: Decimal) -> Option<bool> {
        let least = self.exponent.min(unit.exponent);
        let unit = unit.scaled(least)?;
        (unit != 0).then_some(())?;
        Some(self.scaled(least)? % unit == 0)
    }
}

#[cfg(test)]
mod tests {
    use flowx_manifest::Json;
    use flowx_manifest::json::{Limits, parse};

    use super::*;

    fn number(text: &str) -> Decimal {
        match parse(text.as_bytes(), Limits::DOCUMENT).expect("a number") {
            Json::Number(n) => Decimal::of(&n).expect("one that fits"),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn spellings_of_one_number_are_one_number() {
        for same in ["100", "1e2", "100.0", "1.00E+2", "10000e-2"] {
            assert_eq!(number(same), number("100"), "{same}");
        }
        assert_eq!(number("-0.0"), number("0"));
    }

    #[test]
    fn numbers_are_compared_without_rounding() {
        for (low, high) in [
            ("9007199254740992", "9007199254740992.5"),
            ("-1e300", "-1"),
            ("0.1", "0.10000000000000001"),
            ("-2.5", "-2.4"),
            ("1e-300", "1"),
        ] {
            assert_eq!(
                number(low).compare(number(high)),
                Some(Ordering::Less),
                "{low} {high}"
            );
            assert_eq!(number(high).compare(number(low)), Some(Ordering::Greater));
        }
        assert_eq!(number("1e2").compare(number("100")), Some(Ordering::Equal));
    }

    #[test]
    fn ends_are_rounded_towards_the_inside() {
        for (text, floor, ceil) in [
            ("2.5", 2, 3),
            ("-2.5", -3, -2),
            ("7", 7, 7),
            ("-1e-60", -1, 0),
        ] {
            assert_eq!(
                (number(text).floor(), number(text).ceil()),
                (Some(floor), Some(ceil)),
                "{text}"
            );
        }
        assert_eq!(number("1e300").floor(), None);
    }

    #[test]
    fn multiples_are_exact() {
        assert_eq!(number("0.3").is_multiple_of(number("0.1")), Some(true));
        assert_eq!(number("7").is_multiple_of(number("0.5")), Some(true));
        assert_eq!(number("7.25").is_multiple_of(number("0.5")), Some(false));
        assert_eq!(number("1e300").is_multiple_of(number("3")), None);
    }
}
