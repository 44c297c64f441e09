import type { IndexDatabase } from "../../../db/index/database.ts";
import { lendsOf } from "../../../db/index/project/lends.ts";
import { onChainEventsOf } from "../../../db/index/project/on-chain.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Store } from "../../../protocol/merge-rules.ts";
import type { StorageHoldings } from "../../../protocol/storage.ts";
import { OnChainEventType } from "../../../protocol/wire/generated/on-chain.ts";

const usedRows = statement<{ store: Store; used: number }, [fid: number]>(
  "skeleton.storage.used",
  "SELECT store, used FROM store_counts WHERE fid = ?",
);

/** The storage of an fid: holdings and use. */
export interface StorageState {
  readonly fid: number;
  readonly holdings: StorageHoldings;
  readonly used: ReadonlyMap<Store, number>;
}

/** Returns the rents, lends and use of an fid's storage; all empty for an fid that does not exist. */
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
