//! Every integer, alone and where serde buffers it.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::*;

#[derive(Serialize, Deserialize)]
pub struct Unsigned { a: u8, b: u16, c: u32, d: u64, e: usize, f: u128 }
#[derive(Serialize, Deserialize)]
pub struct Signed { a: i8, b: i16, c: i32, d: i64, e: isize, f: i128 }
#[derive(Serialize, Deserialize)]
pub struct NotZero { a: NonZeroU8, b: NonZeroU64, c: NonZeroI8, d: NonZeroI64, e: NonZeroU128 }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Buffered { Small(u8), Big(u64), Negative(i64), NotZero(NonZeroI16), Real(f32) }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum Tagged { A { n: u64, m: Option<i64> }, B { k: BTreeMap<String, i32> } }
#[derive(Serialize, Deserialize)]
pub struct Pairs { a: (u8, i16), b: Vec<(u64, u64)>, c: [i8; 2] }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Gap { #[serde(skip)] None, Low(u8), High(i64) }
#[derive(Serialize, Deserialize)]
pub struct HoldsBuffered { a: Buffered, b: Option<Gap>, c: Vec<Tagged> }

shapes!(Unsigned, Signed, NotZero, Buffered, Tagged, Pairs, Gap, HoldsBuffered);
