import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { clientKey, headerOf, keyAddedEvent, officialEnvelope, sealEnvelope } from "../support/envelopes.ts";
import { registerEvent, signerEvent } from "../support/events.ts";
import { invalidEnvelopes } from "../support/invalid-envelopes.ts";
import { makeSigner } from "../support/messages.ts";
import { CLIENT_A, CLIENT_B, details, type PushApi, startPushApi, USER } from "../support/push.ts";
import { custodyWallet } from "../support/signing.ts";

let push: PushApi;
let isFresh = false;
const start = () => startPushApi({ settings: ["apps.max_apps_per_owner=1000"] });
beforeAll(async () => {
  push = await start();
  isFresh = true;
});
beforeEach(async () => {
  if (!isFresh && !(await push.renew())) {
    await push[Symbol.asyncDispose]();
    push = await start();
  }
  isFresh = false;
});
afterAll(() => push[Symbol.asyncDispose]());

const A = { clientFid: CLIENT_A };
const B = { clientFid: CLIENT_B };
const userKey = clientKey(USER, CLIENT_A);

/** Returns the rows of the user by client, as `state token`. */
function rowsByClient(fid = USER): Record<number, string> {
  const stateOf = ({ token, enabled }: { token: string | null; enabled: number }) => {
    if (token === null) return "no_token";
    return enabled === 1 ? "enabled" : "disabled";
  };
  const own = push.rows().filter((row) => row.fid === fid && row.app_id === push.appId);
  return Object.fromEntries(
    own.map((row) => [row.client_fid, `${stateOf(row)}${row.token === null ? "" : ` ${row.token}`}`]),
  );
}

const added = (token: string) => ({ event: "miniapp_added", notificationDetails: details(token) });
const addedWithout = { event: "miniapp_added" };
const removed = { event: "miniapp_removed" };
const enabled = (token: string) => ({ event: "notifications_enabled", notificationDetails: details(token) });
const disabled = { event: "notifications_disabled" };

async function expectUnchanged(work: () => Promise<unknown>): Promise<void> {
  const before = push.everything();
  await work();
  expect(push.everything()).toEqual(before);
}

describe("the state table, for one of two clients while the other has a token", () => {
  const befores: [name: string, events: object[], state: string | undefined][] = [
    ["none", [], undefined],
    ["no token", [addedWithout], "no_token"],
    ["enabled", [added("t1")], "enabled t1"],
    ["disabled", [added("t1"), disabled], "disabled t1"],
  ];
  const events: [name: string, event: object, next: (before: string | undefined) => string | undefined][] = [
    ["an add with details", added("t2"), () => "enabled t2"],
    ["an add with the same details", added("t1"), () => "enabled t1"],
    ["an add without details", addedWithout, () => "no_token"],
    ["an enabling", enabled("t2"), () => "enabled t2"],
    ["an enabling with the same details", enabled("t1"), () => "enabled t1"],
    ["a disabling", disabled, (before) => before?.replace("enabled", "disabled")],
  ];
  const table = befores.flatMap(([state, past, before]) =>
    events.map(([name, event, next]): [string, string, object[], object, string | undefined] => [
      name,
      state,
      past,
      event,
      next(before),
    ]),
  );

  test.each(table)(
    "%s on %s concerns the row of the reporting client only",
    async (_, __, past, event, next) => {
      expect(await push.report(added("other"), B)).toBe(200);
      for (const one of past) expect(await push.report(one, A)).toBe(200);
      expect(await push.post(officialEnvelope(USER, userKey, event))).toMatchObject({
        status: 200,
        body: { success: true },
      });
      const rows: Record<number, string> = { [CLIENT_B]: "enabled other" };
      if (next !== undefined) rows[CLIENT_A] = next;
      expect(rowsByClient()).toEqual(rows);
    },
  );

  test.each(befores)("a removal on %s deletes the rows of all clients, and no others", async (_, past) => {
    const otherApp = await push.createApp({ name: "Other" });
    await push.report(added("other"), B);
    await push.report(added("another user"), { fid: 6 });
    await push.report(added("another app"), { ...A, appId: otherApp });
    for (const one of past) await push.report(one, A);
    expect(await push.report(removed, A)).toBe(200);
    expect(rowsByClient()).toEqual({});
    expect(
      push
        .rows()
        .map(({ token }) => token)
        .sort(),
    ).toEqual(["another app", "another user"]);
    expect(await push.report(removed, A)).toBe(200);
    expect(push.rows()).toHaveLength(2);
  });
});

