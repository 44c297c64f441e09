import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { signedOperations } from "../../src/api/operations.ts";
import { type ConfirmRpc, createOwners } from "../../src/auth/owners/owners.ts";
import type { SessionLookup } from "../../src/auth/session.ts";
import { createVerifySession, type VerifySession } from "../../src/auth/verify-session.ts";
import { serviceNames } from "../../src/config/names.ts";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { raiseNonceFloor } from "../../src/db/state/state-clock.ts";
import { transferEvent } from "../support/events.ts";
import { silentLog } from "../support/log.ts";
import { until } from "../support/manual-time.ts";
import { makeWallet } from "../support/messages.ts";
import { startTestNode } from "../support/node.ts";
import {
  callBySession,
  createSession,
  newSessionKey,
  SESSION_ORIGIN,
  type SessionCall,
  sessionHeaders,
  type TestSession,
} from "../support/sessions.ts";
import { type ApiResponse, type SignedApi, startSignedApi } from "../support/signed-api.ts";
import { custodyWallet, signedHeaders } from "../support/signing.ts";
import { localStores } from "../support/state-stores.ts";

const WEBHOOK = { name: "Hook", url: "https://hook.example/", subscription: { "cast.created": {} } };
const LIST = { method: "GET", path: "/frame/app/list" } as const;
const ENDED = { status: 401, body: { message: "the session is unknown or has ended" } };
const NEEDS_CUSTODY = { status: 403, body: { message: "this needs the custody wallet" } };

let signed: SignedApi;
let stale: string | undefined;
let operating: TestSession;
let reading: TestSession;
let webhookId: string;
let appId: string;

beforeAll(async () => {
  signed = await startSignedApi({
    fids: [3, 4, 5, 6, 7, 8],
    settings: [`service.public_url=${SESSION_ORIGIN}`],
    staleReason: async () => stale,
  });
  operating = await createSession(signed, 3);
  reading = await createSession(signed, 3, { access: "read" });
  const hook = await signed.call({ method: "POST", path: "/webhook?owner_fid=3", body: WEBHOOK });
  webhookId = hook.body.webhook.webhook_id;
  const app = await signed.call({
    method: "POST",
    path: "/frame/app",
    body: { name: "App", app_url: "https://app.example/" },
  });
  appId = app.body.app.app_id;
});
afterAll(() => signed[Symbol.asyncDispose]());

const by = (session: TestSession, call: SessionCall) => callBySession(signed, session, call);

/** The verification of another thread, over the same state. */
function newVerifier(
  changes: {
    markUsed?: SessionLookup["markUsed"];
    db?: IndexDatabase;
    confirmCustody?: ConfirmRpc["confirmCustody"];
  } = {},
) {
  const { clock } = signed.api.node;
  const { nonces, sessions, custodies } = localStores(signed.api.state, { clock });
  const { db = signed.api.node.db, confirmCustody } = changes;
  const confirmKey = () => Promise.reject(new Error("no key is asked for"));
  const confirm = confirmCustody && { confirmCustody, confirmKey };
  const deps = {
    names: serviceNames("svc"),
    clock,
    stateClock: clock,
    windowSecs: 300,
    nonces,
    sessions,
    owners: createOwners({ db, custodies, confirm }),
    isPaused: () => false,
    staleReason: async () => undefined,
    log: silentLog,
  };
  return createVerifySession(deps, {
    find: (id, nowSecs) => sessions.find(id, nowSecs),
    markUsed: changes.markUsed ?? ((id, nowSecs) => sessions.markUsed(id, nowSecs)),
  });
}

/** Fails unless the request is refused like this and leaves no row, not even a nonce. */
async function expectNoTrace(send: () => Promise<ApiResponse>, status: number, message?: string) {
  const before = signed.rowCounts();
  expect(await send()).toEqual({ status, body: { message: message ?? expect.any(String) } });
  expect(signed.rowCounts()).toEqual(before);
}

