import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { namedByMessage } from "../support/case-name.ts";
import { type ApiResponse, type SignedApi, startSignedApi, type TestCall } from "../support/signed-api.ts";

let signed: SignedApi;
beforeEach(async () => {
  signed = await startSignedApi();
});
afterEach(() => signed[Symbol.asyncDispose]());

const path = "/webhook";
const fields = {
  name: "Hook",
  url: "https://hook.example/in",
  subscription: { cast_created: { author_fids: [3] } },
};

const creation = (body: object | string = fields, fid = 3) =>
  ({ method: "POST", path: `${path}?owner_fid=${fid}`, body, fid }) as const;
const get = (id: string, fid = 3) => signed.call({ method: "GET", path: `${path}?webhook_id=${id}`, fid });
const update = (body: object) => signed.call({ method: "PUT", path, body });
const list = async (fid = 3) =>
  (await signed.call({ method: "GET", path: `${path}/list`, fid })).body.webhooks;
const rotate = (id: string) =>
  signed.call({ method: "POST", path: `${path}/secret/rotate?webhook_id=${id}` });

async function created(body: object = fields, fid = 3): Promise<ApiResponse["body"]> {
  const { status, body: response } = await signed.call(creation(body, fid));
  expect(status).toBe(200);
  return response.webhook;
}

/** Fails unless the request is rejected like this and leaves only its nonce, and that its owner has acted. */
async function expectRefused(call: TestCall, status: number, message: string) {
  const before = signed.rowCounts();
  expect(await signed.call(call)).toEqual({ status, body: { message } });
  expect(signed.rowCounts()).toEqual({
    ...before,
    nonces: (before.nonces ?? 0) + 1,
    custodies: expect.any(Number),
  });
}

test("a new webhook's record has every field, in this order, and its first secret", async () => {
  const now = signed.nowSecs();
  const webhook = await created();
  expect(Object.keys(webhook)).toEqual([
    "webhook_id",
    "owner_fid",
    "target_url",
    "title",
    "description",
    "active",
    "secrets",
    "subscription",
    "http_timeout",
    "rate_limit",
    "rate_limit_duration",
    "last_success_at",
    "last_failure_at",
    "consecutive_failures",
    "queued_deliveries",
    "dropped_deliveries",
    "deactivated_at",
    "deactivation_reason",
    "created_at",
    "updated_at",
  ]);
  expect(webhook).toEqual({
    webhook_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}$/),
    owner_fid: 3,
    target_url: fields.url,
    title: "Hook",
    description: null,
    active: true,
    secrets: [
      {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        value: expect.stringMatching(/^[0-9a-f]{64}$/),
        standard_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{86}==$/),
        expires_at: null,
        created_at: now,
      },
    ],
    subscription: { "cast.created": { author_fids: [3] } },
    http_timeout: 10,
    rate_limit: 1000,
    rate_limit_duration: 60,
    last_success_at: null,
    last_failure_at: null,
    consecutive_failures: 0,
    queued_deliveries: 0,
    dropped_deliveries: 0,
    deactivated_at: null,
    deactivation_reason: null,
    created_at: now,
    updated_at: now,
  });
  expect(await get(webhook.webhook_id)).toEqual({ status: 200, body: { webhook } });
});

test("a creation without owner_fid is 400 and for another fid 403, before the fields are validated", async () => {
  const call = (query: string, body: object | string = fields) =>
    ({ method: "POST", path: path + query, body }) as const;
  await expectRefused(call(""), 400, "missing query parameter owner_fid");
  await expectRefused(call("?owner_fid="), 400, "missing query parameter owner_fid");
  await expectRefused(call("?owner_fid=x"), 400, "owner_fid must be an unsigned integer");
  const foreign = "owner_fid must be the signing fid";
  for (const fid of ["4", "4294967299", "9007199254740995", "18446744073709551615"]) {
    await expectRefused(call(`?owner_fid=${fid}`, { name: "" }), 403, foreign);
  }
  await expectRefused(
    call("?owner_fid=4", "{"),
    400,
    "request body is not valid JSON: it ends at line 1, column 2",
  );
  expect((await signed.call(call("?owner_fid=0003"))).status).toBe(200);
});

