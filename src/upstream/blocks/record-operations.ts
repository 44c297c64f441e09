import type { MessageRef, RelayedOp } from "../../ingest/relayed-op.ts";
import {
  type DecodeMessage,
  encodeMessage,
  type SignedMessage,
} from "../../protocol/message/signed-message.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import { decodeSignedKeyRequest, KEY_REMOVE_BY_SELF } from "../../protocol/validate/chain/gasless-key.ts";
import { UserNameProof, UserNameType } from "../../protocol/wire/generated/message.ts";
import type { FollowedEvent, FollowedProofs } from "../../protocol/wire/generated/upstream.ts";
import { type RelayRules, validatedProof, validateRelayed } from "./validate-relayed.ts";

/** @param deleted the messages that this one replaces, as far as the upstream reports them. */
export function mergeOp(
  message: SignedMessage,
  deleted: readonly MessageRef[],
  { encoded = encodeMessage(message), spared }: MergeParts = {},
): RelayedOp {
  const happenedAt = toUnixSecs(message.data.timestamp);
  return { kind: "merge", message: encoded, deleted, ...(spared && { spared }), happenedAt };
}

interface MergeParts {
  readonly encoded?: Uint8Array;
  readonly spared?: readonly Uint8Array[] | undefined;
}

/** Returns the operation of a message that adds or removes a gasless key; undefined for any other message. */
export function keyOp({ data }: SignedMessage): RelayedOp | undefined {
  const { fid, body } = data;
  const happenedAt = toUnixSecs(data.timestamp);
  if (body?.$case === "keyRemoveBody") {
    const { key, nonce, signatureType } = body.value;
    const by = signatureType === KEY_REMOVE_BY_SELF ? "itself" : "custody";
    return { kind: "removeKey", fid, key: key.slice(), removal: { by, nonce }, happenedAt };
  }
  if (body?.$case !== "keyAddBody") return undefined;
  const { key, metadata, scopes, ttl, nonce } = body.value;
  const requestFid = decodeSignedKeyRequest(metadata)?.requestFid ?? 0;
  const times = { addedAt: happenedAt, lastUsedAt: happenedAt };
  return {
    kind: "key",
    key: { key: key.slice(), fid, requestFid, scopes, ttlSecs: ttl, nonce, ...times },
    happenedAt,
  };
}

/**
 * Returns the operation of a change of names; undefined if none is in scope. A proof from a message counts if that message
 * is valid and the contents match.
 *
 * @param blockTime Unix seconds.
 */
export function proofOp(rules: RelayRules, blockTime: number, proofs: FollowedProofs): RelayedOp | undefined {
  const added = addedProof(rules, proofs);
  const removed = proofs.deletedProof && validatedProof(rules, proofs.deletedProof);
  // Only the newest transfer decides who has an fname, whichever shard reports it first.
  const isFname = (proof: UserNameProof) => proof.type === UserNameType.USERNAME_TYPE_FNAME;
  const addedInScope = added && (isFname(added) || rules.scope.includesNames(added.fid)) ? added : undefined;
  const removedInScope =
    removed && !isFname(removed) && rules.scope.includesNames(removed.fid) ? removed : undefined;
  if (!addedInScope && !removedInScope) return undefined;
  return {
    kind: "proof",
    added: addedInScope && UserNameProof.encode(addedInScope).finish(),
    removed: removedInScope && UserNameProof.encode(removedInScope).finish(),
    onlyIfShown: addedInScope !== undefined && !rules.scope.includesNames(addedInScope.fid),
    happenedAt: added ? added.timestamp : blockTime,
  };
}

function addedProof(rules: RelayRules, { proof, proofMessage }: FollowedProofs): UserNameProof | undefined {
  if (!proofMessage) return proof && validatedProof(rules, proof);
  const body = validateRelayed(rules, proofMessage, () => true)?.data.body;
  return body?.$case === "usernameProofBody" ? body.value : undefined;
}

/** The hashes of the links that a block merges. */
export type LinksByAuthor = ReadonlyMap<number, readonly Uint8Array[]>;

export function linksByAuthor(decode: DecodeMessage, events: readonly FollowedEvent[]): LinksByAuthor {
  const links = new Map<number, Uint8Array[]>();
  for (const { body } of events) {
    const merged = body?.$case === "merge" ? decode(body.value.message) : undefined;
    if (!merged?.ok || merged.value.data.body?.$case !== "linkBody") continue;
    const { fid } = merged.value.data;
    links.getOrInsertComputed(fid, () => []).push(merged.value.hash.slice());
  }
  return links;
}
