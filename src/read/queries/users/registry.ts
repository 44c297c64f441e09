import type { IndexDatabase } from "../../../db/index/database.ts";
import { lendsOf, onChainEventsOf } from "../../../db/index/project/on-chain.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Store } from "../../../protocol/message/merge-rules.ts";
import type { StorageHoldings } from "../../../protocol/storage.ts";
import { OnChainEvent, OnChainEventType } from "../../../protocol/wire/generated/on-chain.ts";
import { cursorCodec, cutPage, type Page } from "../../cursor.ts";

const eventRows = statement<
  { bytes: Uint8Array },
  [type: number, fid: number, blockNumber: number, logIndex: number, limit: number]
>(
  "skeleton.registry-events",
  `SELECT bytes FROM on_chain_events WHERE type = ? AND fid = ? AND (block_number, log_index) > (?, ?)
   ORDER BY block_number, log_index LIMIT ?`,
);

const TYPES = {
  signer: OnChainEventType.EVENT_TYPE_SIGNER,
  idRegister: OnChainEventType.EVENT_TYPE_ID_REGISTER,
} as const;

export const registryEventsCursors = {
  signer: cursorCodec("signer", ["int", "int"]),
  idRegister: cursorCodec("onchain/id_registry_event", ["int", "int"]),
} as const;

/** Returns the events of one kind of an fid in chain order. */
export function registryEvents(
  db: IndexDatabase,
  query: {
    kind: keyof typeof TYPES;
    fid: number;
    limit: number;
    after: readonly [blockNumber: number, logIndex: number] | undefined;
  },
): Page<OnChainEvent> {
  const { kind, fid, limit, after = [-1, -1] } = query;
  const rows = db.all(eventRows, TYPES[kind], fid, ...after, limit + 1);
  return cutPage(
    rows.map(({ bytes }) => OnChainEvent.decode(bytes)),
    limit,
    (last) => registryEventsCursors[kind].encode([last.blockNumber, last.logIndex]),
  );
}

const usedRows = statement<{ store: Store; used: number }, [fid: number]>(
  "skeleton.storage.used",
  "SELECT store, used FROM store_counts WHERE fid = ?",
);

/** The storage of an fid: holdings and usage. */
export interface StorageState {
  readonly fid: number;
  readonly holdings: StorageHoldings;
  readonly used: ReadonlyMap<Store, number>;
}

/** Returns the rents, lends and usage of an fid's storage; all empty for an fid that does not exist. */
export function storageOf(db: IndexDatabase, fid: number): StorageState {
  const rents = onChainEventsOf(db, OnChainEventType.EVENT_TYPE_STORAGE_RENT, fid).flatMap(
    ({ body, blockTimestamp }) =>
      body?.$case === "storageRentEventBody" ? [{ units: body.value.units, rentedAt: blockTimestamp }] : [],
  );
  return {
    fid,
    holdings: { rents, ...lendsOf(db, fid) },
    used: new Map(db.all(usedRows, fid).map(({ store, used }) => [store, used])),
  };
}
