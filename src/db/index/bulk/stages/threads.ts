import type { IndexDatabase } from "../../database.ts";
import { bulkStatement } from "../bulk-state.ts";
import { CAST_ID } from "./cast-ids.ts";
import { sortedSlices } from "./sorted-slices.ts";
import type { BuildContext, BulkStage } from "./stage.ts";

type Bytes = Uint8Array;

const createThreads = bulkStatement<unknown>(
  "bulk.threads.create",
  `CREATE TABLE IF NOT EXISTS bulk_threads (id INTEGER PRIMARY KEY, parent_id, parent_fid, parent_hash, root_id, root_fid, root_hash,
     root_url_id)`,
);

/** A reply whose parent has an id. `parentUrlId` is the parent URL of the parent. */
interface ReplyRow {
  readonly id: number;
  readonly parentId: number;
  readonly parentFid: number;
  readonly parentHash: Bytes;
  readonly parentUrlId: number | null;
}

/** Replies by id. Parents are looked up in the order of their hashes. */
const repliesById = `SELECT p.id, p.parent_id AS parentId, p.parent_fid AS parentFid, p.parent_hash AS parentHash,
          (SELECT u.parent_url_id FROM bulk_ids u WHERE u.id = p.parent_id) AS parentUrlId
        FROM (
          SELECT ${CAST_ID} AS id, s.hash, m.id AS parent_id, s.parent_fid, s.parent_hash
          FROM (SELECT * FROM bulk_replies GROUP BY parent_hash, parent_fid, +rowid) s
          CROSS JOIN bulk_map m ON m.hash = s.parent_hash AND m.fid = s.parent_fid
          GROUP BY 1, 2
        ) p CROSS JOIN bulk_ids b ON b.id = p.id AND b.hash = p.hash`;

interface Root {
  readonly rootId: number | null;
  readonly rootFid: number;
  readonly rootHash: Bytes;
  readonly rootUrlId: number | null;
}

const insertThread = bulkStatement<
  unknown,
  [number, number, number, Bytes, number | null, number | null, Bytes | null, number | null]
>(
  "bulk.threads.insert",
  `INSERT OR IGNORE INTO bulk_threads (id, parent_id, parent_fid, parent_hash, root_id, root_fid, root_hash, root_url_id)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
);
const rootOf = bulkStatement<Root, [id: number]>(
  "bulk.threads.root-of",
  `SELECT root_id AS rootId, root_fid AS rootFid, root_hash AS rootHash, root_url_id AS rootUrlId
   FROM bulk_threads WHERE id = ?`,
);
const parentOf = bulkStatement<ReplyRow, [id: number]>(
  "bulk.threads.parent-of",
  `SELECT id, parent_id AS parentId, parent_fid AS parentFid, parent_hash AS parentHash,
     (SELECT u.parent_url_id FROM bulk_ids u WHERE u.id = parent_id) AS parentUrlId
   FROM bulk_threads WHERE id = ?`,
);
const unresolved = bulkStatement<{ id: number }>(
  "bulk.threads.unresolved",
  "SELECT id FROM bulk_threads WHERE root_id IS NULL",
);
const setRoot = bulkStatement<unknown, [id: number, number, number, Bytes, number | null]>(
  "bulk.threads.set-root",
  "UPDATE bulk_threads SET root_id = ?2, root_fid = ?3, root_hash = ?4, root_url_id = ?5 WHERE id = ?1",
);

/**
 * Fills `bulk_threads`: the parent and the root of every reply, in order of ids. A parent is nearly always earlier than its
 * replies. Where clocks differed it is later; then the reply, and all replies below it, wait until the end.
 */
function addThreads({ db, state }: BuildContext, table: string, after: number, upTo: number): void {
  let waiting = 0;
  const rows = { name: "bulk.threads.replies", sql: `SELECT * FROM ${table} WHERE rowid > ? AND rowid <= ?` };
  for (const reply of db.iterate<ReplyRow, [number, number]>(rows, after, upTo)) {
    const { id, parentId, parentFid, parentHash, parentUrlId } = reply;
    const root: Root | undefined =
      parentId > id
        ? undefined
        : ((parentId > 0 ? db.get(rootOf, parentId) : undefined) ?? {
            rootId: parentId,
            rootFid: parentFid,
            rootHash: parentHash,
            rootUrlId: parentUrlId,
          });
    if (root === undefined || root.rootId === null) {
      waiting++;
      db.run(insertThread, id, parentId, parentFid, parentHash, null, null, null, null);
    } else {
      const { rootId, rootFid, rootHash, rootUrlId } = root;
      db.run(insertThread, id, parentId, parentFid, parentHash, rootId, rootFid, rootHash, rootUrlId);
    }
  }
  if (waiting > 0) state.put("waiting replies", 1);
}

/** Finds the root of a waiting reply, and sets it for the replies in between. */
function resolve(db: IndexDatabase, id: number): void {
  const waiting: number[] = [];
  let root: Root | undefined;
  for (let at = id; root === undefined; ) {
    const known = db.get(rootOf, at);
    if (known && known.rootId !== null) {
      root = known;
      break;
    }
    const reply = db.get(parentOf, at);
    if (!reply) throw new Error("a waiting reply has no row");
    waiting.push(at);
    const { parentId: rootId, parentFid: rootFid, parentHash: rootHash, parentUrlId: rootUrlId } = reply;
    if (rootId > 0 && db.get(rootOf, rootId) !== undefined) at = rootId;
    else root = { rootId, rootFid, rootHash, rootUrlId };
  }
  const { rootId, rootFid, rootHash, rootUrlId } = root;
  if (rootId !== null) for (const one of waiting) db.run(setRoot, one, rootId, rootFid, rootHash, rootUrlId);
}

export const THREAD_STAGES: readonly BulkStage[] = [
  sortedSlices("threads", 7, {
    prepare: ({ db }) => db.run(createThreads),
    select: repliesById,
    take: addThreads,
    finish({ db, state }) {
      if (state.get("waiting replies")) for (const { id } of db.all(unresolved)) resolve(db, id);
    },
  }),
];
