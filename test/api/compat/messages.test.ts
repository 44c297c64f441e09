import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as core from "@farcaster/core";
import { privateKeyToAccount } from "viem/accounts";
import { keyRequired } from "../../../src/http/caller.ts";
import { liveHashes } from "../../support/live-messages.ts";
import { DEFAULT_TIMESTAMP, makeSigner, makeWallet, signedCast } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { type ApiResponse, type SignedApi, startSignedApi } from "../../support/signed-api.ts";
import { sdkClient } from "./sdk.ts";

const CoreMessage = core.Message;
const signed: SignedApi = await startSignedApi({ compatPrefixes: ["farcaster"] });
const { url, node } = signed.api;
afterAll(() => signed[Symbol.asyncDispose]());

const FID = 71;

function coreWallet({ privateKey }: { privateKey: Uint8Array }) {
  return new core.ViemLocalEip712Signer(privateKeyToAccount(`0x${Buffer.from(privateKey).toString("hex")}`));
}

let key: string;
let reader: string;

async function keyWith(...scopes: string[]): Promise<string> {
  const body = { name: "k", scopes };
  return (await signed.call({ method: "POST", path: "/api_key", body, fid: 3 })).body.secret;
}

beforeAll(async () => {
  node.ingestAll(accountRecords(FID));
  key = await keyWith("write");
  reader = await keyWith("read");
});

const cast = (text: string) => signedCast(FID, text, accountSigner(FID));
const jsonOf = (message: Uint8Array) =>
  CoreMessage.toJSON(CoreMessage.decode(message)) as Record<string, unknown>;
const hashOf = (message: Uint8Array) => Buffer.from(CoreMessage.decode(message).hash).toString("hex");

async function publish(body: Uint8Array | object, headers: Record<string, string> = {}, path = "/message/") {
  const isBytes = body instanceof Uint8Array;
  const response = await fetch(`${url}/v2/farcaster${path}`, {
    method: "POST",
    headers: {
      "x-api-key": key,
      "content-type": isBytes ? "application/octet-stream" : "application/json",
      ...headers,
    },
    body: isBytes ? Buffer.from(body) : JSON.stringify(body),
  });
  const { status, body: answer }: ApiResponse = { status: response.status, body: await response.json() };
  return { status, headers: response.headers, body: answer };
}

