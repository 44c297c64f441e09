import { canonicalKey } from "../../../protocol/auth-address.ts";
import type { Lend } from "../../../protocol/storage.ts";
import { decodeSignedKeyRequest } from "../../../protocol/validate/chain/gasless-key.ts";
import type { LendStorageBody, MessageData } from "../../../protocol/wire/generated/message.ts";
import {
  IdRegisterEventType,
  OnChainEvent,
  OnChainEventType,
  SignerEventType,
} from "../../../protocol/wire/generated/on-chain.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

const eventsOfFid = statement<{ bytes: Uint8Array }, [type: number, fid: number]>(
  "project.on-chain.events-of-fid",
  "SELECT bytes FROM on_chain_events WHERE type = ? AND fid = ? ORDER BY block_number, log_index",
);
const newestOfFid = statement<{ bytes: Uint8Array }, [type: number, fid: number, limit: number]>(
  "project.on-chain.newest-of-fid",
  `SELECT bytes FROM on_chain_events WHERE type = ? AND fid = ?
   ORDER BY block_number DESC, log_index DESC LIMIT ?`,
);
const newestPosition = statement<{ blockNumber: number; logIndex: number }, [type: number, fid: number]>(
  "project.on-chain.newest-position",
  `SELECT block_number AS blockNumber, log_index AS logIndex FROM on_chain_events WHERE type = ? AND fid = ?
   ORDER BY block_number DESC, log_index DESC LIMIT 1`,
);
const fidRow = statement<Registration, [fid: number]>(
  "project.fids.get",
  "SELECT custody, registered_at AS registeredAt FROM fids WHERE fid = ?",
);
const signerRow = statement<KeyState, [fid: number, key: Uint8Array]>(
  "project.signers.get",
  `SELECT state, key_type AS keyType, metadata_type AS metadataType, request_fid AS requestFid, added_at AS addedAt
   FROM signers WHERE fid = ? AND key = ?`,
);
const putFid = statement<unknown, [fid: number, custody: Uint8Array | null, registeredAt: number | null]>(
  "project.fids.put",
  `INSERT INTO fids (fid, custody, registered_at) VALUES (?1, ?2, ?3)
   ON CONFLICT (fid) DO UPDATE SET custody = ?2, registered_at = ?3`,
);
const putSigner = statement<
  unknown,
  [
    fid: number,
    key: Uint8Array,
    state: number,
    keyType: number,
    metadataType: number,
    requestFid: number,
    addedAt: number,
  ]
>(
  "project.signers.put",
  `INSERT INTO signers (fid, key, state, key_type, metadata_type, request_fid, added_at)
   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
   ON CONFLICT (fid, key) DO UPDATE SET
     state = ?3, key_type = ?4, metadata_type = ?5, request_fid = ?6, added_at = ?7`,
);
const putPro = statement<unknown, [fid: number, subscribedAt: number, expiresAt: number]>(
  "project.pro-tiers.put",
  `INSERT INTO pro_tiers (fid, subscribed_at, expires_at) VALUES (?1, ?2, ?3)
   ON CONFLICT (fid) DO UPDATE SET subscribed_at = ?2, expires_at = ?3`,
);
const dropFid = statement<unknown, [fid: number]>("project.fids.drop", "DELETE FROM fids WHERE fid = ?");
const dropSigner = statement<unknown, [fid: number, key: Uint8Array]>(
  "project.signers.drop",
  "DELETE FROM signers WHERE fid = ? AND key = ?",
);
const dropPro = statement<unknown, [fid: number]>(
  "project.pro-tiers.drop",
  "DELETE FROM pro_tiers WHERE fid = ?",
);

/**
 * Updates the state of an fid after one of its events was added or removed. The order of arrival does not matter. An event after all
 * others of its kind, as the chain sends them, continues the present state, because an owner can cause thousands of events. Otherwise, the
 * state is recomputed from all events of the kind.
 */
export function foldOnChainEvents(db: IndexDatabase, changed: OnChainEvent): void {
  const { type, fid } = changed;
  db.invalidations.user(fid);
  if (type === OnChainEventType.EVENT_TYPE_ID_REGISTER) {
    if (isNewest(db, changed)) putRegistration(db, fid, nextRegistration(db.get(fidRow, fid), changed));
    else foldRegistry(db, fid, onChainEventsOf(db, type, fid));
  }
  if (type === OnChainEventType.EVENT_TYPE_SIGNER && changed.body?.$case === "signerEventBody") {
    const { key: sent, eventType } = changed.body.value;
    const key = canonicalKey(sent);
    const before = db.get(signerRow, fid, key);
    // What precedes a first add is of no consequence for the key.
    const isEnough = before !== undefined || eventType === SignerEventType.SIGNER_EVENT_TYPE_ADD;
    if (isEnough && isNewest(db, changed)) putKeyState(db, fid, key, nextKeyState(before, changed));
    else foldSigner(db, fid, key, onChainEventsOf(db, type, fid));
  }
  if (type === OnChainEventType.EVENT_TYPE_TIER_PURCHASE) foldPro(db, fid, onChainEventsOf(db, type, fid));
}

