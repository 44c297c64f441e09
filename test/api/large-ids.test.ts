import { afterAll, beforeAll, expect, test } from "bun:test";
import { isObject, type Json } from "../../src/http/openapi/document.ts";
import { fnameProof, registerEvent, rentEvent, signerEvent } from "../support/events.ts";
import { DEFAULT_NOW_SECS, makeWallet, signedCast } from "../support/messages.ts";
import { accountRecords, accountSigner, eventRecord, proofRecord } from "../support/node.ts";
import { pathsWithAliases } from "../support/openapi.ts";
import { type SignedApi, startSignedApi } from "../support/signed-api.ts";
import { hashOf, linkMessage } from "../support/social.ts";

/** Ids around the limits of a double, of SQLite's integers and of u64. */
const IDS = [
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551615",
  "18446744073709551616",
  "-1",
];
const FID = 1;
/** The largest fid that a response can contain. It exists, and no larger one may be taken for it. */
const LARGEST = Number.MAX_SAFE_INTEGER;

const cast = signedCast(FID, "something to look for", accountSigner(FID));
const ADDRESS = `0x${"1".repeat(40)}`;

/** Valid values of parameters that are not ids, by name. */
const FITTING: Readonly<Record<string, string>> = {
  hash: hashOf(cast),
  hashes: hashOf(cast),
  target_hash: hashOf(cast),
  "target_cast_id[hash]": hashOf(cast),
  casts: hashOf(cast),
  identifier: hashOf(cast),
  type: "hash",
  username: "user1",
  fname: "user1",
  name: "user1",
  q: "something",
  address: ADDRESS,
  addresses: ADDRESS,
  custody_address: ADDRESS,
  location: "geo:1",
  latitude: "52.5",
  longitude: "13.4",
  x_username: "user1",
  parent_urls: "https://farcaster.xyz/~/channel/tests",
  public_key: `0x${"1".repeat(64)}`,
  signer: `0x${"1".repeat(64)}`,
  link_type: "follow",
  reaction_type: "1",
  event_type: "1",
  shard_index: "1",
  limit: "5",
};

/** Parameters that some reads require in one mode only. */
const NEEDED_IN_SOME_MODE = new Set(["hash", "target_hash", "target_cast_id[hash]", "latitude", "longitude"]);

const IS_ID = /(^|_)(id|ids|uuid)$/;

const EXPECTED = [200, 400, 404];

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly isId: boolean;
  readonly isList: boolean;
}

interface Read {
  readonly path: string;
  readonly params: readonly Parameter[];
  readonly access: "open" | "signed" | "key";
}

let signed: SignedApi;
let key: string;
let reads: Read[];

beforeAll(async () => {
  signed = await startSignedApi({ compatPrefixes: ["farcaster"], fids: [] });
  const { api } = signed;
  for (const fid of [FID, 2]) api.node.ingestAll(accountRecords(fid));
  const custody = makeWallet("largest").address;
  const largest = [
    eventRecord(registerEvent(LARGEST, custody, { block: 7 })),
    eventRecord(signerEvent(LARGEST, accountSigner(LARGEST).publicKey, { block: 8 })),
    eventRecord(rentEvent(LARGEST, 1, { block: 9 })),
    proofRecord(fnameProof("largest", LARGEST, custody, DEFAULT_NOW_SECS - 60)),
  ];
  const follows = [linkMessage(LARGEST, "follow", 2), linkMessage(2, "follow", LARGEST)];
  const messages = [cast, signedCast(LARGEST, "mine", accountSigner(LARGEST)), ...follows];
  const records = [...largest, ...messages.map((bytes) => ({ kind: "message" as const, bytes }))];
  expect(api.node.ingestAll(records)).toEqual(records.map(() => "ok"));
  const body = { name: "ids", scopes: ["read", "write", "signers", "webhooks", "apps", "push"] };
  const created = await signed.call({ method: "POST", path: "/api_key", fid: FID, body });
  key = created.body.secret;
  expect(key).toStartWith("svc_");
  reads = Object.entries(pathsWithAliases(api.document)).flatMap(([path, item]) => {
    const get = isObject(item) ? item.get : undefined;
    if (!isObject(get) || !isObject(get.responses) || !("200" in get.responses)) return [];
    return [{ path, params: parametersOf(get.parameters), access: accessOf(get.security) }];
  });
});

