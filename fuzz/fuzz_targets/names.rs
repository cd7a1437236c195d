//! A name that parses prints as it was written, and survives being a reference.
#![no_main]

use flowx_manifest::*;

libfuzzer_sys::fuzz_target!(|text: &str| {
    macro_rules! same {
        ($($kind:ty),*) => {$(
            if let Ok(name) = text.parse::<$kind>() {
                assert_eq!(name.to_string(), text);
            }
        )*};
    }
    same!(FlowId, CapabilityId, EffectId, EventId, AgentId, EntityId, PermissionName, ErrorCode, StepName, ToolName);
    same!(Version, VersionedId, IsoDuration);
    if let Ok(duration) = text.parse::<IsoDuration>() {
        assert!(duration.millis() > 0);
    }
    assert_eq!(contract_of_ref(&contract_ref(text)).as_deref(), Some(text));
});