test("a row contains the client's details, the client and the time", async () => {
  const now = push.signed.nowSecs();
  await push.report({
    event: "miniapp_added",
    notificationDetails: { url: "https://Client.Example:8443/a?b=c", token: "t" },
  });
  push.signed.api.node.clock.advanceSecs(90);
  await push.report(disabled);
  expect(push.rows()).toEqual([
    {
      app_id: push.appId,
      fid: USER,
      client_fid: CLIENT_A,
      url: "https://Client.Example:8443/a?b=c",
      host: "client.example:8443",
      token: "t",
      enabled: 0,
      last_event: "notifications_disabled",
      created_at: now,
      updated_at: now + 90,
    },
  ]);
});

test("a key whose metadata names no client belongs to client 0", async () => {
  const key = makeSigner("plain key");
  push.signed.api.node.ingestEvent(signerEvent(USER, key.publicKey, { block: 5000 }));
  expect((await push.post(officialEnvelope(USER, key, added("t")))).status).toBe(200);
  expect(rowsByClient()).toEqual({ 0: "enabled t" });
});

describe("event names from the time when mini apps were frames", () => {
  test.each([
    [{ event: "frame_added", notificationDetails: details("t") }, { [CLIENT_A]: "enabled t" }],
    [{ event: "frame_added", notification_details: details("t") }, { [CLIENT_A]: "enabled t" }],
    [{ event: "miniapp_added", notification_details: details("t") }, { [CLIENT_A]: "enabled t" }],
    [{ event: "notifications_enabled", notification_details: details("t") }, { [CLIENT_A]: "enabled t" }],
    [{ event: "frame_added" }, { [CLIENT_A]: "no_token" }],
    [
      { event: "frame_added", notificationDetails: details("new"), notification_details: details("old") },
      { [CLIENT_A]: "enabled new" },
    ],
    [{ event: "frame_removed" }, {}],
  ])("%j", async (event, rows) => {
    await push.report(added("before"), A);
    expect(await push.report(event, A)).toBe(200);
    expect(rowsByClient()).toEqual(rows);
  });

  test("are stored under their new names", async () => {
    await push.report({ event: "frame_added", notification_details: details("t") });
    expect(push.rows()[0]?.last_event).toBe("miniapp_added");
  });
});

