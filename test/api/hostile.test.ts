import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApi, type TestApi } from "../support/api.ts";
import { signedCast } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { pathsWithAliases } from "../support/openapi.ts";
import { hashOf } from "../support/social.ts";

const cast = signedCast(1, "something to look for", accountSigner(1));

/** A valid value of each parameter, by name. */
const FITTING: Readonly<Record<string, string>> = {
  fid: "1",
  fids: "1,2",
  target_fid: "2",
  author_fid: "1",
  username: "user1",
  fname: "user1",
  custody_address: `0x${"1".repeat(40)}`,
  address: `0x${"1".repeat(40)}`,
  addresses: `0x${"1".repeat(40)}`,
  location: "geo:1",
  identifier: hashOf(cast),
  type: "hash",
  hash: hashOf(cast),
  hashes: hashOf(cast),
  casts: hashOf(cast),
  q: "something",
  interval: "1d",
  id: "tests",
  ids: "tests",
  channel_id: "tests",
  channel_ids: "tests",
  parent_urls: "https://farcaster.xyz/~/channel/tests",
  parent_url: "https://farcaster.xyz/~/channel/tests",
  viewer_fid: "2",
  x_username: "user1",
  blocker_fid: "1",
  latitude: "52.5",
  longitude: "13.4",
  public_key: `0x${"1".repeat(64)}`,
  from: "1700000000",
  to: "1700003600",
  at: "1700000000",
  url: "https://example.com/",
  slug: "bread",
};

/** Hostile values. */
const HOSTILE = [
  "",
  "0",
  "-1",
  "1e9",
  "1.5",
  "NaN",
  "null",
  "4294967297",
  "9007199254740993",
  "18446744073709551615",
  "18446744073709551616",
  "99999999999999999999999",
  "%00",
  "%ff%fe",
  "%",
  "' OR 1=1 --",
  '"',
  "NEAR(a b)",
  "*",
  "../../etc/passwd",
  "0x",
  `0x${"f".repeat(40)}`,
  "https://farcaster.xyz/~/channel/",
  "chain://",
  "[object Object]",
  "AQAAAAAAAA",
  "a".repeat(5000),
  "1,".repeat(400),
  "👋".repeat(100),
  "\u202e",
];

/** Parameters that some reads require in one mode only; they are always sent. */
const NEEDED_IN_SOME_MODE = new Set(["fid", "blocker_fid", "latitude", "longitude"]);

interface Operation {
  readonly route: string;
  readonly params: readonly { readonly name: string; readonly required?: boolean }[];
}

let api: TestApi;
let operations: Operation[];

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  for (const fid of [1, 2]) api.node.ingestAll(accountRecords(fid));
  api.node.ingestMessage(cast);
  const paths = pathsWithAliases(api.document) as Record<
    string,
    { get?: { parameters?: Operation["params"]; security?: unknown; responses: object } }
  >;
  operations = Object.entries(paths).flatMap(([route, { get }]) =>
    get &&
    get.security === undefined &&
    "200" in get.responses &&
    route.startsWith("/v2/") &&
    // It calls another host, six times a minute; hostile domains are in test/sign-in/manifest.
    !route.endsWith("/frame/manifest")
      ? [{ route, params: get.parameters ?? [] }]
      : [],
  );
});

afterAll(() => api[Symbol.asyncDispose]());

async function get(route: string, query: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${api.url}${route}?${query}`);
  return { status: response.status, body: await response.json() };
}

function queryOf(params: Operation["params"], replaced: string | undefined, raw: string): string {
  return params
    .flatMap(({ name, required }) => {
      if (name === replaced) return [`${name}=${raw}`];
      return required || NEEDED_IN_SOME_MODE.has(name)
        ? [`${name}=${encodeURIComponent(FITTING[name] ?? "")}`]
        : [];
    })
    .join("&");
}

test("every read with valid parameters is 200 or 404, so that hostile values reach their target", async () => {
  expect(operations.length).toBeGreaterThan(80);
  for (const { route, params } of operations) {
    const { status } = await get(route, queryOf(params, undefined, ""));
    expect({ route, status: status === 404 ? 200 : status }).toEqual({ route, status: 200 });
  }
});

test("no hostile value of any parameter causes a fault, and errors are JSON with a message", async () => {
  for (const { route, params } of operations) {
    for (const { name } of params) {
      for (const value of HOSTILE) {
        const raw = value.startsWith("%") ? value : encodeURIComponent(value);
        const { status, body } = await get(route, queryOf(params, name, raw));
        const shown = { route, name, value: value.slice(0, 40), status };
        // Features of hosted APIs only are 501.
        expect([200, 400, 404, 501]).toContain(status);
        if (status !== 200)
          expect({ ...shown, body }).toEqual({ ...shown, body: { message: expect.any(String) } });
      }
    }
  }
}, 180_000);

test("rejects a query of a million characters before parsing it", async () => {
  for (const { route } of operations.slice(0, 10)) {
    const response = await fetch(`${api.url}${route}?fid=1&x=${"a".repeat(1_000_000)}`);
    expect([400, 414, 431]).toContain(response.status);
  }
});