/** Reports whether the index has an event, and none of its kind and fid after it. */
function isNewest(db: IndexDatabase, { type, fid, blockNumber, logIndex }: OnChainEvent): boolean {
  const newest = db.get(newestPosition, type, fid);
  return newest?.blockNumber === blockNumber && newest.logIndex === logIndex;
}

/** Returns the events of one type of an fid, in chain order. */
export function onChainEventsOf(db: IndexDatabase, type: OnChainEventType, fid: number): OnChainEvent[] {
  return onChainEventBytes(db, type, fid).map((bytes) => OnChainEvent.decode(bytes));
}

/** Returns the newest of these events, the newest first. */
export function newestOnChainEvents(
  db: IndexDatabase,
  type: OnChainEventType,
  fid: number,
  limit: number,
): OnChainEvent[] {
  return db.all(newestOfFid, type, fid, limit).map(({ bytes }) => OnChainEvent.decode(bytes));
}

/** Returns the events of one type of an fid in wire form, in chain order. */
export function onChainEventBytes(db: IndexDatabase, type: OnChainEventType, fid: number): Uint8Array[] {
  return db.all(eventsOfFid, type, fid).map(({ bytes }) => bytes);
}

/** The registration of an fid. Times are in Unix seconds. */
export interface Registration {
  readonly custody: Uint8Array | null;
  readonly registeredAt: number | null;
}

/** Returns the registration from the id-registry events of an fid in chain order: custody is the `to` of the latest register or transfer. */
export function registrationOf(events: readonly OnChainEvent[]): Registration {
  return events.reduce<Registration>(nextRegistration, NOT_REGISTERED);
}

const NOT_REGISTERED: Registration = { custody: null, registeredAt: null };

/** Returns the registration of an fid after one of its id-registry events. */
function nextRegistration(before: Registration = NOT_REGISTERED, event: OnChainEvent): Registration {
  if (event.body?.$case !== "idRegisterEventBody") return before;
  const { eventType, to } = event.body.value;
  if (eventType === IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY) return before;
  const isRegister = eventType === IdRegisterEventType.ID_REGISTER_EVENT_TYPE_REGISTER;
  return { custody: to, registeredAt: before.registeredAt ?? (isRegister ? event.blockTimestamp : null) };
}

function foldRegistry(db: IndexDatabase, fid: number, events: OnChainEvent[]): void {
  const { custody, registeredAt } = registrationOf(events);
  if (events.length === 0) db.run(dropFid, fid);
  else putRegistration(db, fid, { custody, registeredAt });
}

export function putRegistration(
  db: IndexDatabase,
  fid: number,
  { custody, registeredAt }: Registration,
): void {
  db.run(putFid, fid, custody, registeredAt);
}

/** The latest state of a key, with the key type and metadata of its latest add, because a removal has none. */
interface KeyState {
  readonly state: SignerEventType;
  readonly keyType: number;
  readonly metadataType: number;
  readonly requestFid: number;
  readonly addedAt: number;
}

const NO_KEY: KeyState = {
  state: SignerEventType.SIGNER_EVENT_TYPE_NONE,
  keyType: 0,
  metadataType: 0,
  requestFid: 0,
  addedAt: 0,
};

/** Returns the state of a key after one of its events. */
export function nextKeyState(before: KeyState | undefined, event: OnChainEvent): KeyState {
  const current = before ?? NO_KEY;
  if (event.body?.$case !== "signerEventBody") return current;
  const { eventType: state, keyType, metadataType, metadata } = event.body.value;
  if (state !== SignerEventType.SIGNER_EVENT_TYPE_ADD) return { ...current, state };
  const requestFid = decodeSignedKeyRequest(metadata)?.requestFid ?? 0;
  return { state, keyType, metadataType, requestFid, addedAt: event.blockTimestamp };
}

/** `key` is in canonical form. */
function foldSigner(db: IndexDatabase, fid: number, key: Uint8Array, events: OnChainEvent[]): void {
  let state: KeyState | undefined;
  for (const event of events) {
    if (event.body?.$case !== "signerEventBody") continue;
    if (Buffer.compare(canonicalKey(event.body.value.key), key) === 0) state = nextKeyState(state, event);
  }
  putKeyState(db, fid, key, state ?? NO_KEY);
}

