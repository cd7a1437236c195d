//! The engine over a world that writes down what happened to it. Every refusal says what must not have happened.

mod world;

use std::time::{Duration, Instant};

use flowx_manifest::{Category, Json};

use super::Runner;
use crate::identity::Principal;
use crate::refusal::codes;
pub(crate) use world::call_over;
use world::{Act, Known, No, Once, Open, Paid, Script, Second, Undo, World};
use world::{call_in, fine, flow, person, run, run_as, script};

const NOTHING: [&str; 0] = [];

// --- stance ---

flow!(Pays, 0, [Paid], |cx| {
    cx.step::<Paid>(fine("paid")).await?;
    Ok("done".into())
});
flow!(Greets, 0, [Known], |cx| {
    cx.step::<Known>(fine("greeted")).await?;
    Ok("done".into())
});

#[tokio::test]
async fn a_step_is_done_only_for_whoever_its_stance_admits() {
    let world = World::default();
    let denied = run_as::<Pays>(&world, person(&["payment.refunds", "payment"]))
        .await
        .unwrap_err();
    assert_eq!(
        (&*denied.code, denied.status().as_u16()),
        (codes::PERMISSION_DENIED, 403)
    );
    let mut nobody = Principal::anonymous();
    nobody.permissions = person(&["payment.refund"]).permissions;
    for refusal in [
        run_as::<Pays>(&world, nobody.clone()).await,
        run_as::<Greets>(&world, nobody).await,
    ] {
        assert_eq!(refusal.unwrap_err().code, codes::NOT_AUTHENTICATED);
    }
    assert_eq!(world.log(), NOTHING);
    run_as::<Pays>(&world, person(&["payment.refund"]))
        .await
        .unwrap();
    run_as::<Greets>(&world, person(&[])).await.unwrap();
    assert_eq!(world.log(), ["paid", "greeted"]);
}

flow!(Swallows, 0, [Paid, Open undo Undo, Once], |cx| {
    cx.step::<Open>(fine("first")).await?;
    let denied = cx.step::<Paid>(fine("paid"));
    tokio::select! {
        biased;
        _ = denied => {}
        _ = tokio::time::sleep(Duration::ZERO) => {}
        () = std::future::ready(()) => {}
    }
    cx.step::<Once>(fine("after")).await?;
    Ok("got away with it".into())
});

#[tokio::test]
async fn a_body_cannot_swallow_a_denial() {
    let world = World::default();
    let refusal = run::<Swallows>(&world).await.unwrap_err();
    assert_eq!(refusal.code, codes::PERMISSION_DENIED);
    assert!(!world.log().contains(&"paid".to_owned()));
    assert_eq!(
        world.log().last().unwrap(),
        "undo first",
        "{:?}",
        world.log()
    );
}

flow!(Returns, 0, [Paid], |cx| {
    let mut denied = Box::pin(cx.step::<Paid>(fine("paid")));
    let polled = futures_util::poll!(denied.as_mut());
    assert!(polled.is_pending());
    Ok("got away with it".into())
});

#[tokio::test]
async fn a_body_that_returns_beside_a_denial_is_refused_all_the_same() {
    let world = World::default();
    assert_eq!(
        run::<Returns>(&world).await.unwrap_err().code,
        codes::PERMISSION_DENIED
    );
    assert_eq!(world.log(), NOTHING);
}

// --- errors as values ---

flow!(Fails, 0, [Open], |cx| {
    cx.step::<Open>(script("never", [Act::Refuse(Category::Conflict)]))
        .await?;
    Ok("done".into())
});
flow!(Breaks, 0, [Open], |cx| {
    cx.step::<Open>(script("never", [Act::Refuse(Category::Internal)]))
        .await?;
    Ok("done".into())
});
flow!(Panics, 0, [Open undo Undo, Second], |cx| {
    cx.step::<Open>(fine("first")).await?;
    cx.step::<Second>(script("never", [Act::Panic])).await?;
    Ok("done".into())
});

#[tokio::test]
async fn an_error_keeps_its_code_and_category() {
    let refusal = run::<Fails>(&World::default()).await.unwrap_err();
    assert_eq!(
        (&*refusal.code, refusal.category, refusal.status().as_u16()),
        ("test.no", Category::Conflict, 409)
    );
}

