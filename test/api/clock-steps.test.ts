import { expect, test } from "bun:test";
import { ManualClock } from "../support/clock.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { APP_ID, SECRET, startSendApi } from "../support/send.ts";
import { callBySession, createSession, SESSION_ORIGIN } from "../support/sessions.ts";

const GRACE_SECS = 60;

test("setting the machine's clock back does not extend the life of a send secret, API key or session", async () => {
  const stateClock = new ManualClock(DEFAULT_NOW_SECS);
  await using send = await startSendApi({
    compatPrefixes: ["farcaster"],
    settings: [`apps.secret_grace_period_secs=${GRACE_SECS}`, `service.public_url=${SESSION_ORIGIN}`],
    stateClock,
  });
  const { signed } = send;
  const ask = async (path: string, key: string) =>
    (await fetch(`${signed.api.url}${path}`, { headers: { "x-api-key": key } })).status;
  const session = await createSession(signed, 3, { ttl_secs: GRACE_SECS });
  const made = await signed.call({
    method: "POST",
    path: "/api_key",
    body: { name: "Key", scopes: ["read"], expires_at: signed.nowSecs() + GRACE_SECS },
  });
  const rotated = await signed.call({ method: "POST", path: `/frame/app/secret/rotate?app_id=${APP_ID}` });
  expect([made.status, rotated.status]).toEqual([200, 200]);
  const statuses = async () => [
    await ask("/v2/farcaster/frame/notification_tokens/", SECRET),
    await ask("/v2/farcaster/user/bulk/?fids=3", made.body.secret),
    (await callBySession(signed, session, { method: "GET", path: "/frame/app/list" })).status,
  ];
  expect(await statuses()).toEqual([200, 200, 200]);
  // Their time is over. The machine's clock says what it said when they were made.
  stateClock.advanceSecs(GRACE_SECS);
  expect(await statuses()).toEqual([401, 401, 401]);
});
