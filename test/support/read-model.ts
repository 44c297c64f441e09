import { createHash } from "node:crypto";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { LinkType } from "../../src/db/index/messages/columns.ts";
import { columnsOf } from "../../src/db/index/messages/split.ts";
import { addCast, dropCast, findCast } from "../../src/db/index/project/casts.ts";
import { addLink, dropLink, findLink } from "../../src/db/index/project/links.ts";
import { addReaction, dropReaction, findReaction } from "../../src/db/index/project/reactions.ts";
import { putEnvelope } from "../../src/db/index/project/stored-message.ts";
import type { SignedMessage } from "../../src/protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import {
  CastAddBody,
  type DeepPartial,
  FarcasterNetwork,
  LinkBody,
  MessageData,
  MessageType,
  ReactionBody,
  type ReactionType,
} from "../../src/protocol/wire/generated/message.ts";

/**
 * Writes the read model through the index's own projections, without signatures, so that a property test can write
 * thousands of rows and choose hashes.
 */

export interface ModelCast {
  readonly fid: number;
  /** Unix seconds. */
  readonly at: number;
  readonly hash: Uint8Array;
  readonly body?: DeepPartial<CastAddBody>;
}

/** Derives 20 bytes from a text. */
export function hashFrom(seed: string): Buffer {
  return createHash("sha1").update(seed).digest();
}

export function insertCast(db: IndexDatabase, { fid, at, hash, body = {} }: ModelCast): void {
  const value = CastAddBody.fromPartial(body);
  const columns = columnsOf(messageOf(fid, at, { $case: "castAddBody", value }));
  if (columns.table === "casts") write(db, () => addCast(db, columns, hash, putEnvelope(db, ENVELOPE)));
}

export function deleteCast(db: IndexDatabase, { fid, hash }: ModelCast): void {
  const row = findCast(db, fid, hash);
  if (row) write(db, () => dropCast(db, row));
}

/** A link to an account. */
export interface ModelLink {
  readonly fid: number;
  readonly type: string;
  readonly targetFid: number;
}

export function insertLink(db: IndexDatabase, { fid, type, targetFid }: ModelLink): void {
  const body = LinkBody.fromPartial({ type, target: { $case: "targetFid", value: targetFid } });
  const columns = columnsOf(messageOf(fid, 1_700_000_000, { $case: "linkBody", value: body }));
  if (columns.table === "links") write(db, () => addLink(db, columns, putEnvelope(db, ENVELOPE)));
}

export function setFollow(db: IndexDatabase, fid: number, targetFid: number, on: boolean): void {
  const row = findLink(db, fid, LinkType.Follow, targetFid);
  if (on) insertLink(db, { fid, type: "follow", targetFid });
  else if (row) write(db, () => dropLink(db, row));
}

export function setReaction(
  db: IndexDatabase,
  reaction: { fid: number; type: ReactionType; target: ModelCast; at: number; on: boolean },
): void {
  const { fid, type, target, at, on } = reaction;
  const value = { fid: target.fid, hash: target.hash };
  const body = ReactionBody.fromPartial({ type, target: { $case: "targetCastId", value } });
  const columns = columnsOf(messageOf(fid, at, { $case: "reactionBody", value: body }));
  const row = findReaction(db, fid, type, value);
  if (on && columns.table === "reactions")
    write(db, () => addReaction(db, columns, putEnvelope(db, ENVELOPE)));
  else if (row) write(db, () => dropReaction(db, row));
}

const ENVELOPE = { signer: new Uint8Array(32), signature: new Uint8Array(64), data: null };

const TYPES = {
  castAddBody: MessageType.MESSAGE_TYPE_CAST_ADD,
  reactionBody: MessageType.MESSAGE_TYPE_REACTION_ADD,
  linkBody: MessageType.MESSAGE_TYPE_LINK_ADD,
};

function messageOf(
  fid: number,
  at: number,
  body: MessageData["body"] & { $case: keyof typeof TYPES },
): SignedMessage {
  const data = MessageData.fromPartial({
    type: TYPES[body.$case],
    fid,
    timestamp: toFarcasterSecs(at),
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    body,
  });
  return {
    data,
    dataBytes: MessageData.encode(data).finish(),
    hash: new Uint8Array(),
    hashScheme: 1,
    signature: ENVELOPE.signature,
    signatureScheme: 1,
    signer: ENVELOPE.signer,
  };
}

/** Joins the transaction of the caller, if there is one. */
function write(db: IndexDatabase, work: () => void): void {
  if (db.sqlite.inTransaction) work();
  else db.transaction(work);
}
