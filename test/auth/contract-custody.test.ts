import { afterAll, beforeAll, expect, test } from "bun:test";
import { getAddress } from "viem";
import type { Admission } from "../../src/admission/admission.ts";
import { SHARES } from "../../src/admission/budgets.ts";
import { toHex } from "../../src/protocol/validate/eth.ts";
import { CLOSED_PORT } from "../support/addresses.ts";
import { startOptimism } from "../support/sign-in.ts";
import { startSignedApi } from "../support/signed-api.ts";
import { custodyWallet } from "../support/signing.ts";

const CONTRACT = 3;
const PERSON = 4;
const ACCEPTED = `0x${"ab".repeat(100)}`;
const WRAPPED = `0x${"cd".repeat(96)}${"6492".repeat(16)}`;
const call = { method: "GET" as const, path: "/frame/app/list" };
const UNBOUNDED = { ...SHARES, contractChecks: { perMinute: 1e9, burst: 1e9 } };

const addressOf = (fid: number) => getAddress(toHex(custodyWallet(fid).address));
const optimism = startOptimism(
  ({ address, signature }) => address === addressOf(CONTRACT) && [ACCEPTED, WRAPPED].includes(signature),
  [addressOf(CONTRACT)],
);
const start = (url: string, shares: Admission["shares"] = UNBOUNDED) =>
  startSignedApi({ settings: [`chain.op_rpc_url=${url}`], shares });

let signed: Awaited<ReturnType<typeof startSignedApi>>;
beforeAll(async () => {
  signed = await start(optimism.url);
});
afterAll(async () => {
  await signed[Symbol.asyncDispose]();
  optimism.stop();
});

/** Sends a signed read with another signature. */
async function send(fid: number, signature: string, at = signed) {
  const headers = await at.sign({ ...call, fid });
  return at.send(call, { ...headers, "X-Svc-Signature": signature });
}

test("a contract that owns an fid signs for it, deployed or not yet, and its nonce counts once", async () => {
  expect((await send(CONTRACT, ACCEPTED)).status).toBe(200);
  expect((await send(CONTRACT, WRAPPED)).status).toBe(200);
  const headers = { ...(await signed.sign({ ...call, fid: CONTRACT })), "X-Svc-Signature": ACCEPTED };
  const outcomes = await Promise.all([1, 2, 3, 4].map(() => signed.send(call, headers)));
  expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
});

test("what a contract rejects is 401, and an account signs only for its own fid", async () => {
  expect((await send(CONTRACT, `0x${"ef".repeat(100)}`)).status).toBe(401);
  expect((await send(PERSON, ACCEPTED)).status).toBe(401);
});

test("an account's own key needs no call, and strangers cause one look-up of its code a day", async () => {
  const before = { calls: optimism.asked.length, codes: optimism.askedCode.length };
  expect((await signed.call({ ...call, fid: PERSON })).status).toBe(200);
  expect(optimism.askedCode).toHaveLength(before.codes);
  for (let time = 0; time < 20; time += 1) {
    const { "X-Svc-Signature": signature } = await signed.sign({ ...call, fid: CONTRACT });
    const { status } = await send(PERSON, signature ?? "");
    expect(status).toBe(401);
  }
  expect(optimism.asked).toHaveLength(before.calls);
  expect(optimism.askedCode.length - before.codes).toBeLessThanOrEqual(1);
});

test("without a response from the RPC the request is 503, and a client that asks too often gets 429", async () => {
  await using dead = await start(`http://127.0.0.1:${CLOSED_PORT}`, {
    ...SHARES,
    contractChecks: { perMinute: 1, burst: 2 },
  });
  for (const status of [503, 503, 429]) expect((await send(CONTRACT, ACCEPTED, dead)).status).toBe(status);
  expect((await dead.call({ ...call, fid: PERSON })).status).toBe(200);
});
