import type { IndexDatabase } from "../index/database.ts";
import { statement } from "../index/statement.ts";
import { Kind, Store } from "../protocol/merge-rules.ts";
import { invalid, type Rejection } from "../protocol/rejection.ts";
import type { SignedMessage } from "../protocol/signed-message.ts";
import {
  decodeSignedKeyRequest,
  KEY_REMOVE_BY_SELF,
  recoverKeyAddCustody,
  recoverKeyRemoveCustody,
} from "../protocol/validate/gasless-key.ts";
import type { KeyAddBody, KeyRemoveBody, MessageData } from "../protocol/wire/generated/message.ts";
import type { AdmitContext } from "./admit.ts";
import type { MergeContext } from "./merge.ts";

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
    lastUsedAt: number,
  ]
>(
  "gasless-keys.put",
  `INSERT INTO gasless_keys (key, fid, request_fid, scopes, ttl_secs, added_at, last_used_at)
   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
   ON CONFLICT (key) DO UPDATE SET scopes = ?4, ttl_secs = ?5, last_used_at = ?7`,
);
const deleteKey = statement<unknown, [key: Uint8Array]>(
  "gasless-keys.delete",
  "DELETE FROM gasless_keys WHERE key = ?",
);
const touchKey = statement<unknown, [key: Uint8Array, fid: number, usedAt: number]>(
  "gasless-keys.touch",
  "UPDATE gasless_keys SET last_used_at = ?3 WHERE key = ?1 AND fid = ?2 AND last_used_at < ?3",
);
const nonceOf = statement<{ nonce: number }, [fid: number, requestFid: number]>(
  "gasless-keys.nonce",
  "SELECT nonce FROM key_nonces WHERE fid = ? AND request_fid = ?",
);
const putNonce = statement<unknown, [fid: number, requestFid: number, nonce: number]>(
  "gasless-keys.put-nonce",
  `INSERT INTO key_nonces (fid, request_fid, nonce) VALUES (?1, ?2, ?3)
   ON CONFLICT (fid, request_fid) DO UPDATE SET nonce = ?3`,
);
const onChainKey = statement<{ one: number }, [key: Uint8Array]>(
  "gasless-keys.on-chain-key",
  "SELECT 1 AS one FROM signers WHERE key = ? LIMIT 1",
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
/** The nonces of custody operations stand under this request fid, which no app has. */
const CUSTODY_NONCES = 0;

/** The gasless key that signed a message, while it may sign this type and has not gone unused for too long. */
export function gaslessSigner(context: AdmitContext, { data, signer }: SignedMessage): KeyRow | undefined {
  const key = context.db.get(keyRow, signer);
  if (!key || key.fid !== data.fid) return undefined;
  if (context.nowSecs > key.lastUsedAt + key.ttlSecs) return undefined;
  const scopes: number[] = JSON.parse(key.scopes);
  return scopes.includes(data.type) ? key : undefined;
}

/** Each accepted message lets its gasless key live another ttl. */
export function touchGaslessKey(context: MergeContext, { data, signer }: SignedMessage): void {
  context.db.run(touchKey, signer, data.fid, context.nowSecs);
}

/** Custody of the fid signs with a fresh nonce; the app's custody signed the request; the key is free or its own. */
export function admitKeyAdd(
  context: AdmitContext,
  data: MessageData,
  body: KeyAddBody,
): Rejection | undefined {
  const { db } = context;
  const request = decodeSignedKeyRequest(body.metadata);
  if (!request) return invalid("metadata is not a signed key request");
  if (!isCustody(db, data.fid, recoverKeyAddCustody(data)))
    return invalid("custody_signature is not of the fid's custody address");
  if (!isCustody(db, request.requestFid, request.requestSigner))
    return invalid("signed key request is not of its fid's custody address");
  if (!isFresh(db, data.fid, CUSTODY_NONCES, body.nonce)) return invalid("nonce is not above the last one");
  if (db.get(onChainKey, body.key)) return invalid("key is registered on chain");
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

/** Custody removes any key of its fid; a key removes itself, with a nonce of its app. */
export function admitKeyRemove(
  context: AdmitContext,
  message: SignedMessage,
  body: KeyRemoveBody,
): Rejection | undefined {
  const { db } = context;
  const { data } = message;
  const held = db.get(keyRow, body.key);
  if (!held || held.fid !== data.fid) return invalid("key is no gasless key of the fid");
  const bySelf = body.signatureType === KEY_REMOVE_BY_SELF;
  if (!bySelf && !isCustody(db, data.fid, recoverKeyRemoveCustody(data)))
    return invalid("signature is not of the fid's custody address");
  if (!isFresh(db, data.fid, bySelf ? held.requestFid : CUSTODY_NONCES, body.nonce))
    return invalid("nonce is not above the last one");
  return undefined;
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

function addKey(context: MergeContext, message: SignedMessage, body: KeyAddBody): void {
  const { db, store, nowSecs } = context;
  const { fid } = message.data;
  const requestFid = decodeSignedKeyRequest(body.metadata)?.requestFid ?? 0;
  takeKeyMessage(context, fid, body.key);
  store.put(message, { store: Store.GaslessKeys, slot: body.key, kind: Kind.Add });
  db.run(putKey, body.key, fid, requestFid, JSON.stringify(body.scopes), body.ttl, nowSecs, nowSecs);
  db.run(putNonce, fid, CUSTODY_NONCES, body.nonce);
}

function removeKey(context: MergeContext, fid: number, body: KeyRemoveBody): void {
  const { db } = context;
  const bySelf = body.signatureType === KEY_REMOVE_BY_SELF;
  const requestFid = bySelf ? (db.get(keyRow, body.key)?.requestFid ?? CUSTODY_NONCES) : CUSTODY_NONCES;
  takeKeyMessage(context, fid, body.key);
  db.run(deleteKey, body.key);
  db.run(putNonce, fid, requestFid, body.nonce);
}

function takeKeyMessage(context: MergeContext, fid: number, key: Uint8Array): void {
  const held = context.store.held(fid, Store.GaslessKeys, key);
  if (held) context.store.take(held, fid, Store.GaslessKeys);
}

function isCustody(db: IndexDatabase, fid: number, address: Uint8Array | undefined): boolean {
  const custody = db.get(custodyOf, fid)?.custody;
  return custody != null && address !== undefined && Buffer.compare(custody, address) === 0;
}

function isFresh(db: IndexDatabase, fid: number, requestFid: number, nonce: number): boolean {
  const last = db.get(nonceOf, fid, requestFid);
  return last === undefined || nonce > last.nonce;
}
