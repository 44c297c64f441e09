import { afterAll, beforeEach, expect, test } from "bun:test";
import { transferEvent } from "../support/events.ts";
import { startSignedApi } from "../support/signed-api.ts";
import { custodyWallet } from "../support/signing.ts";

const signed = await startSignedApi({ compatPrefixes: ["farcaster"], fids: [3, 4, 5] });
const clock = signed.api.node.clock;
beforeEach(() => {
  for (const table of ["api_keys", "secrets", "apps"]) signed.api.state.sqlite.run(`DELETE FROM ${table}`);
});
afterAll(() => signed[Symbol.asyncDispose]());

const path = "/api_key";
const fields = { name: "backend", scopes: ["read", "write"] };
const create = (body: object = fields, fid = 3) => signed.call({ method: "POST", path, body, fid });
const update = (body: object, fid = 3) => signed.call({ method: "PUT", path, body, fid });
const rotate = (body: object, fid = 3) =>
  signed.call({ method: "POST", path: `${path}/secret/rotate`, body, fid });
const remove = (id: string, fid = 3) =>
  signed.call({ method: "DELETE", path: `${path}?api_key_id=${id}`, fid });
const get = (id: string, fid = 3) => signed.call({ method: "GET", path: `${path}?api_key_id=${id}`, fid });
const list = async (fid = 3) =>
  (await signed.call({ method: "GET", path: `${path}/list`, fid })).body.api_keys;

async function created(body: object = fields, fid = 3) {
  const response = await create(body, fid);
  expect(response.status).toBe(200);
  return response.body as { api_key: { api_key_id: string; prefix: string }; secret: string };
}

/** The status of a read in the compat dialect with a key. */
async function readWith(key: string): Promise<number> {
  const headers = { "x-api-key": key };
  return (await fetch(`${signed.api.url}/v2/farcaster/user/bulk/?fids=3`, { headers })).status;
}

test("a new key has every field, and its text is in this response only and nowhere in the database", async () => {
  const now = signed.nowSecs();
  const { api_key: key, secret } = await created();
  expect(key).toEqual({
    object: "api_key",
    api_key_id: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{16}$/),
    owner_fid: 3,
    name: "backend",
    description: null,
    prefix: expect.stringMatching(/^svc_[1-9A-HJ-NP-Za-km-z]{8}$/),
    scopes: ["read", "write"],
    app_id: null,
    active: true,
    inactive_reason: null,
    units_per_minute: 60_000,
    writes_per_minute: 120,
    created_at: now,
    updated_at: now,
    expires_at: null,
    last_used_at: null,
    secrets: [{ uid: expect.stringMatching(/^[0-9a-f-]{36}$/), created_at: now, expires_at: null }],
  } as never);
  expect(secret).toMatch(/^svc_[1-9A-HJ-NP-Za-km-z]{8}_[1-9A-HJ-NP-Za-km-z]{44}$/);
  expect(secret.startsWith(`${key.prefix}_`)).toBe(true);
  expect(await list()).toEqual([key]);
  expect((await get(key.api_key_id)).body).toEqual({ api_key: key });
  const { sqlite } = signed.api.state;
  const stored = JSON.stringify(
    ["api_keys", "secrets"].map((table) => sqlite.query(`SELECT * FROM ${table}`).all()),
  );
  expect(stored).not.toContain(secret);
  expect(stored).not.toContain(secret.slice(-44));
  expect(await readWith(secret)).toBe(200);
});

test("a creation ignores `active`, which only an update sets", async () => {
  const { api_key: key } = await created({ ...fields, active: "no" });
  expect(key).toMatchObject({ active: true, inactive_reason: null });
});