describe("what a session may do", () => {
  const allowed = (access: "read" | "operate") =>
    Object.entries(signedOperations)
      .filter(([, { session }]) => session && (access === "operate" || session.access === "read"))
      .map(([id]) => id);

  test("read shows every record; operate adds tests, replays and the switch of a webhook, the bans, drafts and segments of the app, channels of notices and incidents, and cancels schedules", () => {
    const reads = Object.entries(signedOperations)
      .filter(([, { op }]) => op.endsWith(".read"))
      .map(([id]) => id);
    expect(allowed("read").sort()).toEqual([...reads, "deleteSession"].sort());
    expect(
      allowed("operate")
        .filter((id) => !allowed("read").includes(id))
        .sort(),
    ).toEqual(
      [
        "acknowledgeOwnIncident",
        "addAppBans",
        "cancelSchedule",
        "cancelWebhookReplay",
        "deleteDraft",
        "deleteSegment",
        "patchWebhook",
        "removeAppBans",
        "replayWebhookDeliveries",
        "saveDraft",
        "saveSegment",
        "testNoticeChannel",
        "testWebhook",
        "updateNoticeChannel",
        "updateWebhook",
      ].sort(),
    );
  });

  test("the document names the headers of a session only for these operations", () => {
    const { paths } = signed.api.document as { paths: Record<string, Record<string, object>> };
    for (const { method, path, session } of Object.values(signedOperations)) {
      const documented = JSON.stringify(paths[`/v2/svc${path}`]?.[method.toLowerCase()]);
      expect([method, path, documented.includes('"sessionSignature":')]).toEqual([
        method,
        path,
        session !== undefined,
      ]);
    }
  });

  test("check 21: every other operation is 403 for any session, and leaves no trace", async () => {
    for (const { method, path, session } of Object.values(signedOperations)) {
      if (session !== undefined) continue;
      const body = method === "GET" ? {} : { body: "{}" };
      await expectNoTrace(
        () => by(operating, { method, path, ...body }),
        403,
        "this needs the custody wallet",
      );
    }
  });

  test("operate operations are 403 for a session that reads, and work for one that operates", async () => {
    const body = { webhook_id: webhookId };
    const calls: SessionCall[] = [
      { method: "POST", path: "/webhook/test", body },
      { method: "POST", path: "/webhook/deliveries/replay", body: { ...body, from: 0 } },
      { method: "PUT", path: "/webhook", body: { ...body, active: false } },
      { method: "PATCH", path: "/webhook", body: { ...body, active: true } },
    ];
    for (const call of calls) {
      await expectNoTrace(() => by(reading, call), 403, "this needs the custody wallet");
      expect((await by(operating, call)).status).toBe(200);
    }
  });

  test("a session cannot resend what was delivered; the custody wallet can", async () => {
    const replay = { webhook_id: webhookId, from: 0, only: "all", dry_run: true };
    const call = { method: "POST", path: "/webhook/deliveries/replay", body: replay } as const;
    expect(await by(operating, call)).toEqual({
      status: 403,
      body: { message: "only the custody address may send again what was delivered (only: all)" },
    });
    expect((await signed.call(call)).status).toBe(202);
  });

  test.each([
    ["another field", (id: string) => ({ webhook_id: id, active: true, name: "Other" })],
    ["an unknown field", (id: string) => ({ webhook_id: id, active: true, x: 1 })],
    ["no switch", (id: string) => ({ webhook_id: id })],
    ["no object", () => "[]"],
    ["null", () => "null"],
    ["a text", () => '"active"'],
    ["no JSON", () => '{"webhook_id'],
    ["a prototype", (id: string) => `{"webhook_id":"${id}","__proto__":{"active":true}}`],
    ["a nested switch", (id: string) => ({ webhook: { webhook_id: id, active: true } })],
  ])("an update of a webhook with %s needs custody", async (_, bodyOf) => {
    const call = { method: "PUT", path: "/webhook", body: bodyOf(webhookId) } as const;
    await expectNoTrace(() => by(operating, call), 403, "this needs the custody wallet");
  });

  test("a session can end itself and no other", async () => {
    const own = await createSession(signed, 3);
    const query = [
      `session_id=${reading.sessionId}`,
      "all=true",
      `session_id=${own.sessionId}&all=true`,
      `session_id=${own.sessionId}&session_id=${reading.sessionId}`,
      `session_id=${reading.sessionId}&session_id=${own.sessionId}`,
    ];
    for (const search of query) {
      expect(await by(own, { method: "DELETE", path: `/session?${search}` })).toEqual(NEEDS_CUSTODY);
    }
    const self = { method: "DELETE", path: `/session?session_id=${own.sessionId}` } as const;
    expect((await by(own, { ...self, body: "{}" })).status).toBe(403);
    expect(await by(own, self)).toEqual({ status: 200, body: { deleted: true } });
    expect(await by(own, LIST)).toEqual(ENDED);
    expect((await by(reading, LIST)).status).toBe(200);
  });

  test("secrets are null for a session and shown to custody, whatever the record", async () => {
    const shown = { value: expect.stringMatching(/^[0-9a-f]{64}$/), standard_secret: expect.any(String) };
    const hidden = { value: null, standard_secret: null };
    const reads: [path: string, secretsOf: (body: ApiResponse["body"]) => unknown][] = [
      [`/frame/app?app_id=${appId}`, (body) => body.app.send_secrets],
      ["/frame/app/list", (body) => body.apps[0].send_secrets],
      [`/webhook?webhook_id=${webhookId}`, (body) => body.webhook.secrets],
      ["/webhook/list", (body) => body.webhooks[0].secrets],
    ];
    for (const [path, secretsOf] of reads) {
      const call = { method: "GET", path } as const;
      expect(secretsOf((await signed.call(call)).body)).toEqual([expect.objectContaining(shown)]);
      expect(secretsOf((await by(operating, call)).body)).toEqual([expect.objectContaining(hidden)]);
    }
    const { body } = await by(operating, {
      method: "PATCH",
      path: "/webhook",
      body: { webhook_id: webhookId, active: true },
    });
    expect(body.webhook.secrets).toEqual([expect.objectContaining(hidden)]);
  });

  test("a session of another fid sees only that fid's records", async () => {
    const other = await createSession(signed, 4);
    expect((await by(other, { method: "GET", path: `/frame/app?app_id=${appId}` })).status).toBe(403);
    expect((await by(other, LIST)).body).toEqual({ apps: [] });
    expect(await by({ ...other, fid: 3 }, LIST)).toEqual(ENDED);
  });
});

