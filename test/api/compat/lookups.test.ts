import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { encodeBase58 } from "../../../src/lib/base58.ts";
import { UserDataType } from "../../../src/protocol/wire/generated/message.ts";
import { RADIUS_KM, usersNearLocation } from "../../../src/read/queries/users/near-location.ts";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { signerEvent } from "../../support/events.ts";
import { createGraph, type Graph } from "../../support/graph.ts";
import { makeSigner, makeWallet } from "../../support/messages.ts";
import { accountSigner } from "../../support/node.ts";
import { readAllPages } from "../../support/read-all-pages.ts";

let api: TestApi;
let graph: Graph;

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  graph = createGraph(api.node);
  for (const fid of [1, 2, 3]) graph.account(fid);
  for (const fid of [2, 1]) graph.userData(fid, UserDataType.USER_DATA_TYPE_TWITTER, "samename");
});

afterAll(() => api[Symbol.asyncDispose]());

const get = async (path: string) => {
  const { status, body } = await api.get(`/v2/farcaster${path}`);
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  return { status, body: body as any };
};
const fidsOf = (users: readonly { fid: number }[]) => users.map(({ fid }) => fid);

test("users by address are a map, by custody, verification or both, of either chain", async () => {
  const custody = `0x${Buffer.from(makeWallet("custody 1").address).toString("hex")}`;
  const verified = `0x${"cd".repeat(20)}`;
  const solana = Buffer.alloc(32, 9);
  const insert = api.node.db.sqlite.prepare(
    "INSERT INTO verifications (fid, address, protocol, timestamp) VALUES (?, ?, ?, 1)",
  );
  insert.run(2, Buffer.from(verified.slice(2), "hex"), 0);
  insert.run(3, Buffer.from(verified.slice(2), "hex"), 0);
  insert.run(3, Buffer.from(custody.slice(2), "hex"), 0);
  insert.run(1, solana, 1);
  const sol = encodeBase58(solana);
  const ask = async (types: string) => {
    const requested = [custody.toUpperCase().replace("X", "x"), verified, sol, `0x${"0".repeat(40)}`];
    const { body } = await get(`/user/bulk-by-address?addresses=${requested}${types}`);
    return Object.fromEntries(
      Object.entries(body as Record<string, { fid: number }[]>).map(([key, users]) => [key, fidsOf(users)]),
    );
  };
  expect(await ask("")).toEqual({ [custody]: [1, 3], [verified]: [2, 3], [sol]: [1] });
  expect(await ask("&address_types=custody_address")).toEqual({ [custody]: [1] });
  expect(await ask("&address_types=verified_address")).toEqual({
    [custody]: [3],
    [verified]: [2, 3],
    [sol]: [1],
  });
  expect((await get("/user/bulk-by-address?addresses=nonsense")).status).toBe(400);
});

test("users by X name contain all matches, under both parameter names", async () => {
  for (const name of ["x_username", "username"]) {
    const { body } = await get(`/user/by_x_username?${name}=SameName`);
    expect(Object.keys(body)).toEqual(["users"]);
    expect(fidsOf(body.users)).toEqual([1, 2]);
  }
  expect((await get("/user/by_x_username?x_username=nobody")).status).toBe(404);
  expect((await get("/user/by_x_username")).body.message).toContain("x_username");
});