#[tokio::test]
async fn a_defect_is_masked_and_known_to_the_operator() {
    let world = World::default();
    for refusal in [
        run::<Breaks>(&world).await.unwrap_err(),
        run::<Panics>(&world).await.unwrap_err(),
    ] {
        assert_eq!(
            (refusal.category, refusal.status().as_u16()),
            (Category::Internal, 500)
        );
        assert!(!refusal.to_string().contains("swordfish"), "{refusal}");
        assert!(refusal.operator_detail().unwrap().contains("swordfish"));
    }
    assert_eq!(
        world.log(),
        ["first", "undo first"],
        "a panic undoes as any failure does"
    );
}

// --- undoing ---

flow!(Saga, 0, [Open undo Undo, Second undo Undo, Once], |cx| {
    cx.step::<Open>(fine("one")).await?;
    cx.step::<Second>(fine("two")).await?;
    cx.step::<Once>(script("three", [Act::Refuse(Category::Conflict)])).await?;
    Ok("done".into())
});
flow!(Stubborn, 0, [Open undo Undo, Second undo Undo, Once], |cx| {
    cx.step::<Open>(fine("one")).await?;
    cx.step::<Second>(fine("stubborn")).await?;
    cx.step::<Once>(script("three", [Act::Refuse(Category::Conflict)])).await?;
    Ok("done".into())
});
flow!(Fine, 0, [Open undo Undo], |cx| {
    cx.step::<Open>(fine("one")).await?;
    Ok("done".into())
});

#[tokio::test]
async fn completed_steps_are_undone_in_reverse_when_a_later_one_fails() {
    let world = World::default();
    let refusal = run::<Saga>(&world).await.unwrap_err();
    assert_eq!(refusal.code, "test.no");
    assert_eq!(refusal.detail, None);
    assert_eq!(world.log(), ["one", "two", "undo two", "undo one"]);
}

#[tokio::test]
async fn what_succeeds_is_not_undone() {
    let world = World::default();
    assert_eq!(run::<Fine>(&world).await.unwrap().text, "\"done\"");
    assert_eq!(world.log(), ["one"]);
}

#[tokio::test]
async fn one_undo_that_fails_keeps_no_other_from_running_and_the_caller_hears_of_it() {
    let world = World::default();
    let refusal = run::<Stubborn>(&world).await.unwrap_err();
    assert_eq!(
        refusal
            .detail
            .unwrap()
            .get("compensation")
            .and_then(Json::as_str),
        Some("failed")
    );
    assert_eq!(world.log(), ["one", "stubborn", "undo one"]);
}

flow!(Stuck, 0, [Open undo Undo, Second undo Undo, Once], |cx| {
    cx.step::<Open>(fine("one")).await?;
    cx.step::<Second>(fine("stuck")).await?;
    cx.step::<Once>(script("three", [Act::Refuse(Category::Conflict)])).await?;
    Ok("done".into())
});

#[tokio::test]
async fn an_undo_that_hangs_is_given_up_on_after_its_limit() {
    let world = World::default();
    let refusal = run::<Stuck>(&world).await.unwrap_err();
    assert!(refusal.detail.is_some());
    assert_eq!(world.log(), ["one", "stuck", "undo one"]);
}

flow!(Hangs, 0, [Open undo Undo, Second], |cx| {
    cx.step::<Open>(fine("one")).await?;
    cx.step::<Second>(script("two", [Act::Hang])).await?;
    Ok("done".into())
});

#[tokio::test]
async fn a_caller_who_leaves_cancels_the_call_and_what_was_done_is_undone_all_the_same() {
    let world = World::default();
    let call = call_in(&world, person(&[]));
    let tasks = call.tasks.clone();
    let running = tokio::spawn(Runner::of::<Hangs>().run(call, Json::Null));
    while world.log().is_empty() {
        tokio::task::yield_now().await;
    }
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    tasks.close();
    tasks.wait().await;
    assert_eq!(world.log(), ["one", "undo one"]);
}

flow!(Joins, 0, [Open undo Undo, Second undo Undo, Paid], |cx| {
    let (_, _, _) = tokio::join!(
        cx.step::<Open>(fine("one")),
        cx.step::<Paid>(fine("paid")),
        cx.step::<Second>(fine("two")),
    );
    Ok("done".into())
});

