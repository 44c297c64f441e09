import type { IndexDatabase } from "../../db/index/database.ts";
import { newestOnChainEvents } from "../../db/index/project/on-chain.ts";
import { statement } from "../../db/index/statement.ts";
import {
  IdRegisterEventType,
  type OnChainEvent,
  OnChainEventType,
} from "../../protocol/wire/generated/on-chain.ts";
import type { ChainPosition } from "./chain-position.ts";
import type { Assignment } from "./custody-store.ts";

/** Returns the current 20-byte custody address of an fid; undefined for an unregistered fid. */
export type CustodyOf = (fid: number) => Uint8Array | undefined;

const custody = statement<{ custody: Uint8Array | null }, [fid: number]>(
  "auth.custody",
  "SELECT custody FROM fids WHERE fid = ?",
);

/** Reads the index at every call, because an address becomes invalid as soon as its fid is transferred. */
export function custodyFromIndex(db: IndexDatabase): CustodyOf {
  return (fid) => db.get(custody, fid)?.custody ?? undefined;
}

/** An owner can change the recovery address any number of times, and each change is an event. */
const MAX_EXAMINED = 200;

const newestRegistration = statement<ChainPosition, [type: number, fid: number]>(
  "auth.newest-registration",
  `SELECT block_number AS blockNumber, log_index AS logIndex FROM on_chain_events WHERE type = ? AND fid = ?
   ORDER BY block_number DESC, log_index DESC LIMIT 1`,
);
/**
 * Returns the position up to which the index knows the owners of an fid: that of its newest id-registry event. The index receives the
 * events of an fid in the order of the chain.
 */
export function ownersKnownTo(db: IndexDatabase, fid: number): ChainPosition | undefined {
  return db.get(newestRegistration, OnChainEventType.EVENT_TYPE_ID_REGISTER, fid);
}

/** Reports whether an address owns an fid or has owned it. True if there are too many events to tell. */
export function mayHaveOwned(db: IndexDatabase, fid: number, address: Uint8Array): boolean {
  const events = newestOnChainEvents(db, OnChainEventType.EVENT_TYPE_ID_REGISTER, fid, MAX_EXAMINED);
  return (
    events.length === MAX_EXAMINED ||
    assignmentsIn(events).some(({ custody }) => isSameAddress(custody, address))
  );
}

/** Returns the owners that id-registry events of an fid name one after another. */
export function assignmentsIn(events: readonly OnChainEvent[]): Assignment[] {
  return events.flatMap(({ body, blockNumber, logIndex }) =>
    body?.$case === "idRegisterEventBody" &&
    body.value.eventType !== IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY
      ? [{ custody: body.value.to, blockNumber, logIndex }]
      : [],
  );
}

/** Why a request was refused that the previous owner of an fid has signed. */
export const CUSTODY_MOVED = "the custody address of the fid has changed in the meantime";

export function isSameAddress(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/**
 * Returns why the custody addresses and keys in the index may be out of date, as text for clients; undefined while they are current. A
 * node that fills its index itself is always current.
 */
export type StaleReason = () => Promise<string | undefined>;

export const neverStale: StaleReason = async () => undefined;
