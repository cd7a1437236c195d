use serde::{Deserialize, Serialize};

macro_rules! none { () => {}; }
none!();

#[derive(Serialize, Deserialize)]
pub struct Raw { r#type: u8, r#fn: Option<u8>, #[serde(rename = "self")] me: u8 }
#[derive(Serialize, Deserialize)]
#[allow(non_camel_case_types)]
pub enum RawVariants { r#async, r#Await(u8) }
#[derive(Serialize, Deserialize)]
#[allow(non_snake_case)]
pub struct Unicode { größe: u8, 名前: String, ñandú_ave: bool }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Camel { first_name: u8, a_b_c: u8, x1_y2: u8, trailing_: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(non_snake_case)]
pub struct Pascal { first_name: u8, a_b_c: u8, x1_y2: u8, double__under: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct Screaming { first_name: u8, x1: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Kebab { first_name: u8, a_b_c: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub struct ScreamingKebab { first_name: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub struct Upper { first_name: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(non_snake_case)]
pub struct Lower { first_Name: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnakeVariants { HTTPProxy, FirstName, A, B2B, Über }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CamelVariants { HTTPProxy, FirstName(u8), A { some_field: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KebabVariants { HTTPProxy, FirstName }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ScreamingVariants { HTTPProxy, FirstName }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LowerVariants { HTTPProxy, FirstName }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum UpperVariants { HTTPProxy, FirstName }
#[derive(Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase", deserialize = "kebab-case"))]
pub struct TwoCases { first_name: u8, #[serde(rename(serialize = "out", deserialize = "in"))] both: u8, #[serde(rename(serialize = "only_out"))] half_named: u8 }
#[derive(Serialize, Deserialize)]
#[serde(rename_all_fields = "camelCase")]
pub enum AllFields { VariantOne { some_field: u8 }, #[serde(rename_all = "kebab-case")] VariantTwo { some_field: u8 } }
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", rename_all_fields = "PascalCase", tag = "kind")]
pub enum AllBoth { VariantOne { some_field: u8 }, #[serde(rename = "x y")] VariantTwo { #[serde(rename = "$ref")] reference: u8 } }
#[derive(Serialize, Deserialize)]
pub struct Odd { #[serde(rename = "")] empty: u8, #[serde(rename = "a/b~c")] slash: u8, #[serde(rename = "quote\"\n")] quote: u8, #[serde(rename = "😀")] smile: u8 }
#[derive(Serialize, Deserialize)]
#[serde(tag = "$type", content = "$value")]
pub enum OddTags { #[serde(rename = "with space")] A(u8), #[serde(rename = "")] B }
#[derive(Serialize, Deserialize)]
pub struct Sku { #[serde(rename = "sku")] product_id: String }

shapes!(
    Raw, RawVariants, Unicode, Camel, Pascal, Screaming, Kebab, ScreamingKebab, Upper, Lower, SnakeVariants, CamelVariants,
    KebabVariants, ScreamingVariants, LowerVariants, UpperVariants, TwoCases, AllFields, AllBoth, Odd, OddTags, Sku
);
