import type { StoreWrites } from "../../db/state/store-writes.ts";
import type { CampaignStore } from "../../push/store/campaign-store.ts";
import type { NotificationLedger } from "../../push/store/notification-ledger.ts";
import type { TokenStore } from "../../push/store/token-store.ts";
import type { DeliveryLog } from "../../webhooks/store/delivery-log.ts";
import type { DeliveryPublications } from "../../webhooks/store/delivery-publications.ts";
import type { DeliveryQueue } from "../../webhooks/store/delivery-queue.ts";
import type { WriteStore } from "../../writes/store/write-store.ts";
import type { SharedStores } from "./stores.ts";

/**
 * All stores of the state. Reads use a local connection and never wait for a writer. Writes run in the one state writer,
 * on whichever thread it lives, and fail with `StateUnavailable` when it does not respond in time.
 */
export interface StateStores extends SharedStores {
  readonly tokens: TokenStore;
  readonly campaigns: CampaignStore;
  readonly ledger: NotificationLedger;
  readonly publications: DeliveryPublications;
  readonly queue: DeliveryQueue;
  readonly deliveryLog: DeliveryLog;
  readonly writes: WriteStore;
}

type StoreMethods = { readonly [S in WrittenStore]: readonly (keyof StateStores[S])[] };

/** The stores whose writes are sent as a `StateCall`. The ledger has its own packed form. */
export type WrittenStore = Exclude<keyof StateStores, "ledger" | keyof SharedStores>;

/** The methods of each store that write. */
export const writeMethods = {
  tokens: ["apply", "countRefused", "deleteMatching"],
  campaigns: ["create", "take", "setAudienceCount", "release", "end"],
  publications: ["publish", "deactivate"],
  queue: ["endLeasesOfTheDead", "claim", "settle", "unclaim", "release"],
  deliveryLog: ["replay", "replayRange", "queueTests"],
  writes: ["begin", "settle", "reopen", "forget", "claim", "markMerged", "endLeasesOfTheDead", "takeTimes"],
} as const satisfies StoreMethods;

/** A method of a store that writes. */
export type WriteMethod<S extends WrittenStore> = Extract<
  (typeof writeMethods)[S][number],
  keyof StateStores[S]
>;

/** The writes of these stores as synchronous functions, for the writer. */
export type StateWrites = {
  readonly [S in WrittenStore]: StoreWrites<StateStores[S], WriteMethod<S>>;
};
