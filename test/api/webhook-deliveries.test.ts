import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MAX_REPLAYS } from "../../src/webhooks/delivery-service.ts";
import type { Verdict } from "../../src/webhooks/store/delivery-queue.ts";
import { accountRecords } from "../support/node.ts";
import { cast } from "../support/records.ts";
import { type SignedApi, startSignedApi, type TestCall } from "../support/signed-api.ts";
import { localStores } from "../support/state-stores.ts";

let signed: SignedApi;
let hook: string;
let events = 0;
beforeEach(async () => {
  signed = await startSignedApi();
  hook = await createHook();
});
afterEach(() => signed[Symbol.asyncDispose]());

async function createHook(subscription: object = { cast_created: {} }, fid = 3): Promise<string> {
  const body = { name: "Hook", url: "https://hook.example/in", subscription };
  const response = await signed.call({ method: "POST", path: `/webhook?owner_fid=${fid}`, body, fid });
  return response.body.webhook.webhook_id;
}

const nowMs = () => signed.nowSecs() * 1000;
const limit = { calls: 1_000_000, windowMs: 60_000, maxWaitMs: 900_000 };

async function publish(count: number, webhookId = hook): Promise<void> {
  const publications = localStores(signed.api.state).publications;
  const queue = Array.from({ length: count }, () => ({
    eventId: `e${String(events++).padStart(6, "0")}`,
    kind: "cast.created" as const,
    createdAt: signed.nowSecs(),
    body: "{}",
    webhookIds: [webhookId],
  }));
  const { version } = await publications.changesSince(0);
  await publications.publish({ version, nowSecs: signed.nowSecs(), events: queue });
}

/** Acts as the worker: attempts the next delivery with this outcome. */
async function attempt(outcome: Verdict, responseText = "said"): Promise<void> {
  const queue = localStores(signed.api.state).queue;
  const claim = {
    webhookId: hook,
    nowMs: nowMs(),
    leaseEndsAtMs: nowMs() + 40_000,
    maxRetryDelayMs: 3_600_000,
    limit,
    max: 1,
    maxHoldMs: 0,
  };
  const delivery = (await queue.claim(claim))?.deliveries[0];
  if (!delivery) throw new Error("nothing is due");
  const attempt = { atMs: nowMs(), status: 500, error: null, durationMs: 12, responseText };
  await queue.settle([{ delivery, attempt, verdict: outcome, holdUntilMs: null }], {
    failures: 100,
    runSecs: 86_400,
  });
}

const list = (query = "", fid = 3) =>
  signed.call({ method: "GET", path: `/webhook/deliveries?webhook_id=${hook}${query}`, fid });
const deliveries = async (query = "") => (await list(query)).body.deliveries;
const replay = (body: object, fid = 3) =>
  signed.call({ method: "POST", path: "/webhook/deliveries/replay", body, fid });
const ping = (body: object, fid = 3) => signed.call({ method: "POST", path: "/webhook/test", body, fid });

describe("the list", () => {
  test("contains each delivery with its attempts", async () => {
    await publish(1);
    const queued = {
      message_id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      event_id: expect.any(String),
      type: "cast.created",
      test: false,
      state: "queued",
      created_at: signed.nowSecs(),
      next_attempt_at: signed.nowSecs(),
      ended_at: null,
      replay_id: null,
      attempts: [],
    };
    expect(await deliveries()).toEqual([queued]);
    await attempt({ kind: "retry", dueAtMs: nowMs() + 1_500 }, "no\u0000t now 🎈");
    const attempted = {
      attempted_at: signed.nowSecs(),
      status: 500,
      error: null,
      duration_ms: 12,
      // PostgreSQL stores no NUL, so no database has one.
      response: "no\ufffdt now 🎈",
    };
    expect(await deliveries()).toEqual([
      { ...queued, next_attempt_at: signed.nowSecs() + 2, attempts: [attempted] },
    ]);
    signed.api.node.clock.advanceSecs(2);
    await attempt({ kind: "delivered" });
    expect(await deliveries("&state=delivered")).toMatchObject([
      { state: "delivered", next_attempt_at: null, ended_at: signed.nowSecs(), attempts: [{}, {}] },
    ]);
    expect(await deliveries("&state=failed")).toEqual([]);
  });

  test("has pages, newest first, and filters by state", async () => {
    await publish(7);
    await attempt({ kind: "failed" });
    await attempt({ kind: "failed" });
    const walk = async (query: string) => {
      const seen: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const { body } = await list(`${query}&limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`);
        seen.push(...body.deliveries.map((one: { event_id: string }) => one.event_id));
        cursor = body.next.cursor;
      }
      return seen;
    };
    const all = await walk("");
    expect(all).toEqual([...all].sort().reverse());
    expect(all).toHaveLength(7);
    expect(await walk("&state=failed")).toEqual(all.slice(5));
    expect(await walk("&state=queued")).toEqual(all.slice(0, 5));
  });

  test("is returned only to the owner", async () => {
    expect(await list("", 4)).toMatchObject({ status: 403 });
    const path = `/webhook/deliveries?webhook_id=${crypto.randomUUID()}`;
    expect(await signed.call({ method: "GET", path })).toMatchObject({ status: 404 });
    expect(await list("&state=lost")).toMatchObject({ status: 400 });
    expect(await list("&cursor=never")).toMatchObject({ status: 400 });
  });
});