describe("a creation is 400 with the message", () => {
  test.each(
    namedByMessage<unknown>([
      [[], "request body must be an object"],
      [{ ...fields, name: undefined }, "missing field name"],
      [{ ...fields, url: undefined }, "missing field url"],
      [{ ...fields, subscription: undefined }, "missing field subscription"],
      [{ ...fields, name: "x".repeat(129) }, "name must have 1 to 128 characters"],
      [{ ...fields, description: {} }, "description must be a string"],
      [
        { ...fields, url: "https://hook\u200b.example" },
        "url must not contain control characters or invisible ones",
      ],
      [{ ...fields, url: "http://hook.example" }, "url must use https"],
      [{ ...fields, url: "https://[::1]/" }, "url must not point to an address that is not public"],
      [
        { ...fields, url: "https://internal.example/" },
        "url must have a host that resolves to public addresses only",
      ],
      [{ ...fields, subscription: {} }, "subscription must name at least one kind of event"],
      [{ ...fields, subscription: { cast_edited: {} } }, 'subscription has an unknown key "cast_edited"'],
      [
        { ...fields, subscription: { "cast.created": { text: "(a)\\1" } } },
        "subscription.cast.created.text is not a valid RE2 regular expression",
      ],
      [
        { ...fields, subscription: { follow_created: { fids: Array(1025).fill(1) } } },
        "subscription.follow.created.fids must have at most 1024 entries",
      ],
    ]),
  )("%s", async (_name, body, message) => {
    await expectRefused(creation(JSON.stringify(body)), 400, message);
  });

  test("413 for a body above 256 KB", async () => {
    const call = creation(JSON.stringify({ ...fields, x: "x".repeat(256 * 1024) }));
    expect((await signed.call(call)).status).toBe(413);
  });
});

test("a list is complete, oldest first, and contains only records of the signing fid", async () => {
  const webhooks = [];
  for (let n = 0; n < 12; n += 1) webhooks.push(await created({ ...fields, name: `Hook ${n}` }));
  const other = await created(fields, 4);
  expect(await list()).toEqual(webhooks);
  expect(await list(4)).toEqual([other]);
});

test("the 26th webhook is 429, also with 40 concurrent creations at 20 existing: exactly 25 remain", async () => {
  for (let n = 0; n < 20; n += 1) await created();
  const responses = await Promise.all(Array.from({ length: 40 }, () => signed.call(creation())));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(35);
  expect(await list()).toHaveLength(25);
  await expectRefused(creation(), 429, "an fid may own at most 25 webhooks");
});

describe.each(["PUT", "PATCH"] as const)("%s", (method) => {
  test("changes the provided fields and the time of the change", async () => {
    const webhook = await created({ ...fields, description: "Old" });
    signed.api.node.clock.advanceSecs(5);
    const updated_at = signed.nowSecs();
    const steps: [object, object][] = [
      [{ name: "New" }, { title: "New" }],
      [{ url: "https://new.example" }, { target_url: "https://new.example" }],
      [{ description: null }, { description: null }],
      [{ subscription: { user_created: {} } }, { subscription: { "user.created": {} } }],
      [{ active: false }, { active: false }],
      [{ active: "true" }, { active: true }],
      [
        { active: "false", description: "Paused" },
        { active: false, description: "Paused" },
      ],
      [{}, {}],
    ];
    let expected = { ...webhook, updated_at };
    for (const [fields, changed] of steps) {
      expected = { ...expected, ...changed };
      const body = { webhook_id: webhook.webhook_id, ...fields };
      expect(await signed.call({ method, path, body })).toEqual({
        status: 200,
        body: { webhook: expected },
      });
    }
    expect(await list()).toEqual([expected]);
  });

  test("reports an unknown webhook before an invalid field, and a foreign owner too", async () => {
    const { webhook_id } = await created();
    const call = (body: object, fid = 3) => ({ method, path, body, fid }) as const;
    await expectRefused(call({ name: "" }), 400, "missing field webhook_id");
    await expectRefused(call({ webhook_id: "unknown", name: "" }), 404, "no such webhook");
    await expectRefused(call({ webhook_id, name: "" }, 4), 403, "the webhook belongs to another fid");
    await expectRefused(call({ webhook_id, name: "" }), 400, "name must have 1 to 128 characters");
    await expectRefused(call({ webhook_id, active: 1 }), 400, "active must be true or false");
    await expectRefused(call({ webhook_id, active: null }), 400, "active must be true or false");
    await expectRefused(
      call({ webhook_id, name: "New", subscription: {} }),
      400,
      "subscription must name at least one kind of event",
    );
    await expectRefused(
      call({ webhook_id, name: "New", url: "https://internal.example" }),
      400,
      "url must have a host that resolves to public addresses only",
    );
  });
});

test("a creation ignores `active` and creates an active webhook", async () => {
  expect((await created({ ...fields, active: false })).active).toBe(true);
});

