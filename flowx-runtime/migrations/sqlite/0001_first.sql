-- Proposals: `body` is the whole record, the other columns are what it is found by.
CREATE TABLE proposals (
    id TEXT PRIMARY KEY,
    call_key TEXT NOT NULL,
    status TEXT NOT NULL,
    revision BIGINT NOT NULL,
    requester TEXT NOT NULL,
    decide_before BIGINT,
    owner TEXT,
    body TEXT NOT NULL
);
-- The same call by the same caller is one row while it is open.
CREATE UNIQUE INDEX proposals_open ON proposals (call_key)
    WHERE status IN ('waiting', 'approved', 'executing', 'unknown');
CREATE INDEX proposals_call ON proposals (call_key, id);
CREATE INDEX proposals_status ON proposals (status, id);
CREATE INDEX proposals_waiting ON proposals (requester) WHERE status = 'waiting';

-- Which instances are alive, and until when that is believed without another word from them.
CREATE TABLE instances (
    owner TEXT PRIMARY KEY,
    alive_until BIGINT NOT NULL
);

CREATE TABLE idempotency (
    scope TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    owner TEXT NOT NULL,
    at BIGINT NOT NULL,
    body TEXT
);
CREATE INDEX idempotency_at ON idempotency (at);

CREATE TABLE nonces (
    nonce TEXT PRIMARY KEY,
    expires BIGINT NOT NULL
);
CREATE INDEX nonces_expires ON nonces (expires);

CREATE TABLE rules (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    used BIGINT NOT NULL,
    last_used BIGINT,
    revoked_at BIGINT,
    body TEXT NOT NULL
);
CREATE INDEX rules_agent ON rules (agent, id) WHERE revoked_at IS NULL;

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    expires BIGINT NOT NULL
);
CREATE INDEX sessions_expires ON sessions (expires);

-- The keys that seal questions, shared by every instance.
CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    secret TEXT NOT NULL
);

-- Records are written here together with what they tell of, and moved from here into the chain.
CREATE TABLE audit_inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at BIGINT NOT NULL,
    body TEXT NOT NULL
);
CREATE TABLE audit (
    seq BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    record TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
);
-- One row: the chain's end, kept apart from the chain so that a cut-off end shows.
CREATE TABLE audit_head (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO audit_head VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');
