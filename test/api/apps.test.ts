import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { namedByMessage } from "../support/case-name.ts";
import { type ApiResponse, type SignedApi, startSignedApi, type TestCall } from "../support/signed-api.ts";

let signed: SignedApi;
beforeEach(async () => {
  signed = await startSignedApi();
});
afterEach(() => signed[Symbol.asyncDispose]());

const path = "/frame/app";
const fields = { name: "App", app_url: "https://app.example/mini" };

const create = (body: object = fields, fid = 3) => signed.call({ method: "POST", path, body, fid });
const get = (id: string, fid = 3) => signed.call({ method: "GET", path: `${path}?app_id=${id}`, fid });
const update = (body: object, fid = 3) => signed.call({ method: "PUT", path, body, fid });
const list = async (fid = 3) => (await signed.call({ method: "GET", path: `${path}/list`, fid })).body.apps;
const rotate = (id: string, fid = 3) =>
  signed.call({ method: "POST", path: `${path}/secret/rotate?app_id=${id}`, fid });
const remove = (id: string, fid = 3) => signed.call({ method: "DELETE", path: `${path}?app_id=${id}`, fid });

async function created(body: object = fields, fid = 3): Promise<ApiResponse["body"]> {
  const { status, body: response } = await create(body, fid);
  expect(status).toBe(200);
  return response.app;
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

const secret = (now: number, expires_at: number | null = null) => ({
  uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
  value: expect.stringMatching(/^[0-9a-f]{64}$/),
  standard_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{86}==$/),
  expires_at,
  created_at: now,
});

test("a new app's record has every field, in this order, and its first secret", async () => {
  const now = signed.nowSecs();
  const app = await created();
  expect(Object.keys(app)).toEqual([
    "app_id",
    "owner_fid",
    "name",
    "app_url",
    "description",
    "signer_fid_allowlist",
    "send_secrets",
    "created_at",
    "updated_at",
  ]);
  expect(app).toEqual({
    app_id: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{16}$/),
    owner_fid: 3,
    ...fields,
    description: null,
    signer_fid_allowlist: [],
    send_secrets: [secret(now)],
    created_at: now,
    updated_at: now,
  });
  expect(await get(app.app_id)).toEqual({ status: 200, body: { app } });
});

test("stores every provided field unchanged", async () => {
  const provided = {
    name: "🎈".repeat(128),
    app_url: "https://App.Example:8443/Mini?x=1#y",
    description: "Zeile\n\t<b>&amp;",
    signer_fid_allowlist: [9152, 9152, 0, Number.MAX_SAFE_INTEGER],
  };
  expect(await created({ ...provided, ignored: true, owner_fid: 4 })).toMatchObject({
    ...provided,
    owner_fid: 3,
  });
  expect(await created({ ...fields, description: null })).toMatchObject({ description: null });
});

describe("a creation is 400 with the message", () => {
  test.each(
    namedByMessage<unknown>([
      [[], "request body must be an object"],
      [null, "request body must be an object"],
      ["text", "request body must be an object"],
      [{ app_url: fields.app_url }, "missing field name"],
      [{ name: "App" }, "missing field app_url"],
      [{ ...fields, name: "" }, "name must have 1 to 128 characters"],
      [{ ...fields, name: "x".repeat(129) }, "name must have 1 to 128 characters"],
      [{ ...fields, name: null }, "name must be a string"],
      [{ ...fields, description: 1 }, "description must be a string"],
      [{ ...fields, description: "x".repeat(10_001) }, "description must have at most 10000 characters"],
      [{ ...fields, app_url: 1 }, "app_url must be a string"],
      [{ ...fields, app_url: "" }, "app_url must be an absolute https URL"],
      [
        { ...fields, app_url: "https://app.example/\u202egpj" },
        "app_url must not contain control characters or invisible ones",
      ],
      [{ ...fields, app_url: "http://app.example" }, "app_url must use https"],
      [{ ...fields, app_url: "https://u:p@app.example" }, "app_url must not contain credentials"],
      [
        { ...fields, app_url: "https://127.0.0.1/" },
        "app_url must not point to an address that is not public",
      ],
      [
        { ...fields, app_url: "https://internal.example/" },
        "app_url must have a host that resolves to public addresses only",
      ],
      [{ ...fields, signer_fid_allowlist: null }, "signer_fid_allowlist must be an array"],
      [
        { ...fields, signer_fid_allowlist: Array(1025).fill(1) },
        "signer_fid_allowlist must have at most 1024 entries",
      ],
      [
        { ...fields, signer_fid_allowlist: ["3"] },
        "every entry of signer_fid_allowlist must be an integer from 0 to 9007199254740991",
      ],
    ]),
  )("%s", async (_name, body, message) => {
    await expectRefused({ method: "POST", path, body: JSON.stringify(body) }, 400, message);
  });

  test("413 for a body above 32 KB, and accepts one of 32 KB", async () => {
    const body = (bytes: number) => JSON.stringify(fields).padEnd(bytes);
    expect((await signed.call({ method: "POST", path, body: body(32_768) })).status).toBe(200);
    expect((await signed.call({ method: "POST", path, body: body(32_769) })).status).toBe(413);
  });
});

