import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { operation } from "../../http/operation.ts";
import type { EmptyList } from "../../read/present/presenters.ts";
import type { Reads } from "../../read/run-query.ts";
import { closed } from "../shared/schemas.ts";

const users = ["Users"];
const channels = ["Channels"];
const signers = ["Signers and on-chain events"];
const blocks = ["Blocks"];

interface EmptyRoute extends EmptyList {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tags: string[];
}

/** Lists that clients request and for which the protocol has no data. */
// biome-ignore format: one route a line
const routes: readonly EmptyRoute[] = [
  { path: "/user/power_users", key: "users", paged: false, operationId: "getPowerUsers", summary: "Power users", tags: users },
  { path: "/user/balance", key: "balances", paged: true, operationId: "getUserBalance", summary: "Token balances of a user", tags: users },
  { path: "/user/subscribed_to", key: "subscriptions", clientKey: "subscribed_to", paged: true, operationId: "getSubscribedTo", summary: "Subscriptions of a user", tags: users },
  { path: "/user/subscribers", key: "subscriptions", clientKey: "subscribers", paged: true, operationId: "getSubscribers", summary: "Subscribers of a user", tags: users },
  { path: "/user/subscriptions_created", key: "subscriptions", clientKey: "subscriptions_created", paged: true, operationId: "getSubscriptionsCreated", summary: "Subscriptions that a user offers", tags: users },
  { path: "/channel/member/invite/list", key: "members", clientKey: "invites", paged: true, operationId: "getChannelInvites", summary: "Invitations to channels", tags: channels },
  { path: "/signer/signed_key", key: "events", paged: true, operationId: "getSignedKeys", summary: "Signed keys managed by the service", tags: signers },
  { path: "/signer/developer_managed", key: "events", paged: true, operationId: "getDeveloperManagedSigners", summary: "Developer-managed signers", tags: signers },
  { path: "/signer/developer_managed/signed_key", key: "events", paged: true, operationId: "getDeveloperManagedSignedKeys", summary: "Signed keys of developer-managed signers", tags: signers },
  { path: "/ban/list", key: "bans", paged: true, operationId: "getBans", summary: "Bans", tags: blocks },
];

const NoItems = Type.Array(Type.Unknown(), { maxItems: 0 });
const NoNext = Type.Object({ cursor: Type.Null() }, closed);

/** @param implemented paths of the table that a dialect implements */
export function alwaysEmptyRoutes({ present }: Pick<Reads, "present">, implemented: readonly string[] = []) {
  const app = new Elysia({ name: "always-empty" });
  for (const { path, operationId, summary, tags, ...list } of routes) {
    if (implemented.includes(path)) continue;
    // Not cached: lists of signers may later come from the state database.
    const cache = tags === signers ? undefined : "revalidate";
    const body = present.emptyList(list);
    const keys = Object.keys(body).map((key) => [key, key === "next" ? NoNext : NoItems]);
    const response = Type.Object(Object.fromEntries(keys), closed);
    app.get(
      path,
      () => body,
      operation({ cache, operationId, summary, description: "Always empty.", tags, response }),
    );
  }
  return app;
}
