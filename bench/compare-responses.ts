/**
 * Sends the same requests to two nodes over copies of one data directory, and reports every response that differs in status,
 * body, content type, cache-control or ETag, to show that a code change changes no response.
 *
 *   bun bench/compare-responses.ts http://127.0.0.1:8080 http://127.0.0.1:8081 [requests=3000] [seed=1]
 *
 * Requests are made from the OpenAPI document of the first node: every GET route of every prefix and of `/v1`, and the batch
 * reads, with values from the first node's data, with wrong values, and with cursors of earlier responses. Exits with 1 if a
 * response differs.
 */

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: { readonly enum?: readonly string[] };
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}
interface Route {
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly parameters: readonly Parameter[];
}
interface SentRequest {
  readonly url: string;
  readonly init: RequestInit;
}
interface OpenApiDocument {
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] }; readonly post?: object }>
  >;
}
interface User {
  readonly username: string;
  readonly custody_address: string;
  readonly verifications: readonly string[];
}
interface Cast {
  readonly hash: string;
  readonly text: string;
  readonly author: User;
}
interface Channel {
  readonly id: string;
  readonly parent_url?: string;
  readonly url: string;
}

/** Number of differences that are printed in full; all are counted. */
const MAX_SHOWN = 20;
const LISTS = new Set(["fids", "hashes", "casts", "ids", "channel_ids", "parent_urls", "addresses"]);
const WRONG = [..."-1 0 1e3 99999999999999999999 null 0x %00 é 4294967299".split(" "), "", "a".repeat(300)];

const [first = "", second = "", requestsText = "3000", seedText = "1"] = process.argv.slice(2);
const requests = Number(requestsText);
if (!first || !second || !Number.isInteger(requests)) {
  console.error("usage: bun bench/compare-responses.ts <url> <url> [requests] [seed]");
  process.exit(2);
}

let randomState = Number(seedText) >>> 0 || 1;
/** xorshift32, which gives the same requests for the same seed. */
function random(below: number): number {
  randomState ^= randomState << 13;
  randomState ^= randomState >>> 17;
  randomState ^= randomState << 5;
  return (randomState >>> 0) % below;
}

function pick<T>(values: readonly T[]): T {
  return values[random(values.length)] as T;
}

async function readJson<T>(path: string): Promise<T> {
  return (await fetch(first + path)).json() as Promise<T>;
}

