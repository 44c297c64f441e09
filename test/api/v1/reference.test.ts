import { afterAll, beforeAll, expect, test } from "bun:test";
import { recorded } from "../../support/upstream/recorded.ts";
import { startReferenceApi } from "../../support/upstream/reference-api.ts";
import { ACCEPTED, type AcceptedDifference } from "./reference-differences.ts";

/** The list of differences may only shrink. */
const MOST_PATHS = 68;

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

interface Recorded {
  readonly request: string;
  readonly status: number;
  readonly body: Json;
}

/** Where a response differs: `.a.b` in value, `-.a.b` missing here, `+.a.b` only here, `~.a` in order. `[]` stands for any row. */
interface Difference {
  readonly request: string;
  readonly path: string;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

let api: Awaited<ReturnType<typeof startReferenceApi>>;
const responses: Recorded[] = JSON.parse(Buffer.from(await recorded("responses.json")).toString());
beforeAll(async () => {
  api = await startReferenceApi();
});
afterAll(() => api[Symbol.asyncDispose]());

/** What was sent with the POST requests, which the recording does not have. */
const BODIES: Readonly<Record<number, readonly [type: string, body: string]>> = {
  215: ["application/octet-stream", "not a message"],
  216: ["application/octet-stream", "not a message"],
  217: ["application/json", "{}"],
};

async function ask(request: string, at: number): Promise<Omit<Recorded, "request">> {
  const [method = "", path = ""] = request.split(" ");
  const [type, body] = BODIES[at] ?? [];
  const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
  const response = await fetch(api.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, body: (await response.json()) as Json };
}

/** The pages of a list of events in one, as the reference node sends it. */
async function askAllEvents(request: string, at: number) {
  const events: Json[] = [];
  let token = "";
  do {
    const { status, body } = await ask(`${request}&pageToken=${token}`, at);
    if (!isObject(body) || !isList(body.events)) return { status, body };
    events.push(...body.events);
    token = String(body.nextPageToken);
  } while (token !== "");
  return { status: 200, body: { events } };
}

/** Asks every request, with the tokens of this node in the place of those of the reference node. */
async function askAll(): Promise<Omit<Recorded, "request">[]> {
  const tokens = new Map<string, string>();
  const own = [];
  for (const [at, { request, body: theirs }] of responses.entries()) {
    const token = /pageToken=([^&]+)/.exec(request)?.[1] ?? "";
    const translated = request.replace(token, tokens.get(token) ?? token);
    const isAllEvents = request.startsWith("GET /v1/events") && !request.includes("pageSize");
    const response = await (isAllEvents ? askAllEvents : ask)(translated, at);
    const [their, our] = [theirs, response.body as Json].map((body) => isObject(body) && body.nextPageToken);
    if (typeof their === "string" && typeof our === "string") tokens.set(their, our);
    own.push(response);
  }
  return own;
}

const routeOf = (request: string) => request.replace(/^\w+ /, "").replace(/\?.*$/, "");

/** What a row is, whatever its place in a list. */
function keyOf(row: Json): string | undefined {
  if (!isObject(row)) return undefined;
  if (typeof row.id === "number") return `${row.shardIndex} ${row.id}`;
  if (typeof row.name === "string" && typeof row.owner === "string")
    return `${row.type} ${row.name} ${row.fid}`;
  return typeof row.hash === "string" ? row.hash : undefined;
}

function* differences(theirs: Json, own: Json, path: string): Generator<string> {
  if (isObject(theirs) && isObject(own)) {
    for (const [key, value] of Object.entries(theirs)) {
      const ours = own[key];
      if (ours === undefined) yield `-${path}.${key}`;
      else if (key === "nextPageToken") {
        // A token is a position: what it means is that there are more rows.
        if ((ours === "") !== (value === "")) yield `${path}.${key}`;
      } else yield* differences(value, ours, `${path}.${key}`);
    }
    for (const key of Object.keys(own)) if (theirs[key] === undefined) yield `+${path}.${key}`;
  } else if (isList(theirs) && isList(own)) {
    yield* differencesOfRows(theirs, own, `${path}[]`);
  } else if (theirs !== own) yield path;
}

function* differencesOfRows(theirs: readonly Json[], own: readonly Json[], path: string): Generator<string> {
  const keys = theirs.map(keyOf);
  const ownKeys = own.map(keyOf);
  if (![...keys, ...ownKeys].every((key) => key !== undefined)) {
    if (theirs.length !== own.length) yield `${path}.length`;
    for (const [at, row] of theirs.entries())
      if (at < own.length) yield* differences(row, own[at] ?? null, path);
    return;
  }
  // A row that is there more than once.
  if (new Set(keys).size < keys.length) yield `-${path} twice`;
  if (new Set(ownKeys).size < ownKeys.length) yield `+${path} twice`;
  const byKey = new Map(own.map((row, at) => [ownKeys[at], row]));
  for (const [at, row] of theirs.entries()) {
    const ours = byKey.get(keys[at]);
    if (ours === undefined) yield `-${path} ${kindOf(row)}`;
    else yield* differences(row, ours, path);
  }
  for (const [at, row] of own.entries()) if (!keys.includes(ownKeys[at])) yield `+${path} ${kindOf(row)}`;
  const common = [...new Set(keys)].filter((key) => byKey.has(key));
  if (common.join() !== ownKeys.filter((key) => keys.includes(key)).join()) yield `~${path}`;
}

/** The type of a row of a list. */
function kindOf(row: Json): string {
  const texts = [...JSON.stringify(row).matchAll(/"type":"([A-Z_]+)"/g)].map(([, type]) => type);
  return texts.slice(0, 2).join(" ");
}

/** Of `/v1/info` only the keys are comparable: a node counts what it has itself. */
function withoutValues(value: Json): Json {
  if (isList(value)) return value.map(withoutValues);
  if (!isObject(value)) return 0;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutValues(one)]));
}

const accepts = ({ request: pattern, paths }: AcceptedDifference, { request, path }: Difference) =>
  pattern.test(request) && paths.includes(path);

test("219 responses over 41 routes equal those of the reference node, except for the listed differences", async () => {
  const own = await askAll();
  const found: Difference[] = responses.flatMap(({ request, status, body }, at) => {
    const ours = own[at];
    if (ours === undefined || ours.status !== status) return { request, path: `${status} ${ours?.status}` };
    // The texts of errors are this node's, the keys those of the reference node, too.
    if (status !== 200) {
      const keys = isObject(body) ? Object.keys(body) : [];
      const missing = keys.filter((key) => !isObject(ours.body) || !(key in ours.body));
      return missing.map((key) => ({ request, path: `-.${key}` }));
    }
    const [left, right] = /^GET \/v1\/info/.test(request)
      ? [body, ours.body].map(withoutValues)
      : [body, ours.body];
    return [...new Set(differences(left ?? null, right ?? null, ""))].map((path) => ({ request, path }));
  });

  const unlisted = found.filter((one) => !ACCEPTED.some((accepted) => accepts(accepted, one)));
  expect(unlisted).toEqual([]);
  const listed = ACCEPTED.flatMap((accepted) =>
    accepted.paths.map((path) => ({ ...accepted, paths: [path] })),
  );
  const unused = listed.filter((accepted) => !found.some((one) => accepts(accepted, one)));
  expect(unused).toEqual([]);
  expect(listed.length).toBeLessThanOrEqual(MOST_PATHS);
  expect(new Set(responses.map(({ request }) => routeOf(request))).size).toBe(41);
});
