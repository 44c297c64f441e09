import { type Kind, type MessageSlot, Store, slotOf } from "../../../protocol/message/merge-rules.ts";
import { messageHash } from "../../../protocol/message/message-hash.ts";
import type { SignedMessage } from "../../../protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../../../protocol/time.ts";
import type { FarcasterNetwork } from "../../../protocol/wire/generated/message.ts";
import type { Statement } from "../../sqlite/statement-registry.ts";
import { timestampOfCastId } from "../cast-id.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import type {
  CastColumns,
  GenericColumns,
  LinkColumns,
  MessageColumns,
  MessageEnvelope,
  ReactionColumns,
  TypedColumns,
  UserDataColumns,
} from "./columns.ts";
import { messageDataOf, rebuildData, rebuildEncoded, rebuildMessage } from "./rebuild.ts";

/**
 * Reads live messages in the order of their slots. At any time they keep the columns of one store of one fid in memory (for
 * casts, only the hashes), which the storage limit of the fid bounds.
 */

const castHashes = statement<CastKey, [fid: number]>(
  "live-messages.cast-hashes",
  "SELECT id, hash AS slot FROM casts WHERE fid = ?",
);
const castById = statement<Omit<CastColumns, "table" | "timestamp"> & { envelopeId: number }, [id: number]>(
  "live-messages.cast",
  `SELECT c.fid, c.text, c.parent_fid AS parentFid, c.parent_hash AS parentHash, u.url AS parentUrl, c.rest,
          c.envelope_id AS envelopeId
   FROM casts c LEFT JOIN urls u ON u.id = c.parent_url_id WHERE c.id = ?`,
);
const reactionsOf = statement<Omit<ReactionColumns, "table"> & { envelopeId: number }, [fid: number]>(
  "live-messages.reactions",
  `SELECT r.fid, r.timestamp, r.type, r.target_fid AS targetFid, coalesce(c.hash, m.hash) AS targetHash,
          u.url AS targetUrl, r.envelope_id AS envelopeId
   FROM reactions r LEFT JOIN casts c ON c.id = r.target_id LEFT JOIN missing_casts m ON m.id = r.target_id
   LEFT JOIN urls u ON u.id = r.target_id WHERE r.fid = ?`,
);
const linksOf = statement<Omit<LinkColumns, "table"> & { envelopeId: number }, [fid: number]>(
  "live-messages.links",
  `SELECT fid, timestamp, type, target_fid AS targetFid, displayed_at AS displayedAt, envelope_id AS envelopeId
   FROM links WHERE fid = ?`,
);
const userDataOf = statement<Omit<UserDataColumns, "table"> & { envelopeId: number }, [fid: number]>(
  "live-messages.user-data",
  "SELECT fid, timestamp, type, value, envelope_id AS envelopeId FROM user_data WHERE fid = ?",
);
const genericOf = statement<Omit<GenericColumns, "table"> & { id: number }, [fid: number, store: number]>(
  "live-messages.generic",
  "SELECT id, fid, timestamp, store, slot, kind FROM messages WHERE fid = ? AND store = ?",
);
const envelopeById = statement<MessageEnvelope, [id: number]>(
  "live-messages.envelope",
  `SELECT s.key AS signer, e.signature, e.data
   FROM envelopes e CROSS JOIN message_signers s ON s.id = e.signer_id WHERE e.id = ?`,
);
const genericEnvelopeById = statement<MessageEnvelope, [id: number]>(
  "live-messages.generic-envelope",
  `SELECT s.key AS signer, m.signature, m.data
   FROM messages m CROSS JOIN message_signers s ON s.id = m.signer_id WHERE m.id = ?`,
);
const nextFid = statement<{ fid: number | null }, [fid: number]>(
  "live-messages.next-fid",
  `SELECT min(fid) AS fid FROM (
     SELECT min(fid) AS fid FROM casts WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM reactions WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM links WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM user_data WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM messages WHERE fid > ?1)`,
);

/** The stores of the live messages, in ascending order. */
const STORES: readonly Store[] = Object.values(Store).sort((a, b) => a - b);

/** Yields all live messages in the order of fid, store and slot. Run it on a snapshot. */
export function* allMessages(db: IndexDatabase, network: FarcasterNetwork): Generator<LiveMessage> {
  for (let fid = db.get(nextFid, 0)?.fid ?? null; fid !== null; fid = db.get(nextFid, fid)?.fid ?? null) {
    for (const store of STORES) yield* messagesOf(db, network, fid, store);
  }
}