#[tokio::test]
async fn steps_beside_a_denied_one_are_undone() {
    let world = World::default();
    assert_eq!(
        run::<Joins>(&world).await.unwrap_err().code,
        codes::PERMISSION_DENIED
    );
    assert_eq!(world.log(), ["one", "two", "undo two", "undo one"]);
}

flow!(Doubtful, 30, [Once undo Undo, Second], |cx| {
    cx.step::<Once>(fine("one")).await?;
    cx.step::<Second>(script("two", [Act::Hang])).await?;
    Ok("done".into())
});
flow!(Standing, 30, [Once, Second], |cx| {
    cx.step::<Once>(fine("one")).await?;
    cx.step::<Second>(script("two", [Act::Hang])).await?;
    Ok("done".into())
});
flow!(Begun, 30, [Once], |cx| {
    cx.step::<Once>(script("one", [Act::Hang])).await?;
    Ok("done".into())
});
flow!(SaidNo, 0, [Once], |cx| {
    cx.step::<Once>(script("one", [Act::Refuse(Category::Unavailable)]))
        .await?;
    Ok("done".into())
});

#[tokio::test]
async fn a_refusal_knows_whether_something_may_be_standing_that_must_not_be_done_twice() {
    let world = World::default();
    assert!(
        run::<Standing>(&world)
            .await
            .unwrap_err()
            .may_have_taken_effect()
    );
    assert!(
        run::<Begun>(&world)
            .await
            .unwrap_err()
            .may_have_taken_effect(),
        "begun, and nobody knows"
    );
    assert!(
        !run::<Doubtful>(&world)
            .await
            .unwrap_err()
            .may_have_taken_effect(),
        "undone"
    );
    assert!(
        !run::<SaidNo>(&world)
            .await
            .unwrap_err()
            .may_have_taken_effect(),
        "a no has done nothing"
    );
    assert!(
        !run::<Late>(&world)
            .await
            .unwrap_err()
            .may_have_taken_effect(),
        "idempotent"
    );
    assert!(
        !run::<Pays>(&world)
            .await
            .unwrap_err()
            .may_have_taken_effect(),
        "never begun"
    );
}

// --- deadline and timeout ---

flow!(Late, 30, [Open undo Undo, Second], |cx| {
    cx.step::<Open>(fine("one")).await?;
    cx.step::<Second>(script("two", [Act::Hang])).await?;
    Ok("done".into())
});
flow!(
    LateStep,
    40,
    [Open {
        timeout_ms: 60_000,
        attempts: 5
    }],
    |cx| {
        cx.step::<Open>(script("one", [Act::Hang])).await?;
        Ok("done".into())
    }
);
flow!(AtBoundary, 20, [Open, Second], |cx| {
    cx.step::<Open>(fine("one")).await?;
    std::thread::sleep(Duration::from_millis(25));
    cx.step::<Second>(fine("two")).await?;
    Ok("done".into())
});
flow!(
    Slow,
    0,
    [Once {
        timeout_ms: 20,
        attempts: 3
    }],
    |cx| {
        cx.step::<Once>(script("one", [Act::Hang, Act::Succeed]))
            .await?;
        Ok("done".into())
    }
);

#[tokio::test]
async fn a_call_ends_at_its_deadline_wherever_it_is_and_is_undone() {
    let world = World::default();
    let refusal = run::<Late>(&world).await.unwrap_err();
    assert_eq!(
        (&*refusal.code, refusal.status().as_u16()),
        (codes::DEADLINE_EXCEEDED, 504)
    );
    assert_eq!(world.log(), ["one", "undo one"]);
}

#[tokio::test]
async fn a_deadline_clamps_the_timeout_and_the_retries_of_a_step() {
    let since = Instant::now();
    let refusal = run::<LateStep>(&World::default()).await.unwrap_err();
    assert_eq!(refusal.code, codes::DEADLINE_EXCEEDED);
    assert!(since.elapsed() < Duration::from_secs(5));
}

flow!(SpinsLate, 20, [Once], |cx| {
    cx.step::<Once>(script("one", [Act::Spin])).await?;
    Ok("done".into())
});
flow!(SpinsLong, 0, [Once { timeout_ms: 20 }], |cx| {
    cx.step::<Once>(script("one", [Act::Spin])).await?;
    Ok("done".into())
});

