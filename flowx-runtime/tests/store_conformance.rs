//! Every store passes the conformance suite, and every broken one fails it.

mod common;

use std::sync::Arc;

use common::postgres::Postgres;
use flowx_runtime::store::{MemoryStore, SharedStore, conformance, open};

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
