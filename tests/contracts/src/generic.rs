use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
pub struct Page<T> { items: Vec<T>, next: Option<String> }
#[derive(Serialize, Deserialize)]
pub struct Pair<A, B = u8> { a: A, b: B }
#[derive(Serialize, Deserialize)]
pub struct Wrapper<T>(T);
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct Same<T>(T);
#[derive(Serialize, Deserialize)]
pub struct Fields<T> { value: T, maybe: Option<T>, list: Vec<T>, map: BTreeMap<String, T> }
#[derive(Serialize, Deserialize)]
pub enum Choice<T> { Yes(T), No { why: T }, Nothing }
#[derive(Serialize, Deserialize)]
#[serde(tag = "t")]
pub enum Tagged<T> { A(T), B { b: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "[u8; N]: serde::de::DeserializeOwned", serialize = "[u8; N]: Serialize"))]
pub struct Sized2<const N: usize> { bytes: [u8; N] }
#[derive(Serialize, Deserialize)]
pub struct Node<T> { value: T, next: Option<Box<Node<T>>> }
#[derive(Serialize, Deserialize)]
pub struct Swap<A, B> { a: Option<A>, again: Option<Box<Swap<B, A>>> }
#[derive(Serialize, Deserialize)]
pub struct Leaf { n: u8 }
#[derive(Serialize, Deserialize)]
pub struct Uses { one: Page<Leaf>, two: Page<Page<u8>>, three: Pair<String>, four: Pair<bool, Option<u8>>, five: Four }
pub type Four = Sized2<4>;
pub type Aliased = Vec<Renamed>;
pub type Renamed = inner::Real;
pub mod inner {
    use serde::{Deserialize, Serialize};
    #[derive(Serialize, Deserialize)]
    pub struct Real { r: u8, up: super::Leaf }
}
pub use inner::Real as Shown;
pub type Tabled<V> = BTreeMap<String, V>;
#[derive(Serialize, Deserialize)]
#[serde(bound = "T: Serialize + serde::de::DeserializeOwned")]
pub struct Flat<T> { own: u8, #[serde(flatten)] inner: T }
const THREE: usize = 3;
#[derive(Serialize, Deserialize)]
pub struct Lengths { a: [u8; THREE], b: [u8; 1 + 1] }

shapes!(
    Page<u8>, Page<Leaf>, Page<Page<Leaf>>, Pair<u8>, Pair<u8, String>, Wrapper<u8>, Wrapper<Option<u8>>, Same<Option<u8>>, Fields<u8>,
    Fields<Option<u8>>, Fields<()>, Fields<Same<Option<u8>>>, Choice<u8>, Choice<Leaf>, Choice<Option<u8>>, Tagged<Leaf>, Sized2<2>, Sized2<0>, Four,
    Node<u8>, Swap<u8, String>, Leaf, Uses, Aliased, Renamed, Shown, inner::Real, Tabled<u8>, Tabled<Tabled<Leaf>>, Flat<Leaf>,
    Flat<BTreeMap<String, String>>, Lengths, Vec<Page<u8>>, Option<Leaf>, (Leaf, Leaf), BTreeMap<String, Leaf>
);
