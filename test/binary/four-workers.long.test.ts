import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Hex, toBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { compiledProgram } from "../support/compiled-program.ts";
import { importSignerOfPerson, keysOfPerson, postAsPerson } from "../support/demo-calls.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { IS_LONG } from "../support/long.ts";
import { until } from "../support/manual-time.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { newSessionKey, sessionHeaders } from "../support/sessions.ts";
import { GASLESS_REQUEST_DOMAIN, signedKeyRequest } from "../support/signed-key-request.ts";
import { signedHeaders } from "../support/signing.ts";
import { parseLimitList } from "../support/structured-fields.ts";

/** A node with four HTTP workers that follows another one: what clients are promised whichever worker they reach. */

const OWNER = 3;
const USER = 9;
const WORKERS = 4;

const dir = tempDir();
let upstream: RunningNode;
let node: RunningNode;
let signerUuid: string;

beforeAll(async () => {
  upstream = await startDemoNode({ dataDir: `${dir.path}/upstream` });
  const settings = [
    `upstream.url=http://${upstream.hubAddress}`,
    // To verify the other 198 persons would take most of the test.
    `upstream.fids=${OWNER},${USER}`,
    `http.workers=${WORKERS}`,
    `signers.encryption_key=${"5a".repeat(32)}`,
  ];
  const args = settings.flatMap((setting) => ["--set", setting]);
  node = await startNode({ command: compiledProgram, dataDir: `${dir.path}/node`, args });
  await until(async () => (await fetch(`${node.url}/ready`)).status === 200);
  signerUuid = await importSignerOfPerson(node, { user: USER, owner: OWNER });
}, 180_000);
afterAll(async () => {
  await Promise.all([node, upstream].map((one) => one.stop()));
  dir[Symbol.dispose]();
});

async function createKey(
  scopes: readonly string[],
  more: object = {},
): Promise<{ id: string; secret: string }> {
  const { api_key, secret } = await postAsPerson(node, OWNER, "/api_key", { name: "k", scopes, ...more });
  return { id: (api_key as { api_key_id: string }).api_key_id, secret: String(secret) };
}

