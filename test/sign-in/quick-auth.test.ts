import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { createClient } from "@farcaster/quick-auth";
import { createRemoteJWKSet, decodeProtectedHeader, exportSPKI, importJWK, jwtVerify } from "jose";
import { SHARES } from "../../src/admission/budgets.ts";
import type { TestApi } from "../support/api.ts";
import { signerEvent } from "../support/events.ts";
import { makeWallet } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import {
  addressOf,
  authWallet,
  custody,
  DOMAIN,
  newNonce,
  OTHER,
  PERSON,
  post,
  signInMessage,
  signText,
  startSignInApi,
} from "../support/sign-in.ts";

let api: TestApi;
const client = () => createClient({ origin: `${api.url}/quick-auth` });

beforeAll(async () => {
  api = await startSignInApi({ compatPrefixes: ["farcaster"] });
});
afterAll(() => api[Symbol.asyncDispose]());

async function signIn(changes: Parameters<typeof signInMessage>[1] = {}, wallet = custody) {
  const message = signInMessage(await newNonce(api), changes);
  return post(api, "/quick-auth/verify-siwf", {
    message,
    signature: signText(message, wallet),
    domain: DOMAIN,
  });
}

async function newToken(): Promise<string> {
  return String((await signIn()).body.token);
}

const verifyJwt = async (token: string, domain = DOMAIN) => {
  const query = new URLSearchParams({ token, domain });
  const response = await fetch(`${api.url}/quick-auth/verify-jwt?${query}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe("Quick Auth by the official client", () => {
  test("check 1: a custody key signs in, and the token has the fid as a number and the domain as audience", async () => {
    const quickAuth = client();
    const { nonce } = await quickAuth.generateNonce();
    expect(nonce).toMatch(/^[a-zA-Z0-9]{32}$/);
    const message = signInMessage(nonce);
    const { token } = await quickAuth.verifySiwf({ message, signature: signText(message), domain: DOMAIN });
    const claims = await quickAuth.verifyJwt({ token, domain: DOMAIN });
    expect(claims).toMatchObject({ sub: PERSON, aud: DOMAIN, iss: `${api.url}/quick-auth` });
    expect(claims.exp - claims.iat).toBe(3600);
  });

  test("check 2: the same message again is refused with invalid_nonce", async () => {
    const message = signInMessage(await newNonce(api));
    const request = { message, signature: signText(message), domain: DOMAIN };
    await client().verifySiwf(request);
    const again = client().verifySiwf(request);
    expect(again).rejects.toThrow("nonce is unknown, used or expired");
    expect((await post(api, "/quick-auth/verify-siwf", request)).body).toMatchObject({
      valid: false,
      reason: "invalid_nonce",
    });
  });

  test("of many copies at once exactly one gets a token", async () => {
    const message = signInMessage(await newNonce(api));
    const request = { message, signature: signText(message), domain: DOMAIN };
    const all = await Promise.all([...Array(50)].map(() => post(api, "/quick-auth/verify-siwf", request)));
    expect(all.filter(({ body }) => body.valid === true)).toHaveLength(1);
    expect(all.filter(({ body }) => body.reason === "invalid_nonce")).toHaveLength(49);
  });
});

describe("check 3: a message with one changed part is refused with its reason", () => {
  const ago = (secs: number) => new Date(Date.now() - secs * 1000);
  const nonceOfAnother = "0".repeat(32);
  const cases: readonly [reason: string, changes: Parameters<typeof signInMessage>[1]][] = [
    ["invalid_nonce", { nonce: nonceOfAnother }],
    ["expired", { issuedAt: ago(601) }],
    ["expired", { expirationTime: ago(1) }],
    ["not_yet_valid", { issuedAt: ago(-120) }],
    ["not_yet_valid", { notBefore: ago(-60) }],
    ["domain_mismatch", { domain: "evil.example" }],
    ["domain_mismatch", { domain: `${DOMAIN}:8443` }],
    ["invalid_statement", { statement: "Sign me in" }],
    ["invalid_statement", { statement: undefined }],
    ["wrong_chain", { chainId: 1 }],
    ["no_fid", { resources: ["https://app.example"] }],
    ["no_fid", { resources: ["farcaster://fid/03"] }],
    ["several_fids", { resources: ["farcaster://fid/3", "farcaster://fid/4"] }],
    ["invalid_signature", { address: addressOf(makeWallet(`custody ${OTHER}`)) }],
    ["not_authorized", { resources: [`farcaster://fid/${OTHER}`] }],
    ["unknown_fid", { resources: ["farcaster://fid/999"] }],
  ];
  test.each(cases)("%s (case %#)", async (reason, changes) => {
    const { status, body } = await signIn(changes);
    expect(status).toBe(200);
    expect(body).toMatchObject({ valid: false, reason });
    expect(String(body.message).length).toBeGreaterThan(5);
  });

  test("contract_wallet: a signature that no key of an account makes", async () => {
    const message = signInMessage(await newNonce(api));
    const { body } = await post(api, "/quick-auth/verify-siwf", {
      message,
      signature: `0x${"ab".repeat(80)}`,
      domain: DOMAIN,
    });
    expect(body).toMatchObject({ valid: false, reason: "contract_wallet" });
  });

  test("malformed: another text, and a line that EIP-4361 does not have", async () => {
    for (const message of ["Sign in", `${signInMessage(await newNonce(api))}\nmore`]) {
      const { body } = await post(api, "/quick-auth/verify-siwf", {
        message,
        signature: signText(message),
        domain: DOMAIN,
      });
      expect(body).toMatchObject({ valid: false, reason: "malformed" });
    }
  });

  test("a body of another form is 400 with what the official client reads", async () => {
    const { status, body } = await post(api, "/quick-auth/verify-siwf", {
      message: "x",
      signature: "0x",
      domain: 3,
    });
    expect(status).toBe(400);
    expect(body.error).toBe("invalid_params");
    expect(body.message).toContain("domain");
    expect(body.error_message).toBe(body.message);
  });

  test("the domain is compared as browsers write it", async () => {
    const message = signInMessage(await newNonce(api));
    const { body } = await post(api, "/quick-auth/verify-siwf", {
      message,
      signature: signText(message),
      domain: "APP.example",
    });
    expect(body.valid).toBe(true);
  });

  test("a high s, and v of 0 or 1, are signatures too", async () => {
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const message = signInMessage(await newNonce(api));
    const low = Buffer.from(signText(message).slice(2), "hex");
    const s = order - BigInt(`0x${low.subarray(32, 64).toString("hex")}`);
    const v = (low[64] ?? 27) === 27 ? 1 : 0;
    const high = Buffer.concat([
      low.subarray(0, 32),
      Buffer.from(s.toString(16).padStart(64, "0"), "hex"),
      Buffer.of(v),
    ]);
    const { body } = await post(api, "/quick-auth/verify-siwf", {
      message,
      signature: `0x${high.toString("hex")}`,
      domain: DOMAIN,
    });
    expect(body.valid).toBe(true);
  });
});

