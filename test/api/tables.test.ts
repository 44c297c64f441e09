import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isObject } from "../../src/http/openapi/document.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { pathsWithAliases } from "../support/openapi.ts";
import { sendRaw, statusesOf } from "../support/raw-socket.ts";

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});

afterAll(() => api[Symbol.asyncDispose]());

/** Every path of section 4 of the service specification except the signed ones, with all aliases. */
const READS = [
  // 4.3
  "/user",
  "/user/bulk",
  "/user/bulk-by-address",
  "/user/by-username",
  "/user/by_username",
  "/user/custody-address",
  "/user/by_x_username",
  "/user/by_location",
  "/user/search",
  "/user/verifications",
  "/user/storage-allocations",
  "/storage/allocations",
  "/user/score",
  "/user/storage-usage",
  "/storage/usage",
  "/user/fid",
  "/user/channels",
  "/user/memberships/list",
  "/user/best_friends",
  "/user/interactions",
  "/user/power_users",
  "/user/balance",
  "/user/subscribed_to",
  "/user/subscribers",
  "/user/subscriptions_created",
  // 4.4
  "/user/followers",
  "/followers",
  "/user/following",
  "/following",
  "/follows",
  "/followers/relevant",
  "/followers/reciprocal",
  "/following/suggested",
  // 4.5
  "/cast",
  "/cast/bulk",
  "/casts",
  "/cast/search",
  "/cast/conversation",
  "/cast/quotes",
  "/cast/metrics",
  "/cast/conversation/summary",
  "/cast/embed/crawl",
  // 4.6
  "/feed",
  "/feed/following",
  "/feed/trending",
  "/feed/channels",
  "/feed/parent_urls",
  "/feed/for_you",
  "/feed/topic",
  "/feed/user/casts",
  "/feed/user/popular",
  "/feed/user/replies_and_recasts",
  // 4.7
  "/reaction",
  "/reaction/cast",
  "/reactions/cast",
  "/reaction/user",
  "/reactions/user",
  // 4.8
  "/channel",
  "/channel/all",
  "/channel/list",
  "/channel/bulk",
  "/channel/search",
  "/channel/trending",
  "/channel/members",
  "/channel/member/list",
  "/channel/followers",
  "/channel/followers/relevant",
  "/channel/member/invite/list",
  "/channel/bans",
  "/channel/feed",
  "/channel/follows",
  "/channel/moderations",
  "/channel/pin",
  "/channel/roles",
  "/user/channel/follows",
  "/user/channel/roles",
  "/channel/user-active",
  "/channel/user",
  // 4.9
  "/signer",
  "/signers",
  "/signer/list",
  "/onchain/signers",
  "/onchain/id_registry_event",
  "/signer/signed_key",
  "/signer/developer_managed",
  "/signer/developer_managed/signed_key",
  // 4.10
  "/block/list",
  "/mute/list",
  "/ban/list",
  // 4.12
  "/fname/availability",
  "/username-proof",
  // 4.13
  "/notifications",
  "/notifications/channel",
  "/notifications/parent_url",
];

const BATCHES = [
  "/batch/following",
  "/batch/reactions",
  "/batch/cast-interactions",
  "/batch/signers",
  "/batch/id-registrations",
];

const WRITES = [
  "POST /user/register",
  "POST /user/follow",
  "DELETE /user/follow",
  "POST /user/verification",
  "DELETE /user/verification",
  "PATCH /user",
  "POST /follow",
  "DELETE /follow",
  "POST /cast",
  "DELETE /cast",
  "POST /reaction",
  "DELETE /reaction",
  "POST /channel/follow",
  "DELETE /channel/follow",
  "POST /channel/member/invite",
  "PUT /channel/member/invite",
  "DELETE /channel/member",
  "POST /signer",
  "POST /signer/signed_key",
  "POST /signer/developer_managed",
  "POST /signer/developer_managed/signed_key",
  "POST /block",
  "DELETE /block",
  "POST /mute",
  "DELETE /mute",
  "POST /ban",
  "DELETE /ban",
  "POST /notifications/seen",
  "POST /notifications/mark_seen",
];