describe("concurrent events", () => {
  test("of two clients and three users are all applied, each to its own row", async () => {
    const senders = [
      { fid: USER, ...A },
      { fid: USER, ...B },
      { fid: 6, ...A },
      { fid: 7, ...A },
    ];
    const statuses = await Promise.all(
      [...Array(40)].map((_, n) => push.report(added(`t${n}`), senders[n % senders.length])),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(push.rows()).toHaveLength(4);
    expect(await storedTotals()).toEqual(push.totals());
  });

  test("of one user lead to a state of a serial order", async () => {
    const events = [added("a"), added("b"), disabled, removed, enabled("c"), addedWithout];
    await Promise.all(events.map((event) => push.report(event)));
    expect([
      {},
      ...["no_token", "enabled a", "enabled b", "enabled c", "disabled a", "disabled b", "disabled c"].map(
        (state) => ({ [CLIENT_A]: state }),
      ),
    ]).toContainEqual(rowsByClient());
    expect(await storedTotals()).toEqual(push.totals());
  });
});

/** The stored totals, with zeros for states that never had a row. */
async function storedTotals() {
  const stored = push.signed.api.state.sqlite
    .query<{ state: string; count: number }, []>("SELECT state, count FROM token_totals")
    .all();
  return {
    enabled: 0,
    disabled: 0,
    no_token: 0,
    ...Object.fromEntries(stored.map((row) => [row.state, row.count])),
  };
}

describe("an invalid envelope is 401 and changes nothing", () => {
  test("with each of more than 60 faults", async () => {
    await push.report(added("t"));
    await push.report(added("other"), B);
    const invalid = invalidEnvelopes(USER, userKey);
    expect(invalid.length).toBeGreaterThan(60);
    await expectUnchanged(async () => {
      for (const [what, envelope] of invalid) {
        const { status, body } = await push.post(envelope);
        expect({ what, status, body }).toEqual({
          what,
          status: 401,
          body: { success: false, message: expect.any(String) },
        });
      }
    });
  });

  const refusedKeys: [what: string, spoil: () => void][] = [
    [
      "a key that was removed",
      () => push.signed.api.node.ingestEvent(signerEvent(USER, userKey.publicKey, { block: 9000 }, "remove")),
    ],
    [
      "a key that the registry's admin reset",
      () =>
        push.signed.api.node.ingestEvent(
          signerEvent(USER, userKey.publicKey, { block: 9000 }, "admin_reset"),
        ),
    ],
  ];
  test.each(refusedKeys)("with %s, until it is added again", async (_, spoil) => {
    expect(await push.report(added("t"))).toBe(200);
    spoil();
    await expectUnchanged(async () => {
      const { status, body } = await push.post(officialEnvelope(USER, userKey, removed));
      expect({ status, body }).toEqual({
        status: 401,
        body: { success: false, message: "key is not an active key of the fid" },
      });
    });
    const again = keyAddedEvent(USER, userKey.publicKey, { block: 9001 }, { requestFid: CLIENT_A });
    push.signed.api.node.ingestEvent(again);
    expect(await push.report(removed)).toBe(200);
  });

  test("with a key that is registered for another fid, under that fid", async () => {
    const { node } = push.signed.api;
    node.ingestEvent(registerEvent(8, custodyWallet(8).address, { block: 8000 }));
    node.ingestEvent(keyAddedEvent(8, userKey.publicKey, { block: 8001 }, { requestFid: CLIENT_B }));
    expect((await push.post(officialEnvelope(8, userKey, added("eight")))).status).toBe(200);
    expect(rowsByClient(8)).toEqual({ [CLIENT_B]: "enabled eight" });
    expect((await push.post(officialEnvelope(6, userKey, added("six")))).status).toBe(401);
    expect(rowsByClient(6)).toEqual({});
  });

  test("with a key of an fid that is not registered", async () => {
    const stranger = makeSigner("stranger");
    await expectUnchanged(async () => {
      expect((await push.post(officialEnvelope(999, stranger, added("t")))).status).toBe(401);
    });
  });
});

describe("an app's allowlist", () => {
  test.each([
    ["the client", [CLIENT_A], 200],
    ["the user's own fid", [USER], 200],
    ["another client", [CLIENT_B], 401],
    ["another user", [6], 401],
    ["the client 0", [0], 401],
  ])("with %s is applied", async (_, allowlist, status) => {
    const appId = await push.createApp({ signer_fid_allowlist: allowlist });
    const before = push.rows().length;
    expect(await push.report(added("t"), { ...A, appId })).toBe(status);
    expect(push.rows().length - before).toBe(status === 200 ? 1 : 0);
  });

  test("accepts a key without a client only by the user's fid", async () => {
    const key = makeSigner("plain key");
    push.signed.api.node.ingestEvent(signerEvent(USER, key.publicKey, { block: 5000 }));
    const strict = await push.createApp({ signer_fid_allowlist: [CLIENT_A] });
    const open = await push.createApp({ signer_fid_allowlist: [USER] });
    expect((await push.post(officialEnvelope(USER, key, added("t")), strict)).status).toBe(401);
    expect((await push.post(officialEnvelope(USER, key, added("t")), open)).status).toBe(200);
  });

  test("is that of the owner's last change", async () => {
    const update = (list: number[]) =>
      push.signed.call({
        method: "PUT",
        path: "/frame/app",
        body: { app_id: push.appId, signer_fid_allowlist: list },
      });
    await update([CLIENT_B]);
    expect(await push.report(added("t"), A)).toBe(401);
    await update([]);
    expect(await push.report(added("t"), A)).toBe(200);
  });
});

describe("the payload of a verified envelope is validated", () => {
  const long = (chars: number) => "x".repeat(chars);
  const url = (chars: number) => `https://client.example/${long(chars - 23)}`;
  const withDetails = (notificationDetails: unknown) => ({ event: "miniapp_added", notificationDetails });

  test.each<[what: string, payload: object | string, message: string]>([
    ["text that is no JSON", "miniapp_removed", "payload must be an object"],
    ["a string", '"miniapp_removed"', "payload must be an object"],
    ["a list", [removed], "payload must be an object"],
    ["null", "null", "payload must be an object"],
    ["broken UTF-8", Buffer.from([0x22, 0xff, 0x22]), "payload must be an object"],
    ["no event", {}, "missing field event"],
    [
      "an event that only the prototype has",
      '{"__proto__":{"event":"miniapp_removed"}}',
      "missing field event",
    ],
    ["an unknown event", { event: "miniapp_opened" }, "event is unknown"],
    ["a rejected add", { event: "frame_add_rejected" }, "event is unknown"],
    ["an event in other letters", { event: "MINIAPP_REMOVED" }, "event is unknown"],
    ["an event in a list", { event: ["miniapp_removed"] }, "event is unknown"],
    ["event null", { event: null }, "event is unknown"],
    ["event constructor", { event: "constructor" }, "event is unknown"],
    ["an enabling without details", { event: "notifications_enabled" }, "missing field notificationDetails"],
    ["an add with details null", withDetails(null), "notificationDetails must be an object"],
    ["details as text", withDetails("x"), "notificationDetails must be an object"],
    ["a list of details", withDetails([details("t")]), "notificationDetails must be an object"],
    ["details without url", withDetails({ token: "t" }), "notificationDetails.url must be a string"],
    [
      "a URL with a zero-width space",
      withDetails({ url: "https://client.example/\u200b", token: "t" }),
      "notificationDetails.url must not contain control characters or invisible ones",
    ],
    ["details without token", withDetails({ url: url(40) }), "notificationDetails.token must be a string"],
    [
      "a token that is a number",
      withDetails({ url: url(40), token: 7 }),
      "notificationDetails.token must be a string",
    ],
    ["an empty token", withDetails(details("")), "notificationDetails.token must have 1 to 256 characters"],
    [
      "a token of 257 characters",
      withDetails(details(long(257))),
      "notificationDetails.token must have 1 to 256 characters",
    ],
    [
      "a url of 1025 characters",
      withDetails(details("t", url(1025))),
      "notificationDetails.url must have 1 to 1024 characters",
    ],
    [
      "a token with NUL",
      withDetails(details("t\0")),
      "notificationDetails.token must be well-formed Unicode without NUL",
    ],
    [
      "half a surrogate pair",
      '{"event":"miniapp_added","notificationDetails":{"url":"https://client.example","token":"\\ud800"}}',
      "notificationDetails.token must be well-formed Unicode without NUL",
    ],
    [
      "a url that is none",
      withDetails(details("t", "zzz")),
      "notificationDetails.url must be an absolute https URL",
    ],
    [
      "plain http",
      withDetails(details("t", "http://client.example/")),
      "notificationDetails.url must use https",
    ],
    [
      "this machine",
      withDetails(details("t", "https://127.0.0.1/x")),
      "notificationDetails.url must not point to an address that is not public",
    ],
    [
      "this machine in disguise",
      withDetails(details("t", "https://0x7f000001/")),
      "notificationDetails.url must not point to an address that is not public",
    ],
    [
      "a cloud's metadata",
      withDetails(details("t", "https://169.254.169.254/latest")),
      "notificationDetails.url must not point to an address that is not public",
    ],
    [
      "an internal name",
      withDetails(details("t", "https://db.internal.example/")),
      "notificationDetails.url must have a host that resolves to public addresses only",
    ],
    [
      "credentials in a url",
      withDetails(details("t", "https://u:p@client.example/")),
      "notificationDetails.url must not contain credentials",
    ],
  ])("%s is 400 and changes nothing but the count of the user's events", async (_, payload, message) => {
    await push.report(added("before"));
    const { changes: before, ...others } = push.everything();
    const { status, body } = await push.post(sealEnvelope(headerOf(USER, userKey), payload, userKey));
    expect({ status, body }).toEqual({ status: 400, body: { success: false, message } });
    const { changes: after, ...unchanged } = push.everything();
    expect(unchanged).toEqual(others);
    expect([before, after]).toMatchObject([
      [{ changed_at: expect.stringMatching(/^\[\d+\]$/) }],
      [{ changed_at: expect.stringMatching(/^\[\d+,\d+\]$/) }],
    ]);
  });

  test.each([
    ["the longest token and url", details(long(256), url(1024))],
    ["256 characters outside the basic plane", details("🎈".repeat(256))],
    ["unknown keys", { ...details("t"), expires: 1 }],
  ])("accepts %s", async (_, details) => {
    expect(await push.report(withDetails(details))).toBe(200);
    expect(push.rows()[0]).toMatchObject({ token: details.token, url: details.url });
  });
});

describe("order of validation", () => {
  const wrongSignature = { ...officialEnvelope(USER, userKey, added("t")), signature: "AAAA" };

  test("an unknown app is 404 before the body is validated, a too large body 413 before that", async () => {
    const unknown = "1".repeat(16);
    for (const body of ["{", "{}", wrongSignature, officialEnvelope(USER, userKey, added("t"))]) {
      const response = await push.post(body, unknown);
      expect([response.status, response.body]).toEqual([404, { success: false, message: "no such app" }]);
    }
    const large = await push.post(`{"header":"${"A".repeat(64 * 1024)}"}`, unknown);
    expect([large.status, large.body]).toEqual([
      413,
      { success: false, message: "request body must be at most 65536 bytes" },
    ]);
  });

  test("accepts a body of 64 KB", async () => {
    const envelope = JSON.stringify(officialEnvelope(USER, userKey, added("t")));
    expect((await push.post(envelope.padEnd(64 * 1024))).status).toBe(200);
    expect((await push.post(envelope.padEnd(64 * 1024 + 1))).status).toBe(413);
  });

  test.each([
    ["", "missing request body"],
    ["{", "request body is not valid JSON: it ends at line 1, column 2"],
    ["null", "body: expected object"],
    ["[]", "body: expected object"],
    ["{}", "missing field header"],
    ['{"header":"a","payload":"b"}', "missing field signature"],
    ['{"header":"a","signature":"b"}', "missing field payload"],
    ['{"header":7,"payload":"b","signature":"c"}', "header: expected string"],
    ['{"header":"a","payload":{},"signature":"c"}', "payload: expected string"],
    ['{"header":"a","payload":"b","signature":null}', "signature: expected string"],
  ])("the body %s is 400", async (body, message) => {
    await expectUnchanged(async () => {
      const response = await push.post(body);
      expect([response.status, response.body]).toEqual([400, { success: false, message }]);
    });
  });

  test("a signature is checked before the key, the key before the allowlist, the allowlist before the event", async () => {
    const appId = await push.createApp({ signer_fid_allowlist: [CLIENT_B] });
    const nobody = makeSigner("nobody");
    const messageOf = async (body: unknown) => (await push.post(body, appId)).body.message;
    const foreign = officialEnvelope(USER, nobody, {});
    expect(
      await messageOf({ ...foreign, signature: officialEnvelope(USER, nobody, removed).signature }),
    ).toBe("signature is not valid");
    expect(await messageOf(foreign)).toBe("key is not an active key of the fid");
    expect(await messageOf(officialEnvelope(USER, userKey, {}))).toBe(
      "the app does not take events of this client",
    );
    expect(await messageOf(officialEnvelope(USER, clientKey(USER, CLIENT_B), {}))).toBe(
      "missing field event",
    );
  });

  test("a deleted app is 404, and its tokens are unchanged", async () => {
    await push.report(added("t"));
    await push.signed.call({ method: "DELETE", path: `/frame/app?app_id=${push.appId}` });
    expect(await push.report(removed)).toBe(404);
    expect(push.rows()).toHaveLength(1);
  });

  test.each(["GET", "PUT", "DELETE", "PATCH"])(
    "%s is not a route, in the shape of this path",
    async (method) => {
      for (const path of [`/frame/webhook/${push.appId}`, "/frame/webhook", "/frame/webhook/"]) {
        const response = await fetch(`${push.signed.api.url}/v2/svc${path}`, { method });
        expect(response.status).toBe(404);
        expect(await response.json()).toEqual({ success: false, message: "unknown route" });
      }
    },
  );

  test("accepts both slash forms, and responses are no-store", async () => {
    const envelope = officialEnvelope(USER, userKey, added("t"));
    const { status, headers } = await push.post(envelope, `${push.appId}//`);
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  });
});

describe("the limit of changes", () => {
  test("is 60 an hour for a user and an app, then 429 with the time until the next; others are not affected", async () => {
    const { clock } = push.signed.api.node;
    for (let n = 0; n < 60; n += 1) {
      expect(await push.report(n % 2 === 0 ? added(`t${n}`) : disabled, n % 3 === 0 ? B : A)).toBe(200);
      clock.advanceSecs(10);
    }
    await expectUnchanged(async () => {
      const response = await push.post(officialEnvelope(USER, userKey, removed));
      expect([response.status, response.body, response.headers.get("retry-after")]).toEqual([
        429,
        { success: false, message: "an fid may change its tokens of an app 60 times an hour" },
        "3000",
      ]);
    });
    const otherApp = await push.createApp({ name: "Other" });
    expect(await push.report(added("t"), { fid: 6 })).toBe(200);
    expect(await push.report(added("t"), { ...A, appId: otherApp })).toBe(200);
    clock.advanceSecs(2999);
    expect(await push.report(removed)).toBe(429);
    clock.advanceSecs(1);
    expect(await push.report(removed)).toBe(200);
    expect(await push.report(removed)).toBe(429);
    clock.advanceSecs(3600);
    for (let n = 0; n < 60; n += 1) expect(await push.report(disabled)).toBe(200);
    expect(await push.report(disabled)).toBe(429);
  });

  test("counts every verified envelope whatever its payload, and no other", async () => {
    for (let n = 0; n < 70; n += 1)
      expect((await push.post(officialEnvelope(USER, makeSigner("x"), removed))).status).toBe(401);
    for (let n = 0; n < 30; n += 1) {
      expect((await push.post(officialEnvelope(USER, userKey, {}))).status).toBe(400);
      expect(await push.report(disabled)).toBe(200);
    }
    expect((await push.post(officialEnvelope(USER, userKey, {}))).status).toBe(429);
    expect(await push.report(disabled)).toBe(429);
  });

  test("applies to 100 concurrent events", async () => {
    const statuses = await Promise.all(
      [...Array(100)].map((_, n) => push.report(added(`t${n}`), n % 2 ? A : B)),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });

  test("counts repeats of one envelope like any other", async () => {
    const envelope = officialEnvelope(USER, userKey, removed);
    for (let n = 0; n < 60; n += 1) expect((await push.post(envelope)).status).toBe(200);
    expect((await push.post(envelope)).status).toBe(429);
  });
});

describe("hostile requests", () => {
  test.each([
    ["an app id with NUL", "%00"],
    ["an app id of 4,000 characters", "x".repeat(4000)],
    ["an app id in SQL", "' OR 1=1 --".replaceAll(" ", "%20")],
    ["an app id of slashes", "..%2F..%2Fapp"],
    ["a star", "*"],
  ])("%s is 404", async (_, appId) => {
    const response = await push.post(officialEnvelope(USER, userKey, added("t")), appId);
    expect([response.status, response.body.success]).toEqual([404, false]);
  });

  test.each([
    ["deeply nested JSON", `${"[".repeat(30_000)}${"]".repeat(30_000)}`, 400],
    ["a deeply nested header", sealEnvelope("[".repeat(20_000), removed, userKey), 401],
    ["a deeply nested payload", sealEnvelope(headerOf(USER, userKey), "[".repeat(20_000), userKey), 400],
    [
      "a payload of open braces",
      sealEnvelope(headerOf(USER, userKey), '{"event":'.repeat(2000), userKey),
      400,
    ],
    [
      "a header of 40 KB",
      sealEnvelope({ ...headerOf(USER, userKey), more: "x".repeat(30_000) }, removed, userKey),
      200,
    ],
  ])("%s does no harm", async (_, body, status) => {
    expect((await push.post(body)).status).toBe(status);
    expect(await push.report(added("t"))).toBe(200);
  });
});
