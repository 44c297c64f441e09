import { CastAddBody } from "../../../protocol/wire/generated/message.ts";

/** The tags (field number and wire type) of the fields that the hand-written codec of this folder reads and writes. */

const VARINT = 0;
const LENGTH_DELIMITED = 2;

function varint(field: number): number {
  return (field << 3) | VARINT;
}

function delimited(field: number): number {
  return (field << 3) | LENGTH_DELIMITED;
}

export const MessageTag = {
  Hash: delimited(2),
  HashScheme: varint(3),
  Signature: delimited(4),
  SignatureScheme: varint(5),
  Signer: delimited(6),
  DataBytes: delimited(7),
} as const;

export const DataTag = {
  Type: varint(1),
  Fid: varint(2),
  Timestamp: varint(3),
  Network: varint(4),
  CastAddBody: delimited(5),
  ReactionBody: delimited(7),
  UserDataBody: delimited(12),
  LinkBody: delimited(14),
} as const;

export const CastTag = {
  EmbedDeprecated: delimited(1),
  Mentions: delimited(2),
  ParentCastId: delimited(3),
  Text: delimited(4),
  MentionsPositions: delimited(5),
  Embed: delimited(6),
  ParentUrl: delimited(7),
  Type: varint(8),
} as const;

export const CastIdTag = { Fid: varint(1), Hash: delimited(2) } as const;
export const ReactionTag = { Type: varint(1), TargetCastId: delimited(2), TargetUrl: delimited(3) } as const;
export const LinkTag = { Type: delimited(1), DisplayTimestamp: varint(2), TargetFid: varint(3) } as const;
export const UserDataTag = { Type: varint(1), Value: delimited(2) } as const;

const NOTHING: CastAddBody = CastAddBody.decode(new Uint8Array());
/**
 * Size of two empty lists, of mentions and of positions. The public client library writes them in every cast without
 * mentions.
 */
const EMPTY_LISTS_BYTES = 4;

/**
 * Decodes `casts.rest`: embeds, mentions with their positions, and the type of a cast. Text and parent of the result are
 * empty. The result for a cast with none of these is shared: do not modify it.
 */
export function decodeRest(rest: Uint8Array | null): CastAddBody {
  return rest === null || hasEmptyListsOnly(rest) ? NOTHING : CastAddBody.decode(rest);
}

function hasEmptyListsOnly(rest: Uint8Array): boolean {
  return (
    rest.length === EMPTY_LISTS_BYTES &&
    rest[0] === CastTag.Mentions &&
    rest[1] === 0 &&
    rest[2] === CastTag.MentionsPositions &&
    rest[3] === 0
  );
}

/**
 * Returns the offset of the second part of `rest`. The first part has the deprecated embeds and mentions, which precede
 * parent and text in the body; the second has positions, embeds and type, which follow them.
 */
export function startOfSecondPart(rest: Uint8Array): number {
  let at = 0;
  while (at < rest.length) {
    const tag = rest[at];
    if (tag !== CastTag.EmbedDeprecated && tag !== CastTag.Mentions) break;
    let length = 0;
    let scale = 1;
    for (at++; at < rest.length; scale *= 128) {
      const byte = rest[at++] ?? 0;
      length += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    at += length;
  }
  return Math.min(at, rest.length);
}