describe("the record", () => {
  test("contains the results of deliveries", async () => {
    const record = async () =>
      (await signed.call({ method: "GET", path: `/webhook?webhook_id=${hook}` })).body.webhook;
    await publish(3);
    await attempt({ kind: "failed" });
    await attempt({ kind: "failed" });
    expect(await record()).toMatchObject({
      last_success_at: null,
      last_failure_at: signed.nowSecs(),
      consecutive_failures: 2,
      queued_deliveries: 1,
    });
    signed.api.node.clock.advanceSecs(5);
    await attempt({ kind: "delivered" });
    expect(await record()).toMatchObject({
      last_success_at: signed.nowSecs(),
      last_failure_at: signed.nowSecs() - 5,
      consecutive_failures: 0,
      queued_deliveries: 0,
    });
    await publish(1);
    await attempt({ kind: "gone" });
    expect(await record()).toMatchObject({
      active: false,
      deactivated_at: signed.nowSecs(),
      deactivation_reason: "the receiver responded with 410 Gone",
    });
    const body = { webhook_id: hook, active: true };
    expect((await signed.call({ method: "PUT", path: "/webhook", body })).body.webhook).toMatchObject({
      active: true,
      deactivated_at: null,
      deactivation_reason: null,
      consecutive_failures: 0,
    });
  });
});

describe("sending again", () => {
  test("sends one delivery by its message id", async () => {
    await publish(2);
    await attempt({ kind: "failed" });
    const [failed] = await deliveries("&state=failed");
    const body = { webhook_id: hook, message_id: failed.message_id };
    expect(await replay(body)).toEqual({ status: 200, body: { replayed: 1, more: false } });
    expect(await deliveries("&state=queued")).toContainEqual({
      ...failed,
      state: "queued",
      ended_at: null,
      next_attempt_at: signed.nowSecs(),
    });
    expect(await replay(body)).toEqual({
      status: 400,
      body: { message: "the delivery has not ended yet" },
    });
    expect(await replay({ webhook_id: hook, message_id: "msg_never" })).toMatchObject({ status: 404 });
  });

  test("sends those that failed within a time range, both ends included", async () => {
    const startedAt = signed.nowSecs();
    for (let n = 0; n < 6; n += 1) {
      await publish(1);
      await attempt({ kind: n === 3 ? "delivered" : "failed" });
      signed.api.node.clock.advanceSecs(10);
    }
    const range = { webhook_id: hook, from: startedAt + 10, to: startedAt + 40 };
    expect((await replay(range)).body).toEqual({ replayed: 3, more: false });
    expect((await replay(range)).body).toEqual({ replayed: 0, more: false });
    expect((await replay({ webhook_id: hook, from: startedAt })).body).toEqual({ replayed: 2, more: false });
  });

  test(`at most ${MAX_REPLAYS} at a time, and reports that there are more`, async () => {
    const startedAt = signed.nowSecs();
    await publish(MAX_REPLAYS + 7);
    const { sqlite } = signed.api.state;
    sqlite.run("UPDATE deliveries SET state = 'failed', due_at_ms = NULL, ended_at = 1");
    const body = { webhook_id: hook, from: startedAt };
    expect((await replay(body)).body).toEqual({ replayed: MAX_REPLAYS, more: true });
    expect((await replay(body)).body).toEqual({ replayed: 7, more: false });
  }, 180_000);

  const bad: [string, object][] = [
    ["missing field webhook_id", {}],
    ["give either message_id or from", { webhook_id: "own" }],
    ["give either message_id or from", { webhook_id: "own", message_id: "m", from: 1 }],
    ["message_id must be a string", { webhook_id: "own", message_id: 7 }],
    ["from must be a whole number of unix seconds", { webhook_id: "own", from: "1" }],
    ["from must be a whole number of unix seconds", { webhook_id: "own", from: -1 }],
    ["to must be a whole number of unix seconds", { webhook_id: "own", from: 1, to: 1.5 }],
    ["from must not be after to", { webhook_id: "own", from: 2, to: 1 }],
    ['request body has an unknown key "since"', { webhook_id: "own", from: 1, since: 1 }],
  ];
  test.each(bad)("400: %s", async (message, fields) => {
    const body = "webhook_id" in fields ? { ...fields, webhook_id: hook } : fields;
    expect(await replay(body)).toEqual({ status: 400, body: { message } });
  });

  test("is rejected for other fids, and while the webhook is inactive", async () => {
    const body = { webhook_id: hook, from: 0 };
    expect(await replay(body, 4)).toMatchObject({ status: 403 });
    expect(await replay({ ...body, webhook_id: crypto.randomUUID() })).toMatchObject({ status: 404 });
    await signed.call({ method: "PUT", path: "/webhook", body: { webhook_id: hook, active: false } });
    const message = "the webhook is inactive: activate it first";
    expect(await replay(body)).toEqual({ status: 400, body: { message } });
    expect(await ping({ webhook_id: hook })).toEqual({ status: 400, body: { message } });
  });
});

