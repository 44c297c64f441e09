import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApi, type TestApi } from "../support/api.ts";
import { demoIndex } from "../support/demo-index.ts";
import { type DemoFacts, readDemoFacts } from "./compat/demo-facts.ts";

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi({ index: await demoIndex(), compatPrefixes: ["farcaster"] });
});
afterAll(() => api[Symbol.asyncDispose]());

/** Paths under which one list is served, and lists that another path falls back to. All others refuse each other's cursors. */
const SAME_LIST = [
  ["/user/best_friends", "/followers/reciprocal"],
  ["/reaction", "/reaction/user"],
  ["/reaction", "/reaction/cast"],
  ["/feed", "/feed/following"],
  ["/feed/channels", "/channel/feed"],
  ["/channel/members", "/channel/followers"],
  ["/channel/user-active", "/user/channels", "/user/memberships/list"],
  ["/signer", "/onchain/signers"],
];

/** Parameters that some reads require in one mode only. */
const NEEDED_IN_SOME_MODE = ["fid", "blocker_fid"];

interface List {
  readonly path: string;
  readonly names: readonly string[];
}

/** Returns values of the parameters that most lists have several rows for. */
function valuesOf({ known, recasted, thread, inChannel }: DemoFacts): Readonly<Record<string, string>> {
  return {
    fid: String(known.fid),
    blocker_fid: String(known.fid),
    hash: recasted.hash,
    identifier: thread.hash,
    type: "hash",
    q: "a",
    slug: "bread",
    location: "geo:1",
    channel_id: inChannel.id,
    channel_ids: inChannel.id,
    id: inChannel.id,
    parent_urls: inChannel.parent_url,
  };
}

/** Returns the public lists of both dialects. */
function lists(): List[] {
  const paths = api.document.paths as Record<
    string,
    { get?: { parameters?: { name: string; required?: boolean }[]; security?: unknown } }
  >;
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const parameters = get?.parameters ?? [];
    const isList = path.startsWith("/v2/") && parameters.some(({ name }) => name === "cursor");
    if (!isList || get?.security !== undefined || path.endsWith("/stream")) return [];
    const needed = parameters.filter(({ name, required }) => required || NEEDED_IN_SOME_MODE.includes(name));
    return [{ path, names: needed.map(({ name }) => name) }];
  });
}

const withoutPrefix = (path: string) => path.replace(/^\/v2\/\w+/, "");

function isSameList(...paths: readonly [string, string]): boolean {
  const [a, b] = paths.map(withoutPrefix);
  return a === b || SAME_LIST.some((names) => names.includes(a ?? "") && names.includes(b ?? ""));
}

test("a list refuses the cursors of every other list", async () => {
  const values = valuesOf(await readDemoFacts(api.url));
  const read = (list: List, more: Readonly<Record<string, string>> = {}) => {
    const needed = Object.fromEntries(list.names.map((name) => [name, values[name] ?? ""]));
    return fetch(`${api.url}${list.path}?${new URLSearchParams({ ...needed, limit: "1", ...more })}`);
  };
  const served: List[] = [];
  const cursors: { readonly list: List; readonly cursor: string }[] = [];
  for (const list of lists()) {
    const response = await read(list);
    if (response.status !== 200) continue;
    served.push(list);
    type Next = { next?: { cursor?: string | null } };
    const body = (await response.json()) as Next & { result?: Next };
    const cursor = (body.next ?? body.result?.next)?.cursor;
    if (cursor) cursors.push({ list, cursor });
  }
  expect(served.length).toBeGreaterThan(70);
  expect(cursors.length).toBeGreaterThan(45);

  for (const { list, cursor } of cursors)
    for (const other of served.filter(({ path }) => !isSameList(path, list.path))) {
      const response = await read(other, { cursor });
      const { status } = response;
      const { message } = (await response.json()) as { message?: string };
      expect({ of: list.path, at: other.path, status, message }).toEqual({
        of: list.path,
        at: other.path,
        status: 400,
        message: "cursor is not one of this endpoint",
      });
    }
}, 300_000);
