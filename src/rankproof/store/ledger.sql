CREATE TABLE texts (id BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE judges (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    name TEXT NOT NULL,
    identity TEXT NOT NULL,
    human INTEGER NOT NULL
);
CREATE TABLE verdicts (
    pair BLOB NOT NULL,
    judge INTEGER NOT NULL REFERENCES judges(id),
    relation TEXT NOT NULL,
    "left" BLOB NOT NULL REFERENCES texts(id),
    "right" BLOB NOT NULL REFERENCES texts(id),
    value INTEGER,
    probability REAL,
    quote TEXT NOT NULL,
    items TEXT NOT NULL,
    origin TEXT NOT NULL,
    reason TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (pair, judge)
) WITHOUT ROWID;
CREATE TABLE runs (judges TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE frames (id TEXT PRIMARY KEY, pairs BLOB NOT NULL) WITHOUT ROWID;
