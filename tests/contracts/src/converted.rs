use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Text(Vec<u8>);
impl From<String> for Text { fn from(s: String) -> Self { Text(s.into_bytes()) } }
impl From<Text> for String { fn from(t: Text) -> Self { String::from_utf8_lossy(&t.0).into_owned() } }
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Even(u8);
impl TryFrom<u8> for Even { type Error = String; fn try_from(n: u8) -> Result<Self, String> { if n % 2 == 0 { Ok(Even(n)) } else { Err("odd".into()) } } }
impl From<Even> for u8 { fn from(e: Even) -> u8 { e.0 } }
#[derive(Serialize, Deserialize)]
#[serde(from = "Option<u8>")]
pub struct FromOption { n: u8 }
impl From<Option<u8>> for FromOption { fn from(n: Option<u8>) -> Self { FromOption { n: n.unwrap_or(0) } } }
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "Shadow")]
pub struct OneWay { a: u8, b: u8 }
#[derive(Serialize, Deserialize)]
pub struct Shadow { sum: u16 }
impl From<OneWay> for Shadow { fn from(o: OneWay) -> Self { Shadow { sum: u16::from(o.a) + u16::from(o.b) } } }
#[derive(Serialize, Deserialize)]
#[serde(from = "Shadow")]
pub struct FromShadow { half: u16 }
impl From<Shadow> for FromShadow { fn from(s: Shadow) -> Self { FromShadow { half: s.sum / 2 } } }
#[derive(Serialize, Deserialize)]
pub struct Holds { a: FromOption, b: Option<Even>, c: Text, d: OneWay }

// Remote.
pub mod elsewhere { pub struct Remote { pub a: u8, pub b: String } }
#[derive(Serialize, Deserialize)]
#[serde(remote = "elsewhere::Remote")]
pub struct RemoteDef { a: u8, b: String }
#[derive(Serialize, Deserialize)]
pub struct OfRemote { #[serde(with = "RemoteDef")] remote: elsewhere::Remote, own: u8 }
#[derive(Serialize, Deserialize)]
pub struct OfRemoteHalf { #[serde(serialize_with = "RemoteDef::serialize", deserialize_with = "RemoteDef::deserialize")] remote: elsewhere::Remote }
#[derive(Serialize, Deserialize)]
pub enum VariantWith { #[serde(with = "RemoteDef")] A(elsewhere::Remote), B }

shapes!(Text, Even, FromOption, OneWay, Shadow, FromShadow, Holds, OfRemote, OfRemoteHalf, VariantWith);