test("accepts an allowlist of 1024 entries", async () => {
  const signer_fid_allowlist = Array.from({ length: 1024 }, (_, n) => n);
  expect((await created({ ...fields, signer_fid_allowlist })).signer_fid_allowlist).toEqual(
    signer_fid_allowlist,
  );
});

test("a list is complete, oldest first, and contains only records of the signing fid", async () => {
  const apps = [];
  for (let n = 0; n < 12; n += 1) apps.push(await created({ ...fields, name: `App ${n}` }));
  const other = await created(fields, 4);
  expect(await list()).toEqual(apps);
  expect(await list(4)).toEqual([other]);
});

test("a lowered cap hides no record, and counts only existing ones", async () => {
  await using small = await startSignedApi({ settings: ["apps.max_apps_per_owner=2"] });
  const call = { method: "POST", path, body: fields } as const;
  const first = await small.call(call);
  await small.call(call);
  const message = "an fid may own at most 2 apps";
  expect(await small.call(call)).toEqual({ status: 429, body: { message } });
  expect((await small.call({ ...call, fid: 4 })).status).toBe(200);
  await small.call({ method: "DELETE", path: `${path}?app_id=${first.body.app.app_id}` });
  expect((await small.call(call)).status).toBe(200);
});

test("the 26th app is 429, also with 40 concurrent creations at 20 existing: exactly 25 remain", async () => {
  for (let n = 0; n < 20; n += 1) await created();
  const responses = await Promise.all(Array.from({ length: 40 }, () => create()));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(35);
  expect(await list()).toHaveLength(25);
  expect(signed.rowCounts()).toMatchObject({ apps: 25, secrets: 25 });
});

describe("an update", () => {
  test("changes the provided fields and the time of the change", async () => {
    const app = await created({ ...fields, description: "Old", signer_fid_allowlist: [1, 2] });
    signed.api.node.clock.advanceSecs(5);
    const updated_at = signed.nowSecs();
    const steps = [
      { name: "New" },
      { app_url: "https://new.example" },
      { description: "New" },
      { signer_fid_allowlist: [3] },
      { signer_fid_allowlist: [], description: null },
      { description: "", name: "Newer" },
      {},
    ];
    let expected = { ...app, updated_at };
    for (const step of steps) {
      expected = { ...expected, ...step };
      const response = await update({ app_id: app.app_id, ...step, owner_fid: 4, send_secrets: [] });
      expect(response).toEqual({ status: 200, body: { app: expected } });
    }
    expect(await list()).toEqual([expected]);
  });

  test("reports an unknown app before an invalid field, and a foreign owner too", async () => {
    const { app_id } = await created();
    const call = (body: object, fid = 3) => ({ method: "PUT", path, body, fid }) as const;
    await expectRefused(call({ name: "" }), 400, "missing field app_id");
    await expectRefused(call({ app_id: 1, name: "" }), 400, "missing field app_id");
    await expectRefused(call({ app_id: "unknown", name: "" }), 404, "no such app");
    await expectRefused(call({ app_id, name: "" }, 4), 403, "the app belongs to another fid");
    await expectRefused(call({ app_id, name: "" }), 400, "name must have 1 to 128 characters");
    await expectRefused(call({ app_id, name: null }), 400, "name must be a string");
    await expectRefused(
      call({ app_id, name: "New", app_url: "https://internal.example" }),
      400,
      "app_url must have a host that resolves to public addresses only",
    );
  });

  test("does not undo a concurrent rotation", async () => {
    const { app_id } = await created();
    await Promise.all([
      ...Array.from({ length: 5 }, () => update({ app_id, app_url: "https://slow.example" })),
      ...Array.from({ length: 5 }, () => rotate(app_id)),
    ]);
    const { app } = (await get(app_id)).body;
    expect(app.send_secrets).toHaveLength(6);
    expect(app.app_url).toBe("https://slow.example");
  });
});

