//! Every store passes the conformance suite, and every broken one fails it.

#![allow(clippy::unwrap_used, unreachable_pub)]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::broken::{Broken, Defect, Failing, OPERATIONS};
use common::postgres::Postgres;
use flowx_runtime::store::{
    MemoryStore, PostgresStore, SharedStore, Store, StoreError, StoreOptions, Wait, conformance,
    open, open_with,
};

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

fn narrow() -> StoreOptions {
    StoreOptions {
        max_connections: 2,
        acquire_timeout: Duration::from_millis(400),
        statement_timeout: Duration::from_millis(400),
    }
}

/// How long that took, in milliseconds, and that it was refused as a store that cannot be reached.
async fn refused_within<T: std::fmt::Debug>(wait: Wait<'_, T>) -> u128 {
    let begun = Instant::now();
    let answer = wait.await;
    assert!(
        matches!(answer, Err(StoreError::Unreachable(_))),
        "{answer:?}"
    );
    begun.elapsed().as_millis()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_that_is_used_up_refuses_in_time_and_goes_on_after() {
    let postgres = Postgres::start();
    let store = PostgresStore::open(&postgres.database("narrow"), &narrow())
        .await
        .unwrap();
    let held = [store.pool().acquire().await, store.pool().acquire().await];
    assert!(held.iter().all(Result::is_ok));
    let took = refused_within(store.latest("any")).await;
    assert!((300..3_000).contains(&took), "{took} ms");
    drop(held);
    assert_eq!(store.latest("any").await.unwrap(), None);
    // No more connections than it may have, whatever is asked at once.
    let all = futures_util::future::join_all((0..50).map(|_| store.latest("any"))).await;
    assert!(all.iter().all(|found| matches!(found, Ok(None))), "{all:?}");
    assert!(store.pool().size() <= 2, "{}", store.pool().size());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_waits_for_a_lock_is_refused_in_time_on_postgres() {
    let postgres = Postgres::start();
    let address = postgres.database("locked");
    let store = PostgresStore::open(&address, &narrow()).await.unwrap();
    // Somebody else sits on the table.
    let other = PostgresStore::open(&address, &StoreOptions::default())
        .await
        .unwrap();
    let mut locked = other.pool().begin().await.unwrap();
    sqlx::query("LOCK TABLE nonces IN ACCESS EXCLUSIVE MODE")
        .execute(&mut *locked)
        .await
        .unwrap();
    let took = refused_within(store.nonce_consume("n", 2_000, 1_000, &[])).await;
    assert!((300..3_000).contains(&took), "{took} ms");
    locked.rollback().await.unwrap();
    assert!(store.nonce_consume("n", 2_000, 1_000, &[]).await.unwrap());
    assert!(!store.nonce_consume("n", 2_000, 1_000, &[]).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_another_program_writes_is_refused_in_time_and_read_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("a.db").display());
    let store = open_with(&address, &narrow()).await.unwrap();
    let mut other = <sqlx::SqliteConnection as sqlx::Connection>::connect(&address)
        .await
        .unwrap();
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut other)
        .await
        .unwrap();
    let took = refused_within(store.nonce_consume("n", 2_000, 1_000, &[])).await;
    assert!((300..3_000).contains(&took), "{took} ms");
    assert_eq!(store.latest("any").await.unwrap(), None);
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    assert!(store.nonce_consume("n", 2_000, 1_000, &[]).await.unwrap());
}
