use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::num::*;
use std::ops::{Bound, Range, RangeFrom, RangeInclusive, RangeTo};
use std::rc::Rc;
use std::sync::Arc;

#[derive(Serialize, Deserialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key { A, #[serde(rename = "b-key", alias = "bb")] B }
#[derive(Serialize, Deserialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(String);
#[derive(Serialize, Deserialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Num(u16);
#[derive(Serialize, Deserialize)]
pub struct Floats { a: f32, b: f64, c: Option<f64> }
#[derive(Serialize, Deserialize)]
pub struct Times { a: std::time::Duration, b: std::time::SystemTime }
#[derive(Serialize, Deserialize)]
pub struct Cells { a: std::cell::Cell<u8>, b: std::cell::RefCell<String>, c: std::sync::Mutex<u8>, d: std::sync::RwLock<Option<u8>> }

shapes!(
    Key, Id, Num, Floats, Times, Cells, bool, char, String, (), u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64,
    NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize, NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64,
    NonZeroI128, NonZeroIsize, NonZero<u8>, Wrapping<u8>, Saturating<i16>, std::cmp::Reverse<u8>,
    Option<u8>, Option<Vec<u8>>, Option<Option<u8>>, Option<()>, Box<u8>, Box<str>, Box<[u8]>, Rc<u8>, Arc<str>, Arc<[String]>, Rc<Option<u8>>,
    Vec<u8>, Vec<String>, VecDeque<u8>, LinkedList<u8>, BinaryHeap<u8>, BTreeSet<u8>, HashSet<String>, BTreeSet<Option<u8>>,
    [u8; 0], [u8; 3], [Option<String>; 2], [[u8; 2]; 2], (u8,), (u8, String), (u8, Option<u8>, bool), ((u8, u8), [u8; 1]),
    BTreeMap<String, u8>, HashMap<String, Vec<u8>>, BTreeMap<u8, u8>, BTreeMap<i8, String>, BTreeMap<u64, u8>, BTreeMap<i64, u8>,
    BTreeMap<u128, u8>, BTreeMap<char, u8>, BTreeMap<bool, u8>, BTreeMap<Key, u8>, BTreeMap<Id, u8>, BTreeMap<Num, u8>,
    BTreeMap<Option<String>, u8>, BTreeMap<Box<str>, u8>, HashMap<NonZeroU8, u8>, BTreeMap<String, BTreeMap<String, Option<u8>>>,
    Range<u8>, RangeInclusive<i32>, RangeFrom<u8>, RangeTo<u8>, Bound<u8>, Range<Option<u8>>, Result<u8, String>, std::time::Duration,
    std::path::PathBuf, std::net::IpAddr, std::net::Ipv4Addr, std::net::Ipv6Addr, std::net::SocketAddr, std::marker::PhantomData<u8>,
    std::sync::atomic::AtomicU8, std::sync::atomic::AtomicBool, std::borrow::Cow<'_, str>, Vec<(String, Option<Box<u8>>)>, Vec<()>
);
