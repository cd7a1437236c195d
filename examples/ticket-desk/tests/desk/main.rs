//! The desk from outside, over the flows' own routes. After every refusal the counters say that nothing has happened.

mod calls;
mod input;
mod narration;
mod support;
mod surface;
