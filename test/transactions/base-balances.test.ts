import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Abi,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  erc20Abi,
  multicall3Abi,
} from "viem";
import type { Hex } from "../../src/protocol/validate/eth.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { ownsWallet, walletOf } from "../support/channel-records.ts";
import { accountRecords } from "../support/node.ts";

const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
/** Names itself to deceive, and says too much of its balances. */
const HOSTILE = `0x${"bb".repeat(20)}`;
/** Reverts. */
const BROKEN = `0x${"cc".repeat(20)}`;
const USER = 3;
const holder = `0x${Buffer.from(walletOf(USER)).toString("hex")}`;

interface ScriptedBase {
  readonly url: string;
  /** The views of each call. */
  readonly calls: number[];
  isDown: boolean;
  stop(): void;
}

const word = (value: bigint) => encodeAbiParameters([{ type: "uint256" }], [value]);

/** The result of one view; undefined where it reverts. Ether is 1.5; of a token an address has 2,000,000 units, of which strangers have none. */
function resultOf(target: string, callData: Hex): Hex | undefined {
  const abi = [...erc20Abi, ...multicall3Abi] as unknown as Abi;
  const { functionName, args = [] } = decodeFunctionData({ abi, data: callData });
  if (target === BROKEN) return undefined;
  if (functionName === "getEthBalance") return word(1_500_000_000_000_000_000n);
  if (functionName === "balanceOf") {
    const amount = word(String(args[0]).toLowerCase() === holder ? 2_000_000n : 0n);
    return target === HOSTILE ? `${amount}${"ff".repeat(64)}` : amount;
  }
  const names: Record<string, unknown> =
    target === USDC
      ? { name: "USD Coin", symbol: "USDC", decimals: 6 }
      : { name: `USDC\u202e${"x".repeat(500)}`, symbol: "\u001b[31mUSDC", decimals: 0 };
  return encodeFunctionResult({ abi, functionName, result: names[functionName] } as never);
}

function startBase(): ScriptedBase {
  const calls: number[] = [];
  const base = { url: "", calls, isDown: false, stop: () => void server.stop(true) };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (base.isDown) return new Response("no", { status: 500 });
      const { id, params } = (await request.json()) as { id: number; params: [{ data: Hex }] };
      const { args } = decodeFunctionData({ abi: multicall3Abi, data: params[0].data });
      const views = (args?.[0] ?? []) as readonly { target: string; callData: Hex }[];
      calls.push(views.length);
      const outcomes = views.map(({ target, callData }) => {
        const returnData = resultOf(target.toLowerCase(), callData);
        return { success: returnData !== undefined, returnData: returnData ?? "0x" };
      });
      const result = encodeFunctionResult({
        abi: multicall3Abi,
        functionName: "aggregate3",
        result: outcomes,
      });
      return Response.json({ jsonrpc: "2.0", id, result });
    },
  });
  base.url = `http://127.0.0.1:${server.port}`;
  return base;
}

let base: ScriptedBase;
let api: TestApi;
beforeAll(async () => {
  base = startBase();
  api = await startTestApi({
    compatPrefixes: ["farcaster"],
    settings: [
      `chain.base_rpc_url=${base.url}`,
      `chain.tokens=${USDC.toUpperCase().replace("0X", "0x")},${HOSTILE},${BROKEN}`,
    ],
  });
  api.node.ingestAll([...accountRecords(USER), ...accountRecords(4), ownsWallet(USER)]);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  base.stop();
});

const check = (addresses: readonly string[], more = "") =>
  api.get(`/v2/stp/subscription_check?addresses=${addresses}&contract_address=${USDC}&chain_id=8453${more}`);