describe("a replay in the background", () => {
  const path = "/webhook/deliveries/replay";
  const found = (id: unknown, fid = 3, method: "GET" | "DELETE" = "GET") =>
    signed.call({ method, path: `${path}?replay_id=${id}`, fid });

  test("counts what it would send, starts, and is read and ended only by its owner", async () => {
    await publish(3);
    for (let n = 0; n < 3; n++) await attempt({ kind: "failed" });
    const from = signed.nowSecs() - 3600;
    const planned = { matched: 3, already_delivered: 0, to_send: 3, more: false };
    const dry = await replay({ webhook_id: hook, from, only: "failed", dry_run: true });
    expect(dry).toEqual({ status: 202, body: { replay_id: null, ...planned } });
    const { status, body } = await replay({ webhook_id: hook, from, only: "missing", per_second: 5 });
    expect([status, body]).toEqual([202, { replay_id: expect.any(String), ...planned }]);
    expect(await replay({ webhook_id: hook, from, only: "failed" })).toMatchObject({
      status: 429,
      body: { message: "another replay of the webhook is running" },
    });
    expect(await found(body.replay_id, 4)).toMatchObject({ status: 403 });
    expect(await found(body.replay_id, 4, "DELETE")).toMatchObject({ status: 403 });
    expect(await found("never")).toMatchObject({ status: 404 });
    const shown = { only: "missing", from, per_second: 5, sent: 0, reason: null };
    expect((await found(body.replay_id)).body.replay).toMatchObject({ ...shown, state: "running" });
    const ended = await found(body.replay_id, 3, "DELETE");
    expect(ended.body.replay).toMatchObject({ ...shown, state: "cancelled", ended_at: expect.any(Number) });
    expect(await found(body.replay_id, 3, "DELETE")).toEqual(ended);
  });

  test.each([
    ["only, dry_run and per_second need from, and no message_id", { only: "failed" }],
    [
      "only, dry_run and per_second need from, and no message_id",
      { dry_run: true, from: 1, message_id: "m" },
    ],
    ["only must be one of failed, missing, all", { only: "some", from: 1 }],
    ["dry_run must be true or false", { dry_run: "yes", from: 1 }],
    ["per_second must be an integer from 1 to 500", { per_second: 0, from: 1 }],
    ["from must not be after to, nor in the future", { only: "failed", from: 9_999_999_999 }],
  ])("400: %s", async (message, fields) => {
    expect(await replay({ webhook_id: hook, ...fields })).toEqual({ status: 400, body: { message } });
  });

  test("of an inactive webhook can only be counted", async () => {
    await signed.call({ method: "PUT", path: "/webhook", body: { webhook_id: hook, active: false } });
    const body = { webhook_id: hook, from: 0, only: "failed" };
    expect(await replay({ ...body, dry_run: true })).toMatchObject({ status: 202 });
    expect(await replay(body)).toMatchObject({ status: 400 });
  });
});