/** Yields the live messages of an fid in a store, in the order of their slots. */
export function* messagesOf(
  db: IndexDatabase,
  network: FarcasterNetwork,
  fid: number,
  store: Store,
): Generator<LiveMessage> {
  const entries = [...typedEntries(db, network, fid, store), ...genericMessages(db, network, fid, store)];
  entries.sort((a, b) => Buffer.compare(a.slot, b.slot));
  for (const entry of entries) yield entry instanceof LiveMessage ? entry : readCast(db, network, entry);
}

/** A cast whose row has not been read yet. Its slot is its hash. */
interface CastKey {
  readonly id: number;
  readonly slot: Uint8Array;
}

function typedEntries(
  db: IndexDatabase,
  network: FarcasterNetwork,
  fid: number,
  store: Store,
): readonly (LiveMessage | CastKey)[] {
  const message = (columns: TypedColumns, envelopeId: number) =>
    new LiveMessage(columns, network, () => read(db, envelopeById, envelopeId));
  switch (store) {
    case Store.Casts:
      return db.all(castHashes, fid);
    case Store.Reactions:
      return db
        .all(reactionsOf, fid)
        .map(({ envelopeId, ...row }) => message({ table: "reactions", ...row }, envelopeId));
    case Store.Links:
      return db
        .all(linksOf, fid)
        .map(({ envelopeId, ...row }) => message({ table: "links", ...row }, envelopeId));
    case Store.UserData:
      return db
        .all(userDataOf, fid)
        .map(({ envelopeId, ...row }) => message({ table: "user_data", ...row }, envelopeId));
    default:
      return [];
  }
}

function genericMessages(
  db: IndexDatabase,
  network: FarcasterNetwork,
  fid: number,
  store: Store,
): LiveMessage[] {
  return db
    .all(genericOf, fid, store)
    .map(
      ({ id, ...row }) =>
        new LiveMessage({ table: "messages", ...row }, network, () => read(db, genericEnvelopeById, id)),
    );
}

function readCast(db: IndexDatabase, network: FarcasterNetwork, { id, slot }: CastKey): LiveMessage {
  const { envelopeId, ...row } = read(db, castById, id);
  const columns: CastColumns = { table: "casts", ...row, timestamp: timestampOfCastId(id) };
  return new LiveMessage(columns, network, () => read(db, envelopeById, envelopeId), slot);
}

function read<Row>(db: IndexDatabase, one: Statement<Row, [id: number]>, id: number): Row {
  const row = db.get(one, id);
  if (!row) throw new Error(`a part of a live message is missing: ${one.name}`);
  return row;
}

/** A live message as read from its row. What the row does not contain is computed on first use. */
export class LiveMessage implements MessageSlot {
  readonly columns: MessageColumns;
  readonly store: Store;
  readonly slot: Uint8Array;
  readonly kind: Kind;
  readonly #network: FarcasterNetwork;
  readonly #readEnvelope: () => MessageEnvelope;
  #envelope: MessageEnvelope | undefined;
  #hash: Uint8Array | undefined;

  /** @param hash the hash, if the row contains it. */
  constructor(
    columns: MessageColumns,
    network: FarcasterNetwork,
    readEnvelope: () => MessageEnvelope,
    hash?: Uint8Array,
  ) {
    const place = slotOfColumns(columns, network, hash);
    this.columns = columns;
    this.store = place.store;
    this.slot = place.slot;
    this.kind = place.kind;
    this.#network = network;
    this.#readEnvelope = readEnvelope;
    this.#hash = hash;
  }

  get fid(): number {
    return this.columns.fid;
  }

  /** Farcaster seconds. */
  get timestamp(): number {
    const { table, timestamp } = this.columns;
    return table === "messages" ? timestamp : toFarcasterSecs(timestamp);
  }

  get hash(): Uint8Array {
    this.#hash ??= messageHash(rebuildData(this.columns, this.envelope, this.#network));
    return this.#hash;
  }

  get envelope(): MessageEnvelope {
    this.#envelope ??= this.#readEnvelope();
    return this.#envelope;
  }

  /** Returns the message in the wire form of `encodeMessage`. */
  encode(): Uint8Array {
    return rebuildEncoded(this.columns, this.envelope, this.#network, this.#hash);
  }

  decode(): SignedMessage {
    return rebuildMessage(this.columns, this.envelope, this.#network, this.#hash);
  }
}

function slotOfColumns(
  columns: MessageColumns,
  network: FarcasterNetwork,
  hash: Uint8Array = new Uint8Array(),
): MessageSlot {
  // Only the slot of a cast contains the hash.
  return columns.table === "messages" ? columns : slotOf({ data: messageDataOf(columns, network), hash });
}
