use super::*;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const ISSUER: &str = "https://id.example";
const AUDIENCE: &str = "https://desk.example/mcp";

/// An Ed25519 key: PKCS#8 is a fixed prefix and a 32-byte seed.
fn key(seed: u8) -> EncodingKey {
    let mut der = vec![
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ];
    der.extend([seed; 32]);
    EncodingKey::from_ed_der(&der)
}

fn jwk(seed: u8, kid: &str) -> Value {
    let mut jwk = Jwk::from_encoding_key(&key(seed), Algorithm::EdDSA).unwrap();
    jwk.common.key_id = Some(kid.to_owned());
    serde_json::to_value(jwk).unwrap()
}

fn jwks(keys: &[(u8, &str)]) -> String {
    json!({ "keys": keys.iter().map(|(seed, kid)| jwk(*seed, kid)).collect::<Vec<_>>() })
        .to_string()
}

fn in_seconds(seconds: i64) -> i64 {
    time::OffsetDateTime::now_utc().unix_timestamp() + seconds
}

fn claims(change: Value) -> Value {
    let mut claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": in_seconds(300), "scope": "payment.refund" });
    for (k, v) in change.as_object().unwrap() {
        if v.is_null() {
            claims.as_object_mut().unwrap().remove(k)
        } else {
            claims.as_object_mut().unwrap().insert(k.clone(), v.clone())
        };
    }
    claims
}

fn token(seed: u8, kid: &str, claims: &Value) -> String {
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some(kid.to_owned());
    encode(&header, claims, &key(seed)).unwrap()
}

fn jwt() -> Jwt {
    Jwt::from_issuer(ISSUER, AUDIENCE)
        .jwks(&jwks(&[(1, "one"), (2, "two")]))
        .unwrap()
}

#[tokio::test]
async fn a_good_token_is_its_subject_with_its_permissions() {
    let who = jwt()
        .check(&token(1, "one", &claims(json!({ "tid": "acme" }))))
        .await
        .unwrap();
    assert_eq!(
        (who.kind, who.subject.as_str(), who.tenant.as_deref()),
        (PrincipalKind::Person, "ann", Some("acme"))
    );
    assert!(who.holds("payment.refund"));
    assert_eq!(who.issuer, ISSUER);
}

#[tokio::test]
async fn a_token_that_is_wrong_in_one_thing_is_nobody() {
    let good = token(1, "one", &claims(json!({})));
    let (head, signature) = good.rsplit_once('.').unwrap();
    let (header, payload) = head.split_once('.').unwrap();
    use base64::Engine as _;
    let b64 = |v: Value| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(v.to_string());
    let other_claims = b64(claims(json!({ "sub": "mallory" })));
    let none = b64(json!({ "alg": "none", "kid": "one" }));
    let hs256 = encode(
        &Header {
            kid: Some("one".into()),
            ..Header::new(Algorithm::HS256)
        },
        &claims(json!({})),
        &EncodingKey::from_secret(jwk(1, "one")["x"].as_str().unwrap().as_bytes()).unwrap(),
    );
    let mut id_token = Header::new(Algorithm::EdDSA);
    (id_token.kid, id_token.typ) = (Some("one".into()), Some("dpop+jwt".into()));
    let cases = [
        (
            "another issuer",
            token(1, "one", &claims(json!({ "iss": "https://evil.example" }))),
        ),
        (
            "another audience",
            token(1, "one", &claims(json!({ "aud": "https://other.example" }))),
        ),
        (
            "no audience",
            token(1, "one", &claims(json!({ "aud": null }))),
        ),
        (
            "expired",
            token(1, "one", &claims(json!({ "exp": in_seconds(-120) }))),
        ),
        (
            "no expiry",
            token(1, "one", &claims(json!({ "exp": null }))),
        ),
        (
            "not yet",
            token(1, "one", &claims(json!({ "nbf": in_seconds(120) }))),
        ),
        (
            "no subject",
            token(1, "one", &claims(json!({ "sub": null }))),
        ),
        (
            "another key under this id",
            token(2, "one", &claims(json!({}))),
        ),
        ("an unknown key", token(3, "three", &claims(json!({})))),
        (
            "two tenants",
            token(1, "one", &claims(json!({ "tid": "a", "tenant_id": "b" }))),
        ),
        (
            "claims swapped",
            format!("{header}.{other_claims}.{signature}"),
        ),
        ("no signature", format!("{none}.{payload}.")),
        ("signed with the public key as secret", hs256.unwrap()),
        (
            "another type of token",
            encode(&id_token, &claims(json!({})), &key(1)).unwrap(),
        ),
        ("not a JWT", "abc".to_owned()),
    ];
    for (what, token) in cases {
        let refusal = jwt().check(&token).await.expect_err(what);
        assert_eq!(refusal.code, codes::NOT_AUTHENTICATED, "{what}");
        assert!(!refusal.to_string().contains(&token), "{what}");
    }
}