#[tokio::test]
async fn a_step_that_never_rests_is_ended_by_its_limit_all_the_same() {
    let world = World::default();
    let long = Duration::from_secs(10);
    let late = tokio::time::timeout(long, run::<SpinsLate>(&world)).await;
    let refusal = late.expect("the deadline is heard").unwrap_err();
    assert_eq!(refusal.code, codes::DEADLINE_EXCEEDED);
    let slow = tokio::time::timeout(long, run::<SpinsLong>(&world)).await;
    let refusal = slow.expect("the timeout is heard").unwrap_err();
    assert_eq!(refusal.code, codes::STEP_TIMED_OUT);
    assert_eq!(world.log(), NOTHING);
}

#[tokio::test]
async fn no_step_begins_past_the_deadline() {
    let world = World::default();
    assert_eq!(
        run::<AtBoundary>(&world).await.unwrap_err().code,
        codes::DEADLINE_EXCEEDED
    );
    assert_eq!(world.log(), ["one"]);
}

#[tokio::test]
async fn a_step_that_is_not_idempotent_times_out_once_and_is_not_tried_again() {
    let world = World::default();
    let refusal = run::<Slow>(&world).await.unwrap_err();
    assert_eq!(
        (&*refusal.code, refusal.status().as_u16()),
        (codes::STEP_TIMED_OUT, 504)
    );
    assert_eq!(world.log(), NOTHING);
}

// --- retry ---

flow!(
    Retries,
    0,
    [Open {
        attempts: 3,
        timeout_ms: 20
    }],
    |cx| {
        cx.step::<Open>(script(
            "one",
            [Act::Refuse(Category::Unavailable), Act::Hang, Act::Succeed],
        ))
        .await?;
        Ok("done".into())
    }
);
flow!(GivesUp, 0, [Open { attempts: 3 }], |cx| {
    cx.step::<Open>(script("one", [Act::Refuse(Category::Unavailable)]))
        .await?;
    Ok("done".into())
});
flow!(Terminal, 0, [Open { attempts: 3 }], |cx| {
    cx.step::<Open>(script(
        "one",
        [Act::Refuse(Category::Conflict), Act::Succeed],
    ))
    .await?;
    Ok("done".into())
});
flow!(Careful, 0, [Once { attempts: 3 }], |cx| {
    cx.step::<Once>(script(
        "one",
        [Act::Refuse(Category::Unavailable), Act::Succeed],
    ))
    .await?;
    Ok("done".into())
});
flow!(
    NoTime,
    5_000,
    [Open {
        attempts: 2,
        backoff_ms: u64::MAX / 4
    }],
    |cx| {
        cx.step::<Open>(script(
            "one",
            [Act::Refuse(Category::Unavailable), Act::Succeed],
        ))
        .await?;
        Ok("done".into())
    }
);

#[tokio::test]
async fn only_what_is_unavailable_and_idempotent_is_tried_again() {
    let world = World::default();
    run::<Retries>(&world).await.unwrap();
    assert_eq!(
        world.log(),
        ["one"],
        "a refusal and a timeout, then success"
    );

    let world = World::default();
    for refusal in [
        run::<GivesUp>(&world).await,
        run::<Terminal>(&world).await,
        run::<Careful>(&world).await,
    ] {
        assert_eq!(
            refusal.unwrap_err().code,
            "test.no",
            "what the capability said, as it said it"
        );
    }
    assert_eq!(world.log(), NOTHING);
}

#[tokio::test]
async fn no_retry_is_waited_for_that_the_deadline_would_cut_off() {
    let (mut refused, since) = (0, Instant::now());
    // Full jitter over 30 s: a wait that fits into the deadline's 5 s comes up once in six.
    for _ in 0..20 {
        let world = World::default();
        let waited = tokio::time::timeout(Duration::from_millis(20), run::<NoTime>(&world)).await;
        // A wait of less than 20 ms comes up once in 1,500, and then the retry is right.
        if !matches!(waited, Ok(Ok(_))) {
            assert_eq!(world.log(), NOTHING);
        }
        refused += usize::from(matches!(waited, Ok(Err(refusal)) if refusal.code == "test.no"));
    }
    assert!(refused >= 5, "{refused} of 20");
    assert!(since.elapsed() < Duration::from_secs(10));
}

// --- sub-flows ---