describe("a rotation", () => {
  test("adds a secret; the others remain valid for the grace period; expired ones are removed from the record", async () => {
    const { clock } = signed.api.node;
    const first = signed.nowSecs();
    const { app_id, send_secrets } = await created();
    clock.advanceSecs(1000);
    const second = signed.nowSecs();
    const rotated = (await rotate(app_id)).body.app;
    expect(rotated.send_secrets).toEqual([secret(first, second + 86_400), secret(second)]);
    expect(rotated.send_secrets[0].value).toBe(send_secrets[0].value);
    expect(rotated.updated_at).toBe(second);
    clock.advanceSecs(1000);
    const third = signed.nowSecs();
    const twice = (await rotate(app_id)).body.app;
    expect(twice.send_secrets).toEqual([
      secret(first, second + 86_400),
      secret(second, third + 86_400),
      secret(third),
    ]);
    clock.advanceSecs(85_399);
    expect((await get(app_id)).body.app.send_secrets).toHaveLength(3);
    clock.advanceSecs(1);
    expect((await get(app_id)).body.app.send_secrets).toEqual(twice.send_secrets.slice(1));
    clock.advanceSecs(1000);
    expect((await list())[0].send_secrets).toEqual(twice.send_secrets.slice(2));
  });

  test("is rejected at a hundred unexpired secrets", async () => {
    const { app_id } = await created();
    for (let n = 1; n < 100; n += 1) expect((await rotate(app_id)).status).toBe(200);
    const call = { method: "POST", path: `${path}/secret/rotate?app_id=${app_id}` } as const;
    await expectRefused(call, 429, "the app has too many unexpired secrets");
  });
});

describe("a deletion", () => {
  test("accepts the id in the query or in a body, and leaves no rows", async () => {
    const apps = [await created(), await created(), await created()];
    const [a, b, c] = apps.map(({ app_id }) => app_id);
    const deleted = { status: 200, body: { deleted: true } };
    expect(await remove(a)).toEqual(deleted);
    expect(await signed.call({ method: "DELETE", path, body: { app_id: b } })).toEqual(deleted);
    const both = { method: "DELETE", path: `${path}?app_id=${c}`, body: { app_id: c } } as const;
    expect(await signed.call(both)).toEqual(deleted);
    expect(await get(a)).toEqual({ status: 404, body: { message: "no such app" } });
    expect(signed.rowCounts()).toMatchObject({ apps: 0, secrets: 0 });
  });

  test("is 400 without an id, with two, or with a body that is not an object", async () => {
    const { app_id } = await created();
    const call = (query: string, body?: string) =>
      ({ method: "DELETE", path: path + query, ...(body === undefined ? {} : { body }) }) as const;
    await expectRefused(call(""), 400, "missing query parameter app_id");
    await expectRefused(call("", "{}"), 400, "missing query parameter app_id");
    await expectRefused(call("", '{"app_id":1}'), 400, "app_id must be a string");
    await expectRefused(call("", '{"app_id":""}'), 400, "missing query parameter app_id");
    await expectRefused(
      call(`?app_id=${app_id}`, '{"app_id":"x"}'),
      400,
      "app_id differs between query and body",
    );
    await expectRefused(
      call(`?app_id=${app_id}`, "{"),
      400,
      "request body is not valid JSON: it ends at line 1, column 2",
    );
    await expectRefused(call(`?app_id=${app_id}`, "[]"), 400, "request body must be an object");
    await expectRefused(call(`?app_id=${app_id}&app_id=x`), 400, "query parameter app_id must be given once");
  });
});

test("every operation on a foreign app is 403 and on an unknown app 404", async () => {
  const { app_id } = await created();
  for (const [method, under] of [
    ["GET", path],
    ["DELETE", path],
    ["POST", `${path}/secret/rotate`],
  ] as const) {
    const call = (id: string, fid: number) => ({ method, path: `${under}?app_id=${id}`, fid });
    await expectRefused(call(app_id, 4), 403, "the app belongs to another fid");
    await expectRefused(call("unknown", 3), 404, "no such app");
    await expectRefused({ method, path: under }, 400, "missing query parameter app_id");
  }
});