test("check 4: an auth address signs in until it is removed, and never where only custody counts", async () => {
  const attempt = async (acceptAuthAddress?: boolean) => {
    const message = signInMessage(await newNonce(api), { address: addressOf(authWallet) });
    const signature = signText(message, authWallet);
    return (
      await post(api, "/quick-auth/verify-siwf", { message, signature, domain: DOMAIN, acceptAuthAddress })
    ).body;
  };
  const accepted = await attempt();
  expect((await verifyJwt(String(accepted.token))).body).toMatchObject({
    sub: PERSON,
    auth_method: "authAddress",
  });
  expect(await attempt(false)).toMatchObject({ valid: false, reason: "not_authorized" });
  const key = Buffer.concat([Buffer.alloc(12), authWallet.address]);
  expect(api.node.ingestEvent(signerEvent(PERSON, key, { block: 900_001 }, "remove"))).toBe("ok");
  expect(await attempt()).toMatchObject({ valid: false, reason: "not_authorized" });
});

describe("check 5: /verify-jwt", () => {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const partsOf = (token: string) =>
    token.split(".").map((part) => Buffer.from(part, "base64url")) as [Buffer, Buffer, Buffer];

  test("gives the claims, also again, and a 400 with the reason for another domain", async () => {
    const token = await newToken();
    for (let time = 0; time < 2; time += 1)
      expect(await verifyJwt(token)).toMatchObject({ status: 200, body: { sub: PERSON, aud: DOMAIN } });
    expect(await verifyJwt(token, "evil.example")).toMatchObject({
      status: 400,
      body: { error: "invalid_token", reason: "audience", error_message: expect.any(String) },
    });
    expect(client().verifyJwt({ token, domain: "evil.example" })).rejects.toThrow();
  });

  test("responds to a remembered token without the router, as to the first request of it, and to every other one by the rules", async () => {
    const token = await newToken();
    const request = (query: string, init?: RequestInit) =>
      fetch(`${api.url}/quick-auth/verify-jwt?${query}`, init);
    const query = String(new URLSearchParams({ token, domain: DOMAIN }));
    const shown = async (response: Response) => ({
      status: response.status,
      body: await response.text(),
      headers: [...response.headers].filter(([name]) => !["x-request-id", "date"].includes(name)),
    });
    const first = await shown(await request(query, { headers: { origin: "https://any.example" } }));
    const second = await shown(await request(query, { headers: { origin: "https://any.example" } }));
    expect(second).toEqual(first);
    expect(Object.fromEntries(second.headers)).toMatchObject({
      "cache-control": "no-store",
      "access-control-allow-origin": "*",
    });
    expect((await request(query, { method: "HEAD" })).status).toBe(200);
    expect((await request(query, { method: "POST" })).status).toBe(405);
    expect((await request(query.replace(DOMAIN, DOMAIN.toUpperCase()))).status).toBe(200);
    for (const changed of [`token=${token}`, `${query}x`, `${query}%00`])
      expect((await request(changed)).status).toBe(400);
  });

  test("refuses an expired token, remembered or not", async () => {
    const [token, unseen] = [await newToken(), await newToken()];
    expect((await verifyJwt(token)).status).toBe(200);
    const nowMs = api.node.clock.nowMs();
    api.node.clock.setMs(nowMs + 3_600_000);
    for (const each of [token, unseen]) expect((await verifyJwt(each)).body.reason).toBe("expired");
    api.node.clock.setMs(nowMs);
  });

  test("refuses keys and algorithms other than that of the named key", async () => {
    const token = await newToken();
    const [head, payload] = token.split(".") as [string, string, string];
    const { kid } = decodeProtectedHeader(token);
    const keys = (await (await fetch(`${api.url}/quick-auth/.well-known/jwks.json`)).json()) as {
      keys: Record<string, string>[];
    };
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const signedBy = (header: object) => {
      const content = `${encode(header)}.${payload}`;
      return `${content}.${sign("sha256", Buffer.from(content), privateKey).toString("base64url")}`;
    };
    const pem = await exportSPKI((await importJWK(keys.keys[0] ?? {}, "RS256")) as CryptoKey);
    const hmacHead = encode({ alg: "HS256", kid, typ: "JWT" });
    const hmac = createHmac("sha256", pem).update(`${hmacHead}.${payload}`).digest("base64url");
    const refused: readonly [token: string, reason: string][] = [
      [signedBy({ alg: "RS256", kid, typ: "JWT" }), "invalid_signature"],
      [
        signedBy({ alg: "RS256", kid, typ: "JWT", jwk: publicKey.export({ format: "jwk" }) }),
        "invalid_signature",
      ],
      [signedBy({ alg: "RS256", kid: "other" }), "unknown_key"],
      [signedBy({ alg: "RS256" }), "malformed"],
      [`${encode({ alg: "none", kid })}.${payload}.AA`, "invalid_signature"],
      [`${encode({ alg: "none", kid })}.${payload}.`, "malformed"],
      [`${hmacHead}.${payload}.${hmac}`, "invalid_signature"],
      [
        `${head}.${encode({ ...JSON.parse(partsOf(token)[1].toString()), sub: OTHER })}.${token.split(".")[2]}`,
        "invalid_signature",
      ],
      [`${head}.${payload}`, "malformed"],
    ];
    for (const [forged, reason] of refused) expect((await verifyJwt(forged)).body.reason).toBe(reason);
    expect((await verifyJwt(token)).status).toBe(200);
  });

  test("refuses a token of another issuer", async () => {
    await using other = await startSignInApi();
    const token = await newToken();
    const query = new URLSearchParams({ token, domain: DOMAIN });
    const response = await fetch(`${other.url}/quick-auth/verify-jwt?${query}`);
    expect(await response.json()).toMatchObject({ reason: "unknown_key" });
  });
});

