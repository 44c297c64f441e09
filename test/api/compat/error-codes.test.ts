import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { refusalOf } from "../../../src/writes/refusals.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { startSignedApi } from "../../support/signed-api.ts";

const OWNER = 3;
const USER = 71;
/** Registered, without storage. */
const HOMELESS = 72;
const signed = await startSignedApi({
  compatPrefixes: ["farcaster"],
  settings: [`signers.encryption_key=${"5a".repeat(32)}`],
  fids: [OWNER, 4],
});
const { node, url, state } = signed.api;
afterAll(() => signed[Symbol.asyncDispose]());

const keys: Record<string, string> = {};
const signers: Record<string, string> = {};

async function importSigner(fid: number): Promise<string> {
  const private_key = `0x${Buffer.from(accountSigner(fid).privateKey).toString("hex")}`;
  const path = "/managed_signer/import";
  const { body } = await signed.call({ method: "POST", path, body: { private_key, fid }, fid: OWNER });
  return body.signer.signer_uuid;
}

beforeAll(async () => {
  for (const fid of [USER, 73]) node.ingestAll(accountRecords(fid, 1));
  node.ingestAll(accountRecords(HOMELESS, 0));
  const scopes = { all: ["read", "write", "signers", "push"], reader: ["read"], slow: ["write"] };
  for (const [name, of] of Object.entries(scopes)) {
    const body = { name, scopes: of, ...(name === "slow" && { writes_per_minute: 1 }) };
    keys[name] = (await signed.call({ method: "POST", path: "/api_key", body })).body.secret;
  }
  signers.user = await importSigner(USER);
  signers.homeless = await importSigner(HOMELESS);
  signers.sealed = await importSigner(73);
  const made = async (body?: object) => (await call("POST", "/signer/", body)).body.signer_uuid as string;
  signers.generated = await made();
  state.sqlite.run(
    "UPDATE managed_signers SET key_id = 'another', permissions = '[3]' WHERE signer_uuid = ?",
    [signers.sealed ?? ""],
  );
});

