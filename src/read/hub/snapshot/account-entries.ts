import { GENERIC_COLUMNS, JOIN_SIGNER } from "../../../db/index/messages/columns.ts";
import { onChainEventBytes } from "../../../db/index/project/on-chain.ts";
import { fnameProofsOf } from "../../../db/index/project/profile.ts";
import { statement } from "../../../db/index/statement.ts";
import { correctionsBelow } from "../../../db/index/trie/corrections.ts";
import { DERIVED_KINDS, GENERIC_KINDS, isOnAllShards } from "../../../db/index/trie/derived-keys.ts";
import { Kind, lendSlot, Store } from "../../../protocol/message/merge-rules.ts";
import { shardOfFid } from "../../../protocol/network/shard.ts";
import { MessageType, UserNameProof } from "../../../protocol/wire/generated/message.ts";
import {
  ACCOUNT_BYTES,
  FNAME_KIND,
  fidOfKey,
  fnameKey,
  LEND_KIND,
  MAX_ON_CHAIN_TYPE,
  messageKind,
  onChainKey,
  REST_START,
  type TrieKey,
} from "../../../trust/trie-key.ts";
import {
  type GenericRow,
  type MessageDb,
  type StoredMessage,
  storedCasts,
  storedLinks,
  storedOthers,
  storedReactions,
  storedUserData,
} from "../stored-message.ts";
import { encodeFields } from "../wire-bytes.ts";

const castRows = storedCasts.where<[fid: number]>("snapshot.casts", "t.fid = ?");
const reactionRows = storedReactions.where<[fid: number]>("snapshot.reactions", "t.fid = ?");
const linkRows = storedLinks.where<[fid: number]>("snapshot.links", "t.fid = ?");
const userDataRows = storedUserData.where<[fid: number]>("snapshot.user-data", "t.fid = ?");
const genericRows = storedOthers.where<[fid: number, store: number, kind: number]>(
  "snapshot.messages",
  "t.fid = ? AND t.store = ? AND t.kind = ?",
);
const borrowedRows = statement<GenericRow, [toFid: number, slot: Uint8Array]>(
  "snapshot.borrowed",
  `SELECT ${GENERIC_COLUMNS} FROM storage_lends l
   CROSS JOIN messages t ON t.fid = l.fid AND t.store = ${Store.StorageLends} AND t.slot = ?2 ${JOIN_SIGNER} WHERE l.to_fid = ?1`,
);
/** Store and kind of the messages that are stored as bytes, by the kind of their keys. */
const GENERIC: ReadonlyMap<number, readonly [Store, Kind]> = new Map([
  ...GENERIC_KINDS,
  [messageKind(MessageType.MESSAGE_TYPE_USERNAME_PROOF), [Store.UsernameProofs, Kind.Add]],
]);
const CASTS = messageKind(MessageType.MESSAGE_TYPE_CAST_ADD);
const REACTIONS = messageKind(MessageType.MESSAGE_TYPE_REACTION_ADD);
const LINKS = messageKind(MessageType.MESSAGE_TYPE_LINK_ADD);
const USER_DATA = messageKind(MessageType.MESSAGE_TYPE_USER_DATA_ADD);

/** A key of a shard's trie with its record. */
export type KeyedRecord = ReturnType<typeof recordOf>;

/** Field numbers of an entry. */
const KEY = 1;
const MESSAGE = 2;
const ON_CHAIN_EVENT = 3;
const FNAME_TRANSFER = 4;
const PROOF_OF_TRANSFER = 4;

export interface SnapshotSource extends MessageDb {
  /** Number of data shards. */
  readonly shards: number;
}

/**
 * Returns the keys of one kind of an account in a shard with their records, in ascending order; undefined if the index does
 * not have all of them, such as messages of gasless keys, and records that it refuses.
 *
 * @param account virtual shard and fid.
 */
export function recordsOfKind(
  source: SnapshotSource,
  shard: number,
  account: Uint8Array,
  kind: number,
): KeyedRecord[] | undefined {
  const { db, shards } = source;
  const fid = fidOfKey(account);
  const isDerived =
    DERIVED_KINDS.includes(kind) && (isOnAllShards(kind) || shardOfFid(fid, shards) === shard);
  const prefix = new Uint8Array(REST_START);
  prefix.set(account);
  prefix[ACCOUNT_BYTES] = kind;
  const corrections = new Map(
    [...correctionsBelow(db, shard, prefix)].map(({ key, isPresent }) => [toHex(key), isPresent]),
  );
  const records: KeyedRecord[] = [];
  for (const record of storedRecords(source, fid, prefix, kind)) {
    const name = toHex(record.key);
    if (corrections.get(name) ?? isDerived) records.push(record);
    corrections.delete(name);
  }
  if ([...corrections.values()].includes(true)) return undefined;
  return records.sort((a, b) => Buffer.compare(a.key, b.key));
}

function* storedRecords(
  source: SnapshotSource,
  fid: number,
  prefix: Uint8Array,
  kind: number,
): Generator<KeyedRecord> {
  const { db } = source;
  if (kind <= MAX_ON_CHAIN_TYPE) {
    for (const bytes of onChainEventBytes(db, kind, fid)) {
      const key = onChainKey(bytes);
      if (key) yield recordOf(key, ON_CHAIN_EVENT, () => bytes);
    }
    return;
  }
  if (kind === FNAME_KIND) {
    for (const one of fnameProofsOf(db, fid)) {
      const proof = UserNameProof.encode(one).finish();
      const key = fnameKey(proof);
      if (key)
        yield recordOf(key, FNAME_TRANSFER, () => encodeFields([{ field: PROOF_OF_TRANSFER, bytes: proof }]));
    }
    return;
  }
  for (const message of storedMessages(source, fid, kind)) {
    const key = Buffer.concat([prefix, message.hash]);
    yield recordOf(key, MESSAGE, () => message.encode());
  }
}

function* storedMessages(source: SnapshotSource, fid: number, kind: number): Generator<StoredMessage> {
  const { db } = source;
  if (kind === CASTS) for (const row of db.all(castRows, fid)) yield storedCasts.message(source, row);
  if (kind === REACTIONS)
    for (const row of db.all(reactionRows, fid)) yield storedReactions.message(source, row);
  if (kind === LINKS) for (const row of db.all(linkRows, fid)) yield storedLinks.message(source, row);
  if (kind === USER_DATA)
    for (const row of db.all(userDataRows, fid)) yield storedUserData.message(source, row);
  const generic = GENERIC.get(kind);
  if (generic)
    for (const row of db.all(genericRows, fid, ...generic)) yield storedOthers.message(source, row);
  if (kind === LEND_KIND)
    for (const row of db.all(borrowedRows, fid, lendSlot(fid))) yield storedOthers.message(source, row);
}

function recordOf(key: TrieKey, field: number, record: () => Uint8Array) {
  return {
    key,
    /** Encodes the record as an entry of a page, on demand. */
    encode: (): Uint8Array =>
      encodeFields([
        { field: KEY, bytes: key },
        { field, bytes: record() },
      ]),
  };
}

function toHex(key: Uint8Array): string {
  return Buffer.from(key).toString("hex");
}
