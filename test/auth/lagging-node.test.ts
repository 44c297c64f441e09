import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { transferEvent } from "../support/events.ts";
import { makeWallet } from "../support/messages.ts";
import { callBySession, newSessionKey, SESSION_ORIGIN, type TestSession } from "../support/sessions.ts";
import { type SignedApi, startSignedApi, type TestCall } from "../support/signed-api.ts";
import { custodyWallet } from "../support/signing.ts";

/** Two nodes over one state. One has applied the transfer of an fid; the other lags, by less than makes it unready. */

const FIDS = [31, 32, 33, 34, 35, 36, 37, 38] as const;
const options = {
  fids: [...FIDS],
  settings: [`service.public_url=${SESSION_ORIGIN}`],
  compatPrefixes: ["farcaster"],
};
const buyerOf = (fid: number) => makeWallet(`buyer of ${fid}`);
const CHANNEL = { label: "hook", hook: { url: "https://hook.example/" } };
const LIST = { method: "GET", path: "/session/list" } as const;
const READ = { method: "GET", path: "/frame/app/list" } as const;

let current: SignedApi;
let lagging: SignedApi;
let stale: string | undefined;
beforeAll(async () => {
  current = await startSignedApi(options);
  lagging = await startSignedApi({ ...options, state: current.api.state, staleReason: async () => stale });
});
afterAll(async () => {
  await lagging[Symbol.asyncDispose]();
  await current[Symbol.asyncDispose]();
});

function transfer(fid: number, { api }: SignedApi): void {
  const event = transferEvent(fid, custodyWallet(fid).address, buyerOf(fid).address, { block: 9000 + fid });
  api.node.ingestEvent(event);
}

async function sessionBy(node: SignedApi, fid: number, wallet = custodyWallet(fid)): Promise<TestSession> {
  const { privateKey, body } = newSessionKey();
  const made = await node.call({ method: "POST", path: "/session", body, fid, wallet });
  expect(made.status).toBe(200);
  return { sessionId: made.body.session.session_id, fid, privateKey };
}

async function keyBy(node: SignedApi, fid: number, wallet = custodyWallet(fid)): Promise<string> {
  const body = { name: "bot", scopes: ["read", "apps"] };
  const made = await node.call({ method: "POST", path: "/api_key", body, fid, wallet });
  expect(made.status).toBe(200);
  return made.body.secret;
}

const byKey = async ({ api }: SignedApi, key: string) =>
  (await fetch(`${api.url}/v2/farcaster/frame/app/list`, { headers: { "x-api-key": key } })).status;
const statusOf = async (node: SignedApi, call: TestCall) => (await node.call(call)).status;