async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v2/farcaster${path}`, {
    method,
    headers: { "x-api-key": keys.all ?? "", "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    code: response.headers.get("x-error-code"),
    // biome-ignore lint/suspicious/noExplicitAny: a response of any shape
    body: (await response.json()) as any,
  };
}

const cast = (signer: string, more: object = {}) => ({ signer_uuid: signers[signer], text: "x", ...more });
const key = (name: string) => ({ "x-api-key": keys[name] ?? name });

/** Refusals that the specification names, with a request for each way to get there. */
const REFUSALS: readonly [
  code: string,
  status: number,
  what: string,
  request: () => ReturnType<typeof call>,
][] = [
  [
    "invalid_key",
    401,
    "a write without a key",
    () => call("POST", "/cast/", cast("user"), { "x-api-key": "" }),
  ],
  [
    "invalid_key",
    401,
    "a key that is unknown",
    () => call("POST", "/signer/", undefined, key(`svc_11111111_${"1".repeat(44)}`)),
  ],
  [
    "invalid_key",
    401,
    "a send without a key",
    () => call("POST", "/frame/notifications/", {}, { "x-api-key": "" }),
  ],
  [
    "invalid_key",
    401,
    "a send with an unknown secret",
    () => call("POST", "/frame/notifications/", {}, key("ab".repeat(32))),
  ],
  ["missing_scope", 403, "a write", () => call("POST", "/cast/", cast("user"), key("reader"))],
  ["missing_scope", 403, "a signer", () => call("POST", "/signer/", undefined, key("reader"))],
  [
    "missing_scope",
    403,
    "a look-up of a signer beside an fid",
    () => call("GET", `/signer/?fid=${USER}&signer_uuid=${signers.user}`, undefined, key("reader")),
  ],
  [
    "unknown_signer",
    404,
    "a cast",
    () => call("POST", "/cast/", { signer_uuid: crypto.randomUUID(), text: "x" }),
  ],
  ["unknown_signer", 404, "a look-up", () => call("GET", `/signer/?signer_uuid=${crypto.randomUUID()}`)],
  ["signer_not_approved", 403, "a cast", () => call("POST", "/cast/", cast("generated"))],
  [
    "signer_not_approved",
    403,
    "a profile",
    () => call("PATCH", "/user/", { signer_uuid: signers.generated, bio: "x" }),
  ],
  [
    "signer_locked",
    503,
    "a reaction",
    () =>
      call("POST", "/reaction/", {
        signer_uuid: signers.sealed,
        reaction_type: "like",
        target: "https://a.example/",
      }),
  ],
  [
    "out_of_scope",
    403,
    "a cast by a signer that may only react",
    () => call("POST", "/cast/", cast("sealed")),
  ],
  [
    "needs_pro",
    403,
    "a banner",
    () => call("PATCH", "/user/", { signer_uuid: signers.user, banner: "https://a.example/b.png" }),
  ],
  ["needs_pro", 403, "a long text", () => call("POST", "/cast/", cast("user", { text: "x".repeat(1025) }))],
  ["no_storage", 403, "a cast", () => call("POST", "/cast/", cast("homeless"))],
  [
    "idempotency_conflict",
    409,
    "another body",
    async () => {
      await call("POST", "/cast/", cast("user", { idem: "once" }));
      return call("POST", "/cast/", cast("user", { idem: "once", text: "y" }));
    },
  ],
  [
    "rate_limited",
    429,
    "writes of a key",
    async () => {
      await call("POST", "/cast/", cast("user", { text: "a" }), key("slow"));
      return call("POST", "/cast/", cast("user", { text: "b" }), key("slow"));
    },
  ],
  [
    "conflict",
    409,
    "a registration of an approved signer",
    () =>
      call("POST", "/signer/signed_key/", {
        signer_uuid: signers.user,
        app_fid: OWNER,
        deadline: signed.nowSecs() + 60,
        signature: `0x${"11".repeat(65)}`,
      }),
  ],
  ["not_implemented", 501, "a path of another product", () => call("POST", "/storage/buy/", {})],
  [
    "not_implemented",
    501,
    "a fresh account",
    () => call("GET", "/user/fid/", undefined, { "x-wallet-id": "w" }),
  ],
  [
    "not_implemented",
    501,
    "a token of another service in place of a signer",
    () => call("POST", "/notifications/seen/", { type: "likes" }, { authorization: "Bearer eyJ" }),
  ],
  [
    "not_implemented",
    501,
    "a filter of feeds",
    () => call("GET", "/feed/?feed_type=filter&filter_type=embed_types&embed_types=text&fid=3"),
  ],
  // Last, because it counts against the address of all tests here.
  [
    "rate_limited",
    429,
    "unknown keys of one address",
    async () => {
      const guess = () => call("POST", "/cast/", {}, key(`svc_11111111_${"1".repeat(44)}`));
      // The bucket is refilled meanwhile, on a busy machine by more than one.
      let response = await guess();
      for (let n = 0; n < 100 && response.status !== 429; n++) response = await guess();
      return response;
    },
  ],
];

describe("x-error-code", () => {
  test.each(REFUSALS)("%s, %i: %s", async (code, status, _, request) => {
    const response = await request();
    expect([response.status, response.code, typeof response.body.message]).toEqual([status, code, "string"]);
  });
});

test.each([
  ["conflict", 409, { code: "bad_request.conflict", reason: "message conflicts with a more recent add" }],
  ["no_storage", 403, { code: "bad_request.prunable", reason: "message would be pruned" }],
  ["rate_limited", 429, { code: "bad_request.rate_limited", reason: "too many keys" }],
  ["needs_pro", 403, { code: "bad_request.validation_failure", reason: "ten-k casts need Pro" }],
  ["signer_not_approved", 403, { code: "bad_request.validation_failure", reason: "invalid signer" }],
  ["out_of_scope", 403, { code: "bad_request.validation_failure", reason: "message type out of scope" }],
  ["not_implemented", 501, { code: "unavailable", reason: "this node has no RPC for chain 10" }],
  ["unavailable", 503, { code: "resource_exhausted", reason: "the index is full" }],
  ["invalid_message", 400, { code: "bad_request.validation_failure", reason: "hash is wrong" }],
])("a refusal by the network is %s, %i", (code, status, refused) => {
  expect(refusalOf({ kind: "refused", ...refused })).toMatchObject({ code, status });
  expect(refusalOf({ kind: "login_refused" })).toMatchObject({ code: "upstream_refused", status: 502 });
});
