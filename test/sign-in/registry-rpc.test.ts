import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAppClient, viemConnector } from "@farcaster/auth-client";
import {
  createPublicClient,
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  http,
  pad,
  parseAbi,
} from "viem";
import { optimism as chain } from "viem/chains";
import { type Hex, toHex } from "../../src/protocol/validate/eth.ts";
import { ID_REGISTRY, KEY_REGISTRY } from "../../src/transactions/contracts.ts";
import type { TestApi } from "../support/api.ts";
import { signerEvent } from "../support/events.ts";
import { makeWallet, signDigest } from "../support/messages.ts";
import {
  addressOf,
  authWallet,
  custody,
  DOMAIN,
  OTHER,
  PERSON,
  post,
  signInMessage,
  signText,
  startOptimism,
  startSignInApi,
} from "../support/sign-in.ts";

const registries = parseAbi([
  "function idOf(address) view returns (uint256)",
  "function custodyOf(uint256) view returns (address)",
  "function recoveryOf(uint256) view returns (address)",
  "function idCounter() view returns (uint256)",
  "function verifyFidSignature(address, uint256, bytes32, bytes) view returns (bool)",
  "function keyDataOf(uint256, bytes) view returns ((uint8 state, uint32 keyType))",
  "function totalKeys(uint256, uint8) view returns (uint256)",
  "function keysOf(uint256, uint8, uint256, uint256) view returns (bytes[], uint256)",
  "function ownerOf(uint256) view returns (address)",
]);
const NONCE = "abcdefgh12345678";
const FOREIGN = 2 ** 31;

let api: TestApi;
const rpcUrl = () => `${api.url}/rpc/10`;
const read = (functionName: string, ...args: readonly unknown[]) =>
  createPublicClient({ chain, transport: http(rpcUrl()) }).readContract({
    address: /key/i.test(functionName) ? KEY_REGISTRY : ID_REGISTRY,
    abi: registries,
    functionName: functionName as "idOf",
    args: args as readonly [Hex],
  }) as Promise<unknown>;
const rpc = (body: unknown, at: TestApi = api) => post(at, "/rpc/10", body);
const call = (method: string, ...params: unknown[]) => ({ jsonrpc: "2.0", id: 1, method, params });
const errorOf = async (body: unknown, at?: TestApi) => {
  const { status, body: response } = await rpc(body, at);
  return { status, code: (response.error as { code: number } | undefined)?.code };
};

beforeAll(async () => {
  api = await startSignInApi();
});
afterAll(() => api[Symbol.asyncDispose]());

describe("check 14: auth-client verifies a person with the node as its RPC", () => {
  const verify = async ({
    wallet = custody,
    fid = PERSON,
    signer = undefined as typeof custody | undefined,
    acceptAuthAddress = true,
  } = {}): Promise<{ readonly success: boolean; readonly fid: number | undefined }> => {
    const client = createAppClient({ relay: api.url, ethereum: viemConnector({ rpcUrl: rpcUrl() }) });
    const message = signInMessage(NONCE, {
      address: addressOf(wallet),
      resources: [`farcaster://fid/${fid}`],
    });
    const signature = signText(message, signer ?? wallet);
    const request = { nonce: NONCE, domain: DOMAIN, message, signature, acceptAuthAddress };
    const { success = false, fid: verified } = await client.verifySignInMessage(request);
    return { success, fid: verified };
  };

  test("by custody and by an auth address, where that is accepted", async () => {
    expect(await verify()).toMatchObject({ success: true, fid: PERSON });
    expect(await verify({ wallet: authWallet })).toMatchObject({ success: true, fid: PERSON });
    expect((await verify({ wallet: authWallet, acceptAuthAddress: false })).success).toBe(false);
  });

  test("refuses another fid, a stranger and someone else's signature", async () => {
    expect((await verify({ fid: OTHER })).success).toBe(false);
    expect((await verify({ wallet: makeWallet("a stranger") })).success).toBe(false);
    expect((await verify({ signer: makeWallet("a stranger") })).success).toBe(false);
  });
});

describe("the registries", () => {
  test("respond with fids, addresses and keys as on chain", async () => {
    expect(await read("idOf", addressOf(custody))).toBe(BigInt(PERSON));
    expect(await read("idOf", addressOf(makeWallet("a stranger")))).toBe(0n);
    expect(await read("custodyOf", BigInt(PERSON))).toBe(addressOf(custody));
    expect(await read("custodyOf", BigInt(FOREIGN))).toBe(`0x${"0".repeat(40)}`);
    expect(await read("custodyOf", 2n ** 255n)).toBe(`0x${"0".repeat(40)}`);
    expect(await read("recoveryOf", BigInt(PERSON))).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(await read("idCounter")).toBe(BigInt(OTHER));
    const key = pad(toHex(authWallet.address), { size: 32 });
    expect(await read("keyDataOf", BigInt(PERSON), key)).toEqual({ state: 1, keyType: 2 });
    expect(await read("keyDataOf", BigInt(OTHER), key)).toEqual({ state: 0, keyType: 0 });
    const total = (await read("totalKeys", BigInt(PERSON), 1)) as bigint;
    const [keys, next] = (await read("keysOf", BigInt(PERSON), 1, 0n, 1n)) as [Hex[], bigint];
    expect({ keys: keys.length, next }).toEqual({ keys: 1, next: total > 1n ? 1n : 0n });
    const [all] = (await read("keysOf", BigInt(PERSON), 1, 0n, 2n ** 200n)) as [Hex[], bigint];
    expect(BigInt(all.length)).toBe(total);
    expect(all).toContain(key);
    const removed = Buffer.concat([Buffer.alloc(12), authWallet.address]);
    expect(api.node.ingestEvent(signerEvent(PERSON, removed, { block: 900_001 }, "remove"))).toBe("ok");
    expect(await read("keyDataOf", BigInt(PERSON), key)).toEqual({ state: 2, keyType: 2 });
  });

  test("verify an fid's signature by its custody key", async () => {
    const digest = new Uint8Array(32).fill(7);
    const signature = toHex(signDigest(digest, custody));
    const verify = (fid: number, signed: Hex) =>
      read("verifyFidSignature", addressOf(custody), BigInt(fid), toHex(digest), signed);
    expect(await verify(PERSON, signature)).toBe(true);
    expect(await verify(OTHER, signature)).toBe(false);
    expect(await verify(PERSON, toHex(signDigest(digest, makeWallet("a stranger"))))).toBe(false);
    // A contract wallet may have made it.
    expect(verify(PERSON, "0xabcd")).rejects.toThrow();
  });
});

