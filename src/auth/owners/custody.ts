import type { IndexDatabase } from "../../db/index/database.ts";
import { onChainEventsOf } from "../../db/index/project/on-chain.ts";
import { statement } from "../../db/index/statement.ts";
import {
  IdRegisterEventType,
  type OnChainEvent,
  OnChainEventType,
} from "../../protocol/wire/generated/on-chain.ts";
import type { Assignment, ChainPosition } from "./custody-store.ts";

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

/** Returns the position of the latest event in the index that assigned an fid to an address; undefined if there is none. */
export function assignedAt(db: IndexDatabase, fid: number, address: Uint8Array): ChainPosition | undefined {
  const events = onChainEventsOf(db, OnChainEventType.EVENT_TYPE_ID_REGISTER, fid);
  return assignmentsIn(events).findLast(({ custody }) => isSameAddress(custody, address));
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
