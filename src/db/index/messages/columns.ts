import type { Kind, Store } from "../../../protocol/message/merge-rules.ts";

/**
 * Live messages as the values of their columns, without ids: the code that writes and reads the rows resolves cast ids, URL
 * ids, signer ids and envelope ids. `table` is the table that stores the message. Times are in Unix seconds, except in the
 * generic table.
 */
export type MessageColumns = CastColumns | ReactionColumns | LinkColumns | UserDataColumns | GenericColumns;

/** A message whose bytes are rebuilt from its columns. */
export type TypedColumns = CastColumns | ReactionColumns | LinkColumns | UserDataColumns;

export interface CastColumns {
  readonly table: "casts";
  readonly fid: number;
  readonly timestamp: number;
  readonly text: string;
  /** Null unless the parent is a cast. */
  readonly parentFid: number | null;
  readonly parentHash: Uint8Array | null;
  /** Null unless the parent is a URL. */
  readonly parentUrl: string | null;
  /** The body in wire form without its text and parent; null if that is empty. Read with `decodeRest`. */
  readonly rest: Uint8Array | null;
}

export interface ReactionColumns {
  readonly table: "reactions";
  readonly fid: number;
  readonly timestamp: number;
  /** 1 like, 2 recast. */
  readonly type: number;
  /** 0 for a URL. */
  readonly targetFid: number;
  /** Null for a URL. */
  readonly targetHash: Uint8Array | null;
  readonly targetUrl: string | null;
}

export interface LinkColumns {
  readonly table: "links";
  readonly fid: number;
  readonly timestamp: number;
  /** See `LinkType`. */
  readonly type: number | string;
  readonly targetFid: number;
  /** Null if the message has no display time. */
  readonly displayedAt: number | null;
}

export interface UserDataColumns {
  readonly table: "user_data";
  readonly fid: number;
  readonly timestamp: number;
  readonly type: number;
  readonly value: string;
}

/** A message of any other type. The envelope's `data` is always set. */
export interface GenericColumns {
  readonly table: "messages";
  readonly fid: number;
  /** Farcaster seconds, as in the column. */
  readonly timestamp: number;
  readonly store: Store;
  readonly slot: Uint8Array;
  readonly kind: Kind;
}

/**
 * The parts of a message that its columns do not store. The hash scheme is BLAKE3 and the signature scheme Ed25519: no
 * others are valid.
 */
export interface MessageEnvelope {
  readonly signer: Uint8Array;
  readonly signature: Uint8Array;
  /** The signed bytes; null if `encodeData` of the columns produces them. Never null for a `GenericColumns`. */
  readonly data: Uint8Array | null;
}

/** A message in the form in which rows store it. */
export interface SplitMessage {
  readonly columns: MessageColumns;
  readonly envelope: MessageEnvelope;
  readonly hash: Uint8Array;
}

/** The numbers that stand for the common link types in `links.type`. Any other type is stored as its text. */
export const LinkType = { Follow: 1, Block: 2 } as const;

/** Returns the value of `links.type` for a link type of the protocol. */
export function storedLinkType(type: string): number | string {
  if (type === "follow") return LinkType.Follow;
  return type === "block" ? LinkType.Block : type;
}

/** Returns the link type of the protocol for a value of `links.type`. */
export function linkTypeOf(stored: number | string): string {
  if (stored === LinkType.Follow) return "follow";
  return stored === LinkType.Block ? "block" : String(stored);
}

// Columns that statements select for each kind of live message.
const ENVELOPE = "s.key AS signer, e.signature, e.data";
const JOIN_ENVELOPE = `CROSS JOIN envelopes e ON e.id = t.envelope_id
  CROSS JOIN message_signers s ON s.id = e.signer_id`;
export const CAST_COLUMNS = `t.id, t.hash, t.fid, t.text, t.parent_fid AS parentFid, t.parent_hash AS parentHash,
  u.url AS parentUrl, t.rest, ${ENVELOPE}`;
export const JOIN_CAST = `${JOIN_ENVELOPE} LEFT JOIN urls u ON u.id = t.parent_url_id`;
export const GENERIC_COLUMNS =
  "t.id, t.fid, t.timestamp, t.store, t.slot, t.kind, s.key AS signer, t.signature, t.data";
export const JOIN_SIGNER = "CROSS JOIN message_signers s ON s.id = t.signer_id";
/** Statements without a condition; callers append a WHERE clause. */
export const SELECT_CASTS = `SELECT ${CAST_COLUMNS} FROM casts t ${JOIN_CAST}`;
export const SELECT_REACTIONS = `SELECT t.fid, t.timestamp, t.type, t.target_fid AS targetFid, t.target_id AS targetId,
    coalesce(c.hash, m.hash) AS targetHash, u.url AS targetUrl, ${ENVELOPE}
  FROM reactions t ${JOIN_ENVELOPE} LEFT JOIN casts c ON c.id = t.target_id
  LEFT JOIN missing_casts m ON m.id = t.target_id LEFT JOIN urls u ON u.id = t.target_id`;
export const SELECT_LINKS = `SELECT t.fid, t.timestamp, t.type, t.target_fid AS targetFid, t.displayed_at AS displayedAt, ${ENVELOPE}
  FROM links t ${JOIN_ENVELOPE}`;
export const SELECT_USER_DATA = `SELECT t.fid, t.timestamp, t.type, t.value, ${ENVELOPE} FROM user_data t ${JOIN_ENVELOPE}`;
export const SELECT_GENERIC = `SELECT ${GENERIC_COLUMNS} FROM messages t ${JOIN_SIGNER}`;
