import { UNTRIED, type Webhook } from "../../../src/webhooks/store/webhook-store.ts";
import type { OwnedItems } from "../../management/owned-store-contract.ts";

/** Webhooks for the contract of stores of owned records. */
export const webhookItems: OwnedItems<Webhook, Partial<Webhook>> = {
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
  optionalText: "description",
  allChanges: {
    title: "T",
    targetUrl: "https://t.example",
    description: "D",
    active: false,
    subscription: { "follow.deleted": {} },
  },
};