function routesOf(document: OpenApiDocument): Route[] {
  const routes: Route[] = [];
  for (const [path, { get, post }] of Object.entries(document.paths)) {
    if (!/^\/v[12]\//.test(path)) continue;
    if (get) routes.push({ path, method: "GET", parameters: get.parameters ?? [] });
    if (post && path.includes("/batch/")) routes.push({ path, method: "POST", parameters: [] });
  }
  return routes;
}

const fids = Array.from({ length: 60 }, (_, at) => String(at + 1));

/** Returns values from the first node's data, by the name of the matching parameter. */
async function readValues(base: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const { users } = await readJson<{ users: User[] }>(`${base}/user/bulk?fids=${fids.join(",")}`);
  const usernames = users.map(({ username }) => username);
  const addresses = users.flatMap((user) => [user.custody_address, ...user.verifications]);
  const pages = await Promise.all(
    fids
      .slice(0, 40)
      .map((fid) => readJson<{ casts: Cast[] }>(`${base}/feed/user/casts?fid=${fid}&limit=20`)),
  );
  const casts = pages.flatMap((page) => page.casts);
  const hashes = casts.map(({ hash }) => hash);
  const castUrls = casts.map(
    ({ author, hash }) => `https://farcaster.xyz/${author.username}/${hash.slice(0, 10)}`,
  );
  const words = ["bread", "the", "a", "good morning", '"the"', "zzzz", "😀", "%"].concat(
    casts.flatMap(({ text }) => text.split(/\s+/).slice(0, 2)),
  );
  const { channels } = await readJson<{ channels: Channel[] }>(`${base}/channel/all?limit=100`);
  const channelIds = channels.map(({ id }) => id);
  const parentUrls = channels.map(({ parent_url, url }) => parent_url ?? url);
  return {
    fid: fids,
    fids,
    viewer_fid: fids,
    target_fid: fids,
    author_fid: fids,
    blocker_fid: fids,
    blocked_fid: fids,
    username: usernames,
    x_username: usernames,
    fname: [...usernames, "newname", "UPPER", "nonexistent_test_name_xyz_99"],
    custody_address: addresses,
    addresses,
    hash: hashes,
    hashes,
    casts: hashes,
    identifier: [...hashes, ...castUrls],
    q: [...words, ...usernames, ...channelIds],
    id: [...channelIds, ...parentUrls],
    ids: channelIds,
    channel_id: channelIds,
    channel_ids: channelIds,
    parent_url: parentUrls,
    parent_urls: parentUrls,
    embed_url: parentUrls,
    limit: ["1", "3", "25", "100", "101"],
    reply_depth: ["0", "1", "2", "5"],
    location: ["geo:", "geo:48.85,2.35"],
    latitude: ["48.85"],
    longitude: ["2.35"],
    name: usernames,
    address: addresses,
    url: parentUrls,
    target_url: parentUrls,
    target_hash: hashes,
    link_type: ["follow", "block"],
    reaction_type: ["1", "recast"],
    user_data_type: ["1", "username"],
    event_type: ["1", "2", "EVENT_TYPE_ID_REGISTER"],
    page_size: ["1", "7", "0"],
    shard_id: ["0", "1"],
    shard_index: ["0", "1"],
  };
}

const routes = routesOf(await readJson<OpenApiDocument>("/openapi.json"));
const values = await readValues("/v2/svc");
/** Cursors that earlier responses returned, by path. */
const cursors = new Map<string, string[]>();

function valueFor({ name, schema }: Parameter, path: string): string | undefined {
  if (name === "cursor") return cursors.has(path) ? pick(cursors.get(path) ?? []) : undefined;
  if (random(40) === 0) return pick(WRONG);
  const choices = schema?.enum ?? schema?.items?.enum;
  if (choices) return pick(choices);
  if (schema?.type === "boolean") return pick(["true", "false"]);
  const known = values[name];
  if (!known || known.length === 0) return pick(["1", "abc"]);
  if (LISTS.has(name)) return Array.from({ length: 1 + random(8) }, () => pick(known)).join(",");
  return pick(known);
}

function batchRequest(path: string): SentRequest {
  const some = Array.from({ length: 1 + random(10) }, () => Number(pick(fids)));
  const body = random(20) === 0 ? pick(["", "{", "[]", '{"fids":"x"}']) : JSON.stringify({ fids: some });
  return { url: path, init: { method: "POST", body, headers: { "content-type": "application/json" } } };
}

function requestOf({ path, method, parameters }: Route): SentRequest {
  if (method === "POST") return batchRequest(path);
  const query: string[] = [];
  for (const parameter of parameters) {
    if (parameter.in !== "query") continue;
    if (random(parameter.required ? 60 : 2) === 0) continue;
    const value = valueFor(parameter, path);
    if (value !== undefined) query.push(`${parameter.name}=${encodeURIComponent(value)}`);
  }
  // The `type` parameter must match the kind of identifier.
  const identifier = query.find((part) => part.startsWith("identifier="));
  if (identifier) {
    const type = query.findIndex((part) => part.startsWith("type="));
    query.splice(type < 0 ? query.length : type, 1, `type=${identifier.includes("%2F") ? "url" : "hash"}`);
  }
  const url = query.length > 0 ? `${path}?${query.join("&")}` : path;
  return { url, init: { headers: { "accept-encoding": "identity" } } };
}

interface SeenResponse {
  readonly status: number;
  readonly body: string;
  /** All parts that must be equal, as one text. */
  readonly text: string;
}

async function responseOf(node: string, { url, init }: SentRequest): Promise<SeenResponse> {
  const response = await fetch(node + url, init);
  const { status, headers } = response;
  const body = await response.text();
  const compared = ["content-type", "cache-control", "etag"].map((name) => headers.get(name));
  return { status, body, text: JSON.stringify([status, ...compared, body]) };
}

const TOO_MANY = 429;
const MAX_TRIES = 5;

/**
 * Sends a request to both nodes, and again if only one of them refused it for exceeding a limit, because their buckets do
 * not refill at the same moment.
 */
async function responsesOf(request: SentRequest): Promise<[SeenResponse, SeenResponse]> {
  for (let tries = 1; ; tries++) {
    const [a, b] = await Promise.all([responseOf(first, request), responseOf(second, request)]);
    const isLimited = (a.status === TOO_MANY) !== (b.status === TOO_MANY);
    if (!isLimited || tries === MAX_TRIES) return [a, b];
    await Bun.sleep(1000);
  }
}

/** Returns both texts around the first difference. */
function difference(a: string, b: string): string {
  let from = 0;
  while (a[from] === b[from]) from += 1;
  return [a, b].map((text) => `\n  ${text.slice(Math.max(0, from - 80), from + 160)}`).join("");
}

const statuses = new Map<number, number>();
let differing = 0;
let bytes = 0;
for (let at = 0; at < requests; at++) {
  const route = routes[at % routes.length] as Route;
  const request = requestOf(route);
  const [a, b] = await responsesOf(request);
  bytes += a.body.length;
  statuses.set(a.status, (statuses.get(a.status) ?? 0) + 1);
  if (a.text !== b.text) {
    differing += 1;
    if (differing <= MAX_SHOWN)
      console.log(`differs: ${route.method} ${request.url}${difference(a.text, b.text)}`);
  }
  const cursor = /"next":\{"cursor":"([^"]+)"/.exec(a.body)?.[1];
  if (cursor) cursors.set(route.path, [...(cursors.get(route.path) ?? []).slice(-20), cursor]);
}
const counts = JSON.stringify(Object.fromEntries([...statuses].sort()));
console.log(
  `${requests} requests to ${routes.length} routes, ${bytes} bytes; statuses ${counts}; ${differing} differ`,
);
process.exit(differing === 0 ? 0 : 1);