describe("check 15: what is not served is an error of JSON-RPC", () => {
  const idOf = encodeFunctionData({ abi: registries, functionName: "idOf", args: [addressOf(custody)] });

  test.each([
    ["another method", () => call("eth_getBalance", addressOf(custody), "latest"), -32601],
    [
      "another function",
      () =>
        call("eth_call", {
          to: ID_REGISTRY,
          data: encodeFunctionData({ abi: registries, functionName: "ownerOf", args: [1n] }),
        }),
      -32601,
    ],
    ["another contract", () => call("eth_call", { to: addressOf(custody), data: idOf }, "latest"), -32601],
    ["an old block", () => call("eth_call", { to: ID_REGISTRY, data: idOf }, "0x10"), -32001],
    [
      "arguments that are cut off",
      () => call("eth_call", { to: ID_REGISTRY, data: idOf.slice(0, 40) }, "latest"),
      3,
    ],
    ["code without a target", () => call("eth_call", { data: "0x6000" }, "latest"), 3],
    ["odd hex", () => call("eth_call", { to: ID_REGISTRY, data: "0xabc" }, "latest"), -32602],
    ["no request", () => ({ hello: 1 }), -32600],
    ["null", () => null, -32600],
    ["an empty batch", () => [], -32600],
    ["a batch of 21", () => Array.from({ length: 21 }, () => call("eth_chainId")), -32600],
  ])("%s", async (_, body, code) => {
    expect(await errorOf(body())).toEqual({ status: 200, code });
  });

  test("a body that is not valid JSON", async () => {
    const response = await fetch(rpcUrl(), {
      method: "POST",
      body: "{",
      headers: { "content-type": "application/json" },
    });
    expect(await response.json()).toMatchObject({ error: { code: -32700 } });
  });

  test("a batch has the responses of its calls, in their order", async () => {
    const batch = [
      call("eth_chainId"),
      call("net_version"),
      call("eth_getCode", ID_REGISTRY, "latest"),
      call("eth_blockNumber"),
    ];
    const { body } = await rpc(batch);
    const results = (body as unknown as { result: string }[]).map(({ result }) => result);
    expect(results.slice(0, 3)).toEqual(["0xa", "10", "0x01"]);
    expect(Number(results[3])).toBeGreaterThan(0);
  });
});

test("check 16: while the index lags calls are -32005; check 17: fids that are not followed are -32002", async () => {
  let stale: string | undefined;
  await using partial = await startSignInApi({
    settings: ["upstream.url=http://127.0.0.1:1", `upstream.fids=${OTHER}`],
    staleReason: async () => stale,
  });
  const custodyOf = (fid: number) =>
    call("eth_call", {
      to: ID_REGISTRY,
      data: encodeFunctionData({ abi: registries, functionName: "custodyOf", args: [BigInt(fid)] }),
    });
  const idOf = call("eth_call", {
    to: ID_REGISTRY,
    data: encodeFunctionData({
      abi: registries,
      functionName: "idOf",
      args: [addressOf(makeWallet("a stranger"))],
    }),
  });
  expect((await errorOf(custodyOf(OTHER), partial)).code).toBeUndefined();
  expect((await errorOf(custodyOf(PERSON), partial)).code).toBe(-32002);
  // The stranger may be the custody of an fid that the node does not follow.
  expect((await errorOf(idOf, partial)).code).toBe(-32002);
  stale = "the index is 3 minutes behind";
  expect((await errorOf(custodyOf(OTHER), partial)).code).toBe(-32005);
});

test("validators of signatures are passed on only for known addresses", async () => {
  const chainRpc = startOptimism(({ address }) => address === addressOf(custody), [addressOf(custody)]);
  await using asking = await startSignInApi({ settings: [`chain.op_rpc_url=${chainRpc.url}`] });
  await using _ = chainRpc;
  const validation = (wallet: typeof custody) =>
    call("eth_call", {
      data: encodeDeployData({
        abi: erc6492SignatureValidatorAbi,
        bytecode: erc6492SignatureValidatorByteCode as Hex,
        args: [addressOf(wallet), toHex(new Uint8Array(32)), "0xabcdef"],
      }),
    });
  expect((await rpc(validation(custody), asking)).body.result).toBe("0x01");
  // The client recovers the key of an account without code itself.
  for (const wallet of [authWallet, makeWallet("a stranger")])
    expect((await errorOf(validation(wallet), asking)).code).toBe(3);
  expect(chainRpc.asked).toHaveLength(1);
});

test("registry_rpc.enabled = false makes it 404", async () => {
  await using off = await startSignInApi({ settings: ["registry_rpc.enabled=false"] });
  expect((await rpc(call("eth_chainId"), off)).status).toBe(404);
});