test("copies of one signed request make one key, and an owner has at most 25", async () => {
  const call = { method: "POST", path, body: fields } as const;
  const headers = await signed.sign(call);
  const copies = await Promise.all(Array.from({ length: 8 }, () => signed.send(call, headers)));
  expect(copies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
  const more = await Promise.all(Array.from({ length: 25 }, () => create()));
  expect(more.filter(({ status }) => status === 429)).toEqual([
    { status: 429, body: { message: "an fid may own at most 25 API keys" } },
  ]);
  expect(await list()).toHaveLength(25);
});

test.each([
  ["missing field scopes", { name: "x" }],
  [
    "scopes must be a list of at least one of read, write, signers, webhooks, apps, push, moderate",
    { name: "x", scopes: [] },
  ],
  [
    "scopes must be a list of at least one of read, write, signers, webhooks, apps, push, moderate",
    { name: "x", scopes: ["all"] },
  ],
  ["scopes must not name an entry twice", { name: "x", scopes: ["read", "read"] }],
  ["name must have 1 to 128 characters", { name: "", scopes: ["read"] }],
  ["expires_at must be in the future", { ...fields, expires_at: 1 }],
  ["units_per_minute must be at most 60000", { ...fields, units_per_minute: 60_001 }],
  ["writes_per_minute must be at most 120", { ...fields, writes_per_minute: 121 }],
  ["units_per_minute must be a whole number of at least 1, or null", { ...fields, units_per_minute: 0 }],
  ["app_id is no mini app of the fid", { ...fields, app_id: "ofAnotherFid1111" }],
])("refuses a key: %s", async (message, body) => {
  expect(await create(body)).toEqual({ status: 400, body: { message } });
});

test("an update changes only the given fields, and only for the owner", async () => {
  const { api_key: key } = await created();
  const { api_key_id } = key;
  clock.advanceSecs(5);
  const changed = await update({ api_key_id, scopes: ["push"], units_per_minute: 7, expires_at: null });
  expect(changed.body.api_key).toEqual({
    ...key,
    scopes: ["push"],
    units_per_minute: 7,
    updated_at: signed.nowSecs(),
  });
  expect((await update({ api_key_id, name: "theirs" }, 4)).status).toBe(403);
  expect((await get(api_key_id, 4)).status).toBe(403);
  expect((await remove(api_key_id, 4)).status).toBe(403);
  expect((await rotate({ api_key_id }, 4)).status).toBe(403);
  expect((await rotate({ api_key_id: "nobodysKey111111" })).status).toBe(404);
});

test("the next request with a deleted, deactivated or expired key is refused, and one with a reactivated key is not", async () => {
  const { api_key, secret } = await created();
  const { api_key_id } = api_key;
  expect(await readWith(secret)).toBe(200);
  expect((await update({ api_key_id, active: false })).body.api_key).toMatchObject({
    active: false,
    inactive_reason: "deactivated",
  });
  expect(await readWith(secret)).toBe(401);
  await update({ api_key_id, active: true, expires_at: signed.nowSecs() + 5 });
  expect(await readWith(secret)).toBe(200);
  expect((await remove(api_key_id)).body).toEqual({ deleted: true });
  expect(await readWith(secret)).toBe(401);
  const brief = await created({ ...fields, expires_at: signed.nowSecs() + 5 });
  clock.advanceSecs(5);
  expect(await readWith(brief.secret)).toBe(401);
});

test("a rotation without grace ends all earlier secrets at once; with grace they last until it ends", async () => {
  const { api_key, secret: first } = await created();
  const { api_key_id } = api_key;
  const second = (await rotate({ api_key_id, grace_secs: 100 })).body;
  expect(second.api_key.secrets).toHaveLength(2);
  expect([await readWith(first), await readWith(second.secret)]).toEqual([200, 200]);
  const third = (await rotate({ api_key_id, grace_secs: 0 })).body;
  expect([await readWith(first), await readWith(second.secret), await readWith(third.secret)]).toEqual([
    401, 401, 200,
  ]);
  const fourth = (await rotate({ api_key_id, grace_secs: 50 })).body;
  clock.advanceSecs(50);
  await update({ api_key_id, name: "clears what is known" });
  expect([await readWith(third.secret), await readWith(fourth.secret)]).toEqual([401, 200]);
  expect((await rotate({ api_key_id, grace_secs: 86_401 })).body).toEqual({
    message: "grace_secs must be at most 86400",
  });
});

test("a key stops with a transfer of its owner's fid, until the new custody address activates it", async () => {
  const { api_key, secret } = await created(fields, 5);
  const { api_key_id } = api_key;
  const [before, after] = [custodyWallet(5), custodyWallet(105)];
  signed.api.node.ingestEvent(transferEvent(5, before.address, after.address, { block: 2000 }));
  expect(await readWith(secret)).toBe(401);
  const byNew = { fid: 5, wallet: after };
  const listed = await signed.call({ method: "GET", path: `${path}/list`, ...byNew });
  expect(listed.body.api_keys[0]).toMatchObject({ active: false, inactive_reason: "custody changed" });
  await signed.call({ method: "PUT", path, body: { api_key_id, name: "still not" }, ...byNew });
  expect(await readWith(secret)).toBe(401);
  await signed.call({ method: "PUT", path, body: { api_key_id, active: true }, ...byNew });
  expect(await readWith(secret)).toBe(200);
});

test("the owner's audit log names each change of a key, refused ones too, and who asked for it", async () => {
  const { api_key } = await created(fields, 4);
  const id = api_key.api_key_id;
  const body = { api_key_id: id };
  const change = (method: "POST" | "PUT" | "DELETE", below: string, more: object = {}) =>
    signed.call({ method, path: path + below, body: { ...body, ...more }, fid: 4 });
  expect((await change("PUT", "", { name: "renamed" })).status).toBe(200);
  expect((await change("POST", "/secret/rotate")).status).toBe(200);
  expect((await change("PUT", "", { units_per_minute: 0 })).status).toBe(400);
  expect((await change("DELETE", "")).status).toBe(200);
  const foreign = { api_key_id: (await created(fields, 3)).api_key.api_key_id };
  expect((await signed.call({ method: "DELETE", path, body: foreign, fid: 4 })).status).toBe(403);
  expect((await signed.call({ method: "POST", path, body: { name: 1 }, fid: 4 })).status).toBe(400);
  const { entries } = (await signed.call({ method: "GET", path: "/audit", fid: 4 })).body;
  const ofKey = entries.filter((entry: { api_key_id: string }) => entry.api_key_id === id);
  const shown = ({ action, outcome }: { action: string; outcome: string }) => `${action} ${outcome}`;
  expect(ofKey.map(shown)).toEqual([
    "api_key.delete ok",
    "api_key.update bad_request",
    "api_key.rotate_secret ok",
    "api_key.update ok",
    "api_key.create ok",
  ]);
  expect(entries.slice(0, 2)).toMatchObject([
    { action: "api_key.create", outcome: "bad_request", api_key_id: null },
    { action: "api_key.delete", outcome: "forbidden", ...foreign },
  ]);
  expect(ofKey[0]).toMatchObject({ outcome: "ok", address: "127.0.0.1", signer_uuid: null });
  expect(ofKey[0].request_id).not.toBe("");
});
