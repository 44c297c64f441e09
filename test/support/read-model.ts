import { createHash } from "node:crypto";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { addCast, dropCast } from "../../src/db/index/project/casts.ts";
import { addLink, dropLink } from "../../src/db/index/project/links.ts";
import { addReaction, dropReaction } from "../../src/db/index/project/reactions.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import {
  CastAddBody,
  type DeepPartial,
  LinkBody,
  MessageData,
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

function dataOf(fid: number, at: number): MessageData {
  return MessageData.fromPartial({ fid, timestamp: toFarcasterSecs(at) });
}

export function insertCast(db: IndexDatabase, { fid, at, hash, body = {} }: ModelCast): void {
  addCast(db, dataOf(fid, at), CastAddBody.fromPartial(body), hash);
}

export function deleteCast(db: IndexDatabase, { fid, at, hash, body = {} }: ModelCast): void {
  dropCast(db, dataOf(fid, at), CastAddBody.fromPartial(body), hash);
}

export function setFollow(db: IndexDatabase, fid: number, targetFid: number, on: boolean): void {
  const body = LinkBody.fromPartial({ type: "follow", target: { $case: "targetFid", value: targetFid } });
  if (on) addLink(db, dataOf(fid, 1_700_000_000), body);
  else dropLink(db, dataOf(fid, 1_700_000_000), body);
}

export function setReaction(
  db: IndexDatabase,
  reaction: { fid: number; type: ReactionType; target: ModelCast; at: number; on: boolean },
): void {
  const { fid, type, target, at, on } = reaction;
  const value = { fid: target.fid, hash: target.hash };
  const body = ReactionBody.fromPartial({ type, target: { $case: "targetCastId", value } });
  const hash = hashFrom(`${fid} ${type} ${Buffer.from(target.hash).toString("hex")}`);
  if (on) addReaction(db, dataOf(fid, at), body, hash);
  else dropReaction(db, dataOf(fid, at), body, hash);
}