test("check 7: jose verifies a token from the key set, which verifiers may keep for ten minutes", async () => {
  const token = await newToken();
  const url = new URL(`${api.url}/quick-auth/.well-known/jwks.json`);
  const { payload, protectedHeader } = await jwtVerify(token, createRemoteJWKSet(url), {
    issuer: `${api.url}/quick-auth`,
    audience: DOMAIN,
    algorithms: ["RS256"],
  });
  expect(payload.sub as unknown).toBe(PERSON);
  expect(protectedHeader).toMatchObject({ alg: "RS256", typ: "JWT" });
  const response = await fetch(url);
  expect(response.headers.get("cache-control")).toBe("public, max-age=600");
  const etag = response.headers.get("etag") ?? "";
  expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
  const headersOf = async () =>
    [...(await fetch(url)).headers].filter(([name]) => !["x-request-id", "date"].includes(name));
  const known = await headersOf();
  // Its list of keys is too old then: this response is built again.
  api.node.clock.setMs(api.node.clock.nowMs() + 1000);
  expect(await headersOf()).toEqual(known);
  expect(JSON.stringify(await response.json())).not.toContain('"d"');
  const configuration = await fetch(`${api.url}/quick-auth/.well-known/openid-configuration`);
  expect(await configuration.json()).toEqual({
    issuer: `${api.url}/quick-auth`,
    jwks_uri: url.href,
    id_token_signing_alg_values_supported: ["RS256"],
  });
});

