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
