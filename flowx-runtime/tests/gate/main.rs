//! The gate from outside: every reported failure of an approval gate as a test that counts effects, over SQLite and PostgreSQL.
#![allow(clippy::unwrap_used, unreachable_pub)]

#[path = "../common/mod.rs"]
mod common;

mod asker;
mod autonomy;
mod cases;
mod confirmation;
mod hostile;
mod kill;
mod lab;
mod many;
mod operator;
mod processes;
mod stores;
mod vault;
mod wire;

use std::future::Future;
use std::pin::Pin;

use lab::Lab;

/// A test over an empty store.
type Case = (
    &'static str,
    fn(Lab) -> Pin<Box<dyn Future<Output = ()> + Send>>,
);

/// Makes of async functions a test each over SQLite, and a list of them that one test runs over PostgreSQL, on one cluster.
macro_rules! case_list {
    ($list:ident: $($name:ident),* $(,)?) => {
        pub(crate) const $list: &[crate::Case] = &[$((stringify!($name), |lab| Box::pin($name(lab)))),*];

        mod on_sqlite {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() {
                    super::$name(crate::lab::Lab::on_sqlite().await).await;
                }
            )*
        }
    };
}
pub(crate) use case_list;

/// Runs a list over PostgreSQL, each case on a database of its own, and names everything that failed.
async fn on_postgres(list: &'static [Case]) {
    let postgres = common::postgres::Postgres::start();
    let mut failed = Vec::new();
    // `cargo xtask plant` wants to see one of them fail, and not to wait for the others.
    let only = std::env::var("FLOWX_ONLY").ok();
    for (at, (name, case)) in list.iter().enumerate() {
        if only.as_deref().is_some_and(|only| only != *name) {
            continue;
        }
        let lab = Lab::on(&postgres.database(&format!("case_{at}"))).await;
        if tokio::spawn(case(lab)).await.is_err() {
            failed.push(*name);
        }
    }
    assert!(
        failed.is_empty(),
        "over PostgreSQL these do not hold: {failed:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_reported_failure_is_absent_over_postgres_too() {
    on_postgres(cases::CASES).await;
}

/// The list of reported failures has twenty-two; each is a test of the list that runs over both stores.
#[test]
fn every_reported_failure_has_a_test() {
    for number in 1..=22 {
        let name = format!("c{number:02}_");
        let tests = cases::CASES.iter().filter(|(n, _)| n.starts_with(&name));
        assert!(tests.count() > 0, "case {number} has no test");
    }
}

/// `guards.toml` says how each guard is taken out; `cargo xtask plant` does it, and sees the test fail.
#[test]
fn every_case_has_a_guard_and_every_guard_stands_in_the_source_once() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let list: toml::Value = toml::from_str(include_str!("guards.toml")).unwrap();
    let text = |value: &toml::Value, name: &str| value[name].as_str().unwrap().to_owned();
    let mut guarded = std::collections::BTreeSet::new();
    for guard in list["guard"].as_array().unwrap() {
        let test = text(guard, "test");
        for edit in guard["edits"].as_array().unwrap() {
            let file = text(edit, "file");
            let source = std::fs::read_to_string(root.join(&file)).unwrap();
            let times = source.matches(&text(edit, "find")).count();
            assert_eq!(times, 1, "{test}: {} in {file}", text(edit, "find"));
        }
        guarded.insert(test);
    }
    let lists = [
        ("cases", cases::CASES),
        ("asker", asker::ASKER),
        ("vault", vault::VAULT),
        ("hostile", hostile::HOSTILE),
        ("stores", stores::STORES),
    ];
    let tests = lists.iter().flat_map(|(module, list)| {
        list.iter()
            .map(move |(name, _)| format!("{module}::{name}"))
    });
    assert_eq!(guarded, tests.collect());
}

#[tokio::test(flavor = "multi_thread")]
async fn autonomy_holds_over_postgres_too() {
    on_postgres(autonomy::AUTONOMY).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_asker_is_looked_up_over_postgres_too() {
    on_postgres(asker::ASKER).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn values_are_sealed_over_postgres_too() {
    on_postgres(vault::VAULT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_hostile_gets_through_over_postgres_either() {
    on_postgres(hostile::HOSTILE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_refuses_over_postgres_too() {
    on_postgres(stores::STORES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn confirmation_holds_over_postgres_too() {
    on_postgres(confirmation::CONFIRMATION).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_side_holds_over_postgres_too() {
    on_postgres(operator::OPERATOR).await;
}