/** `key` is in canonical form. */
export function putKeyState(db: IndexDatabase, fid: number, key: Uint8Array, one: KeyState): void {
  if (one.state === SignerEventType.SIGNER_EVENT_TYPE_NONE) db.run(dropSigner, fid, key);
  else db.run(putSigner, fid, key, one.state, one.keyType, one.metadataType, one.requestFid, one.addedAt);
}

const DAY_SECS = 86_400;

function foldPro(db: IndexDatabase, fid: number, events: OnChainEvent[]): void {
  if (events.length === 0) db.run(dropPro, fid);
  else putProTier(db, fid, events);
}

/**
 * Stores the Pro tier from the purchases of an fid in chain order. Each purchase extends the remaining time by its days. A
 * purchase after expiry starts a new period.
 */
export function putProTier(db: IndexDatabase, fid: number, events: readonly OnChainEvent[]): void {
  let subscribedAt = 0;
  let expiresAt = 0;
  for (const event of events) {
    if (event.body?.$case !== "tierPurchaseEventBody") continue;
    if (event.blockTimestamp >= expiresAt) subscribedAt = event.blockTimestamp;
    expiresAt = Math.max(expiresAt, event.blockTimestamp) + event.body.value.forDays * DAY_SECS;
  }
  db.run(putPro, fid, subscribedAt, expiresAt);
}

/** Look-ups of what the protocol requires of a user before it accepts a message. */

const fidExists = statement<{ one: number }, [fid: number]>(
  "user-facts.fid-exists",
  "SELECT 1 AS one FROM fids WHERE fid = ?",
);
const proUntil = statement<{ expiresAt: number }, [fid: number]>(
  "user-facts.pro-until",
  "SELECT expires_at AS expiresAt FROM pro_tiers WHERE fid = ?",
);
const verificationOf = statement<{ one: number }, [fid: number, address: Uint8Array]>(
  "user-facts.verification-of",
  "SELECT 1 AS one FROM verifications WHERE fid = ? AND address = ?",
);

export function isRegistered(db: IndexDatabase, fid: number): boolean {
  return db.get(fidExists, fid) !== undefined;
}

/** Reports whether an fid has the Pro tier at a time, in Unix seconds. */
export function isPro(db: IndexDatabase, fid: number, nowSecs: number): boolean {
  return (db.get(proUntil, fid)?.expiresAt ?? 0) > nowSecs;
}

export function hasVerification(db: IndexDatabase, fid: number, address: Uint8Array): boolean {
  return db.get(verificationOf, fid, address) !== undefined;
}

const insertLend = statement<unknown, [fid: number, toFid: number, unitType: number, units: number]>(
  "project.lends.insert",
  "INSERT INTO storage_lends (fid, to_fid, unit_type, units) VALUES (?, ?, ?, ?)",
);
const deleteLend = statement<unknown, [fid: number, toFid: number]>(
  "project.lends.delete",
  "DELETE FROM storage_lends WHERE fid = ? AND to_fid = ?",
);
const lentTo = statement<{ one: number }, [fid: number, toFid: number]>(
  "project.lends.lent-to",
  "SELECT 1 AS one FROM storage_lends WHERE fid = ? AND to_fid = ?",
);
const lentBy = statement<Lend & { toFid: number }, [fid: number]>(
  "project.lends.lent-by",
  "SELECT to_fid AS toFid, unit_type AS unitType, units FROM storage_lends WHERE fid = ?",
);
const borrowedBy = statement<Lend, [toFid: number]>(
  "project.lends.borrowed-by",
  "SELECT unit_type AS unitType, units FROM storage_lends WHERE to_fid = ?",
);

export function addLend(db: IndexDatabase, data: MessageData, body: LendStorageBody): void {
  db.run(insertLend, data.fid, body.toFid, body.unitType, body.numUnits);
}

export function dropLend(db: IndexDatabase, data: MessageData, body: LendStorageBody): void {
  db.run(deleteLend, data.fid, body.toFid);
}

export function isLent(db: IndexDatabase, fid: number, toFid: number): boolean {
  return db.get(lentTo, fid, toFid) !== undefined;
}

export function lendsOf(
  db: IndexDatabase,
  fid: number,
): { lent: (Lend & { toFid: number })[]; borrowed: Lend[] } {
  return { lent: db.all(lentBy, fid), borrowed: db.all(borrowedBy, fid) };
}
