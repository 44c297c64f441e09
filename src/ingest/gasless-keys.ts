import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { Kind, Store } from "../protocol/merge-rules.ts";
import { invalid, type Rejection } from "../protocol/rejection.ts";
import type { SignedMessage } from "../protocol/signed-message.ts";
import { toUnixSecs } from "../protocol/time.ts";
import {
  decodeSignedKeyRequest,
  KEY_REMOVE_BY_SELF,
  recoverKeyAddCustody,
  recoverKeyRemoveCustody,
} from "../protocol/validate/gasless-key.ts";
import type { KeyAddBody, KeyRemoveBody, MessageData } from "../protocol/wire/generated/message.ts";
import type { AdmitContext } from "./admit.ts";
import { appNonce, raiseAppNonce, raiseUserNonce, userNonce } from "./key-nonces.ts";
import type { MergeContext } from "./merge.ts";
import type { MessageStore } from "./message-store.ts";
import { isActiveOnChainKey } from "./on-chain-keys.ts";

interface KeyRow {
  fid: number;
  requestFid: number;
  scopes: string;
  ttlSecs: number;
  lastUsedAt: number;
}

const keyRow = statement<KeyRow, [key: Uint8Array]>(
  "gasless-keys.by-key",
  `SELECT fid, request_fid AS requestFid, scopes, ttl_secs AS ttlSecs, last_used_at AS lastUsedAt
   FROM gasless_keys WHERE key = ?`,
);
const putKey = statement<
  unknown,
  [
    key: Uint8Array,
    fid: number,
    requestFid: number,
    scopes: string,
    ttlSecs: number,
    addedAt: number,
    nonce: number,
  ]
>(
  "gasless-keys.put",
  `INSERT INTO gasless_keys (key, fid, request_fid, scopes, ttl_secs, added_at, last_used_at, nonce)
   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)
   ON CONFLICT (key) DO UPDATE SET scopes = ?4, ttl_secs = ?5, added_at = ?6, last_used_at = ?6, nonce = ?7`,
);
const deleteKey = statement<unknown, [key: Uint8Array]>(
  "gasless-keys.delete",
  "DELETE FROM gasless_keys WHERE key = ?",
);
const USE_STEP_SECS = 300;
const touchKey = statement<unknown, [key: Uint8Array, fid: number, usedAt: number]>(
  "gasless-keys.touch",
  `UPDATE gasless_keys SET last_used_at = ?3
   WHERE key = ?1 AND fid = ?2 AND last_used_at + ${USE_STEP_SECS} < ?3`,
);
const custodyOf = statement<{ custody: Uint8Array | null }, [fid: number]>(
  "gasless-keys.custody",
  "SELECT custody FROM fids WHERE fid = ?",
);
const keysOf = statement<{ used: number }, [fid: number]>(
  "gasless-keys.count",
  `SELECT used FROM store_counts WHERE fid = ? AND store = ${Store.GaslessKeys}`,
);

const MAX_KEYS_PER_FID = 1000;
const STALE_NONCE = invalid("nonce is not above the last one");

/** The gasless key that signed a message, while it may sign this type and has not gone unused for too long. */
export function gaslessSigner(context: AdmitContext, { data, signer }: SignedMessage): KeyRow | undefined {
  const key = context.db.get(keyRow, signer);
  if (!key || key.fid !== data.fid) return undefined;
  if (context.nowSecs > key.lastUsedAt + key.ttlSecs) return undefined;
  const scopes: number[] = JSON.parse(key.scopes);
  return scopes.includes(data.type) ? key : undefined;
}

/**
 * A message lets the gasless key that signed it live another ttl from the message's own time on. As in the reference node
 * the time moves in steps of more than 300 seconds.
 */
export function touchGaslessKey(db: IndexDatabase, { data, signer }: SignedMessage): void {
  db.run(touchKey, signer, data.fid, toUnixSecs(data.timestamp));
}

/**
 * What a KEY_ADD needs of the state that a look-up can tell: a signed request by its app's custody address, a nonce above
 * the last one, and a key that is free or belongs to the same fid and app. The custody signature is checked by
 * `verifyKeyAddCustody`, which costs a thousand times as much.
 *
 * The reference node also takes one KEY_ADD a minute of an fid. That is a rate limit of its mempool and no rule of the
 * protocol: what it delays is as valid a minute later, and so it is taken here.
 */
