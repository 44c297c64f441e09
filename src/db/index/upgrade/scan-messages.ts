import type { FarcasterNetwork } from "../../../protocol/wire/generated/message.ts";
import { sortIntoFiles } from "../bulk/sort-files.ts";
import { timestampOfCastId } from "../cast-id.ts";
import type { IndexDatabase } from "../database.ts";
import {
  type CastColumns,
  type GenericColumns,
  type LinkColumns,
  type MessageColumns,
  type MessageEnvelope,
  type ReactionColumns,
  SELECT_GENERIC,
  type UserDataColumns,
} from "../messages/columns.ts";
import { rebuildEncoded } from "../messages/rebuild.ts";

type Row<Columns> = Omit<Columns, "table"> & MessageEnvelope;
type CastRow = Row<Omit<CastColumns, "timestamp">> & { readonly id: number; readonly hash: Uint8Array };

// Rows name envelopes, casts and URLs at random places. Looked up row by row, each would be a block from the disk once the
// index is larger than memory. So the rows are sorted by the key of the table that they name (see `bulkStatement` about
// GROUP BY): each look-up is next to the previous one, and every table is read from its beginning to its end. The signs `+`
// and NOT INDEXED keep SQLite from reading a table in the order of an index. Signers are few and stay in memory.
const ENVELOPE = "s.key AS signer, e.signature, e.data";
const JOIN_ENVELOPE = `CROSS JOIN envelopes e ON e.id = t.envelope_id
  CROSS JOIN message_signers s ON s.id = e.signer_id`;
const CAST = "c.id, c.hash, c.fid, c.text, c.parent_fid, c.parent_hash, c.rest, c.envelope_id";

/** Statements that read all live messages of a table. */
export const SCANS = {
  casts: `SELECT t.id, t.hash, t.fid, t.text, t.parent_fid AS parentFid, t.parent_hash AS parentHash, t.url AS parentUrl,
      t.rest, ${ENVELOPE}
    FROM (
      SELECT * FROM (
        SELECT ${CAST}, NULL AS url FROM casts c NOT INDEXED WHERE c.parent_url_id IS NULL
        UNION ALL SELECT ${CAST}, p.url
        FROM (SELECT b.id, u.url FROM casts b INDEXED BY casts_by_parent_url LEFT JOIN urls u ON u.id = b.parent_url_id
          WHERE b.parent_url_id IS NOT NULL GROUP BY +b.id) p
        CROSS JOIN casts c ON c.id = p.id
      ) GROUP BY envelope_id, id
    ) t ${JOIN_ENVELOPE}`,
  reactions: `SELECT t.fid, t.timestamp, t.type, t.target_fid AS targetFid, t.hash AS targetHash, t.url AS targetUrl,
      ${ENVELOPE}
    FROM (
      SELECT r.*, coalesce(c.hash, m.hash) AS hash, u.url
      FROM (SELECT * FROM reactions GROUP BY +target_id, +fid, +target_fid, +type) r
      LEFT JOIN casts c ON c.id = r.target_id LEFT JOIN missing_casts m ON m.id = r.target_id
      LEFT JOIN urls u ON u.id = r.target_id
      GROUP BY r.envelope_id, r.fid, r.target_fid, r.target_id, r.type
    ) t ${JOIN_ENVELOPE}`,
  links: `SELECT t.fid, t.timestamp, t.type, t.target_fid AS targetFid, t.displayed_at AS displayedAt, ${ENVELOPE}
    FROM (SELECT * FROM links GROUP BY +envelope_id, +fid, +type, +target_fid) t ${JOIN_ENVELOPE}`,
  userData: `SELECT t.fid, t.timestamp, t.type, t.value, ${ENVELOPE}
    FROM (SELECT * FROM user_data GROUP BY +envelope_id, +fid, +type) t ${JOIN_ENVELOPE}`,
  others: SELECT_GENERIC,
} as const;

/** A live message as its rows store it. */
export interface ScannedMessage {
  readonly columns: MessageColumns;
  readonly envelope: MessageEnvelope;
  /** Undefined where no row has it. */
  readonly hash: Uint8Array | undefined;
}

/**
 * Yields all live messages, table by table. The blocks read per message do not depend on the size of the index. A sort, at
 * most two at a time, takes memory up to the size of the page cache, then files beside the index, together up to a fifth of
 * its size. Nothing may write to the index meanwhile.
 */
export function* scanRows(db: IndexDatabase): Generator<ScannedMessage> {
  const scanned = (columns: MessageColumns, envelope: MessageEnvelope, hash?: Uint8Array) => ({
    columns,
    envelope,
    hash,
  });
  const restore = sortIntoFiles(db);
  try {
    for (const row of rows<CastRow>(db, SCANS.casts))
      yield scanned({ ...row, table: "casts", timestamp: timestampOfCastId(row.id) }, row, row.hash);
    for (const row of rows<Row<ReactionColumns>>(db, SCANS.reactions))
      yield scanned({ ...row, table: "reactions" }, row);
    for (const row of rows<Row<LinkColumns>>(db, SCANS.links)) yield scanned({ ...row, table: "links" }, row);
    for (const row of rows<Row<UserDataColumns>>(db, SCANS.userData))
      yield scanned({ ...row, table: "user_data" }, row);
    for (const row of rows<Row<GenericColumns>>(db, SCANS.others))
      yield scanned({ ...row, table: "messages" }, row);
  } finally {
    restore();
  }
}

/** Yields the messages of `scanRows` in wire form. */
export function* scanMessages(db: IndexDatabase, network: FarcasterNetwork): Generator<Uint8Array> {
  for (const { columns, envelope, hash } of scanRows(db))
    yield rebuildEncoded(columns, envelope, network, hash);
}

/** Runs a query that reads a whole table, which is why it is not declared with the statements that serve the node. */
function* rows<Result>(db: IndexDatabase, sql: string): Generator<Result> {
  const query = db.sqlite.prepare<Result, []>(sql);
  try {
    yield* query.iterate();
  } finally {
    // A statement that is not finalized keeps the file open after the connection is closed.
    query.finalize();
  }
}