const parts = (write: string): [method: string, path: string] => {
  const [method = "", path = ""] = write.split(" ");
  return [method, path];
};

test("serves every read of the specification, with or without a trailing slash", async () => {
  const missing: string[] = [];
  for (const path of READS) {
    // Without parameters a read succeeds or names a missing one; 404 comes from the router.
    const { status } = await api.get(path);
    const slashed = await fetch(`${api.url}/v2/svc${path}/`);
    if (![200, 400].includes(status) || slashed.status !== status) missing.push(`${path} ${status}`);
  }
  for (const path of BATCHES) {
    const { status } = await fetch(`${api.url}/v2/svc${path}`, { method: "POST" });
    if (status !== 400) missing.push(`${path} ${status}`);
  }
  expect(missing).toEqual([]);
});

test("the document contains all of them, and otherwise only the management API", () => {
  const listed = Object.entries(pathsWithAliases(api.document)).flatMap(([path, item]) =>
    isObject(item) ? Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`) : [],
  );
  const ours = listed
    .filter((operation) => operation.includes(" /v2/svc/"))
    .map((operation) => operation.replace("/v2/svc", ""))
    .filter(
      (operation) =>
        !/ \/(user\/(channel\/follow|address\/verify)$|(api_key|audit|frame|history|jfs|login_client|managed_signer|moderation|notice_channel|prepare|session|stream|webhook)(\/|$))/.test(
          operation,
        ),
    );
  const specified = [
    ...READS.map((path) => `GET ${path}`),
    ...BATCHES.map((path) => `POST ${path}`),
    ...WRITES,
  ];
  expect(ours.toSorted()).toEqual(specified.toSorted());
});

describe("writes", () => {
  test("each responds with 501 in JSON", async () => {
    for (const write of WRITES) {
      const [method, path] = parts(write);
      const response = await fetch(`${api.url}/v2/svc${path}`, { method, body: "{ no json" });
      expect({ write, status: response.status }).toEqual({ write, status: 501 });
      const { message } = (await response.json()) as { message: string };
      expect(message).toStartWith("not implemented: ");
      expect(message).toContain("POST /v1/submitMessage");
    }
  });

  test("respond with 501 before the body arrives", async () => {
    const port = Number(new URL(api.url).port);
    for (const write of WRITES) {
      const [method, path] = parts(write);
      const head = `${method} /v2/svc${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n`;
      const { text } = await sendRaw(port, head);
      expect({ write, statuses: statusesOf(text) }).toEqual({ write, statuses: [501] });
    }
  });

  test("another method on a known path is 404", async () => {
    for (const request of [
      "PUT /cast",
      "POST /user",
      "DELETE /signer",
      "GET /batch/following",
      "GET /block",
    ]) {
      const [method, path] = parts(request);
      const { status } = await fetch(`${api.url}/v2/svc${path}`, { method });
      expect({ request, status }).toEqual({ request, status: 404 });
    }
  });
});

test("the always empty lists are empty for any parameters", async () => {
  const next = { cursor: null };
  for (const [path, body] of [
    ["/user/power_users", { users: [] }],
    ["/user/balance", { balances: [], next }],
    ["/user/subscribed_to", { subscriptions: [], next }],
    ["/user/subscribers", { subscriptions: [], next }],
    ["/user/subscriptions_created", { subscriptions: [], next }],
    ["/channel/member/invite/list", { members: [], next }],
    ["/signer/signed_key", { events: [], next }],
    ["/signer/developer_managed", { events: [], next }],
    ["/signer/developer_managed/signed_key", { events: [], next }],
    ["/ban/list", { bans: [], next }],
  ] as const) {
    for (const query of ["", "?fid=1&limit=0&cursor=garbage"])
      expect((await api.get(path + query)).body).toEqual(body);
  }
});
