import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { transferEvent } from "../support/events.ts";
import { makeWallet } from "../support/messages.ts";
import { callBySession, newSessionKey } from "../support/sessions.ts";
import { type SignedApi, startSignedApi, type TestCall } from "../support/signed-api.ts";
import { custodyWallet } from "../support/signing.ts";

/** A transfer may be applied after a signature was verified and before its operation is executed. */

let signed: SignedApi;
beforeAll(async () => {
  signed = await startSignedApi({ fids: [11, 12, 13, 14, 15], compatPrefixes: ["farcaster"] });
});
afterAll(() => signed[Symbol.asyncDispose]());

const buyerOf = (fid: number) => makeWallet(`buyer of ${fid}`);

/** Sends what the seller has signed. The index has the transfer once the nonce is spent. */
async function sendDuringTransfer(call: TestCall & { readonly fid: number }) {
  const { api } = signed;
  const [seller, buyer] = [custodyWallet(call.fid), buyerOf(call.fid)];
  let isTransferred = false;
  api.state.onStatement = (name) => {
    if (name !== "nonces.spend" || isTransferred) return;
    isTransferred = true;
    api.node.ingestEvent(transferEvent(call.fid, seller.address, buyer.address, { block: 5000 + call.fid }));
  };
  const response = await signed.call(call);
  api.state.onStatement = undefined;
  expect(isTransferred).toBe(true);
  return response.body;
}

const statusOf = async (key: string) =>
  (await fetch(`${signed.api.url}/v2/farcaster/user/bulk?fids=11`, { headers: { "x-api-key": key } })).status;

describe("what a previous owner has signed belongs to the previous custody address, also if the transfer is applied meanwhile", () => {
  test("a session", async () => {
    const { privateKey, body } = newSessionKey();
    const { session } = await sendDuringTransfer({ method: "POST", path: "/session", body, fid: 11 });
    const made = { sessionId: session.session_id, fid: 11, privateKey };
    const read = await callBySession(signed, made, { method: "GET", path: "/frame/app/list" });
    expect(read.status).toBe(401);
  });

  test("an API key that is created", async () => {
    const body = { name: "bot", scopes: ["read"] };
    const { api_key, secret } = await sendDuringTransfer({ method: "POST", path: "/api_key", body, fid: 12 });
    expect(api_key.inactive_reason).toBe("custody changed");
    expect(await statusOf(secret)).toBe(401);
  });

  test("an API key that is activated", async () => {
    const body = { name: "bot", scopes: ["read"] };
    const made = await signed.call({ method: "POST", path: "/api_key", body, fid: 13 });
    expect(await statusOf(made.body.secret)).toBe(200);
    const change = { api_key_id: made.body.api_key.api_key_id, active: true };
    await sendDuringTransfer({ method: "PUT", path: "/api_key", body: change, fid: 13 });
    expect(await statusOf(made.body.secret)).toBe(401);
  });

  test("a scheduled send", async () => {
    const app = { name: "App", app_url: "https://app.example" };
    const made = await signed.call({ method: "POST", path: "/frame/app", body: app, fid: 14 });
    const body = {
      app_id: made.body.app.app_id,
      notification: { title: "Hello", body: "World", target_url: "https://app.example/" },
      send_at: signed.nowSecs() + 3600,
    };
    const { schedule } = await sendDuringTransfer({
      method: "POST",
      path: "/frame/app/campaign",
      body,
      fid: 14,
    });
    expect(schedule.signed_by).toBe(`0x${Buffer.from(custodyWallet(14).address).toString("hex")}`);
  });

  test("a channel of notices", async () => {
    const body = { label: "hook", hook: { url: "https://hook.example/" } };
    expect(await sendDuringTransfer({ method: "POST", path: "/notice_channel", body, fid: 15 })).toEqual({
      message: "the custody address of the fid has changed in the meantime",
    });
    const list = { method: "GET", path: "/notice_channel/list", fid: 15, wallet: buyerOf(15) } as const;
    expect((await signed.call(list)).body.channels).toEqual([]);
  });
});
