import { expect, test } from "bun:test";
import { startSignedApi, type TestCall } from "../support/signed-api.ts";

/** The query is not signed: a nonce that became valid again would allow the same headers with another query. */

const app = { name: "App", app_url: "https://app.example" };
const create = { method: "POST", path: "/frame/app", body: app } as const;
const usedBefore = { status: 401, body: { message: "nonce was used before" } };

test("rejects headers of a failed request, with the same query or another one", async () => {
  await using signed = await startSignedApi();
  const appId: string = (await signed.call(create)).body.app.app_id;
  const read = (query: string): TestCall => ({ method: "GET", path: `/frame/app${query}` });
  for (const [query, fid, status] of [
    ["", 3, 400],
    ["?app_id=unknown", 3, 404],
    [`?app_id=${appId}`, 4, 403],
  ] as const) {
    const refused = { ...read(query), fid };
    const headers = await signed.sign(refused);
    expect((await signed.send(refused, headers)).status).toBe(status);
    expect(await signed.send(refused, headers)).toEqual(usedBefore);
    expect(await signed.send(read(`?app_id=${appId}`), headers)).toEqual(usedBefore);
  }
});

test("headers of a deletion that found no record do not delete another record", async () => {
  await using signed = await startSignedApi();
  const appId: string = (await signed.call(create)).body.app.app_id;
  const missed = { method: "DELETE", path: "/frame/app?app_id=unknown" } as const;
  const headers = await signed.sign(missed);
  expect((await signed.send(missed, headers)).status).toBe(404);
  expect(await signed.send({ ...missed, path: `/frame/app?app_id=${appId}` }, headers)).toEqual(usedBefore);
  expect(signed.rowCounts().apps).toBe(1);
});

test("a request rejected because of a body, a field or a cap needs a new signature", async () => {
  await using signed = await startSignedApi({ settings: ["apps.max_apps_per_owner=1"] });
  const first = await signed.call(create);
  const attempts = [
    [{ ...create, body: "{" }, 400],
    [{ ...create, body: { ...app, app_url: "http://plain.example" } }, 400],
    [create, 429],
  ] as const;
  const refused: { call: TestCall; headers: Record<string, string> }[] = [];
  for (const [call, status] of attempts) {
    const headers = await signed.sign(call);
    expect((await signed.send(call, headers)).status).toBe(status);
    refused.push({ call, headers });
  }
  await signed.call({ method: "DELETE", path: `/frame/app?app_id=${first.body.app.app_id}` });
  for (const { call, headers } of refused) expect(await signed.send(call, headers)).toEqual(usedBefore);
  expect((await signed.call(create)).status).toBe(200);
});

test("while the state database cannot be written, requests are 503 and have no effect", async () => {
  await using signed = await startSignedApi();
  signed.api.state.sqlite.exec("PRAGMA query_only = ON");
  const call = { method: "GET", path: "/frame/app/list" } as const;
  expect(await signed.call(call)).toEqual({
    status: 503,
    body: { message: expect.stringContaining("the request was not carried out") },
  });
  signed.api.state.sqlite.exec("PRAGMA query_only = OFF");
  expect((await signed.call(call)).status).toBe(200);
});