/** Sends a request over a connection of its own, which any worker may accept. */
async function ask(
  path: string,
  { secret, body }: { readonly secret?: string; readonly body?: object } = {},
) {
  const response = await fetch(node.url + path, {
    method: body ? "POST" : "GET",
    headers: { ...(secret ? { "x-api-key": secret } : {}), "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
    keepalive: false,
  });
  // biome-ignore lint/suspicious/noExplicitAny: a response of any shape
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}
const publish = (secret: string, text: string) =>
  ask("/v2/farcaster/cast/", { secret, body: { signer_uuid: signerUuid, text } });

describe("a node with four workers that follows another", () => {
  test("check 22: a session that has ended signs nothing more on any worker, from the response on", async () => {
    const { privateKey, body } = newSessionKey({ origin: node.url });
    const { session } = await postAsPerson(node, OWNER, "/session", body);
    const { session_id: sessionId } = session as { session_id: string };
    // Each on a connection of its own, so that every worker gets some of them.
    const statuses = async () => {
      const all = Array.from({ length: 60 }, async () => {
        const call = { method: "GET", path: "/session/list", op: "session.read" } as const;
        const signedAt = Math.floor(Date.now() / 1000);
        const headers = sessionHeaders({ sessionId, fid: OWNER, privateKey }, { ...call, signedAt });
        return (await fetch(`${node.url}/v2/svc${call.path}`, { headers, keepalive: false })).status;
      });
      return [...new Set(await Promise.all(all))];
    };
    expect(await statuses()).toEqual([200]);
    const { custody } = keysOfPerson(OWNER);
    const headers = await signedHeaders({
      method: "DELETE",
      path: "/session",
      fid: OWNER,
      signedAt: Math.floor(Date.now() / 1000),
      wallet: { privateKey: toBytes(custody.privateKey), address: toBytes(custody.address) },
    });
    const ended = await fetch(`${node.url}/v2/svc/session?all=true`, { method: "DELETE", headers });
    expect(ended.status).toBe(200);
    expect(await statuses()).toEqual([401]);
  });

  test("admits what the bucket of a key holds, and says so in structured fields", async () => {
    const { secret } = await createKey(["read"], { units_per_minute: 120 });
    const startedMs = performance.now();
    const responses = [];
    for (let round = 0; round < (IS_LONG ? 10 : 3); round++)
      responses.push(
        ...(await Promise.all(
          Array.from({ length: 100 }, () => ask("/v2/farcaster/storage/usage?fid=3", { secret })),
        )),
      );
    const refilled = ((performance.now() - startedMs) / 1000) * 2;
    const admitted = responses.filter(({ status }) => status === 200);
    expect(admitted.length).toBeGreaterThanOrEqual(120);
    expect(admitted.length).toBeLessThanOrEqual((120 + refilled) * 1.01 + 1);
    for (const { status, headers } of responses) {
      expect(parseLimitList(headers.get("ratelimit-policy") ?? "")).toEqual([
        { name: "key", parameters: { q: 120, w: 60 } },
      ]);
      const [state] = parseLimitList(headers.get("ratelimit") ?? "");
      expect(state).toEqual({ name: "key", parameters: { r: expect.any(Number), t: expect.any(Number) } });
      if (status === 200) continue;
      expect(status).toBe(429);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
  }, 180_000);

  test("refuses a deleted key at once, whichever worker gets it", async () => {
    const { id, secret } = await createKey(["read"]);
    const statuses = () =>
      Promise.all(Array.from({ length: 16 }, () => ask("/v2/farcaster/user/bulk?fids=3", { secret }))).then(
        (all) => [...new Set(all.map(({ status }) => status))],
      );
    expect(await statuses()).toEqual([200]);
    const { custody } = keysOfPerson(OWNER);
    const wallet = { privateKey: toBytes(custody.privateKey), address: toBytes(custody.address) };
    const call = { method: "DELETE", path: "/api_key", body: JSON.stringify({ api_key_id: id }) } as const;
    const signedAt = Math.floor(Date.now() / 1000);
    const headers = await signedHeaders({ ...call, fid: OWNER, signedAt, wallet });
    const { method, path, body } = call;
    expect((await fetch(`${node.url}/v2/svc${path}`, { method, headers, body })).status).toBe(200);
    expect(await statuses()).toEqual([401]);
  });

  test("responds with 200 for a cast when every worker shows it", async () => {
    const { secret } = await createKey(["read", "write"]);
    for (let n = 0; n < 5; n++) {
      const published = await publish(secret, `cast ${n}`);
      expect([published.status, published.headers.get("x-svc-write")]).toEqual([200, "merged"]);
      const path = `/v2/farcaster/cast/?type=hash&identifier=${published.body.cast.hash}`;
      const reads = await Promise.all(Array.from({ length: 16 }, () => ask(path, { secret })));
      expect(reads.map(({ body }) => body.cast?.text)).toEqual(reads.map(() => `cast ${n}`));
    }
  }, 180_000);

  test("approves a signer: a used nonce is 409 and then succeeds, another wallet 404, a past deadline 400", async () => {
    const { secret } = await createKey(["signers"]);
    const account = privateKeyToAccount(keysOfPerson(USER).custody.privateKey as Hex);
    const app = privateKeyToAccount(keysOfPerson(OWNER).custody.privateKey as Hex);
    const pending = async () => {
      const signer = (await ask("/v2/farcaster/signer/", { secret, body: {} })).body;
      const deadline = Math.floor(Date.now() / 1000) + 3600;
      const signature = await app.signTypedData(
        signedKeyRequest({
          domain: GASLESS_REQUEST_DOMAIN,
          requestFid: OWNER,
          key: signer.public_key,
          deadline,
        }),
      );
      const body = { signer_uuid: signer.signer_uuid, app_fid: OWNER, deadline, signature };
      const registered = (await ask("/v2/farcaster/signer/signed_key/", { secret, body })).body;
      return { uuid: signer.signer_uuid, path: new URL(registered.signer_approval_url).pathname };
    };
    const prepare = (path: string, address: string = account.address) =>
      ask(`${path}/prepare`, { body: { address } });
    // biome-ignore lint/suspicious/noExplicitAny: typed data as a wallet gets it
    const submit = async (path: string, { fid, key_add }: any, changes: object = {}) => {
      const custody_signature = await account.signTypedData(key_add);
      const { nonce, deadline } = key_add.message;
      const body = { fid, nonce, deadline: Number(deadline), custody_signature, ...changes };
      return ask(`${path}/submit`, { body });
    };
    const [one, two] = [await pending(), await pending()];
    expect((await prepare(one.path, `0x${"1".repeat(40)}`)).status).toBe(404);
    const [first, second] = [(await prepare(one.path)).body, (await prepare(two.path)).body];
    expect((await submit(one.path, first, { deadline: 1 })).status).toBe(400);
    expect(await submit(one.path, first)).toMatchObject({
      status: 200,
      body: { status: "approved", fid: USER },
    });
    expect((await submit(two.path, second)).status).toBe(409);
    expect(await submit(two.path, (await prepare(two.path)).body)).toMatchObject({ status: 200 });
    for (const { uuid } of [one, two])
      expect((await ask(`/v2/farcaster/signer/?signer_uuid=${uuid}`, { secret })).body).toMatchObject({
        status: "approved",
        fid: USER,
      });
  }, 180_000);

  test.skipIf(!IS_LONG)(
    "refuses a cast with 503 while the followed node is unreachable, and that cast never appears",
    async () => {
      const { secret } = await createKey(["read", "write"]);
      await upstream.kill();
      const refused = await publish(secret, "never there");
      expect(refused.status).toBe(503);
      expect(refused.headers.get("x-error-code")).toBe("upstream_unavailable");
      expect(refused.headers.get("retry-after")).toBe("5");
      const port = upstream.hubAddress.split(":").at(-1) ?? "";
      upstream = await startNode({
        command: compiledProgram,
        demo: true,
        dataDir: `${dir.path}/upstream`,
        args: ["--set", `hub.port=${port}`],
      });
      await until(async () => (await publish(secret, "there again")).status === 200);
      const casts = (await ask(`/v2/farcaster/feed/user/casts?fid=${USER}&limit=50`, { secret })).body.casts;
      const texts = casts.map(({ text }: { text: string }) => text);
      expect(texts).toContain("there again");
      expect(texts).not.toContain("never there");
    },
    180_000,
  );
});
