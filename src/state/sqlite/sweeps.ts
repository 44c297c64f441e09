import type { StateDatabase } from "../database.ts";
import type { Sweep } from "../stores.ts";
import { campaignProgressSweep, campaignSweep } from "./campaign-sweep.ts";
import { dedupeSweep } from "./delivery-ledger.ts";
import { deliverySweep, orphanedDeliverySweep } from "./delivery-sweep.ts";
import { nonceSweep } from "./nonce-store.ts";
import { orphanedTokenSweep } from "./orphan-sweep.ts";
import { secretSweep } from "./secrets.ts";
import { tokenChangeSweep } from "./token-limit.ts";
import { webhookChangeSweep } from "./webhook-changes.ts";

/** Everything in the state database that outlives its use. */
export function createStateSweeps(db: StateDatabase): Sweep[] {
  return [
    nonceSweep(db),
    secretSweep(db),
    tokenChangeSweep(db),
    orphanedTokenSweep(db),
    dedupeSweep(db),
    campaignProgressSweep(db),
    campaignSweep(db),
    deliverySweep(db),
    orphanedDeliverySweep(db),
    webhookChangeSweep(db),
  ];
}
