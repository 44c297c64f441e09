import {
  type Kind,
  type Rank,
  resolveConflict,
  type Store,
} from "../../../../protocol/message/merge-rules.ts";
import { messageHash } from "../../../../protocol/message/message-hash.ts";
import type { IndexDatabase } from "../../database.ts";
import { bulkStatement } from "../bulk-state.ts";
import { dropTable } from "../spool-tables.ts";
import { type BuildContext, type BulkStage, oneStep } from "./stage.ts";

interface GenericRow {
  readonly id: number;
  readonly kind: Kind;
  readonly timestamp: number;
  readonly data: Uint8Array;
}

const contestedSlots = bulkStatement<{ fid: number; store: Store; slot: Uint8Array; ids: string }>(
  "bulk.messages.contested",
  `SELECT fid, store, slot, group_concat(id) AS ids FROM messages GROUP BY fid, store, slot HAVING count(*) > 1`,
);
const messageOf = bulkStatement<GenericRow, [id: number]>(
  "bulk.messages.one",
  "SELECT id, kind, timestamp, data FROM messages WHERE id = ?",
);
const deleteMessage = bulkStatement<unknown, [id: number]>(
  "bulk.messages.delete",
  "DELETE FROM messages WHERE id = ?",
);
const emptyLends = bulkStatement<{ id: number }>(
  "bulk.messages.empty-lends",
  "SELECT message_id AS id FROM bulk_lends WHERE units = 0",
);

/** Keeps one generic message per slot. */
function resolveGeneric({ db }: BuildContext): void {
  for (const { store, ids } of db.all(contestedSlots)) {
    let winner: (Rank & { readonly id: number }) | undefined;
    // In order of arrival: a compact state with the same time does not replace the first.
    for (const id of ids
      .split(",")
      .map(Number)
      .sort((a, b) => a - b)) {
      const row = db.get(messageOf, id);
      if (!row) continue;
      const rank = { ...row, hash: messageHash(row.data) };
      if (winner && resolveConflict(store, winner, rank) !== "replace") {
        db.run(deleteMessage, id);
        continue;
      }
      if (winner) db.run(deleteMessage, winner.id);
      winner = rank;
    }
  }
  // A lend of 0 units ends the one before it and leaves no row.
  for (const { id } of db.all(emptyLends)) db.run(deleteMessage, id);
}

const fillReactions = bulkStatement<unknown, [after: number, upTo: number]>(
  "bulk.reactions.fill",
  `INSERT OR IGNORE INTO reactions (fid, target_fid, target_id, type, timestamp, envelope_id)
   SELECT fid, target_fid, target_id, type, timestamp, envelope_id FROM (
     SELECT s.fid, s.target_fid, ifnull(m.id, s.url_id) AS target_id, s.type, s.timestamp, s.rank, s.envelope_id
     FROM (SELECT * FROM bulk_reactions WHERE fid > ? AND fid <= ? GROUP BY target_hash, target_fid, +rowid) s
     LEFT JOIN bulk_map m ON m.hash = s.target_hash AND m.fid = s.target_fid
   ) ORDER BY fid, target_fid, target_id, type, timestamp DESC, rank DESC`,
);
/** A reaction or link, and the remove of the same slot. */
interface Contest {
  readonly messageId: number;
  readonly removedAt: number;
  readonly fid: number;
  readonly targetFid: number;
  readonly targetId: number;
  readonly type: number | string;
  readonly addedAt: number;
}
const contestedReactions = bulkStatement<Contest>(
  "bulk.reactions.contested",
  `SELECT r.message_id AS messageId, r.timestamp AS removedAt, a.fid, a.target_fid AS targetFid,
     a.target_id AS targetId, a.type, a.timestamp AS addedAt
   FROM (
     SELECT s.message_id, s.fid, s.type, s.target_fid, s.timestamp,
       CASE WHEN s.target_hash IS NULL THEN (SELECT u.id FROM urls u WHERE u.url = s.url) ELSE m.id END AS target_id
     FROM (SELECT * FROM bulk_reaction_removes GROUP BY target_hash, target_fid, +rowid) s
     LEFT JOIN bulk_map m ON m.hash = s.target_hash AND m.fid = s.target_fid
     GROUP BY 2, 4, 6, 3, 1
   ) r CROSS JOIN reactions a
     ON a.fid = r.fid AND a.target_fid = r.target_fid AND a.target_id = r.target_id AND a.type = r.type`,
);
const deleteReaction = bulkStatement<unknown, [number, number, number, number | string]>(
  "bulk.reactions.delete",
  "DELETE FROM reactions WHERE fid = ? AND target_fid = ? AND target_id = ? AND type = ?",
);

