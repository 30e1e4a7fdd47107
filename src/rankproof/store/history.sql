CREATE TABLE experiments (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    saved_at TEXT NOT NULL,
    rankproof TEXT NOT NULL,
    python TEXT NOT NULL,
    git_commit TEXT,
    judgments TEXT NOT NULL,
    ranking TEXT NOT NULL,
    facts TEXT NOT NULL,
    queries BLOB NOT NULL
);
CREATE TABLE measured (
    experiment INTEGER NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    measure TEXT NOT NULL,
    mean REAL NOT NULL,
    note TEXT NOT NULL,
    per_query BLOB NOT NULL,
    counted BLOB,
    PRIMARY KEY (experiment, place)
);

CREATE TABLE tags (
    experiment INTEGER NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (experiment, key)
);
