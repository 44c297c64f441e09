import type { Kind, Store } from "../../../protocol/message/merge-rules.ts";

/**
 * Live messages as the values of their columns, without ids: cast ids, URL ids, signer ids and envelope ids are resolved by
 * those who write and read the rows. `table` is the table that stores the message. Times are unix seconds, but for
 * the generic table.
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
  /** The body in wire form without its text and parent, null when that is empty. `decodeRest` reads it. */
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
  /** See `link-type.ts`. */
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

/** The parts of a message that its columns do not store. Hash and signature schemes are BLAKE3 and Ed25519: no other is valid. */
export interface MessageEnvelope {
  readonly signer: Uint8Array;
  readonly signature: Uint8Array;
  /** The signed bytes, null if `encodeData` of the columns gives them. Never null for a `GenericColumns`. */
  readonly data: Uint8Array | null;
}

/** A message as it is written into rows. */
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
