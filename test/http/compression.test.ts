import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { Elysia } from "elysia";
import fc from "fast-check";
import { createChooseCoding } from "../../src/http/response/content-coding.ts";
import { ResponseCache } from "../../src/http/response/response-cache.ts";
import { type RunningHttp, runHttp } from "../support/http.ts";

const decoders = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
} as const;

const rows = Array.from({ length: 200 }, (_, n) => ({ n, text: `row ${n * 7919} of many` }));

let http: RunningHttp;
let cache: ResponseCache;
beforeAll(() => {
  const clock = { nowMs: () => 1_700_000_000_000 };
  cache = new ResponseCache({ index: { dataVersion: () => 1 }, clock });
  const shared: object = { cache: "shared" };
  const revalidate: object = { cache: "revalidate" };
  const routes = new Elysia({ name: "compressed" })
    .get("/cached", () => rows, shared)
    .get("/made", () => rows, revalidate)
    .get("/small", () => ({ text: "x".repeat(900) }), shared)
    .get("/secret", () => rows)
    .post("/written", () => rows);
  http = runHttp({ plugins: [routes], clock, cache, http: { cors_origins: ["https://app.example"] } });
});
afterAll(() => http[Symbol.asyncDispose]());

const get = (path: string, acceptEncoding?: string, init: RequestInit = {}) =>
  fetch(path.startsWith("http") ? path : http.api(path), {
    ...init,
    decompress: false,
    headers: {
      // fetch sends its own list unless the header is set.
      "accept-encoding": acceptEncoding ?? "identity",
      ...init.headers,
    },
  });

async function decoded(response: Response): Promise<unknown> {
  const coding = response.headers.get("content-encoding") as keyof typeof decoders | null;
  const bytes = await response.bytes();
  return JSON.parse((coding === null ? Buffer.from(bytes) : decoders[coding](bytes)).toString());
}

const choices: [acceptEncoding: string, coding: string | undefined][] = [
  ["", undefined],
  ["identity", undefined],
  ["deflate, compress", undefined],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["GZIP;Q=0.3", "gzip"],
  ["br", "br"],
  ["zstd", "zstd"],
  ["gzip, deflate, br, zstd", "zstd"],
  ["gzip, deflate, br", "br"],
  ["gzip;q=1.0, br;q=0.9, *;q=0.1", "gzip"],
  ["gzip ; q=0.5 , br ; q=0.5", "br"],
  ["zstd;q=0, br;q=0, gzip", "gzip"],
  ["*", "zstd"],
  ["*;q=0.5, zstd;q=0", "br"],
  ["*;q=0", undefined],
  ["identity;q=0", undefined],
  ["identity;q=0, *;q=0", undefined],
  ["identity;q=0, gzip", "gzip"],
  ["identity, gzip;q=0.5", undefined],
  ["identity;q=0.5, gzip;q=0.5", "gzip"],
  ["gzip;q=0", undefined],
  ["gzip;q=0.000", undefined],
  ["gzip;q=2, br;q=x", undefined],
  ["gzip;q=", undefined],
  [",,;;q=1,", undefined],
];

test("chooses the coding with the highest weight, then the densest, then none", () => {
  const choose = createChooseCoding();
  for (const round of [1, 2]) {
    for (const [header, coding] of choices)
      expect([round, header, choose(header)]).toEqual([round, header, coding]);
  }
  expect(choose(null)).toBeUndefined();
});

test("accepts any header and never chooses a refused coding", () => {
  const name = fc.constantFrom("gzip", "br", "zstd", "identity", "*", "deflate", "");
  const weight = fc.constantFrom("", ";q=0", ";q=0.5", ";q=1", ";q=9", "; q=0.1 ", ";v=1;q=0.2");
  const item = fc.tuple(name, weight).map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(item).map((items) => items.join(",")),
      ),
      (header) => {
        const coding = createChooseCoding()(header);
        expect([undefined, "zstd", "br", "gzip"]).toContain(coding);
        if (coding !== undefined)
          expect(header.toLowerCase().includes(coding) || header.includes("*")).toBe(true);
      },
    ),
  );
});

describe.each(["/cached", "/made"])("a read at %s", (path) => {
  test("is the same JSON with the same ETag in every coding", async () => {
    const plain = await get(path);
    expect(plain.headers.get("content-encoding")).toBeNull();
    const etag = plain.headers.get("etag");
    const plainBytes = (await plain.bytes()).byteLength;
    for (const coding of ["zstd", "br", "gzip", "zstd", "br", "gzip", "zstd"]) {
      const response = await get(path, coding);
      const { headers } = response;
      expect(headers.get("content-encoding")).toBe(coding);
      expect(headers.get("etag")).toBe(etag);
      expect(headers.get("content-type")).toBe("application/json");
      expect(headers.get("vary")?.split(/, ?/).toSorted()).toEqual(["accept-encoding", "origin"]);
      expect(Number(headers.get("content-length"))).toBeLessThan(plainBytes / 3);
      expect(await decoded(response)).toEqual(rows);
    }
  });

  test("has a matching HEAD and 304, and ignores ranges", async () => {
    const full = await get(path, "gzip");
    const head = await get(path, "gzip", { method: "HEAD" });
    const comparable = ({ headers }: Response) =>
      Object.fromEntries([...headers].filter(([name]) => name !== "x-request-id" && name !== "date"));
    expect(comparable(head)).toEqual(comparable(full));
    const etag = full.headers.get("etag") ?? "";
    for (const accepted of ["gzip", "identity"]) {
      const unchanged = await get(path, accepted, { headers: { "if-none-match": etag } });
      expect(unchanged.status).toBe(304);
      expect(unchanged.headers.get("content-encoding")).toBeNull();
      expect(unchanged.headers.get("vary")).toContain("accept-encoding");
    }
    const ranged = await get(path, "gzip", { headers: { range: "bytes=0-9" } });
    expect([ranged.status, await decoded(ranged)]).toEqual([200, rows]);
  });
});

test("does not compress small bodies, errors, writes and no-store responses", async () => {
  const responses = [
    await get("/small", "gzip"),
    await get("/small", "gzip"),
    await get("/secret", "gzip"),
    await get("/written", "gzip", { method: "POST" }),
    await get("/nowhere", "gzip"),
    await get(`${http.url}/metrics`, "gzip"),
    await get(`${http.url}/status`, "gzip"),
  ];
  for (const { headers } of responses) expect(headers.get("content-encoding")).toBeNull();
});

test("compresses a cached response and the OpenAPI document once per coding", async () => {
  for (let n = 0; n < 3; n++) await get("/cached", "br");
  const cachedBytes = () => {
    const cached = cache.lookUp(http.api("/cached"));
    if (typeof cached === "number") throw new Error("not cached");
    return cached.coded.get("br");
  };
  const first = cachedBytes();
  expect(first?.byteLength).toBeGreaterThan(0);
  await get("/cached", "br");
  expect(cachedBytes()).toBe(first as Uint8Array);

  const document = await get(`${http.url}/openapi.json`, "zstd");
  expect(document.headers.get("content-encoding")).toBe("zstd");
  expect(await decoded(document)).toMatchObject({ openapi: expect.any(String) });
});
