import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { clientKey, keyAddedEvent } from "../support/envelopes.ts";
import { registerEvent } from "../support/events.ts";
import { CLIENT_A, CLIENT_B, details, type PushApi, startPushApi, USER } from "../support/push.ts";
import { custodyWallet } from "../support/signing.ts";

let push: PushApi;
beforeEach(async () => {
  push = await startPushApi();
});
afterEach(() => push[Symbol.asyncDispose]());

const list = (query: string, fid = 3) =>
  push.signed.call({ method: "GET", path: `/frame/app/tokens?${query}`, fid });

const added = (token: string) => ({ event: "miniapp_added", notificationDetails: details(token) });

test("returns each row to the owner with its state, its client and its last event, and the token truncated", async () => {
  const start = push.signed.nowSecs();
  await push.report(added("0123456789abcdef"), { clientFid: CLIENT_B });
  push.signed.api.node.clock.advanceSecs(5);
  await push.report(added("🎈🎈🎈🎈🎈🎈🎈🎈🎈🎈"));
  await push.report({ event: "notifications_disabled" });
  await push.report({ event: "frame_added" }, { fid: 6 });
  const { status, body } = await list(`app_id=${push.appId}`);
  const url = "https://client.example/notify";
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      tokens: [
        {
          fid: USER,
          client_fid: CLIENT_A,
          state: "disabled",
          url,
          token: "🎈🎈🎈🎈🎈",
          last_event: "notifications_disabled",
          created_at: start + 5,
          updated_at: start + 5,
        },
        {
          fid: USER,
          client_fid: CLIENT_B,
          state: "enabled",
          url,
          token: "01234567",
          last_event: "miniapp_added",
          created_at: start,
          updated_at: start,
        },
        {
          fid: 6,
          client_fid: CLIENT_A,
          state: "no_token",
          url: null,
          token: null,
          last_event: "miniapp_added",
          created_at: start + 5,
          updated_at: start + 5,
        },
      ],
      next: { cursor: null },
    },
  });
});

test("an app without tokens has an empty list", async () => {
  expect((await list(`app_id=${push.appId}`)).body).toEqual({ tokens: [], next: { cursor: null } });
});

test("pages of any size concatenate to the whole list, in the order of fid and client", async () => {
  const { node } = push.signed.api;
  for (let fid = 100; fid < 112; fid += 1) {
    node.ingestEvent(registerEvent(fid, custodyWallet(fid).address, { block: 20_000 + fid }));
    for (const [at, clientFid] of [CLIENT_A, CLIENT_B].entries()) {
      const place = { block: 30_000 + 2 * fid + at };
      node.ingestEvent(
        keyAddedEvent(fid, clientKey(fid, clientFid).publicKey, place, { requestFid: clientFid }),
      );
      await push.report(added(`t${fid}`), { fid, clientFid });
    }
  }
  const whole = (await list(`app_id=${push.appId}&limit=100`)).body.tokens;
  expect(whole).toHaveLength(24);
  for (const limit of [1, 5, 24]) {
    const joined = [];
    let cursor: string | null = null;
    do {
      const more: string = cursor === null ? "" : `&cursor=${cursor}`;
      const { body } = await list(`app_id=${push.appId}&limit=${limit}${more}`);
      joined.push(...body.tokens);
      cursor = body.next.cursor;
    } while (cursor !== null);
    expect(joined).toEqual(whole);
  }
});

describe("responds with", () => {
  test.each([
    ["400 without an app", "", 3, 400, "missing query parameter app_id"],
    ["404 for an unknown app", "app_id=nobody", 3, 404, "no such app"],
    ["400 for a strange cursor", "app_id=APP&cursor=AAAA", 3, 400, "cursor is not one of this endpoint"],
    ["400 for a limit of 0", "app_id=APP&limit=0", 3, 400, "limit must be a positive integer"],
    ["403 for another fid", "app_id=APP", 4, 403, "the app belongs to another fid"],
  ])("%s", async (_, query, fid, status, message) => {
    expect(await list(query.replace("APP", push.appId), fid)).toEqual({ status, body: { message } });
  });

  test("401 without a signature, and 400 if the signature is for another operation", async () => {
    const call = { method: "GET" as const, path: `/frame/app/tokens?app_id=${push.appId}` };
    expect((await push.signed.send(call, {})).status).toBe(401);
    expect((await push.signed.call({ ...call, op: "app.delete" })).status).toBe(400);
  });

  test("404 after the app was deleted", async () => {
    await push.report(added("t"));
    await push.signed.call({ method: "DELETE", path: `/frame/app?app_id=${push.appId}` });
    expect((await list(`app_id=${push.appId}`)).status).toBe(404);
  });
});
