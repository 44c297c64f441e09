import { countGaslessKeys } from "../../../db/index/counts/store-counts.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { Kind, Store } from "../../../protocol/message/merge-rules.ts";
import type { SignedMessage } from "../../../protocol/message/signed-message.ts";
import { DUPLICATE, invalid, type Rejection } from "../../../protocol/rejection.ts";
import { toUnixSecs } from "../../../protocol/time.ts";
import {
  decodeSignedKeyRequest,
  KEY_REMOVE_BY_SELF,
  MAX_GASLESS_KEYS,
  recoverKeyAddCustody,
  recoverKeyRemoveCustody,
} from "../../../protocol/validate/chain/gasless-key.ts";
import type { KeyAddBody, KeyRemoveBody, MessageData } from "../../../protocol/wire/generated/message.ts";
import type { AdmitContext } from "../admit.ts";
import type { MergeContext } from "../merge.ts";
import type { MessageStore } from "../message-store.ts";
import {
  appNonce,
  deleteGaslessKey,
  findGaslessKey,
  type KeyRow,
  removeGaslessKey,
  storeGaslessKey,
  touchGaslessKey,
  userNonce,
} from "./gasless-key-store.ts";
import { isActiveOnChainKey } from "./signer-cache.ts";

const custodyOf = statement<{ custody: Uint8Array | null }, [fid: number]>(
  "gasless-keys.custody",
  "SELECT custody FROM fids WHERE fid = ?",
);
const lastAdd = statement<{ data: Uint8Array }, [fid: number, key: Uint8Array]>(
  "gasless-keys.last-add",
  `SELECT data FROM messages WHERE fid = ? AND store = ${Store.GaslessKeys} AND slot = ?`,
);
const lastRemoval = statement<{ hash: Uint8Array }, [key: Uint8Array]>(
  "gasless-keys.last-removal",
  "SELECT hash FROM key_removals WHERE key = ?",
);
const putRemoval = statement<unknown, [key: Uint8Array, hash: Uint8Array]>(
  "gasless-keys.put-removal",
  "INSERT OR REPLACE INTO key_removals (key, hash) VALUES (?, ?)",
);
const deleteRemoval = statement<unknown, [key: Uint8Array]>(
  "gasless-keys.delete-removal",
  "DELETE FROM key_removals WHERE key = ?",
);

const STALE_NONCE = invalid("nonce is not above the last one");

/** Returns the gasless key that signed a message, if it may sign this type and has not expired from disuse. */
export function gaslessSigner(context: AdmitContext, { data, signer }: SignedMessage): KeyRow | undefined {
  const key = findGaslessKey(context.db, signer);
  if (!key || key.fid !== data.fid) return undefined;
  if (context.nowSecs > key.lastUsedAt + key.ttlSecs) return undefined;
  const scopes: number[] = JSON.parse(key.scopes);
  return scopes.includes(data.type) ? key : undefined;
}

/** Renews the gasless key that signed a message: its ttl restarts at the message's time. */
export function renewGaslessSigner({ db, signers }: MergeContext, { data, signer }: SignedMessage): void {
  if (signers.isNotGasless(signer)) return;
  if (findGaslessKey(db, signer)) touchGaslessKey(db, signer, data.fid, toUnixSecs(data.timestamp));
  else signers.addNotGasless(signer);
}

/**
 * Checks by look-ups what a KEY_ADD requires from the state: a request signed by its app's custody address, a nonce above
 * the last one, and a key that is free or belongs to the same fid and app. `verifyKeyAddCustody` checks the custody
 * signature, which costs a thousand times as much.
 *
 * The reference node also accepts only one KEY_ADD per minute and fid. That is a rate limit of its mempool, not a rule of
 * the protocol: a delayed message is still valid a minute later, so it is accepted here.
 */
export function admitKeyAdd(
  { db }: AdmitContext,
  { data, dataBytes }: SignedMessage,
  body: KeyAddBody,
): Rejection | undefined {
  if (isSame(db.get(lastAdd, data.fid, body.key)?.data, dataBytes)) return DUPLICATE;
  const request = decodeSignedKeyRequest(body.metadata);
  if (!request) return invalid("metadata is not a signed key request");
  if (!isCustody(db, request.requestFid, request.requestSigner))
    return invalid("signed key request is not of its fid's custody address");
  if (body.nonce <= userNonce(db, data.fid)) return STALE_NONCE;
  if (isActiveOnChainKey(db, data.fid, body.key)) return invalid("key is registered on chain");
  const existing = findGaslessKey(db, body.key);
  if (existing) {
    return existing.fid === data.fid && existing.requestFid === request.requestFid
      ? undefined
      : invalid("key belongs to another fid or app");
  }
  return countGaslessKeys(db, data.fid) < MAX_GASLESS_KEYS
    ? undefined
    : invalid(`an fid has at most ${MAX_GASLESS_KEYS} gasless keys`);
}