const statusOf = async (hash: string, apiKey = key) => {
  const response = await fetch(`${url}/v2/farcaster/message/?hash=${hash}`, {
    headers: { "x-api-key": apiKey },
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
};

describe("POST /message", () => {
  test("takes the JSON of the official library by the unchanged SDK, and the next read shows it", async () => {
    const message = cast("by the SDK");
    const published = await sdkClient(url, { apiKey: key }).publishMessageToFarcaster({
      body: jsonOf(message),
    });
    expect(published as object).toEqual({ success: true, hash: `0x${hashOf(message)}`, state: "merged" });
    const found = await fetch(`${url}/v2/farcaster/cast?identifier=0x${hashOf(message)}&type=hash`);
    expect(((await found.json()) as { cast: { text: string } }).cast.text).toBe("by the SDK");
  });

  test("counts what was signed, not forged data next to it", async () => {
    const message = cast("genuine");
    const forged = { ...jsonOf(message), data: jsonOf(cast("forged")).data };
    const { status, headers, body } = await publish(forged);
    expect([
      status,
      headers.get("x-svc-write"),
      headers.get("x-svc-message"),
      headers.get("cache-control"),
    ]).toEqual([200, "merged", `0x${hashOf(message)}`, "no-store"]);
    expect(body.hash).toBe(`0x${hashOf(message)}`);
    expect(liveHashes(node.db)).toContain(hashOf(message));
    expect(liveHashes(node.db)).not.toContain(hashOf(cast("forged")));
  });

  test("accepts a gasless key that the official library made, and what that key signs from then on", async () => {
    const added = makeSigner("gasless by core");
    // The library compares it with the machine's clock, the node with its own.
    const deadline = 2 * DEFAULT_TIMESTAMP;
    const body = await core.makeKeyAddBody(
      {
        fid: BigInt(FID),
        key: added.publicKey,
        scopes: [core.MessageType.CAST_ADD],
        ttl: 86_400,
        nonce: 1,
        deadline,
      },
      coreWallet(makeWallet(`custody ${FID}`)),
    );
    const signer = new core.NobleEd25519Signer(added.privateKey);
    const about = { fid: FID, network: core.FarcasterNetwork.MAINNET, timestamp: DEFAULT_TIMESTAMP };
    const keyAdd = (await core.makeKeyAdd(body._unsafeUnwrap(), about, signer))._unsafeUnwrap();
    const merged = { status: 200, body: { success: true, state: "merged" } };
    expect(await publish(CoreMessage.toJSON(keyAdd) as object)).toMatchObject(merged);
    expect(await publish(signedCast(FID, "by the gasless key", added))).toMatchObject(merged);
  });

  test("accepts octets, and a message that is already stored", async () => {
    const message = cast("octets");
    for (let n = 0; n < 2; n += 1)
      expect(await publish(message)).toMatchObject({ status: 200, body: { success: true, state: "merged" } });
  });

  test("requires a key with the scope", async () => {
    const refused = async (apiKey: string) => {
      const { status, headers, body } = await publish(cast("no"), { "x-api-key": apiKey });
      return [status, headers.get("x-error-code"), body.message];
    };
    expect(await refused("")).toEqual([401, "invalid_key", keyRequired("x-api-key:")]);
    expect(await refused("NONE")).toEqual([401, "invalid_key", keyRequired("x-api-key:")]);
    expect(await refused(reader)).toEqual([403, "missing_scope", 'the key lacks the scope "write"']);
    expect(liveHashes(node.db)).not.toContain(hashOf(cast("no")));
  });

  test("a body that is not a message is 400, and says why", async () => {
    const genuine = jsonOf(cast("x"));
    const bad: (Uint8Array | object)[] = [
      {},
      [],
      { hash: 7 },
      { dataBytes: "!!!" },
      { ...genuine, hash: "AAAA" },
      { ...genuine, signature: "" },
      { ...genuine, hashScheme: "HASH_SCHEME_MD5" },
      new Uint8Array([255, 255]),
      new Uint8Array(0),
      new Uint8Array(200_000),
    ];
    for (const body of bad) {
      const reply = await publish(body);
      expect([reply.status, typeof reply.body.message]).toEqual([400, "string"]);
    }
    expect((await publish(new Uint8Array(300_000))).status).toBe(413);
  });

  test("copies with one key are one write with equal responses; another body is 409", async () => {
    const message = jsonOf(cast("once"));
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => publish(message, { "idempotency-key": "a" })),
    );
    expect(new Set(replies.map(({ status, body }) => JSON.stringify([status, body])))).toEqual(
      new Set([JSON.stringify([200, { success: true, hash: `0x${hashOf(cast("once"))}`, state: "merged" }])]),
    );
    const replayed = replies.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
    expect(replayed.length).toBe(49);
    const other = await publish(jsonOf(cast("other")), { "idempotency-key": "a" });
    expect([other.status, other.headers.get("x-error-code")]).toEqual([409, "idempotency_conflict"]);
    for (const bad of ["", "x".repeat(129)])
      expect((await publish(message, { "idempotency-key": bad })).status).toBe(400);
    expect((await publish({ ...message, idem: "b" }, { "idempotency-key": "c" })).status).toBe(400);
    expect((await publish({ ...message, idem: 7 })).status).toBe(400);
  });

  test("GET returns the state of the write, only to its owner", async () => {
    const message = cast("status");
    await publish(message, { "idempotency-key": "status" });
    const { status, body, headers } = await statusOf(`0x${hashOf(message)}`);
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body).toEqual({
      hash: `0x${hashOf(message)}`,
      fid: FID,
      type: 1,
      state: "merged",
      reason: null,
      created_at: expect.stringMatching(/^\d{4}-/),
      updated_at: expect.stringMatching(/^\d{4}-/),
    });
    const foreign = await signed.call({
      method: "POST",
      path: "/api_key",
      body: { name: "k", scopes: ["write"] },
      fid: 4,
    });
    expect((await statusOf(`0x${hashOf(message)}`, foreign.body.secret)).status).toBe(404);
    expect((await statusOf("0x00")).status).toBe(400);
  });
});