describe("with an RPC of Base", () => {
  test("a user's balances are those of the verified addresses; a token that does not identify itself is left out", async () => {
    const { status, body } = await api.get(`/v2/farcaster/user/balance?fid=${USER}&networks=base`);
    expect(status).toBe(200);
    const { user, address_balances } = body.user_balance as {
      user: { fid: number };
      address_balances: { verified_address: object; token_balances: object[] }[];
    };
    expect(user.fid).toBe(USER);
    expect(address_balances).toHaveLength(1);
    expect(address_balances[0]?.verified_address).toEqual({ address: holder, network: "base" });
    expect(address_balances[0]?.token_balances as object[]).toEqual([
      {
        object: "token_balance",
        token: { object: "token", name: "Ethereum", symbol: "ETH", decimals: 18 },
        balance: { in_token: "1.5", in_usdc: null },
      },
      {
        object: "token_balance",
        token: { object: "token", name: "USD Coin", symbol: "USDC", address: USDC, decimals: 6 },
        balance: { in_token: "2", in_usdc: "2" },
      },
      {
        object: "token_balance",
        token: {
          object: "token",
          name: `USDC ${"x".repeat(59)}`,
          symbol: "[31mUSDC",
          address: HOSTILE,
          decimals: 0,
        },
        balance: { in_token: "2000000", in_usdc: null },
      },
    ]);
    expect(base.calls).toEqual([9, 3]);
    await api.get(`/v2/farcaster/user/balance?fid=${USER}`);
    // Within half a minute no one asks again; the names are kept for good.
    expect(base.calls).toEqual([9, 3]);
    expect((await api.get("/v2/farcaster/user/balance?fid=4")).body).toMatchObject({
      user_balance: { address_balances: [] },
    });
    expect((await api.get("/v2/farcaster/user/balance?fid=999")).status).toBe(404);
    expect((await api.get(`/v2/svc/user/balance?fid=${USER}`)).body).toEqual({
      balances: [],
      next: { cursor: null },
    });
  });

  test("the balances of any address are in the smallest unit", async () => {
    const { status, body } = await api.get(`/v2/onchain/token/balances?address=${holder}&networks=base`);
    expect(status).toBe(200);
    const common = { network: "base", balance_usd: null, price_usd: null, image_url: null };
    expect(body).toMatchObject({
      balances: [
        {
          ...common,
          address: `0x${"0".repeat(40)}`,
          symbol: "ETH",
          balance: "1500000000000000000",
          decimals: 18,
        },
        { ...common, address: USDC, symbol: "USDC", balance: "2000000", decimals: 6 },
        { ...common, address: HOSTILE, balance: "2000000", decimals: 0 },
      ],
      next: { cursor: null },
    });
    expect((await api.get("/v2/onchain/token/balances?address=0x12")).status).toBe(400);
    expect((await api.get(`/v2/onchain/token/balances?address=${holder}&networks=solana`)).status).toBe(400);
  });

  test("only the first twenty verified addresses of an account count, so that it costs few calls", async () => {
    const insert = api.node.db.sqlite.prepare(
      "INSERT INTO verifications (fid, address, protocol, timestamp) VALUES (5, ?, 0, ?)",
    );
    api.node.ingestAll(accountRecords(5));
    for (let at = 0; at < 500; at++) insert.run(Buffer.alloc(20, at % 256).fill(at >> 8, 0, 1), at);
    const before = base.calls.length;
    const { body } = await api.get("/v2/farcaster/user/balance?fid=5");
    const { address_balances: held } = body.user_balance as { address_balances: object[] };
    expect(held).toHaveLength(20);
    expect(base.calls.length - before).toBeLessThan(6);
  });

  test("a subscription is what the contract says that an address holds", async () => {
    const stranger = `0x${"0e".repeat(20)}`;
    const { status, body } = await check([holder, stranger]);
    expect(status).toBe(200);
    const value = { object: "subscribed_to_dehydrated", expires_at: null, subscribed_at: null, tier: null };
    expect(body).toEqual({ [holder]: { ...value, status: true }, [stranger]: { ...value, status: false } });
    expect(
      (await check([...Array(101).keys()].map((at) => `0x${at.toString(16).padStart(40, "0")}`))).status,
    ).toBe(400);
    expect((await check(["0x12"])).status).toBe(400);
    expect((await check(["__proto__"])).status).toBe(400);
    expect((await check([holder], "&chain_id=1")).status).toBe(400);
    const broken = await api.get(
      `/v2/stp/subscription_check?addresses=${holder}&contract_address=${BROKEN}&chain_id=8453`,
    );
    expect(broken.body).toEqual({ [holder]: { ...value, status: false } });
  });

  test("an RPC that does not respond is 503, and is asked again", async () => {
    base.isDown = true;
    const other = `0x${"0f".repeat(20)}`;
    expect((await check([other])).status).toBe(503);
    base.isDown = false;
    expect((await check([other])).status).toBe(200);
  });
});

test("without an RPC of Base balances are empty, and there is no check of subscriptions", async () => {
  await using without = await startTestApi({ compatPrefixes: ["farcaster"] });
  const { body } = await without.get("/v2/farcaster/user/balance?fid=3");
  expect(body).toEqual({ balances: [], next: { cursor: null } });
  for (const path of ["/v2/stp/subscription_check", "/v2/onchain/token/balances"]) {
    const response = await fetch(`${without.url}${path}?addresses=${holder}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      message: "this node reads no balances: chain.base_rpc_url is not set",
    });
  }
  expect((await fetch(`${without.url}/v2/onchain/other`)).status).toBe(404);
});