test("ES256 tokens are verified by jose, too", async () => {
  await using es256 = await startSignInApi({ settings: ["quick_auth.algorithm=ES256"] });
  const message = signInMessage(await newNonce(es256));
  const { body } = await post(es256, "/quick-auth/verify-siwf", {
    message,
    signature: signText(message),
    domain: DOMAIN,
  });
  const keys = createRemoteJWKSet(new URL(`${es256.url}/quick-auth/.well-known/jwks.json`));
  const { payload } = await jwtVerify(String(body.token), keys, { algorithms: ["ES256"] });
  expect(payload.sub as unknown).toBe(PERSON);
  const query = new URLSearchParams({ token: String(body.token), domain: DOMAIN });
  expect((await fetch(`${es256.url}/quick-auth/verify-jwt?${query}`)).status).toBe(200);
});

test("check 16: while the index lags no one signs in, and tokens are verified", async () => {
  let stale: string | undefined;
  await using following = await startSignInApi({ staleReason: async () => stale });
  const sent = async () => {
    const message = signInMessage(await newNonce(following));
    return post(following, "/quick-auth/verify-siwf", {
      message,
      signature: signText(message),
      domain: DOMAIN,
    });
  };
  const { token } = (await sent()).body;
  stale = "the index is 3 minutes behind";
  const refused = await sent();
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("5");
  const query = new URLSearchParams({ token: String(token), domain: DOMAIN });
  expect((await fetch(`${following.url}/quick-auth/verify-jwt?${query}`)).status).toBe(200);
});