/** Recovers the signer of a KEY_ADD, which must be the custody address of the message's fid. */
export function verifyKeyAddCustody(db: IndexDatabase, data: MessageData): Rejection | undefined {
  return isCustody(db, data.fid, recoverKeyAddCustody(data))
    ? undefined
    : invalid("custody_signature is not of the fid's custody address");
}

/** Reports whether a KEY_REMOVE with this hash was the last one of its key. */
export function isLastRemoval(db: IndexDatabase, key: Uint8Array, hash: Uint8Array): boolean {
  return isSame(db.get(lastRemoval, key)?.hash, hash);
}

/** Checks by look-ups what a KEY_REMOVE requires from the state: a key of the fid and a nonce above the last one. */
export function admitKeyRemove(
  { db }: AdmitContext,
  { data, hash }: SignedMessage,
  body: KeyRemoveBody,
): Rejection | undefined {
  if (isLastRemoval(db, body.key, hash)) return DUPLICATE;
  const key = findGaslessKey(db, body.key);
  if (!key || key.fid !== data.fid) return invalid("key is no gasless key of the fid");
  const last = isBySelf(body) ? appNonce(db, key.requestFid) : userNonce(db, data.fid);
  return body.nonce > last ? undefined : STALE_NONCE;
}

/** Recovers the signer of a KEY_REMOVE, unless it is the key itself. It must be the custody address of the fid. */
export function verifyKeyRemoveCustody(
  db: IndexDatabase,
  data: MessageData,
  body: KeyRemoveBody,
): Rejection | undefined {
  return isBySelf(body) || isCustody(db, data.fid, recoverKeyRemoveCustody(data))
    ? undefined
    : invalid("signature is not of the fid's custody address");
}

/**
 * Applies an admitted key operation. Returns false for any other message. A KEY_ADD is stored as the key's message, one per
 * key. For a KEY_REMOVE only the hash is stored, because its nonce prevents replays.
 */
export function applyKeyMessage(context: MergeContext, message: SignedMessage): boolean {
  const { data } = message;
  if (data.body?.$case === "keyAddBody") addKey(context, message, data.body.value);
  else if (data.body?.$case === "keyRemoveBody") removeKey(context, message, data.body.value);
  else return false;
  context.hubEvents.merged(message);
  return true;
}

function addKey({ db, store, signers }: MergeContext, message: SignedMessage, body: KeyAddBody): void {
  const { fid, timestamp } = message.data;
  const { key, scopes, ttl: ttlSecs, nonce } = body;
  const requestFid = decodeSignedKeyRequest(body.metadata)?.requestFid ?? 0;
  const addedAt = toUnixSecs(timestamp);
  removeKeyMessage(store, fid, key);
  store.put(message, { store: Store.GaslessKeys, slot: key, kind: Kind.Add });
  // A KEY_ADD of a known key starts over: its earlier uses no longer count.
  deleteGaslessKey(db, key, fid);
  signers.clear();
  storeGaslessKey(db, { key, fid, requestFid, scopes, ttlSecs, addedAt, lastUsedAt: addedAt, nonce });
  db.run(deleteRemoval, key);
}

function removeKey(
  { db, store }: MergeContext,
  { data: { fid }, hash }: SignedMessage,
  body: KeyRemoveBody,
): void {
  removeKeyMessage(store, fid, body.key);
  removeGaslessKey(db, fid, body.key, { by: isBySelf(body) ? "itself" : "custody", nonce: body.nonce });
  db.run(putRemoval, body.key, hash);
}

/**
 * Reports whether the message that last changed a key has this hash or data, so that the same message is being submitted
 * again.
 */
function isSame(last: Uint8Array | undefined, submitted: Uint8Array): boolean {
  return last !== undefined && Buffer.compare(last, submitted) === 0;
}

function isBySelf({ signatureType }: KeyRemoveBody): boolean {
  return signatureType === KEY_REMOVE_BY_SELF;
}

function removeKeyMessage(store: MessageStore, fid: number, key: Uint8Array): void {
  const stored = store.get(fid, Store.GaslessKeys, key);
  if (stored) store.remove(stored, "displaced");
}

function isCustody(db: IndexDatabase, fid: number, address: Uint8Array | undefined): boolean {
  const custody = db.get(custodyOf, fid)?.custody;
  return custody != null && address !== undefined && Buffer.compare(custody, address) === 0;
}