function settleReactions({ db, state }: BuildContext): void {
  let drops = false;
  for (const contest of db.all(contestedReactions)) {
    const { messageId, fid, targetFid, targetId, type } = contest;
    if (db.get(messageOf, messageId) === undefined) continue;
    if (contest.addedAt > contest.removedAt) db.run(deleteMessage, messageId);
    else db.run(deleteReaction, fid, targetFid, targetId, type);
    drops = true;
  }
  dropTable(db, "bulk_reaction_removes");
  if (drops) state.put("drops", 1);
}

const fillLinks = bulkStatement<unknown, [after: number, upTo: number]>(
  "bulk.links.fill",
  `INSERT OR IGNORE INTO links (fid, type, target_fid, timestamp, displayed_at, envelope_id)
   SELECT fid, type, target_fid, timestamp, displayed_at, envelope_id FROM bulk_links WHERE fid > ? AND fid <= ?
   ORDER BY fid, type, target_fid, timestamp DESC, rank DESC`,
);
const contestedLinks = bulkStatement<Contest>(
  "bulk.links.contested",
  `SELECT r.message_id AS messageId, r.timestamp AS removedAt, a.fid, a.target_fid AS targetFid, 0 AS targetId, a.type,
     a.timestamp AS addedAt
   FROM (SELECT * FROM bulk_link_removes GROUP BY fid, type, target_fid, +rowid) r
   CROSS JOIN links a ON a.fid = r.fid AND a.type = r.type AND a.target_fid = r.target_fid`,
);
const deleteLink = bulkStatement<unknown, [fid: number, type: number | string, targetFid: number]>(
  "bulk.links.delete",
  "DELETE FROM links WHERE fid = ? AND type = ? AND target_fid = ?",
);

function settleLinks({ db, state }: BuildContext): void {
  let drops = false;
  for (const { messageId, fid, type, targetFid, addedAt, removedAt } of db.all(contestedLinks)) {
    if (db.get(messageOf, messageId) === undefined) continue;
    if (addedAt > removedAt) db.run(deleteMessage, messageId);
    else db.run(deleteLink, fid, type, targetFid);
    drops = true;
  }
  dropTable(db, "bulk_link_removes");
  if (drops) state.put("drops", 1);
}

const fillUserData = bulkStatement<unknown, [after: number, upTo: number]>(
  "bulk.user-data.fill",
  `INSERT OR IGNORE INTO user_data (fid, type, value, timestamp, envelope_id)
   SELECT fid, type, value, timestamp, envelope_id FROM bulk_user_data WHERE fid > ? AND fid <= ?
   ORDER BY fid, type, timestamp DESC, rank DESC`,
);

/** Number of rows whose fids are sampled to divide a table. */
const SAMPLES = 10_000;

/**
 * Returns a stage that fills a table in the order of its keys, which begin with the fid. Each step takes a range of fids of
 * the spool; `settle` runs once the table of the spool has been dropped.
 */
function byFids(
  name: string,
  weight: number,
  options: {
    readonly spooled: string;
    readonly fill: typeof fillLinks;
    readonly settle?: (context: BuildContext) => void;
  },
): BulkStage {
  const { spooled, fill, settle } = options;
  const [upTo, inserted] = [`last fid of ${name}`, `inserted ${name}`];
  const rowsOf = { name: `bulk.${name}.spooled`, sql: `SELECT max(rowid) AS n FROM ${spooled}` };
  const fidOf = { name: `bulk.${name}.sample`, sql: `SELECT fid FROM ${spooled} WHERE rowid = ?` };
  /** Returns the last fid of each part except the last one, ascending. */
  const endsOf = (db: IndexDatabase, rows: number, parts: number) => {
    if (parts <= 1) return [];
    const rowids = Array.from({ length: SAMPLES }, (_, n) => 1 + Math.floor((n / SAMPLES) * rows));
    const fids = rowids.flatMap((rowid) => db.get<{ fid: number }, [number]>(fidOf, rowid)?.fid ?? []);
    fids.sort((a, b) => a - b);
    return Array.from(
      { length: parts - 1 },
      (_, n) => fids[Math.floor(((n + 1) / parts) * fids.length)] ?? 0,
    );
  };
  return {
    name,
    weight,
    run(context) {
      const { db, state, rowsPerSort } = context;
      const after = state.get(upTo) ?? -1;
      if (after === Number.MAX_SAFE_INTEGER) {
        settle?.(context);
        return true;
      }
      const rows = db.get<{ n: number | null }, []>(rowsOf)?.n ?? 0;
      const last =
        endsOf(db, rows, Math.ceil(rows / rowsPerSort)).find((fid) => fid > after) ?? Number.MAX_SAFE_INTEGER;
      const sum = (state.get(inserted) ?? 0) + db.run(fill, after, last);
      state.put(inserted, sum);
      state.put(upTo, last);
      if (last === Number.MAX_SAFE_INTEGER) {
        if (sum !== rows) state.put("drops", 1);
        dropTable(db, spooled);
      }
      return false;
    },
  };
}

