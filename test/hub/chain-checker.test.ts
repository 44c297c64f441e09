import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encodeAbiParameters } from "viem/utils";
import { type ChainChecker, createChainChecker } from "../../src/hub/submit/chain-checker.ts";
import { decodeMessage } from "../../src/protocol/message/signed-message.ts";
import { MessageType, UserNameType } from "../../src/protocol/wire/generated/message.ts";
import { DEFAULT_NOW_SECS, makeWallet, signedCast, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../support/node.ts";
import { expectOk } from "../support/result.ts";

/** The result of every `eth_call` of a small Ethereum node. Tests replace it. */
let rpcResult: () => string | undefined = () => undefined;
let calls = 0;
/** Running calls, and their maximum. No call ends before the gate, if set, opens. */
let running = 0;
let mostRunning = 0;
let gate: Promise<void> | undefined;
let rpc: Bun.Server<undefined>;
let node: TestNode;
let chain: ChainChecker;

beforeAll(() => {
  rpc = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { id } = (await request.json()) as { id: number };
      calls++;
      running++;
      mostRunning = Math.max(mostRunning, running);
      await gate;
      running--;
      const result = rpcResult();
      if (result === undefined) return new Response("no", { status: 500 });
      return Response.json({ jsonrpc: "2.0", id, result });
    },
  });
  node = startTestNode();
  node.ingestAll(accountRecords(1));
  chain = createChainChecker({ db: node.db, l1RpcUrl: `http://127.0.0.1:${rpc.port}` });
});

afterAll(async () => {
  await rpc.stop(true);
  node[Symbol.dispose]();
});

const custody = makeWallet("custody 1").address;

function resolvesTo(address: Uint8Array): string {
  const inner = encodeAbiParameters([{ type: "address" }], [`0x${Buffer.from(address).toString("hex")}`]);
  return encodeAbiParameters([{ type: "bytes" }, { type: "address" }], [inner, `0x${"11".repeat(20)}`]);
}

async function check(bytes: Uint8Array, client = "client"): Promise<string> {
  const message = expectOk(decodeMessage(bytes));
  return (await chain.check(message, client))?.code ?? "ok";
}

function nameProof(owner: Uint8Array): Uint8Array {
  const value = {
    name: Buffer.from("alice.eth"),
    owner,
    fid: 1,
    type: UserNameType.USERNAME_TYPE_ENS_L1,
    timestamp: DEFAULT_NOW_SECS,
    signature: Buffer.alloc(65, 1),
  };
  const body = { $case: "usernameProofBody", value } as const;
  return signMessage({ type: MessageType.MESSAGE_TYPE_USERNAME_PROOF, fid: 1, body }, accountSigner(1));
}

function contractVerification(chainId: number): Uint8Array {
  const value = {
    address: Buffer.alloc(20, 5),
    claimSignature: Buffer.alloc(65, 6),
    blockHash: Buffer.alloc(32, 7),
    verificationType: 1,
    chainId,
  };
  const body = { $case: "verificationAddBody", value } as const;
  return signMessage({ type: MessageType.MESSAGE_TYPE_VERIFICATION_ADD, fid: 1, body }, accountSigner(1));
}

describe("a message that must be checked against Ethereum", () => {
  test("accepts a name that resolves to its owner, if the owner is an address of the fid", async () => {
    rpcResult = () => resolvesTo(custody);
    expect(await check(nameProof(custody))).toBe("ok");
  });

  test("refuses a name that resolves to another address, or whose owner is not an address of the fid", async () => {
    const stranger = makeWallet("stranger").address;
    rpcResult = () => resolvesTo(stranger);
    expect(await check(nameProof(custody))).toBe("bad_request.validation_failure");
    expect(await check(nameProof(stranger))).toBe("bad_request.validation_failure");
  });

  test("accepts and refuses as the contract does, and is unavailable for a chain without an RPC", async () => {
    rpcResult = () => encodeAbiParameters([{ type: "bool" }], [true]);
    expect(await check(contractVerification(1))).toBe("ok");
    rpcResult = () => encodeAbiParameters([{ type: "bool" }], [false]);
    expect(await check(contractVerification(1))).toBe("bad_request.validation_failure");
    expect(await check(contractVerification(10))).toBe("unavailable");
  });

  test("is unavailable if the RPC fails", async () => {
    rpcResult = () => undefined;
    expect(await check(nameProof(custody))).toBe("unavailable");
    expect(await check(contractVerification(1))).toBe("unavailable");
  });

  test("makes no call if the owner is not an address of the fid", async () => {
    calls = 0;
    expect(await check(nameProof(makeWallet("stranger").address))).toBe("bad_request.validation_failure");
    expect(calls).toBe(0);
  });

  test("checks eight messages concurrently and queues a hundred, half of them of one client; more are unavailable", async () => {
    rpcResult = () => encodeAbiParameters([{ type: "bool" }], [true]);
    mostRunning = 0;
    const opening = Promise.withResolvers<void>();
    gate = opening.promise;
    const checks = Array.from({ length: 120 }, () => check(contractVerification(1), "hostile"));
    const others = Array.from({ length: 54 }, () => check(contractVerification(1), "other"));
    // No queued check ends before the gate opens, so the first results are of the refused ones.
    expect(await Promise.race(checks)).toBe("unavailable");
    opening.resolve();
    const byCode = Map.groupBy(await Promise.all(checks), (code) => code);
    expect([byCode.get("ok")?.length, byCode.get("unavailable")?.length]).toEqual([54, 66]);
    expect(new Set(await Promise.all(others))).toEqual(new Set(["ok"]));
    expect(mostRunning).toBeLessThanOrEqual(8);
  });

  test("makes no call for other messages", async () => {
    calls = 0;
    expect(await check(signedCast(1, "plain", accountSigner(1)))).toBe("ok");
    expect(calls).toBe(0);
  });
});