test("check 17: an fid that the node does not follow is unknown, and the message names the setting", async () => {
  await using partial = await startSignInApi({
    settings: ["upstream.url=http://127.0.0.1:1", `upstream.fids=${OTHER}`],
  });
  partial.node.ingestAll(accountRecords(9));
  const message = signInMessage(await newNonce(partial));
  const { body } = await post(partial, "/quick-auth/verify-siwf", {
    message,
    signature: signText(message),
    domain: DOMAIN,
  });
  expect(body).toMatchObject({
    valid: false,
    reason: "unknown_fid",
    message: expect.stringContaining("upstream.fids"),
  });
});

test("check 26: of 1,000 sign-ins of one address at once 120 are verified, the others have to wait; channels likewise", async () => {
  await using limited = await startSignInApi({ shares: SHARES });
  const message = signInMessage(await newNonce(limited));
  const signIn = { message, signature: signText(message), domain: DOMAIN };
  const asked = async (count: number, path: string, body: object) => {
    const startedAtMs = performance.now();
    const all = await Promise.all([...Array(count)].map(() => post(limited, path, body)));
    const refused = all.filter(({ status }) => status === 429);
    const waits = refused.map(({ headers }) => Number(headers.get("retry-after")));
    expect(waits.every((secs) => secs >= 1 && secs <= 60)).toBe(true);
    return {
      admitted: all.filter(({ status }) => status < 300),
      refused: refused.length,
      minutes: (performance.now() - startedAtMs) / 60_000,
    };
  };
  const signIns = await asked(1000, "/quick-auth/verify-siwf", signIn);
  expect(signIns.admitted.length + signIns.refused).toBe(1000);
  // The nonce was the first request, and the share is filled again while the others arrive.
  expect(signIns.admitted.length).toBeLessThanOrEqual(119 + Math.ceil(120 * signIns.minutes));
  expect(signIns.admitted.filter(({ body }) => body.valid === true)).toHaveLength(1);
  const channels = await asked(100, "/v1/channel", { domain: DOMAIN, siweUri: `https://${DOMAIN}/` });
  expect(channels.admitted.length).toBeLessThanOrEqual(20 + Math.ceil(20 * channels.minutes));
});

describe("the settings of Quick Auth", () => {
  test("without a master key it is 501, and enabled = false makes it 404", async () => {
    await using without = await startSignInApi({ settings: ["signers.encryption_key="] });
    expect((await post(without, "/quick-auth/nonce")).status).toBe(501);
    await using off = await startSignInApi({ settings: ["quick_auth.enabled=false"] });
    expect((await post(off, "/quick-auth/nonce")).status).toBe(404);
  });

  test("a list of domains refuses all others", async () => {
    await using listed = await startSignInApi({ settings: ["quick_auth.domains=*.example"] });
    const attempt = async (domain: string) => {
      const message = signInMessage(await newNonce(listed), { domain });
      return (
        await post(listed, "/quick-auth/verify-siwf", { message, signature: signText(message), domain })
      ).body;
    };
    expect(await attempt(DOMAIN)).toMatchObject({ valid: true });
    expect(await attempt("app.other")).toMatchObject({ valid: false, reason: "domain_mismatch" });
    expect(await attempt("notexample.com")).toMatchObject({ valid: false, reason: "domain_mismatch" });
  });

  test("any origin may call it, whatever http.cors_origins allows", async () => {
    const response = await fetch(`${api.url}/quick-auth/.well-known/jwks.json`, {
      headers: { origin: "https://any.example" },
    });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });
});