describe("a test", () => {
  const kinds = [
    "cast.created",
    "cast.deleted",
    "follow.created",
    "follow.deleted",
    "reaction.created",
    "reaction.deleted",
    "user.created",
    "user.updated",
  ];
  const bodies = () =>
    signed.api.state.sqlite
      .query<{ body: string }, []>("SELECT body FROM delivery_events ORDER BY seq")
      .all()
      .map(({ body }) => JSON.parse(body));

  test("queues a test event of each kind, marked as such, whatever the filters", async () => {
    const filtered = await createHook(Object.fromEntries(kinds.map((kind) => [kind, {}])));
    const { status, body } = await ping({ webhook_id: filtered });
    expect(status).toBe(200);
    expect(body.deliveries.map((one: { type: string }) => one.type).sort()).toEqual(kinds);
    const path = `/webhook/deliveries?webhook_id=${filtered}&limit=50`;
    const listed = (await signed.call({ method: "GET", path })).body.deliveries;
    expect(listed).toHaveLength(8);
    for (const delivery of listed) {
      expect(delivery).toMatchObject({ state: "queued", test: true });
      expect(body.deliveries).toContainEqual({ message_id: delivery.message_id, type: delivery.type });
    }
    for (const { created_at, type, test: isTest, data } of bodies()) {
      expect([created_at, isTest]).toEqual([signed.nowSecs(), true]);
      const author = { object: "user", fid: 3 };
      const shown: Record<string, object> = {
        cast: { object: "cast", author },
        follow: { user: author, target_user: author },
        reaction: { object: "reaction", user: author, cast: { object: "cast", author } },
        user: author,
      };
      expect([type, data]).toEqual([type, expect.objectContaining({})]);
      expect(data).toMatchObject(shown[type.split(".")[0]] ?? { never: true });
    }
  });

  test("is sent only for the subscribed kinds and by the owner", async () => {
    expect((await ping({ webhook_id: hook })).body.deliveries).toMatchObject([{ type: "cast.created" }]);
    expect(await ping({ webhook_id: hook }, 4)).toMatchObject({ status: 403 });
    expect(await ping({})).toEqual({ status: 400, body: { message: "missing field webhook_id" } });
    expect(await ping({ webhook_id: crypto.randomUUID() })).toMatchObject({ status: 404 });
  });

  test("is rejected while more deliveries wait than could be delivered in time", async () => {
    await publish(15_000);
    expect(await ping({ webhook_id: hook })).toMatchObject({ status: 429 });
  });
});

describe("one delivery", () => {
  const one = (messageId: string, fid = 3, webhookId = hook) =>
    signed.call({
      method: "GET",
      path: `/webhook/delivery?webhook_id=${webhookId}&message_id=${messageId}`,
      fid,
    });

  test("contains the request, whose signatures are masked", async () => {
    await publish(1);
    const [queued] = await deliveries();
    const headers = {
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^svc\/\d/),
      "X-Svc-Signature": "***",
      "webhook-id": queued.message_id,
      "webhook-signature": "v1,***",
    };
    expect(await one(queued.message_id)).toEqual({
      status: 200,
      body: { delivery: queued, request: { headers, body: "{}" } },
    });
    await attempt({ kind: "retry", dueAtMs: nowMs() + 1_000 }, "<script>alert(1)</script>");
    const { body } = await one(queued.message_id);
    expect(body.delivery.attempts).toMatchObject([{ response: "<script>alert(1)</script>" }]);
    expect(body.request.headers).toEqual({ ...headers, "webhook-timestamp": `${signed.nowSecs()}` });
    const path = `/webhook?webhook_id=${hook}`;
    const [secret] = (await signed.call({ method: "GET", path })).body.webhook.secrets;
    expect(JSON.stringify(body)).not.toContain(secret.value);
    await signed.call({ method: "POST", path: `/webhook/secret/rotate?webhook_id=${hook}` });
    const rotated = (await one(queued.message_id)).body.request.headers["webhook-signature"];
    expect(rotated).toBe("v1,*** v1,***");
  });

  test("is shown only to the owner of its webhook", async () => {
    await publish(1);
    const [{ message_id: messageId }] = await deliveries();
    const foreign = await createHook({ cast_created: {} }, 4);
    expect(await one(messageId, 4)).toMatchObject({ status: 403 });
    expect(await one(messageId, 4, foreign)).toMatchObject({ status: 404 });
    expect(await one("msg_never")).toMatchObject({ status: 404 });
    expect(await one(messageId, 3, crypto.randomUUID())).toMatchObject({ status: 404 });
  });
});

describe("the filters of the list", () => {
  test("select by type, time and test", async () => {
    const startedAt = signed.nowSecs();
    await publish(2);
    signed.api.node.clock.advanceSecs(10);
    await publish(1);
    await ping({ webhook_id: hook });
    const count = async (query: string) => (await deliveries(query)).length;
    expect(await count("&type=cast.created")).toBe(4);
    expect(await count("&type=follow.created")).toBe(0);
    expect(await count("&test=true")).toBe(1);
    expect(await count("&test=false")).toBe(3);
    expect(await count(`&from=${startedAt + 1}`)).toBe(2);
    expect(await count(`&to=${startedAt}&test=false&state=queued`)).toBe(2);
    for (const bad of ["&type=cast", "&test=1", "&from=-1", "&to=soon"])
      expect(await list(bad)).toMatchObject({ status: 400 });
  });
});