test("a rotation adds a secret; the previous one is used for signing during the grace period of webhooks", async () => {
  await using other = await startSignedApi({
    settings: ["webhooks.secret_grace_period_secs=60", "apps.secret_grace_period_secs=1"],
  });
  const made = await other.call(creation());
  const { webhook_id, secrets } = made.body.webhook;
  const call = { method: "POST", path: `${path}/secret/rotate?webhook_id=${webhook_id}` } as const;
  const rotated = (await other.call(call)).body.webhook;
  expect(rotated.secrets).toEqual([
    { ...secrets[0], expires_at: other.nowSecs() + 60 },
    {
      uid: expect.any(String),
      value: expect.any(String),
      standard_secret: expect.any(String),
      expires_at: null,
      created_at: other.nowSecs(),
    },
  ]);
  for (const { value, standard_secret } of rotated.secrets)
    expect(standard_secret).toBe(`whsec_${Buffer.from(value).toString("base64")}`);
  other.api.node.clock.advanceSecs(60);
  const read = { method: "GET", path: `${path}?webhook_id=${webhook_id}` } as const;
  expect((await other.call(read)).body.webhook.secrets).toEqual([rotated.secrets[1]]);
});

test("an update does not undo a rotation", async () => {
  const { webhook_id } = await created();
  await Promise.all([
    update({ webhook_id, url: "https://slow.example" }),
    rotate(webhook_id),
    update({ webhook_id, active: false }),
  ]);
  expect((await get(webhook_id)).body.webhook).toMatchObject({
    active: false,
    target_url: "https://slow.example",
    secrets: [{ expires_at: expect.any(Number) }, { expires_at: null }],
  });
});

test("a deletion accepts the id in the query or in a body, and leaves no rows", async () => {
  const [a, b] = [await created(), await created()];
  const inQuery = { method: "DELETE", path: `${path}?webhook_id=${a.webhook_id}` } as const;
  const inBody = { method: "DELETE", path, body: { webhook_id: b.webhook_id } } as const;
  for (const call of [inQuery, inBody]) {
    expect(await signed.call(call)).toEqual({ status: 200, body: { deleted: true } });
    await expectRefused(call, 404, "no such webhook");
  }
  expect(signed.rowCounts()).toMatchObject({ webhooks: 0, secrets: 0 });
});

test("the delivery thread is notified of a creation, a change and a deletion before their responses, and of no refused one", async () => {
  const { changedWebhooks } = signed.api;
  const { webhook_id } = await created();
  expect(changedWebhooks).toEqual([webhook_id]);
  for (const change of [{ active: false }, { url: "https://hook.example/other" }])
    expect((await update({ webhook_id, ...change })).status).toBe(200);
  expect(changedWebhooks).toHaveLength(3);
  expect((await update({ webhook_id, name: "" })).status).toBe(400);
  const deletion = { method: "DELETE", path: `${path}?webhook_id=${webhook_id}` } as const;
  expect((await signed.call({ ...deletion, fid: 4 })).status).toBe(403);
  expect(changedWebhooks).toHaveLength(3);
  expect((await signed.call(deletion)).status).toBe(200);
  expect(changedWebhooks).toEqual(Array(4).fill(webhook_id));
});

test("every operation on a foreign webhook is 403 and on an unknown webhook 404", async () => {
  const { webhook_id } = await created();
  for (const [method, under] of [
    ["GET", path],
    ["DELETE", path],
    ["POST", `${path}/secret/rotate`],
  ] as const) {
    const call = (id: string, fid: number) => ({ method, path: `${under}?webhook_id=${id}`, fid });
    await expectRefused(call(webhook_id, 4), 403, "the webhook belongs to another fid");
    await expectRefused(call("unknown", 3), 404, "no such webhook");
    await expectRefused({ method, path: under }, 400, "missing query parameter webhook_id");
  }
});

describe("the regular expressions of an owner's active webhooks together", () => {
  // 907 instructions.
  const large = (word: string) => ({
    ...fields,
    subscription: { "cast.created": { text: `${word}${"y?".repeat(450)}` } },
  });
  const tooLarge =
    "subscription.cast.created.text is too large: the regular expressions of its owner's active subscriptions compile to " +
    "10884 instructions, more than 10000";

  test("have a limit, above which creations, changes and activations are rejected; other owners have their own", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 11; at += 1) ids.push((await created(large(`word${at % 10}`))).webhook_id);
    await expectRefused(creation(large("wordx")), 400, tooLarge);
    const [first = "", second = ""] = ids;
    expect((await update({ webhook_id: first, active: false })).status).toBe(200);
    const { webhook_id: last } = await created(large("wordx"));
    expect(await update({ webhook_id: first, active: "true" })).toEqual({
      status: 400,
      body: { message: tooLarge },
    });
    expect((await get(first)).body.webhook.active).toBe(false);
    // Changes that do not make them larger are accepted.
    expect((await update({ webhook_id: second, name: "Other" })).status).toBe(200);
    expect(
      (await update({ webhook_id: second, subscription: { "cast.created": { text: "gm" } } })).status,
    ).toBe(200);
    expect((await update({ webhook_id: first, active: true })).status).toBe(200);
    expect((await get(last)).body.webhook.active).toBe(true);
    await created(large("wordx"), 4);
  });
});