flow!(Child, 0, [Open undo Undo, Once], |cx| {
    cx.step::<Open>(fine("child one")).await?;
    cx.step::<Once>(script("child two", [Act::Refuse(Category::Conflict)])).await?;
    Ok("child".into())
});
flow!(GoodChild, 0, [Open undo Undo], |cx| {
    cx.step::<Open>(fine("child one")).await?;
    Ok("child".into())
});
flow!(SlowChild, 20, [Open], |cx| {
    cx.step::<Open>(script("child", [Act::Hang])).await?;
    Ok("child".into())
});
flow!(Parent, 0, [Open undo Undo, Second], |cx| {
    cx.step::<Open>(fine("parent one")).await?;
    let child: Result<String, No> = cx.call::<Child>(()).await;
    assert_eq!(child.unwrap_err(), No(Category::Conflict));
    cx.step::<Second>(fine("parent two")).await?;
    Ok("parent".into())
});
flow!(FailingParent, 0, [Open undo Undo, Once], |cx| {
    cx.step::<Open>(fine("parent one")).await?;
    cx.call::<GoodChild>(()).await?;
    cx.step::<Once>(script("never", [Act::Refuse(Category::Conflict)])).await?;
    Ok("parent".into())
});
flow!(WaitingParent, 60_000, [Open undo Undo], |cx| {
    cx.step::<Open>(fine("parent one")).await?;
    let _ = cx.call::<SlowChild>(()).await;
    Ok("got away with it".into())
});

macro_rules! has_flow {
    ($($parent:ident: $child:ident),*) => {$(
        impl crate::traits::HasFlow<$child> for $parent {
            const STEP: crate::traits::StepInfo =
                crate::traits::StepInfo { name: "child", timeout_ms: 0, attempts: 1, backoff_ms: 0 };
        }
    )*};
}
has_flow!(Parent: Child, FailingParent: GoodChild, WaitingParent: SlowChild);

#[tokio::test]
async fn a_sub_flow_that_fails_is_undone_before_its_caller_goes_on() {
    let world = World::default();
    run::<Parent>(&world).await.unwrap();
    assert_eq!(
        world.log(),
        ["parent one", "child one", "undo child one", "parent two"]
    );
}

#[tokio::test]
async fn a_sub_flow_that_succeeded_is_undone_with_its_caller() {
    let world = World::default();
    run::<FailingParent>(&world).await.unwrap_err();
    assert_eq!(
        world.log(),
        [
            "parent one",
            "child one",
            "undo child one",
            "undo parent one"
        ]
    );
}

#[tokio::test]
async fn a_sub_flow_past_its_own_deadline_ends_the_whole_call() {
    let world = World::default();
    assert_eq!(
        run::<WaitingParent>(&world).await.unwrap_err().code,
        codes::DEADLINE_EXCEEDED
    );
    assert_eq!(world.log(), ["parent one", "undo parent one"]);
}

// --- keys ---

flow!(Keys, 0, [Open { attempts: 2 }, Second], |cx| {
    cx.step::<Open>(fine("a")).await?;
    cx.step::<Open>(fine("b")).await?;
    Ok("done".into())
});

#[test]
fn every_step_of_a_call_has_a_key_of_its_own_and_every_attempt_the_same() {
    use crate::context::{Cx, Place, Running, Site};
    use crate::traits::{Capability, HasStep, StepInfo};
    use std::sync::Arc;
    let world = World::default();
    let call = call_in(&world, person(&[]));
    let key = |flow, step, ordinal, path: Option<&str>, undoing| {
        let site = Site {
            flow,
            policy: StepInfo {
                name: step,
                ..<Keys as HasStep<Second>>::STEP
            },
            capability: Open::INFO,
        };
        let place = Place {
            site: Box::leak(Box::new(site)),
            ordinal,
            undoing,
        };
        let running = Arc::new(Running::new(call.clone(), path.map(Into::into), None));
        Cx::<Open>::new(running, place).idempotency_key()
    };
    let all = [
        key("Keys", "Open", 0, None, false),
        key("Keys", "Open", 1, None, false),
        key("Keys", "Second", 0, None, false),
        key("Keys", "Open", 0, Some("Parent:child:0/"), false),
        key("Keys", "Open", 0, None, true),
    ];
    let distinct: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
    assert_eq!(all[0], key("Keys", "Open", 0, None, false));
    let _ = Runner::of::<Keys>;
    let _: Option<Script> = None;
}