afterAll(() => signed[Symbol.asyncDispose]());

function parametersOf(parameters: Json | undefined): Parameter[] {
  return (Array.isArray(parameters) ? parameters : []).filter(isObject).map((parameter) => {
    const name = String(parameter.name);
    const schema = isObject(parameter.schema) ? parameter.schema : {};
    const isList = schema.type === "array";
    const isNumber = (isObject(schema.items) ? schema.items : schema).format === "int64";
    return { name, required: parameter.required === true, isId: isNumber || IS_ID.test(name), isList };
  });
}

function accessOf(security: Json | undefined): Read["access"] {
  const schemes = JSON.stringify(security ?? []);
  return schemes.includes("signedFid") ? "signed" : schemes.includes("apiKey") ? "key" : "open";
}

type Values = ReadonlyMap<string, string>;

/** The values of the id parameters of a read: one of them, or all, are `id`; lists also have it beside another fid. */
function* valuesOf({ params }: Read, id: string): Generator<Values> {
  const ids = params.filter(({ isId }) => isId);
  for (const { name, isList } of ids) {
    yield new Map([[name, id]]);
    if (isList) yield new Map([[name, `${id},${FID}`]]);
  }
  if (ids.length > 1) yield new Map(ids.map(({ name }) => [name, id]));
}

async function responseTo({ path, params, access }: Read, ids: Values): Promise<Response> {
  const query = params.flatMap(({ name, required, isId }) => {
    const isSent = required || NEEDED_IN_SOME_MODE.has(name);
    const value = ids.get(name) ?? (isSent ? (isId ? `${FID}` : FITTING[name]) : undefined);
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`];
  });
  const headers =
    access === "signed"
      ? await signed.sign({ method: "GET", path: path.replace(/^\/v2\/\w+/, ""), fid: FID })
      : access === "key"
        ? { "x-api-key": key }
        : {};
  return fetch(`${signed.api.url}${path}?${query.join("&")}`, { headers });
}

test("every read with every id parameter at the limits of numbers is 200, 404 or 400, and no id is taken for another", async () => {
  const wrong: string[] = [];
  let requests = 0;
  for (const read of reads) {
    for (const id of IDS) {
      for (const values of valuesOf(read, id)) {
        const response = await responseTo(read, values);
        const body = await response.text();
        const isAlias = id !== `${LARGEST}` && body.includes(`${LARGEST}`);
        requests += 1;
        // Whether an app belongs to the key is decided before its id is looked at.
        const expected = read.access === "key" && values.has("app_id") ? [...EXPECTED, 403] : EXPECTED;
        if (!expected.includes(response.status) || isAlias)
          wrong.push(`${response.status} ${read.path} ${JSON.stringify(Object.fromEntries(values))}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(requests).toBeGreaterThan(2500);
}, 180_000);

test("every batch read with ids at the limits of numbers is 200 or 400", async () => {
  const batches = Object.keys(signed.api.document.paths).filter((path) => path.includes("/batch/"));
  const wrong: string[] = [];
  for (const path of batches) {
    for (const id of IDS) {
      for (const text of [id, `"${id}"`]) {
        const body = `{"fids":[${FID},${text}]}`;
        const headers = { "content-type": "application/json" };
        const response = await fetch(`${signed.api.url}${path}`, { method: "POST", headers, body });
        const shown = await response.text();
        if (![200, 400].includes(response.status)) wrong.push(`${response.status} ${path} ${text} ${shown}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(batches.length).toBeGreaterThan(4);
});