describe("the stats", () => {
  const stats = (query = "", fid = 3) =>
    signed.call({ method: "GET", path: `/webhook/stats?webhook_id=${hook}${query}`, fid });

  test("count what was delivered and what failed, with the durations of the attempts", async () => {
    await publish(3);
    await attempt({ kind: "delivered" });
    await attempt({ kind: "failed" });
    await attempt({ kind: "retry", dueAtMs: nowMs() + 1_000 });
    const now = signed.nowSecs();
    for (const [query, step, hours] of [
      ["&hours=1", 300, 1],
      ["", 900, 24],
      ["&hours=168", 3600, 168],
    ] as const) {
      const { body } = await stats(query);
      const at = now - (now % step);
      expect([body.step_secs, body.buckets.length]).toEqual([step, (hours * 3600) / step]);
      expect(body.buckets.at(-1)).toEqual({ at, delivered: 1, failed: 1, p50_ms: 12, p95_ms: 12 });
      expect(body.buckets.at(0)).toEqual({
        at: at - hours * 3600 + step,
        delivered: 0,
        failed: 0,
        p50_ms: null,
        p95_ms: null,
      });
    }
  });

  test("are shown only to the owner, for a week at most", async () => {
    expect(await stats("", 4)).toMatchObject({ status: 403 });
    for (const bad of ["&hours=0", "&hours=169", "&hours=x"])
      expect(await stats(bad)).toMatchObject({ status: 400 });
  });
});

describe("a preview", () => {
  const preview = (body: object, fid = 3) =>
    signed.call({ method: "POST", path: "/webhook/preview", body, fid });

  test("matches a subscription against the newest events", async () => {
    const { node } = signed.api;
    expect(node.ingestAll([...accountRecords(5), cast(5, "fresh bread")])).toEqual([
      "ok",
      "ok",
      "ok",
      "ok",
      "ok",
    ]);
    const { status, body } = await preview({ subscription: { cast_created: { text: "(?i)BREAD" } } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      matched: 1,
      by_kind: { "cast.created": { scanned: 1, matched: 1 } },
      samples: [{ type: "cast.created", data: { text: "fresh bread" } }],
    });
    expect(body.scanned).toBe(1 + (body.fell_to.type ?? 0));
    const other = (await preview({ subscription: { "cast.created": { author_fids: [4] } }, events: 1 })).body;
    expect(other).toMatchObject({ scanned: 1, matched: 0, fell_to: { author_fids: 1 }, samples: [] });
  });

  const bad: [string, object][] = [
    ["missing field subscription", {}],
    ["subscription must be an object", { subscription: [] }],
    ["subscription must name at least one kind of event", { subscription: {} }],
    [
      "subscription.cast.created.text is not a valid RE2 regular expression",
      { subscription: { "cast.created": { text: "(" } } },
    ],
    ["events must be an integer from 1 to 1000", { subscription: { "cast.created": {} }, events: 1001 }],
  ];
  test("of a bad subscription is refused with the name of the field", async () => {
    for (const [message, body] of bad)
      expect(await preview(body)).toEqual({ status: 400, body: { message } });
  });

  test("is refused with the time to wait after ten in a minute", async () => {
    const subscription = { "cast.created": {} };
    for (let n = 0; n < 10; n += 1) expect((await preview({ subscription })).status).toBe(200);
    const call: TestCall = { method: "POST", path: "/webhook/preview", body: { subscription } };
    expect(await signed.call(call)).toMatchObject({ status: 429 });
    expect((await preview({ subscription }, 4)).status).toBe(200);
  });
});

test("replays and tests require a signature", async () => {
  const calls: TestCall[] = [
    { method: "GET", path: `/webhook/deliveries?webhook_id=${hook}` },
    { method: "POST", path: "/webhook/deliveries/replay", body: { webhook_id: hook, from: 0 } },
    { method: "POST", path: "/webhook/test", body: { webhook_id: hook } },
    { method: "GET", path: `/webhook/delivery?webhook_id=${hook}&message_id=m` },
    { method: "GET", path: `/webhook/stats?webhook_id=${hook}` },
    { method: "POST", path: "/webhook/preview", body: { subscription: { "cast.created": {} } } },
  ];
  for (const call of calls) expect(await signed.send(call, {})).toMatchObject({ status: 401 });
});
