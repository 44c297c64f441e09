import type { Decisions } from "../../db/state/store-writes.ts";
import type { AppStore, NonceStore, TokenStore, WebhookStore } from "../../db/state/stores.ts";
import type { CampaignStore, DeliveryLedger } from "../../push/store/campaigns.ts";
import type { DeliveryLog, DeliveryPublications, DeliveryQueue } from "../../webhooks/store/deliveries.ts";

/**
 * All stores of the state. A read is local and never waits for a writer. A write is carried out by the one writer of the
 * state, wherever it runs, and fails with `StateUnavailable` when that has not answered in time.
 */
export interface StateStores {
  readonly nonces: NonceStore;
  readonly apps: AppStore;
  readonly webhooks: WebhookStore;
  readonly tokens: TokenStore;
  readonly campaigns: CampaignStore;
  readonly ledger: DeliveryLedger;
  readonly publications: DeliveryPublications;
  readonly queue: DeliveryQueue;
  readonly deliveryLog: DeliveryLog;
}

type StoreMethods = { readonly [S in WrittenStore]: readonly (keyof StateStores[S])[] };

/** The stores but for the ledger, whose calls travel in a form of their own. */
export type WrittenStore = Exclude<keyof StateStores, "ledger">;

/** The methods of the stores that write. */
export const writeMethods = {
  nonces: ["spend"],
  apps: ["create", "update", "delete", "rotateSecret"],
  webhooks: ["create", "update", "delete", "rotateSecret"],
  tokens: ["apply", "countRefused", "deleteHeld"],
  campaigns: ["create", "start", "end"],
  publications: ["publish", "deactivate"],
  queue: ["recover", "claim", "settle", "release"],
  deliveryLog: ["replay", "replayRange", "queueTests"],
} as const satisfies StoreMethods;

/** The methods of a store that write. */
export type WriteMethod<S extends WrittenStore> = Extract<
  (typeof writeMethods)[S][number],
  keyof StateStores[S]
>;

/** The writes of these stores, as the writer carries them out. */
export type StateDecisions = {
  readonly [S in WrittenStore]: Decisions<StateStores[S], WriteMethod<S>>;
};
