import { Kind, lendSlot, Store } from "../../../protocol/message/merge-rules.ts";
import { messageHash } from "../../../protocol/message/message-hash.ts";
import {
  type FarcasterNetwork,
  MessageType,
  UserNameType,
} from "../../../protocol/wire/generated/message.ts";
import {
  FNAME_KIND,
  fnameRest,
  LEND_KIND,
  MAX_ON_CHAIN_TYPE,
  MESSAGE_KIND_UNIT,
  onChainRest,
} from "../../../trust/trie-key.ts";
import type { IndexDatabase } from "../database.ts";
import type { LinkColumns, ReactionColumns, UserDataColumns } from "../messages/columns.ts";
import { hashOfColumns } from "../messages/encode-data.ts";
import { statement } from "../statement.ts";

/** A row of a table of messages, with its signed bytes if the columns do not produce them. */
type Row<Columns> = Omit<Columns, "table"> & { readonly data: Uint8Array | null };

const DATA = "(SELECT e.data FROM envelopes e WHERE e.id = t.envelope_id) AS data";

const castHashes = statement<{ hash: Uint8Array }, [fid: number]>(
  "derived-keys.casts",
  "SELECT hash FROM casts WHERE fid = ?",
);
const reactionRows = statement<Row<ReactionColumns>, [fid: number]>(
  "derived-keys.reactions",
  `SELECT t.fid, t.timestamp, t.type, t.target_fid AS targetFid,
     CASE WHEN t.target_fid = 0 THEN NULL ELSE coalesce(
       (SELECT hash FROM casts WHERE id = t.target_id), (SELECT hash FROM missing_casts WHERE id = t.target_id)) END AS targetHash,
     CASE WHEN t.target_fid = 0 THEN (SELECT url FROM urls WHERE id = t.target_id) END AS targetUrl, ${DATA}
   FROM reactions t WHERE t.fid = ?`,
);
const linkRows = statement<Row<LinkColumns>, [fid: number]>(
  "derived-keys.links",
  `SELECT t.fid, t.timestamp, t.type, t.target_fid AS targetFid, t.displayed_at AS displayedAt, ${DATA}
   FROM links t WHERE t.fid = ?`,
);
const userDataRows = statement<Row<UserDataColumns>, [fid: number]>(
  "derived-keys.user-data",
  `SELECT t.fid, t.timestamp, t.type, t.value, ${DATA} FROM user_data t WHERE t.fid = ?`,
);
const otherRows = statement<{ data: Uint8Array }, [fid: number, store: number, kind: number]>(
  "derived-keys.others",
  "SELECT data FROM messages WHERE fid = ? AND store = ? AND kind = ?",
);
const borrowedRows = statement<{ data: Uint8Array }, [toFid: number, slot: Uint8Array]>(
  "derived-keys.borrowed",
  `SELECT m.data FROM storage_lends l
   CROSS JOIN messages m ON m.fid = l.fid AND m.store = ${Store.StorageLends} AND m.slot = ?2 WHERE l.to_fid = ?1`,
);
const eventRows = statement<{ bytes: Uint8Array }, [type: number, fid: number]>(
  "derived-keys.on-chain-events",
  "SELECT bytes FROM on_chain_events WHERE type = ? AND fid = ?",
);
const fnames = statement<{ name: string }, [fid: number]>(
  "derived-keys.fnames",
  `SELECT name FROM username_proofs WHERE fid = ? AND type = ${UserNameType.USERNAME_TYPE_FNAME}`,
);
const fnamesFrom = statement<{ fid: number; name: string }, [name: string, limit: number]>(
  "derived-keys.fnames-after",
  `SELECT fid, name FROM username_proofs WHERE name > ? AND type = ${UserNameType.USERNAME_TYPE_FNAME} AND fid > 0
   ORDER BY name LIMIT ?`,
);
const nextFid = statement<{ fid: number | null }, [fid: number]>(
  "derived-keys.next-fid",
  `SELECT min(fid) AS fid FROM (
     SELECT min(fid) AS fid FROM fids WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM store_counts WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM username_proofs WHERE fid > ?1
     UNION ALL SELECT min(to_fid) FROM storage_lends WHERE to_fid > ?1
     ${[1, 2, 3, 4, 5, 6].map((type) => `UNION ALL SELECT min(fid) FROM on_chain_events WHERE type = ${type} AND fid > ?1`).join("\n     ")})`,
);