describe("once the new owner has acted at any node, a node whose index lacks the transfer", () => {
  test("refuses what the previous owner signs, and accepts what the new owner signs", async () => {
    const fid = 31;
    transfer(fid, current);
    const [seller, buyer] = [custodyWallet(fid), buyerOf(fid)];
    expect(await statusOf(lagging, { ...LIST, fid, wallet: seller })).toBe(200);
    expect(await statusOf(lagging, { ...LIST, fid, wallet: buyer })).toBe(401);
    expect(await statusOf(current, { ...LIST, fid, wallet: buyer })).toBe(200);
    expect(await lagging.call({ ...LIST, fid, wallet: seller })).toEqual({
      status: 401,
      body: { message: "signature is not by the custody address of the fid" },
    });
    expect(await statusOf(lagging, { ...LIST, fid, wallet: buyer })).toBe(200);
  });

  test("serves the new owner's session and API key, and not those of the previous owner", async () => {
    const fid = 32;
    const [oldSession, oldKey] = [await sessionBy(lagging, fid), await keyBy(lagging, fid)];
    transfer(fid, current);
    expect((await callBySession(lagging, oldSession, READ)).status).toBe(200);
    const newKey = await keyBy(current, fid, buyerOf(fid));
    expect((await callBySession(lagging, oldSession, READ)).status).toBe(401);
    expect(await byKey(lagging, oldKey)).toBe(401);
    const newSession = await sessionBy(current, fid, buyerOf(fid));
    expect((await callBySession(lagging, newSession, READ)).status).toBe(200);
    expect(await byKey(lagging, newKey)).toBe(200);
  });

  test("lets the previous owner end no session and no channel of the new one", async () => {
    const fid = 33;
    transfer(fid, current);
    const session = await sessionBy(current, fid, buyerOf(fid));
    const channels = { method: "GET", path: "/notice_channel/list", fid, wallet: buyerOf(fid) } as const;
    await current.call({ method: "POST", path: "/notice_channel", body: CHANNEL, fid, wallet: buyerOf(fid) });
    const listed = (await current.call(channels)).body.channels;
    expect(listed).toHaveLength(1);
    const { body } = newSessionKey();
    expect(await statusOf(lagging, { method: "POST", path: "/session", body, fid })).toBe(401);
    expect(await statusOf(lagging, { method: "POST", path: "/notice_channel", body: CHANNEL, fid })).toBe(
      401,
    );
    expect((await callBySession(current, session, READ)).status).toBe(200);
    expect((await current.call(channels)).body.channels).toEqual(listed);
  });

  test("shows the new owner's API keys as active", async () => {
    const fid = 34;
    transfer(fid, current);
    await keyBy(current, fid, buyerOf(fid));
    const list = { method: "GET", path: "/api_key/list", fid, wallet: buyerOf(fid) } as const;
    expect((await lagging.call(list)).body.api_keys).toMatchObject([{ active: true, inactive_reason: null }]);
  });

  test("lets the new owner wait once it lags too far, and ends neither session nor key", async () => {
    const fid = 35;
    transfer(fid, current);
    const [session, key] = [
      await sessionBy(current, fid, buyerOf(fid)),
      await keyBy(current, fid, buyerOf(fid)),
    ];
    // Acts are not kept for as long as an index may lag.
    current.api.state.sqlite.run("DELETE FROM custodies");
    stale = "shard 1 is 3d behind";
    expect((await callBySession(lagging, session, READ)).status).toBe(503);
    expect(await byKey(lagging, key)).toBe(503);
    stale = undefined;
  });
});

test("an fid that changes owners twice obeys the last one, at nodes that have applied either transfer", async () => {
  const fid = 36;
  const [first, second] = [custodyWallet(fid), buyerOf(fid)];
  transfer(fid, current);
  expect(await statusOf(current, { ...LIST, fid, wallet: second })).toBe(200);
  current.api.node.ingestEvent(transferEvent(fid, second.address, first.address, { block: 9900 }));
  expect(await statusOf(current, { ...LIST, fid, wallet: first })).toBe(200);
  transfer(fid, lagging);
  expect(await statusOf(lagging, { ...LIST, fid, wallet: second })).toBe(401);
  expect(await statusOf(lagging, { ...LIST, fid, wallet: first })).toBe(200);
});

test("an owner to whom the fid has come back is the last one, also if nobody acted in between", async () => {
  const fid = 38;
  const [owner, between] = [custodyWallet(fid), buyerOf(fid)];
  expect(await statusOf(current, { ...LIST, fid, wallet: owner })).toBe(200);
  transfer(fid, current);
  transfer(fid, lagging);
  current.api.node.ingestEvent(transferEvent(fid, between.address, owner.address, { block: 9901 }));
  expect(await statusOf(current, { ...LIST, fid, wallet: owner })).toBe(200);
  expect(await statusOf(lagging, { ...LIST, fid, wallet: between })).toBe(401);
  expect(await statusOf(lagging, { ...LIST, fid, wallet: owner })).toBe(200);
});

test("a request of the previous owner that was verified before the new owner acted ends nothing of the new owner", async () => {
  const fid = 37;
  const buyer = buyerOf(fid);
  transfer(fid, current);
  const { state } = current.api;
  const held = { method: "POST", path: "/session", fid } as const;
  for (const [path, body] of [
    ["/session", newSessionKey().body],
    ["/notice_channel", CHANNEL],
  ] as const) {
    state.sqlite.run("DELETE FROM custodies");
    let acted: Promise<void> | undefined;
    state.onStatement = (name) => {
      if (name !== "nonces.spend" || acted) return;
      // The new owner acts between the verification and the decision of the previous owner's request.
      state.sqlite.run(
        "INSERT OR REPLACE INTO custodies (fid, custody, block_number, log_index, expires_at) VALUES (?, ?, ?, 0, 9e9)",
        [fid, buyer.address, 9000 + fid],
      );
      acted = Promise.resolve();
    };
    expect(await lagging.call({ ...held, path, body })).toMatchObject({
      status: path === "/session" ? 401 : 400,
    });
    state.onStatement = undefined;
    expect(acted).toBeDefined();
  }
});