#[tokio::test]
async fn an_algorithm_off_the_list_is_refused_though_the_key_is_known() {
    let jwt = jwt().algorithms(&[Algorithm::RS256]).unwrap();
    assert!(
        jwt.check(&token(1, "one", &claims(json!({}))))
            .await
            .is_err()
    );
    assert!(matches!(
        Jwt::from_issuer("i", "a").algorithms(&[Algorithm::HS256]),
        Err(JwtError::Algorithm(_))
    ));
}

#[tokio::test]
async fn a_client_is_an_agent_because_it_is_configured_and_acts_for_the_subject() {
    let jwt = jwt().agent("desk-client", "desk-bot").unwrap();
    let delegated = jwt
        .check(&token(
            1,
            "one",
            &claims(json!({ "act": { "sub": "desk-client" } })),
        ))
        .await
        .unwrap();
    assert_eq!(delegated.kind, PrincipalKind::Agent);
    assert_eq!(
        (
            delegated.subject.as_str(),
            delegated.on_behalf_of.as_deref()
        ),
        ("desk-client", Some("ann"))
    );
    let own = jwt
        .check(&token(1, "one", &claims(json!({ "sub": "desk-client" }))))
        .await
        .unwrap();
    assert_eq!((own.kind, own.on_behalf_of), (PrincipalKind::Agent, None));
    let claimed = jwt
        .check(&token(1, "one", &claims(json!({ "agent": "desk-bot" }))))
        .await
        .unwrap();
    assert_eq!(
        claimed.kind,
        PrincipalKind::Person,
        "a token does not make itself an agent, nor a person of an agent"
    );
    let service = jwt
        .check(&token(1, "one", &claims(json!({ "azp": "ann" }))))
        .await
        .unwrap();
    assert_eq!(service.kind, PrincipalKind::Service);
}

#[tokio::test]
async fn a_token_through_a_client_that_people_do_not_use_is_an_agents() {
    let jwt = jwt().people_use(["web"]);
    let kind = async |change| {
        let who = jwt.check(&token(1, "one", &claims(change))).await.unwrap();
        (who.kind, who.agent, who.on_behalf_of)
    };
    assert_eq!(
        kind(json!({ "azp": "web" })).await,
        (PrincipalKind::Person, None, None)
    );
    assert_eq!(
        kind(json!({ "azp": "some-host" })).await,
        (PrincipalKind::Agent, None, Some("ann".to_owned()))
    );
    assert_eq!(
        kind(json!({})).await.0,
        PrincipalKind::Agent,
        "nor one that names no client"
    );
}

#[tokio::test]
async fn keys_from_a_url_are_cached_and_rotate() {
    let document = Arc::new(Mutex::new(jwks(&[(1, "one")])));
    let fetched = Arc::new(AtomicUsize::new(0));
    let (d, f) = (Arc::clone(&document), Arc::clone(&fetched));
    let router = axum::Router::new().route(
        "/keys",
        axum::routing::get(move || async move {
            f.fetch_add(1, Ordering::SeqCst);
            d.lock().unwrap().clone()
        }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { axum::serve(listener, router).await });
    let mut jwt = Jwt::from_issuer(ISSUER, AUDIENCE).jwks_url(format!("http://{address}/keys"));

    for _ in 0..3 {
        jwt.check(&token(1, "one", &claims(json!({}))))
            .await
            .unwrap();
    }
    assert_eq!(fetched.load(Ordering::SeqCst), 1, "cached");

    *document.lock().unwrap() = jwks(&[(2, "two")]);
    jwt.check(&token(2, "two", &claims(json!({}))))
        .await
        .expect_err("within the pause nobody fetches again");
    assert_eq!(
        fetched.load(Ordering::SeqCst),
        1,
        "invented key ids are no load on the issuer"
    );

    jwt.keys.pause(Duration::ZERO);
    jwt.check(&token(2, "two", &claims(json!({}))))
        .await
        .unwrap();
    jwt.check(&token(1, "one", &claims(json!({}))))
        .await
        .expect_err("the old key is gone");

    server.abort();
    let _ = server.await;
    jwt.check(&token(2, "two", &claims(json!({}))))
        .await
        .expect("an issuer that is away does not lock out whom its keys vouch for");
    let unreachable = Jwt::from_issuer(ISSUER, AUDIENCE).jwks_url("http://127.0.0.1:9/keys");
    let refusal = unreachable
        .check(&token(1, "one", &claims(json!({}))))
        .await
        .expect_err("no keys");
    assert_eq!(
        refusal.code,
        codes::UNAVAILABLE,
        "not being able to say is not a no"
    );
}

#[tokio::test]
async fn keys_are_never_fetched_in_the_clear() {
    let jwt = Jwt::from_issuer(ISSUER, AUDIENCE).jwks_url("http://id.example/keys");
    let refusal = jwt
        .check(&token(1, "one", &claims(json!({}))))
        .await
        .expect_err("http");
    assert!(
        refusal
            .operator_detail()
            .is_some_and(|d| d.contains("https only"))
    );
}
