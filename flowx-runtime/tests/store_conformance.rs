//! Every store passes the conformance suite, and every broken one fails it.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::broken::{Broken, Defect, Failing, OPERATIONS};
use common::postgres::Postgres;
use flowx_runtime::store::{MemoryStore, SharedStore, StoreError, conformance, open};

#[tokio::test(flavor = "multi_thread")]
async fn the_memory_store_conforms() {
    let store: SharedStore = Arc::new(MemoryStore::for_tests());
    assert_eq!(conformance::run(&store).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_in_a_file_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&format!("sqlite:{}", folder.path().join("a.db").display()))
        .await
        .unwrap();
    assert_eq!(conformance::run(&store).await, []);
    // And again on what the first run left behind.
    assert_eq!(conformance::run(&store).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_in_memory_conforms() {
    let store = open("sqlite::memory:").await.unwrap();
    assert_eq!(conformance::run(&store).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_conforms() {
    let postgres = Postgres::start();
    let store = open(&postgres.database("conformance")).await.unwrap();
    assert_eq!(conformance::run(&store).await, []);
    assert_eq!(conformance::run(&store).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_with_any_one_defect_does_not_conform() {
    let mut unseen = Vec::new();
    for defect in Defect::ALL {
        let inner: SharedStore = Arc::new(MemoryStore::for_tests());
        let store: SharedStore = Arc::new(Broken {
            inner,
            defect: *defect,
        });
        let violations = conformance::run(&store).await;
        println!(
            "{defect:?}: {:?}",
            violations.iter().map(|v| v.requirement).collect::<Vec<_>>()
        );
        if violations.is_empty() {
            unseen.push(*defect);
        }
    }
    assert_eq!(unseen, [], "the suite does not see these");
}

/// What has no defect here has not been seen to be checked.
#[test]
fn every_operation_of_a_store_has_a_defect_that_the_suite_sees() {
    let broken: BTreeSet<_> = Defect::ALL.iter().map(|d| d.operation()).collect();
    assert_eq!(broken, OPERATIONS.iter().copied().collect());
    let source = include_str!("../src/store/mod.rs");
    let (_, body) = source.split_once("pub trait Store").unwrap();
    let declared: BTreeSet<_> = body
        .split("\n    fn ")
        .skip(1)
        .map(|f| f.split(['<', '(']).next().unwrap())
        .filter(|name| *name != "kind")
        .collect();
    assert_eq!(declared, OPERATIONS.iter().copied().collect());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_cannot_be_reached_does_not_conform_and_never_says_that_nothing_is_there() {
    let inner: SharedStore = Arc::new(MemoryStore::for_tests());
    let store: SharedStore = Failing::dark(inner);
    assert!(!conformance::run(&store).await.is_empty());
    assert!(store.latest("any").await.is_err() && store.proposal("any").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_went_away_is_an_error_and_is_found_again_when_it_is_back() {
    let postgres = Postgres::start();
    let store = open(&postgres.database("away")).await.unwrap();
    assert_eq!(store.latest("any").await.unwrap(), None);
    postgres.crash();
    let gone = store.latest("any").await;
    assert!(matches!(gone, Err(StoreError::Unreachable(_))), "{gone:?}");
    postgres.resume();
    assert_eq!(store.latest("any").await.unwrap(), None);
    assert_eq!(conformance::run(&store).await, []);
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_without_showing_a_password() {
    for address in ["", "desk.db", "mysql://a:secret@b/c", "memory:x"] {
        let error = open(address).await.err().unwrap();
        assert!(
            matches!(error, StoreError::Address(_)),
            "{address}: {error}"
        );
    }
    let error = open("postgres://user:secret@host:notaport/db")
        .await
        .err()
        .unwrap();
    assert!(!error.to_string().contains("secret"), "{error}");
}
