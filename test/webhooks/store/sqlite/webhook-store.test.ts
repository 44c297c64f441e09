import { expect } from "bun:test";
import { verifyState } from "../../../../src/node/state/verify.ts";
import type { Clock } from "../../../../src/runtime/clock.ts";
import { UNTRIED, type Webhook } from "../../../../src/webhooks/store/webhook-store.ts";
import { type OwnedFixture, ownedStoreContract } from "../../../management/owned-store-contract.ts";
import { openStateFile } from "../../../support/state-file.ts";
import { localStores } from "../../../support/state-stores.ts";

function webhookFixture(clock: Clock): OwnedFixture<Webhook, Partial<Webhook>> {
  const { db, rows, ...file } = openStateFile();
  return {
    store: localStores(db, { clock }).webhooks,
    idOf: (webhook) => webhook.webhookId,
    makeItem: (n, base) => ({
      ...base,
      webhookId: `webhook-${n}`,
      title: `Webhook ${n}`,
      targetUrl: `https://webhook-${n}.example/`,
      description: n % 2 === 0 ? null : `Description ${n}`,
      active: true,
      subscription: { "cast.created": { author_fids: [n], match: "any" }, "user.created": {} },
      compatPrefix: null,
      health: UNTRIED,
    }),
    allChanges: {
      title: "T",
      targetUrl: "https://t.example",
      description: "D",
      active: false,
      subscription: { "follow.deleted": {} },
    },
    secretRows: () => rows("secrets"),
    ...file,
    [Symbol.dispose]() {
      expect(verifyState(db)).toEqual([]);
      file[Symbol.dispose]();
    },
  };
}

ownedStoreContract("webhooks in SQLite", webhookFixture);
