import type { SideSchema } from "../db/side/side-database.ts";

/** The tables of `history.db`. */
export const HISTORY_SCHEMA: SideSchema = {
  name: "history",
  steps: [
    `CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
     CREATE TABLE chunks (
       id INTEGER PRIMARY KEY,
       step INTEGER NOT NULL,
       from_t INTEGER NOT NULL,
       to_t INTEGER NOT NULL,
       body BLOB NOT NULL
     ) STRICT;
     CREATE UNIQUE INDEX chunks_by_time ON chunks (step, from_t);
     CREATE TABLE counts (
       step INTEGER NOT NULL,
       t INTEGER NOT NULL,
       kind INTEGER NOT NULL,
       n INTEGER NOT NULL,
       PRIMARY KEY (step, t, kind)
     ) STRICT, WITHOUT ROWID;
     CREATE TABLE log_blocks (
       id INTEGER PRIMARY KEY,
       last_id INTEGER NOT NULL,
       from_ms INTEGER NOT NULL,
       to_ms INTEGER NOT NULL,
       worst INTEGER NOT NULL,
       lines INTEGER NOT NULL,
       body BLOB NOT NULL
     ) STRICT;
     CREATE TABLE requests (
       id INTEGER PRIMARY KEY,
       at_ms INTEGER NOT NULL,
       hour INTEGER NOT NULL,
       method TEXT NOT NULL,
       route TEXT NOT NULL,
       status INTEGER NOT NULL,
       ms REAL NOT NULL,
       request_id TEXT NOT NULL,
       key_prefix TEXT
     ) STRICT;
     CREATE INDEX requests_by_time ON requests (at_ms);
     CREATE INDEX requests_by_duration ON requests (hour, ms);
     CREATE TABLE marks (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL) STRICT;
     CREATE INDEX marks_by_time ON marks (at);
     CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    `INSERT INTO counts (step, t, kind, n)
     SELECT 86400, t - t % 86400, kind, sum(n) FROM counts WHERE step = 3600 GROUP BY t - t % 86400, kind`,
    `CREATE TABLE backups (
       id INTEGER PRIMARY KEY,
       at INTEGER NOT NULL,
       kind TEXT NOT NULL,
       name TEXT,
       bytes INTEGER,
       seconds REAL NOT NULL,
       fault TEXT
     ) STRICT;
     CREATE INDEX backups_by_time ON backups (at)`,
  ],
};