describe("users near a location", () => {
  const place = (fid: number, latitude: string, longitude: string) =>
    api.node.db.sqlite
      .prepare(
        "INSERT OR REPLACE INTO user_data (fid, type, value, timestamp, envelope_id) VALUES (?, ?, ?, 0, 0)",
      )
      .run(fid, UserDataType.USER_DATA_TYPE_LOCATION, `geo:${latitude},${longitude}`);

  test("are nearest first, also across the date line, in pages that concatenate", async () => {
    place(1, "0.00", "179.90");
    place(2, "-0.00", "-179.95");
    place(3, "0.10", "180.00");
    const found = await readAllPages<{ fid: number }>(
      api,
      "/v2/farcaster/user/by_location?latitude=0&longitude=-179.99",
      "users",
      1,
    );
    expect(fidsOf(found)).toEqual([2, 3, 1]);
    expect(fidsOf((await get("/user/by_location?latitude=0&longitude=0")).body.users)).toEqual([]);
    expect(fidsOf((await get("/user/by_location?location=geo:0.1")).body.users)).toEqual([3]);
  });

  test("match the great-circle distance everywhere", () => {
    const km = (a: { lat: number; lon: number }, b: { lat: number; lon: number }) => {
      const [p, q] = [a, b].map(({ lat, lon }) => [(lat * Math.PI) / 180, (lon * Math.PI) / 180] as const);
      if (!p || !q) throw new Error("two places");
      const cosine =
        Math.sin(p[0]) * Math.sin(q[0]) + Math.cos(p[0]) * Math.cos(q[0]) * Math.cos(p[1] - q[1]);
      return 6371.01 * Math.acos(Math.min(1, Math.max(-1, cosine)));
    };
    const hundredths = (max: number) => fc.integer({ min: -max * 100, max: max * 100 }).map((n) => n / 100);
    const near = fc.integer({ min: -60, max: 60 }).map((n) => n / 100);
    fc.assert(
      fc.property(
        hundredths(90),
        hundredths(180),
        fc.array(fc.tuple(near, near), { minLength: 1, maxLength: 3 }),
        (lat, lon, offsets) => {
          const places = offsets.map(([north, east], n) => {
            const latitude = Math.max(-90, Math.min(90, lat + north));
            const longitude = ((lon + east * 3 + 540) % 360) - 180;
            place(n + 1, latitude.toFixed(2), longitude.toFixed(2));
            return { fid: n + 1, lat: Number(latitude.toFixed(2)), lon: Number(longitude.toFixed(2)) };
          });
          const { rows } = usersNearLocation(api.node.db, {
            place: { latitude: lat, longitude: lon },
            limit: 100,
            after: undefined,
          });
          const found = new Set(rows.map(({ fid }) => fid));
          for (const { fid, ...there } of places) {
            const distance = km({ lat, lon }, there);
            // Both formulas round; a location this close to the edge may be on either side.
            if (Math.abs(distance - RADIUS_KM) < 0.1) continue;
            expect({ lat, lon, there, found: found.has(fid) }).toEqual({
              lat,
              lon,
              there,
              found: distance < RADIUS_KM,
            });
          }
          api.node.db.sqlite.exec("DELETE FROM user_data WHERE type = 7");
        },
      ),
      { numRuns: 150 },
    );
  });

  test("require valid coordinates", async () => {
    for (const query of ["", "latitude=1", "latitude=91&longitude=0", "latitude=x&longitude=0"])
      expect((await get(`/user/by_location?${query}`)).status).toBe(400);
  });
});

describe("features that require a vendor's state", () => {
  test("a developer-managed signer is the key registry's data about its key", async () => {
    const key = `0x${accountSigner(2).publicKey.toHex()}`;
    expect((await get(`/signer/developer_managed?public_key=${key}`)).body).toEqual({
      public_key: key,
      status: "approved",
      fid: 2,
    });
    const other = makeSigner("soon revoked").publicKey;
    api.node.ingestEvent(signerEvent(3, other, { block: 900_001 }));
    api.node.ingestEvent(signerEvent(3, other, { block: 900_002 }, "remove"));
    expect((await get(`/signer/developer_managed?public_key=0x${other.toHex()}`)).body).toMatchObject({
      status: "revoked",
      fid: 3,
    });
    const unknown = makeSigner("nobody's").publicKey.toHex();
    expect((await get(`/signer/developer_managed?public_key=0x${unknown}`)).status).toBe(404);
    expect((await get("/signer/developer_managed?public_key=0x12")).status).toBe(400);
  });

  test("managed signers need a key and new fids are rejected; the registry's events and all fids are served", async () => {
    for (const path of ["/signer?signer_uuid=x", "/signer/list?message=m&signature=s"]) {
      const { status, body } = await get(path);
      expect({ path, status }).toEqual({ path, status: 401 });
      expect(body.message).toEqual(expect.any(String));
    }
    expect((await get("/signer/list?fid=2")).body.events).toHaveLength(1);
    const url = `${api.url}/v2/farcaster/user/fid`;
    const fresh = await fetch(url, { headers: { "x-wallet-id": "w" } });
    expect({ status: fresh.status, body: await fresh.json() }).toEqual({
      status: 501,
      body: { message: expect.any(String) },
    });
    expect((await get("/user/fid")).body.fids).toEqual([1, 2, 3]);
  });
});
