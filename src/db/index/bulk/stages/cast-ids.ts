import { nextCastId, timestampOfCastId } from "../../cast-id.ts";
import type { IndexDatabase } from "../../database.ts";
import { bulkStatement } from "../bulk-state.ts";
import { dropTable, weeksOf, weekTable } from "../spool-tables.ts";
import { into, sequence, sortedSlices } from "./sorted-slices.ts";
import { type BuildContext, type BulkStage, oneStep } from "./stage.ts";

/**
 * Tables of the build:
 * - `bulk_ids`: every live cast by its id, with what other stages need of it.
 * - `bulk_moved`: the casts whose id is not their first choice, because several share it.
 * - `bulk_map`: the id of every cast that is live or named, by hash and fid. Ids of missing casts are negative.
 */
const TABLES = [
  "CREATE TABLE bulk_ids (id INTEGER PRIMARY KEY, hash, fid, parent_url_id)",
  "CREATE TABLE bulk_moved (hash BLOB PRIMARY KEY, id) WITHOUT ROWID",
  "CREATE TABLE bulk_map (hash BLOB, fid INTEGER, id, PRIMARY KEY (hash, fid)) WITHOUT ROWID",
];

/** SQL expression for the cast id of a row of the spool. */
export const CAST_ID = "ifnull((SELECT v.id FROM bulk_moved v WHERE v.hash = s.hash), s.first_id)";

const hasId = bulkStatement<{ hash: Uint8Array }, [id: number]>(
  "bulk.ids.has",
  "SELECT hash FROM bulk_ids WHERE id = ?",
);
const insertId = bulkStatement<
  unknown,
  [id: number, hash: Uint8Array, fid: number, parentUrlId: number | null]
>("bulk.ids.insert", "INSERT INTO bulk_ids (id, hash, fid, parent_url_id) VALUES (?, ?, ?, ?)");
const insertMoved = bulkStatement<unknown, [hash: Uint8Array, id: number]>(
  "bulk.moved.insert",
  "INSERT INTO bulk_moved (hash, id) VALUES (?, ?)",
);

/** Id of a cast that is left out because its second has 65,536 others. No row has it. */
const NO_ID = 0;

interface CastRow {
  readonly id: number;
  readonly hash: Uint8Array;
  readonly fid: number;
  readonly parentUrlId: number | null;
}

/** Assigns every cast its id, week by week. */
const castIds: BulkStage = {
  name: "ids of casts",
  weight: 2,
  run(context) {
    const { db, state } = context;
    const last = state.get("week of ids");
    if (last === undefined) for (const sql of TABLES) db.run({ name: "bulk.create ids", sql });
    const week = weeksOf(db).find((one) => last === undefined || one > last);
    if (week === undefined) return true;
    addIdsOf(context, week);
    state.put("week of ids", week);
    return false;
  },
};

function addIdsOf({ db, state }: BuildContext, week: number): void {
  const table = weekTable(week);
  const added = db.run({
    name: "bulk.ids.week",
    sql: `INSERT OR IGNORE INTO bulk_ids (id, hash, fid, parent_url_id)
          SELECT first_id, hash, fid, parent_url_id FROM ${table} ORDER BY first_id, hash`,
  });
  const count = db.get<{ n: number }, []>({
    name: "bulk.ids.count",
    sql: `SELECT count(*) AS n FROM ${table}`,
  });
  if (added === count?.n) return;
  // Some casts share their first choice with another, or are in the spool twice.
  const others = db.all<CastRow, []>({
    name: "bulk.ids.collisions",
    sql: `SELECT s.first_id AS id, s.hash, s.fid, s.parent_url_id AS parentUrlId
          FROM ${table} s JOIN bulk_ids b ON b.id = s.first_id WHERE b.hash != s.hash
          GROUP BY s.hash ORDER BY s.first_id, s.hash`,
  });
  let fullSecond: number | undefined;
  for (const { id: firstId, hash, fid, parentUrlId } of others) {
    const second = timestampOfCastId(firstId);
    const id = second === fullSecond ? undefined : freeId(db, firstId, hash);
    if (id === undefined) {
      fullSecond = second;
      db.run(insertMoved, hash, NO_ID);
      state.put("drops", 1);
      continue;
    }
    db.run(insertId, id, hash, fid, parentUrlId);
    db.run(insertMoved, hash, id);
  }
}

function freeId(db: IndexDatabase, firstId: number, hash: Uint8Array): number | undefined {
  let id = nextCastId(firstId, hash);
  while (db.get(hasId, id) !== undefined) {
    if (id === firstId) return undefined;
    id = nextCastId(id, hash);
  }
  return id;
}

/**
 * Sorts the casts, and the references to casts, whose hash is in a range. A group without a cast is a missing cast: its id
 * is the number of one of the rows that name it, negated.
 */