export function admitKeyAdd(
  context: AdmitContext,
  data: MessageData,
  body: KeyAddBody,
): Rejection | undefined {
  const { db } = context;
  const request = decodeSignedKeyRequest(body.metadata);
  if (!request) return invalid("metadata is not a signed key request");
  if (!isCustody(db, request.requestFid, request.requestSigner))
    return invalid("signed key request is not of its fid's custody address");
  if (body.nonce <= userNonce(db, data.fid)) return STALE_NONCE;
  if (isActiveOnChainKey(db, data.fid, body.key)) return invalid("key is registered on chain");
  const held = db.get(keyRow, body.key);
  if (held) {
    return held.fid === data.fid && held.requestFid === request.requestFid
      ? undefined
      : invalid("key belongs to another fid or app");
  }
  if ((db.get(keysOf, data.fid)?.used ?? 0) >= MAX_KEYS_PER_FID)
    return invalid(`an fid has at most ${MAX_KEYS_PER_FID} gasless keys`);
  return undefined;
}

/** Recovers who signed a KEY_ADD; it must be the custody address of the message's fid. */
export function verifyKeyAddCustody(db: IndexDatabase, data: MessageData): Rejection | undefined {
  return isCustody(db, data.fid, recoverKeyAddCustody(data))
    ? undefined
    : invalid("custody_signature is not of the fid's custody address");
}

/** What a KEY_REMOVE needs of the state that a look-up can tell: a key of the fid and a nonce above the last one. */
export function admitKeyRemove(
  { db }: AdmitContext,
  data: MessageData,
  body: KeyRemoveBody,
): Rejection | undefined {
  const held = db.get(keyRow, body.key);
  if (!held || held.fid !== data.fid) return invalid("key is no gasless key of the fid");
  const last = isBySelf(body) ? appNonce(db, held.requestFid) : userNonce(db, data.fid);
  return body.nonce > last ? undefined : STALE_NONCE;
}

/** Recovers who signed a KEY_REMOVE, where that is not the key itself; it must be the custody address of the fid. */
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
 * Applies an admitted key operation; false for any other message. The KEY_ADD stays as the key's message, one for
 * each key; a KEY_REMOVE leaves none, since its nonce keeps it from being played again.
 */
export function applyKeyMessage(context: MergeContext, message: SignedMessage): boolean {
  const { data } = message;
  if (data.body?.$case === "keyAddBody") addKey(context, message, data.body.value);
  else if (data.body?.$case === "keyRemoveBody") removeKey(context, data.fid, data.body.value);
  else return false;
  return true;
}

function addKey({ db, store }: MergeContext, message: SignedMessage, body: KeyAddBody): void {
  const { fid, timestamp } = message.data;
  const requestFid = decodeSignedKeyRequest(body.metadata)?.requestFid ?? 0;
  takeKeyMessage(store, fid, body.key);
  store.put(message, { store: Store.GaslessKeys, slot: body.key, kind: Kind.Add });
  const scopes = JSON.stringify(body.scopes);
  db.run(putKey, body.key, fid, requestFid, scopes, body.ttl, toUnixSecs(timestamp), body.nonce);
  raiseUserNonce(db, fid, body.nonce);
}

function removeKey({ db, store }: MergeContext, fid: number, body: KeyRemoveBody): void {
  const held = db.get(keyRow, body.key);
  if (!isBySelf(body)) raiseUserNonce(db, fid, body.nonce);
  else if (held) raiseAppNonce(db, held.requestFid, body.nonce);
  takeKeyMessage(store, fid, body.key);
  db.run(deleteKey, body.key);
}

function isBySelf({ signatureType }: KeyRemoveBody): boolean {
  return signatureType === KEY_REMOVE_BY_SELF;
}

function takeKeyMessage(store: MessageStore, fid: number, key: Uint8Array): void {
  const held = store.held(fid, Store.GaslessKeys, key);
  if (held) store.take(held, fid, Store.GaslessKeys);
}

function isCustody(db: IndexDatabase, fid: number, address: Uint8Array | undefined): boolean {
  const custody = db.get(custodyOf, fid)?.custody;
  return custody != null && address !== undefined && Buffer.compare(custody, address) === 0;
}