describe("check 21: the checks of a request, in their order", () => {
  const call = () => ({ method: "POST", path: "/webhook/test", body: { webhook_id: webhookId } }) as const;
  const notSigned = "signature is not by the key of the session";

  test.each<[string, Partial<SessionCall>]>([
    ["query", { signed: { path: "/webhook/test?a=1" } }],
    ["path", { signed: { path: "/webhook" } }],
    ["body", { signed: { body: "{}" } }],
    ["method", { signed: { method: "GET" } }],
    ["op", { signed: { op: "webhook.read" } }],
    ["nonce", { signed: { nonce: `0x${"ab".repeat(32)}` } }],
  ])("a request with another %s than the signed one is 401", async (_, change) => {
    await expectNoTrace(() => by(operating, { ...call(), ...change }), 401, notSigned);
  });

  test("a query that was added to a signed request is 401", async () => {
    const headers = sessionHeaders(operating, { ...LIST, signedAt: signed.nowSecs() });
    await expectNoTrace(
      () => signed.send({ ...LIST, path: "/frame/app/list?limit=1" }, headers),
      401,
      notSigned,
    );
    expect((await signed.send(LIST, headers)).status).toBe(200);
    // The path is signed from its first "/v2/" on, which a name of the host is not.
    expect((await signed.send(LIST, { ...headers, Host: "v2" })).status).toBe(200);
  });

  test("the key of another session is 401", async () => {
    const { privateKey } = newSessionKey();
    await expectNoTrace(() => by({ ...operating, privateKey }, LIST), 401, notSigned);
    await expectNoTrace(() => by({ ...operating, sessionId: reading.sessionId }, LIST), 401, notSigned);
  });

  test("a custody signature next to a session header is 401: no credential replaces another", async () => {
    const custody = await signedHeaders({ ...LIST, fid: 3, signedAt: signed.nowSecs() });
    const headers = { ...custody, "X-Svc-Session": operating.sessionId };
    await expectNoTrace(
      () => signed.send(LIST, headers),
      401,
      "malformed header X-Svc-Signature: must be 0x and 128 hexadecimal digits",
    );
    await expectNoTrace(() => signed.send(LIST, { ...custody, "X-Svc-Session": "" }), 401);
  });

  test("is 401 at 61 seconds from the clock, and succeeds at 60", async () => {
    const now = signed.nowSecs();
    for (const signedAt of [now - 61, now + 61]) {
      await expectNoTrace(() => by(operating, { ...LIST, signedAt }), 401);
    }
    for (const signedAt of [now - 60, now + 60]) {
      expect((await by(operating, { ...LIST, signedAt })).status).toBe(200);
    }
  });

  test("a signed op that is not the path's is 400, before the list of the session", async () => {
    await expectNoTrace(
      () => by(operating, { method: "POST", path: "/frame/app", body: "{}", op: "app.read" }),
      400,
      "signed op does not match the HTTP method/path, which needs app.create",
    );
  });

  test("the nonce of an operation counts once; a read has no nonce to spend", async () => {
    const headers = sessionHeaders(operating, { ...call(), signedAt: signed.nowSecs() });
    const before = signed.rowCounts().nonces ?? 0;
    const answers = await Promise.all(Array.from({ length: 8 }, () => signed.send(call(), headers)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
    expect(signed.rowCounts().nonces).toBe(before + 1);
    const read = sessionHeaders(operating, { ...LIST, signedAt: signed.nowSecs() });
    for (const _ of [1, 2]) expect((await signed.send(LIST, read)).status).toBe(200);
    expect(signed.rowCounts().nonces).toBe(before + 1);
  });

  test("the last use is recorded once a minute", async () => {
    const { sessionId, ...rest } = await createSession(signed, 8);
    const lastUse = async () => {
      const listed = await signed.call({ method: "GET", path: "/session/list", fid: 8 });
      return listed.body.sessions.find((one: ApiResponse["body"]) => one.session_id === sessionId)
        .last_used_at;
    };
    const use = async () => {
      expect((await by({ sessionId, ...rest }, LIST)).status).toBe(200);
      return signed.nowSecs();
    };
    expect(await lastUse()).toBeNull();
    const first = await use();
    await until(async () => (await lastUse()) === first);
    signed.api.node.clock.advanceSecs(59);
    await use();
    expect(await lastUse()).toBe(first);
    signed.api.node.clock.advanceSecs(1);
    const second = await use();
    await until(async () => (await lastUse()) === second);
  });

  const readBy = (verify: VerifySession, session: TestSession) =>
    verify({
      method: "GET",
      url: "http://localhost/v2/svc/frame/app/list",
      headers: new Headers(sessionHeaders(session, { ...LIST, signedAt: signed.nowSecs() })),
      body: async () => new Uint8Array(),
      operation: signedOperations.listApps,
    });

  test("a session of an fid that no node knows is 401", async () => {
    const session = await createSession(signed, 4);
    signed.api.state.sqlite.run("DELETE FROM custodies WHERE fid = 4");
    using empty = startTestNode();
    await expect(readBy(newVerifier({ db: empty.db }), session)).rejects.toThrow("unknown fid");
    expect(await readBy(newVerifier(), session)).toMatchObject({ ownerFid: 4 });
  });

  test("a thread does not record again what another thread has recorded", async () => {
    const session = await createSession(signed, 8);
    expect(await readBy(newVerifier(), session)).toMatchObject({ lastUsedAt: null });
    const marked: string[] = [];
    const markUsed = async (id: string) => void marked.push(id);
    await until(async () => (await readBy(newVerifier({ markUsed }), session)).lastUsedAt !== null);
    marked.length = 0;
    expect(await readBy(newVerifier({ markUsed }), session)).toMatchObject({ lastUsedAt: signed.nowSecs() });
    expect(marked).toEqual([]);
  });

  test("a state that does not respond is asked once a minute to record the use of each session", async () => {
    const used = [await createSession(signed, 8), await createSession(signed, 8)];
    const marked: string[] = [];
    const markUsed = (id: string) => {
      marked.push(id);
      return new Promise<void>(() => undefined);
    };
    const verify = newVerifier({ markUsed });
    const ids = used.map(({ sessionId }) => sessionId);
    for (const _ of [1, 2, 3]) for (const session of used) await readBy(verify, session);
    expect(marked).toEqual(ids);
    signed.api.node.clock.advanceSecs(60);
    for (const session of used) await readBy(verify, session);
    expect(marked).toEqual([...ids, ...ids]);
  });

  test("is 503 while the index is behind, except for a session that has ended or is outside its time", async () => {
    stale = "the index is behind";
    expect((await by(operating, LIST)).status).toBe(503);
    expect((await by({ ...operating, sessionId: "1111111111111111" }, LIST)).status).toBe(401);
    expect((await by(operating, { ...LIST, signedAt: signed.nowSecs() - 61 })).status).toBe(401);
    stale = undefined;
    expect((await by(operating, LIST)).status).toBe(200);
  });
});

describe("check 22: a session ends", () => {
  test("when it expires", async () => {
    const session = await createSession(signed, 6, { ttl_secs: 100 });
    const clock = signed.api.node.clock;
    clock.advanceSecs(99);
    expect((await by(session, LIST)).status).toBe(200);
    clock.advanceSecs(1);
    expect(await by(session, LIST)).toEqual(ENDED);
    expect((await signed.call({ method: "GET", path: "/session/list", fid: 6 })).body).toEqual({
      sessions: [],
    });
  });

  test("when the clock goes back to more than a minute before its creation: its time could last for ever", async () => {
    const clock = signed.api.node.clock;
    clock.advanceSecs(200);
    const session = await createSession(signed, 6);
    expect((await by(session, LIST)).status).toBe(200);
    clock.advanceSecs(-60);
    expect((await by(session, LIST)).status).toBe(200);
    clock.advanceSecs(-1);
    expect(await by(session, LIST)).toEqual(ENDED);
    clock.advanceSecs(-139);
  });

  test("when its owner ends it, or all of them", async () => {
    const [one, two] = [await createSession(signed, 6), await createSession(signed, 6)];
    const path = `/session?session_id=${one.sessionId}`;
    expect((await signed.call({ method: "DELETE", path, fid: 4 })).status).toBe(404);
    expect((await by(one, LIST)).status).toBe(200);
    expect((await signed.call({ method: "DELETE", path, fid: 6 })).status).toBe(200);
    expect(await by(one, LIST)).toEqual(ENDED);
    expect((await by(two, LIST)).status).toBe(200);
    expect((await signed.call({ method: "DELETE", path: "/session?all=true", fid: 6 })).status).toBe(200);
    expect(await by(two, LIST)).toEqual(ENDED);
    for (const search of ["", "?all=false", `?all=true&session_id=${one.sessionId}`]) {
      expect((await signed.call({ method: "DELETE", path: `/session${search}`, fid: 6 })).status).toBe(400);
    }
  });

  test("also while the body of a request arrives", async () => {
    const verify = newVerifier();
    const session = await createSession(signed, 6);
    const call = { method: "POST", path: "/webhook/test", body: "{}" } as const;
    const attempt = (whileItArrives: () => Promise<unknown>) =>
      verify({
        method: "POST",
        url: "http://localhost/v2/svc/webhook/test",
        headers: new Headers(sessionHeaders(session, { ...call, signedAt: signed.nowSecs() })),
        async body() {
          await whileItArrives();
          return Buffer.from(call.body);
        },
        operation: signedOperations.testWebhook,
      });
    expect(await attempt(async () => undefined)).toMatchObject({ sessionId: session.sessionId });
    const path = `/session?session_id=${session.sessionId}`;
    await expect(attempt(() => signed.call({ method: "DELETE", path, fid: 6 }))).rejects.toThrow(
      ENDED.body.message,
    );
  });

  test("when another custody address is confirmed, and not when one node shows it", async () => {
    const session = await createSession(signed, 8);
    const own = custodyWallet(8).address;
    const other = makeWallet("another owner of 8").address;
    const attempt = (confirmCustody: ConfirmRpc["confirmCustody"]) =>
      newVerifier({ confirmCustody })({
        method: "GET",
        url: "http://localhost/v2/svc/frame/app/list",
        headers: new Headers(sessionHeaders(session, { ...LIST, signedAt: signed.nowSecs() })),
        body: async () => new Uint8Array(),
        operation: signedOperations.listApps,
      });
    const confirmed = async (custody: Uint8Array) =>
      ({ isConfirmed: true, value: { custody, blockNumber: 3000, logIndex: 0 } }) as const;
    const unasked = () => Promise.reject(new Error("an unchanged custody address needs no second node"));
    const live = { sessionId: session.sessionId };
    expect(await attempt(unasked)).toMatchObject(live);
    signed.api.node.ingestEvent(transferEvent(8, own, other, { block: 3000 }));
    expect(await attempt(() => confirmed(own))).toMatchObject(live);
    await expect(attempt(() => confirmed(other))).rejects.toThrow("another custody address");
    signed.api.node.ingestEvent(transferEvent(8, other, own, { block: 3001 }));
  });

  test("when the fid gets another custody address, at once and for good", async () => {
    const session = await createSession(signed, 5);
    const [seller, buyer] = [custodyWallet(5), makeWallet("buyer of 5")];
    signed.api.node.ingestEvent(transferEvent(5, seller.address, buyer.address, { block: 2000 }));
    expect(await by(session, LIST)).toEqual({
      status: 401,
      body: { message: "the session ended when the fid got another custody address" },
    });
    const listed = () => signed.call({ method: "GET", path: "/session/list", fid: 5, wallet: buyer });
    expect((await listed()).body).toEqual({ sessions: [] });
    const { body } = newSessionKey();
    await signed.call({ method: "POST", path: "/session", body, fid: 5, wallet: buyer });
    signed.api.node.ingestEvent(transferEvent(5, buyer.address, seller.address, { block: 2001 }));
    expect(await by(session, LIST)).toEqual(ENDED);
  });
});

describe("check 23: the creation of a session", () => {
  const create = async (body: object, origin?: string, fid = 7) => {
    const call = { method: "POST", path: "/session", body, fid } as const;
    return signed.send(call, {
      ...(await signed.sign(call)),
      ...(origin !== undefined && { Origin: origin }),
    });
  };

  test("by a page of this node, or by a program", async () => {
    const label = "Ünïcode 🍞 laptop";
    const created = await create(newSessionKey({ label, ttl_secs: 600 }).body, SESSION_ORIGIN);
    const now = signed.nowSecs();
    const session = {
      object: "session",
      session_id: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{16}$/),
      fid: 7,
      access: "operate",
      label,
      origin: SESSION_ORIGIN,
      created_at: now,
      expires_at: now + 600,
      last_used_at: null,
    };
    expect(created).toEqual({ status: 200, body: { session } });
    const elsewhere = newSessionKey({ label: "Script", origin: "https://elsewhere.example" }).body;
    expect((await create(elsewhere)).status).toBe(200);
    const { body } = await signed.call({ method: "GET", path: "/session/list", fid: 7 });
    expect(body.sessions).toEqual([
      { ...session, label: "Script", origin: "https://elsewhere.example", expires_at: now + 28_800 },
      session,
    ]);
    const audit = await signed.call({ method: "GET", path: "/audit", fid: 7 });
    expect(audit.body.entries[0]).toMatchObject({ action: "session.create", outcome: "ok" });
  });

  test("by a page of this node under the address that it was opened by", async () => {
    const origin = signed.api.url;
    expect((await create(newSessionKey({ origin }).body, origin)).status).toBe(200);
  });

  test.each([
    ["of another site", "https://evil.example", "https://evil.example"],
    ["of another site, for this node", SESSION_ORIGIN, "https://evil.example"],
    ["of this node, for another site", "https://evil.example", SESSION_ORIGIN],
    ["of another port", "http://localhost:1", "http://localhost:1"],
    ["without an origin of its own", SESSION_ORIGIN, "null"],
  ])("by a page %s is 403 and creates nothing", async (_, origin, sentBy) => {
    const before = signed.rowCounts().sessions;
    expect((await create(newSessionKey({ origin }).body, sentBy)).status).toBe(403);
    expect(signed.rowCounts().sessions).toBe(before);
  });

  test.each([
    ["public_key", "0x00"],
    ["public_key", `0x01${"00".repeat(31)}`],
    ["public_key", 5],
    ["access", "all"],
    ["ttl_secs", 28_801],
    ["ttl_secs", 0],
    ["ttl_secs", 1.5],
    ["label", ""],
    ["label", "x".repeat(65)],
    ["label", "\0"],
    ["origin", "node.example"],
    ["origin", "https://node.example/path"],
    ["origin", "javascript:alert(1)"],
    ["origin", `https://${"a".repeat(400)}.example`],
  ])("with %s = %p is 400, which names the field", async (field, value) => {
    const { status, body } = await create(newSessionKey({ [field]: value }).body);
    expect(status).toBe(400);
    expect(body.message).toStartWith(field);
  });

  test("of the 21st ends the oldest", async () => {
    const first = await createSession(signed, 8);
    const second = await createSession(signed, 8);
    for (let n = 0; n < 19; n++) await createSession(signed, 8);
    expect(await by(first, LIST)).toEqual(ENDED);
    expect((await by(second, LIST)).status).toBe(200);
  });

  test("is not possible from a page of another origin: no preflight allows the header", async () => {
    const response = await fetch(`${signed.api.url}/v2/svc/session`, { method: "OPTIONS" });
    const allowed = response.headers.get("access-control-allow-headers")?.split(", ");
    expect(allowed).toContain("x-svc-signature");
    expect(allowed).not.toContain("x-svc-session");
  });
});

test("a nonce is spent for as long as the signature of its request is valid, also of one from the future", async () => {
  const settings = [`service.public_url=${SESSION_ORIGIN}`, "auth.signed_at_window_secs=60"];
  await using own = await startSignedApi({ fids: [3], settings });
  const session = await createSession(own, 3);
  const created = await own.call({ method: "POST", path: "/webhook?owner_fid=3", body: WEBHOOK });
  const call = {
    method: "POST",
    path: "/webhook/test",
    body: { webhook_id: created.body.webhook.webhook_id },
    signedAt: own.nowSecs() + 60,
  } as const;
  const signatures = [sessionHeaders(session, call), await own.sign(call)];
  for (const headers of signatures) expect((await own.send(call, headers)).status).toBe(200);
  own.api.node.clock.advanceSecs(120);
  for (const headers of signatures)
    expect(await own.send(call, headers)).toEqual({
      status: 401,
      body: { message: "nonce was used before" },
    });
});

test("a request of either kind is refused from the floor of nonces that its signature could have used, not before", async () => {
  await using own = await startSignedApi({ settings: [`service.public_url=${SESSION_ORIGIN}`] });
  const session = await createSession(own, 3);
  const hook = await own.call({ method: "POST", path: "/webhook?owner_fid=3", body: WEBHOOK });
  const body = { webhook_id: hook.body.webhook.webhook_id, active: true };
  const call = { method: "PATCH", path: "/webhook", body, signedAt: own.nowSecs() } as const;
  // Nonces that were valid until the last second of this request's signature may be deleted, or not.
  for (const [floor, status] of [
    [own.nowSecs() + 299, 200],
    [own.nowSecs() + 300, 401],
  ] as const) {
    own.api.state.transaction(() => raiseNonceFloor(own.api.state, floor));
    for (const headers of [sessionHeaders(session, call), await own.sign(call)])
      expect((await own.send(call, headers)).status).toBe(status);
  }
});

test("check 26: without sessions their routes are 404, and their header is ignored", async () => {
  await using off = await startSignedApi({ settings: ["auth.sessions=false"] });
  const { body } = newSessionKey();
  for (const call of [
    { method: "POST", path: "/session", body },
    { method: "GET", path: "/session/list" },
    { method: "DELETE", path: "/session?all=true" },
  ] as const) {
    expect(await off.call(call)).toEqual({ status: 404, body: { message: "not found" } });
  }
  const headers = { ...(await off.sign(LIST)), "X-Svc-Session": operating.sessionId };
  expect((await off.send(LIST, headers)).status).toBe(200);
  const bySession = sessionHeaders(operating, { ...LIST, signedAt: off.nowSecs() });
  expect(await off.send(LIST, bySession)).toEqual({
    status: 401,
    body: { message: "malformed header X-Svc-Signature: must be 0x and 130 hexadecimal digits" },
  });
  expect(off.rowCounts()).toMatchObject({ sessions: 0, nonces: 1 });
});

test("check 25: the state holds only the public key of a session", () => {
  const { sqlite } = signed.api.state;
  const columns = sqlite.query<{ name: string }, []>("SELECT name FROM pragma_table_info('sessions')").all();
  expect(columns.map(({ name }) => name)).toEqual([
    ...["seq", "session_id", "owner_fid", "public_key", "custody", "access", "label", "origin"],
    ...["created_at", "expires_at", "last_used_at"],
  ]);
});