const fillMap = bulkStatement<unknown, [from: Uint8Array, before: Uint8Array]>(
  "bulk.map.fill",
  `INSERT INTO bulk_map (hash, fid, id)
   SELECT hash, fid, max(id) FROM (
     SELECT hash, fid, id FROM bulk_ids WHERE hash >= ?1 AND hash < ?2
     UNION ALL SELECT target_hash, target_fid, -3 * rowid FROM bulk_reactions
       WHERE target_hash >= ?1 AND target_hash < ?2
     UNION ALL SELECT parent_hash, parent_fid, -3 * rowid - 1 FROM bulk_replies
       WHERE parent_hash >= ?1 AND parent_hash < ?2
     UNION ALL SELECT quoted_hash, quoted_fid, -3 * rowid - 2 FROM bulk_quotes
       WHERE quoted_hash >= ?1 AND quoted_hash < ?2
   ) GROUP BY hash, fid ORDER BY hash, fid`,
);
const rowsOfMap = bulkStatement<{ n: number }>(
  "bulk.map.rows",
  `SELECT (SELECT count(*) FROM bulk_ids) + ifnull((SELECT max(rowid) FROM bulk_reactions), 0)
     + ifnull((SELECT max(rowid) FROM bulk_replies), 0) + ifnull((SELECT max(rowid) FROM bulk_quotes), 0) AS n`,
);

const HASH_BYTES = 20;
const PREFIXES = 2 ** 32;

/** Returns the smallest hash of a part; for the number after the last part, a value above every hash. */
function hashFrom(part: number, parts: number): Uint8Array {
  if (part === parts) return new Uint8Array(HASH_BYTES + 1).fill(0xff);
  const hash = Buffer.alloc(HASH_BYTES);
  hash.writeUInt32BE(Math.floor((part / parts) * PREFIXES));
  return hash;
}

/** Maps hashes to ids, one range of hashes per step. */
const hashMap: BulkStage = {
  name: "map of hashes",
  weight: 8,
  run({ db, state, rowsPerSort }) {
    const parts =
      state.get("parts of hashes") ?? Math.max(1, Math.ceil((db.get(rowsOfMap)?.n ?? 0) / rowsPerSort));
    const part = state.get("part of hashes") ?? 0;
    db.run(fillMap, hashFrom(part, parts), hashFrom(part + 1, parts));
    state.put("parts of hashes", parts);
    state.put("part of hashes", part + 1);
    return part + 1 === parts;
  },
};
const castsRemoved = bulkStatement<{ id: number; hash: Uint8Array; fid: number }>(
  "bulk.removed-casts",
  `SELECT m.id, m.hash, m.fid FROM (SELECT hash, fid FROM bulk_cast_removes GROUP BY hash, fid) r
   CROSS JOIN bulk_map m ON m.hash = r.hash AND m.fid = r.fid WHERE m.id > 0 GROUP BY m.id`,
);
const deleteId = bulkStatement<unknown, [id: number]>("bulk.ids.delete", "DELETE FROM bulk_ids WHERE id = ?");
const negateId = bulkStatement<unknown, [id: number, hash: Uint8Array, fid: number]>(
  "bulk.map.negate",
  "UPDATE bulk_map SET id = ? WHERE hash = ? AND fid = ?",
);
const missing = "SELECT id, hash, fid FROM bulk_map WHERE id < 0 ORDER BY id";

export const CAST_ID_STAGES: readonly BulkStage[] = [
  castIds,
  hashMap,
  sequence(
    "missing casts",
    oneStep("removed casts", 0, ({ db, state }: BuildContext) => {
      // A remove wins over its cast. Rows that name the cast then name a missing one.
      for (const { id, hash, fid } of db.all(castsRemoved)) {
        db.run(deleteId, id);
        db.run(negateId, -id, hash, fid);
        state.put("drops", 1);
      }
      dropTable(db, "bulk_cast_removes");
    }),
    sortedSlices("casts that are missing", 1, {
      select: missing,
      take: into("missing_casts", "id, hash, fid"),
    }),
  ),
];

const dropWeek = bulkStatement<unknown, [week: number]>(
  "bulk.weeks.drop",
  "DELETE FROM bulk_weeks WHERE week = ?",
);

/** Writes the casts with all of their columns in order of ids, week by week, and drops each week of the spool. */
const casts: BulkStage = {
  name: "casts",
  weight: 9,
  run({ db, state }) {
    const [week] = weeksOf(db);
    if (week === undefined) {
      dropTable(db, "bulk_replies");
      return true;
    }
    const table = weekTable(week);
    const inserted = db.run({
      name: "bulk.casts.week",
      sql: `INSERT OR IGNORE INTO casts (id, hash, fid, text, parent_id, parent_fid, parent_hash, parent_url_id,
              root_id, root_fid, root_hash, root_url_id, rest, envelope_id)
            SELECT c.id, c.hash, c.fid, c.text, t.parent_id, t.parent_fid, t.parent_hash, c.parent_url_id,
              t.root_id, t.root_fid, t.root_hash, t.root_url_id, c.rest, c.envelope_id
            FROM (SELECT ${CAST_ID} AS id, s.* FROM ${table} s GROUP BY 1, s.envelope_id) c
            CROSS JOIN bulk_ids b ON b.id = c.id AND b.hash = c.hash
            LEFT JOIN bulk_threads t ON t.id = c.id`,
    });
    const count = db.get<{ n: number }, []>({
      name: "bulk.casts.count",
      sql: `SELECT count(*) AS n FROM ${table}`,
    });
    if (inserted !== count?.n) state.put("drops", 1);
    dropTable(db, table);
    db.run(dropWeek, week);
    return false;
  },
};

export const CAST_STAGES: readonly BulkStage[] = [casts];