export const GENERIC_STAGES: readonly BulkStage[] = [oneStep("other messages", 1, resolveGeneric)];
export const TYPED_STAGES: readonly BulkStage[] = [
  byFids("reactions", 9, { spooled: "bulk_reactions", fill: fillReactions, settle: settleReactions }),
  byFids("links", 2, { spooled: "bulk_links", fill: fillLinks, settle: settleLinks }),
  byFids("user data", 1, { spooled: "bulk_user_data", fill: fillUserData }),
];

const createDropped = bulkStatement<unknown>(
  "bulk.drops.create",
  "CREATE TABLE bulk_dropped_envelopes (id INTEGER PRIMARY KEY)",
);
const findDropped = bulkStatement<unknown>(
  "bulk.drops.find",
  `INSERT INTO bulk_dropped_envelopes (id)
   SELECT id FROM envelopes EXCEPT SELECT envelope_id FROM casts EXCEPT SELECT envelope_id FROM reactions
   EXCEPT SELECT envelope_id FROM links EXCEPT SELECT envelope_id FROM user_data`,
);
const lastDropped = bulkStatement<{ id: number }, [after: number, skipped: number]>(
  "bulk.drops.last-of-step",
  "SELECT id FROM bulk_dropped_envelopes WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?",
);
const dropEnvelopes = bulkStatement<unknown, [after: number, upTo: number]>(
  "bulk.drops.envelopes",
  "DELETE FROM envelopes WHERE id IN (SELECT id FROM bulk_dropped_envelopes WHERE id > ? AND id <= ?)",
);
const dropMissing = bulkStatement<unknown>(
  "bulk.drops.missing",
  `DELETE FROM missing_casts WHERE id IN (
     SELECT id FROM missing_casts EXCEPT SELECT target_id FROM reactions WHERE target_id < 0
     EXCEPT SELECT parent_id FROM casts WHERE parent_id < 0 EXCEPT SELECT root_id FROM casts WHERE root_id < 0
     EXCEPT SELECT quoted_id FROM cast_quotes WHERE quoted_id < 0)`,
);
const dropUrls = bulkStatement<unknown>(
  "bulk.drops.urls",
  `DELETE FROM urls WHERE id IN (
     SELECT id FROM urls EXCEPT SELECT parent_url_id FROM casts WHERE parent_url_id IS NOT NULL
     EXCEPT SELECT target_id FROM reactions WHERE target_fid = 0)`,
);

/** Drops rows that only replaced messages named. Runs once the indexes of the messages' tables exist. */
export const DROP_STAGE: BulkStage = {
  name: "dropped messages",
  weight: 4,
  run({ db, state, rowsPerStep }) {
    if (state.get("drops") === undefined) return true;
    const after = state.get("last dropped envelope");
    if (after === undefined) {
      db.run(createDropped);
      db.run(findDropped);
      state.put("last dropped envelope", 0);
      return false;
    }
    const last = db.get(lastDropped, after, rowsPerStep - 1)?.id;
    db.run(dropEnvelopes, after, last ?? Number.MAX_SAFE_INTEGER);
    if (last !== undefined) {
      state.put("last dropped envelope", last);
      return false;
    }
    dropTable(db, "bulk_dropped_envelopes");
    db.run(dropMissing);
    db.run(dropUrls);
    return true;
  },
};