/** Messages that are stored as bytes and whose keys are derived from their rows, by the kind of the keys. */
export const GENERIC_KINDS: ReadonlyMap<number, readonly [Store, Kind]> = new Map(
  (
    [
      [MessageType.MESSAGE_TYPE_CAST_REMOVE, Store.Casts, Kind.Remove],
      [MessageType.MESSAGE_TYPE_REACTION_REMOVE, Store.Reactions, Kind.Remove],
      [MessageType.MESSAGE_TYPE_LINK_REMOVE, Store.Links, Kind.Remove],
      [MessageType.MESSAGE_TYPE_VERIFICATION_ADD, Store.Verifications, Kind.Add],
      [MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE, Store.Verifications, Kind.Remove],
      [MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE, Store.Links, Kind.Compact],
      [MessageType.MESSAGE_TYPE_LEND_STORAGE, Store.StorageLends, Kind.Add],
    ] as const
  ).map(([type, store, kind]) => [type * MESSAGE_KIND_UNIT, [store, kind]]),
);

const CASTS = MessageType.MESSAGE_TYPE_CAST_ADD * MESSAGE_KIND_UNIT;
const REACTIONS = MessageType.MESSAGE_TYPE_REACTION_ADD * MESSAGE_KIND_UNIT;
const LINKS = MessageType.MESSAGE_TYPE_LINK_ADD * MESSAGE_KIND_UNIT;
const USER_DATA = MessageType.MESSAGE_TYPE_USER_DATA_ADD * MESSAGE_KIND_UNIT;

/** The kinds of keys that are derived from rows, ascending. All others are corrections. */
export const DERIVED_KINDS: readonly number[] = [
  ...Array.from({ length: MAX_ON_CHAIN_TYPE }, (_, index) => index + 1),
  FNAME_KIND,
  CASTS,
  REACTIONS,
  LINKS,
  USER_DATA,
  ...GENERIC_KINDS.keys(),
].sort((a, b) => a - b);

/** Reports whether keys of a kind are in the trie of every data shard, not only in that of the account's home shard. */
export function isOnAllShards(kind: number): boolean {
  return kind === FNAME_KIND || kind === LEND_KIND;
}

/**
 * Calls `add` with the part after the kind of each key of an account that the rows of the index produce. Keeps one row in
 * memory at a time.
 */
export function derivedKeys(
  db: IndexDatabase,
  network: FarcasterNetwork,
  fid: number,
  kind: number,
  add: (rest: Uint8Array) => void,
): void {
  switch (kind) {
    case FNAME_KIND:
      for (const { name } of db.iterate(fnames, fid)) addIfAny(fnameRest(Buffer.from(name)), add);
      return;
    case CASTS:
      for (const { hash } of db.iterate(castHashes, fid)) add(hash);
      return;
    case REACTIONS:
      for (const row of db.iterate(reactionRows, fid))
        add(row.data ? messageHash(row.data) : hashOfColumns({ ...row, table: "reactions" }, network));
      return;
    case LINKS:
      for (const row of db.iterate(linkRows, fid))
        add(row.data ? messageHash(row.data) : hashOfColumns({ ...row, table: "links" }, network));
      return;
    case USER_DATA:
      for (const row of db.iterate(userDataRows, fid))
        add(row.data ? messageHash(row.data) : hashOfColumns({ ...row, table: "user_data" }, network));
      return;
  }
  if (kind <= MAX_ON_CHAIN_TYPE) {
    for (const { bytes } of db.iterate(eventRows, kind, fid)) addIfAny(onChainRest(bytes), add);
    return;
  }
  const other = GENERIC_KINDS.get(kind);
  if (!other) return;
  for (const { data } of db.iterate(otherRows, fid, ...other)) add(messageHash(data));
  if (kind === LEND_KIND)
    for (const { data } of db.iterate(borrowedRows, fid, lendSlot(fid))) add(messageHash(data));
}

/** Returns the next fnames that have an owner, after a name. */
export function fnamesAfter(
  db: IndexDatabase,
  name: string,
  limit: number,
): { readonly fid: number; readonly name: string }[] {
  return db.all(fnamesFrom, name, limit);
}

function addIfAny(rest: Uint8Array | undefined, add: (rest: Uint8Array) => void): void {
  if (rest) add(rest);
}

/** Returns the next fid after `fid` that may have derived keys. 0 can be one, because some on-chain events have it. */
export function fidWithKeysAfter(db: IndexDatabase, fid: number): number | undefined {
  return db.get(nextFid, fid)?.fid ?? undefined;
}
