import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { decodeFunctionData, encodeFunctionResult, parseAbi } from "viem/utils";
import { createOwners, type Owners } from "../../../src/auth/owners/owners.ts";
import { createEthBlockNumber, createEthCall } from "../../../src/net/eth-call.ts";
import type { Hex } from "../../../src/protocol/validate/eth.ts";
import { toHex } from "../../../src/protocol/validate/eth.ts";
import { ID_REGISTRY, KEY_REGISTRY } from "../../../src/transactions/contracts.ts";
import { createConfirmByChain } from "../../../src/upstream/peers/confirm-by-chain.ts";
import { ManualClock } from "../../support/clock.ts";
import { recoveryEvent, registerEvent, signerEvent, transferEvent } from "../../support/events.ts";
import { makeWallet } from "../../support/messages.ts";
import { eventRecord, startTestNode, type TestNode } from "../../support/node.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";

const FID = 7;
const NOBODY: Hex = `0x${"00".repeat(20)}`;
const [seller, buyer, thief] = ["seller", "buyer", "thief"].map((name) => makeWallet(name).address) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const abi = parseAbi([
  "function custodyOf(uint256 fid) view returns (address custody)",
  "function keyDataOf(uint256 fid, bytes key) view returns ((uint8 state, uint32 keyType))",
]);

/** The registries of Optimism, behind an RPC. */
function startChain() {
  const owners = new Map<number, Uint8Array>([[FID, seller]]);
  const keys = new Set<string>();
  const chain = { owners, keys, head: 1000, calls: 0, isDown: false };
  const resultOf = (to: string, data: Hex): Hex => {
    const { functionName, args } = decodeFunctionData({ abi, data });
    if (functionName === "custodyOf" && to === ID_REGISTRY) {
      const owner = owners.get(Number(args[0]));
      return encodeFunctionResult({ abi, functionName, result: owner ? toHex(owner) : NOBODY });
    }
    if (functionName === "keyDataOf" && to === KEY_REGISTRY)
      return encodeFunctionResult({
        abi,
        functionName,
        result: { state: keys.has(args[1]) ? 1 : 0, keyType: 1 },
      });
    return "0x";
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { method, params } = (await request.json()) as {
        method: string;
        params: { to: string; data: Hex }[];
      };
      chain.calls += 1;
      if (chain.isDown) return new Response("down", { status: 503 });
      const result =
        method === "eth_blockNumber"
          ? `0x${chain.head.toString(16)}`
          : resultOf(params[0]?.to ?? "", params[0]?.data ?? "0x");
      return Response.json({ jsonrpc: "2.0", id: 1, result });
    },
  });
  return { chain, url: server.url.href, stop: () => server.stop(true) };
}

describe("with trust.events = rpc", () => {
  let node: TestNode;
  let rpc: ReturnType<typeof startChain>;
  let nowMs: number;
  let noted: number[];
  let confirm: ReturnType<typeof createConfirmByChain>;

  beforeEach(() => {
    node = startTestNode();
    rpc = startChain();
    nowMs = 0;
    noted = [];
    confirm = createConfirmByChain({
      db: node.db,
      call: createEthCall(rpc.url),
      blockNumber: createEthBlockNumber(rpc.url),
      onDispute: ({ fid }) => noted.push(fid),
      nowMs: () => nowMs,
    });
    node.ingestEvent(registerEvent(FID, seller, { block: 900 }));
  });
  afterEach(async () => {
    await rpc.stop();
    node[Symbol.dispose]();
  });

  const custody = async () => {
    const confirmed = await confirm.confirmCustody(FID, "signed");
    return confirmed.isConfirmed ? confirmed.value?.custody : confirmed.reason;
  };

  test("the owner on the chain counts, and is asked for once a minute; the newest block once", async () => {
    expect(await custody()).toEqual(seller);
    expect(await custody()).toEqual(seller);
    expect(rpc.chain.calls).toBe(2);
    nowMs += 60_001;
    expect(await custody()).toEqual(seller);
    expect(rpc.chain.calls).toBe(3);
    expect(confirm.disputes()).toEqual([]);
  });

  test("the thousand events of an fid are read once, until the index has another one", async () => {
    const change = (block: number) => eventRecord(recoveryEvent(FID, thief, { block }));
    node.ingestAll(Array.from({ length: 1000 }, (_, at) => change(901 + at)));
    rpc.chain.head = 3000;
    const asked = async () => expect(await custody()).toEqual(seller);
    // For the digest and for the question.
    expect(await rowsRead(node.db, asked)).toBeWithin(2000, 2020);
    expect(await rowsRead(node.db, asked)).toBeLessThan(10);
    expect(rpc.chain.calls).toBe(2);
    const added = async () => (await confirm.confirmKey(FID, seller, "signed")).isConfirmed;
    expect(await added()).toBe(true);
    expect(rpc.chain.calls).toBe(4);
    expect(await rowsRead(node.db, async () => expect(await added()).toBe(true))).toBeLessThan(10);
    node.ingestEvent(transferEvent(FID, seller, thief, { block: 2500 }));
    expect(await custody()).toEqual(seller);
    expect(rpc.chain.calls).toBe(6);
  });

  test("check 15: a transfer that the followed node invents changes nothing, and is named once", async () => {
    node.ingestEvent(transferEvent(FID, seller, thief, { block: 950 }));
    expect(await custody()).toEqual(seller);
    nowMs += 15_001;
    expect(await custody()).toEqual(seller);
    expect(noted).toEqual([FID]);
    expect(confirm.disputes()).toEqual([{ fid: FID, type: 3, upstreams: [] }]);
  });

  test("an invented transfer far in the future is not waited for", async () => {
    node.ingestEvent(transferEvent(FID, seller, thief, { block: 999_999_999 }));
    expect(await custody()).toEqual(seller);
  });

  test("a transfer that the RPC has not reached yet: neither address acts, until it has", async () => {
    node.ingestEvent(transferEvent(FID, seller, buyer, { block: 1001 }));
    expect(await custody()).toBe("the chain's node has not reached the newest event of the fid yet");
    expect(confirm.disputes()).toEqual([]);
    rpc.chain.head = 1001;
    rpc.chain.owners.set(FID, buyer);
    nowMs += 1001;
    expect(await custody()).toEqual(buyer);
    expect(noted).toEqual([]);
  });

  test("a transfer that the followed node withholds: the previous owner does not act, and nothing is disputed yet", async () => {
    expect(await custody()).toEqual(seller);
    rpc.chain.owners.set(FID, buyer);
    nowMs += 60_001;
    expect(await custody()).toEqual(buyer);
    expect(confirm.disputes()).toEqual([]);
  });

  describe("after the owner has acted", () => {
    let state: ReturnType<typeof openStateFile>;
    let owners: Owners;
    beforeEach(async () => {
      state = openStateFile();
      const { custodies } = localStores(state.db, { clock: new ManualClock(0) });
      owners = createOwners({ db: node.db, custodies, confirm });
      expect(await owners.recordAct(FID, seller)).toBe(true);
    });
    afterEach(() => state[Symbol.dispose]());

    test("a transfer that the followed node withholds: the previous owner does not act either", async () => {
      rpc.chain.owners.set(FID, buyer);
      nowMs += 60_001;
      expect(await owners.custodyOf(FID, seller)).toEqual(buyer);
    });

    test("an event that the followed node puts in the future does not bind the fid to the previous owner", async () => {
      node.ingestEvent(transferEvent(FID, seller, seller, { block: 999_999_999 }));
      expect(await owners.custodyOf(FID, seller)).toEqual(seller);
      expect(await owners.recordAct(FID, seller)).toBe(true);
      node.ingestEvent(transferEvent(FID, seller, buyer, { block: 1000 }));
      rpc.chain.owners.set(FID, buyer);
      nowMs += 60_001;
      expect(await owners.custodyOf(FID, seller)).toEqual(buyer);
      expect(await owners.custodyOf(FID, buyer)).toEqual(buyer);
      expect(await owners.recordAct(FID, buyer)).toBe(true);
    });
  });

  test("without a response, or with one that is not the registry's, decisions wait", async () => {
    rpc.chain.isDown = true;
    expect(await custody()).toBe("the chain could not be asked who owns the fid");
    rpc.chain.isDown = false;
    nowMs += 1001;
    expect(await custody()).toEqual(seller);
  });

  test("a key counts while the registry has it, whatever the followed node says", async () => {
    const key = new Uint8Array(32).fill(5);
    node.ingestEvent(signerEvent(FID, key, { block: 901 }));
    const has = async () => {
      const confirmed = await confirm.confirmKey(FID, key, "open");
      return confirmed.isConfirmed ? confirmed.value : confirmed.reason;
    };
    expect(await has()).toBe(false);
    expect(confirm.disputes()).toEqual([{ fid: FID, type: 1, upstreams: [] }]);
    rpc.chain.keys.add(toHex(key));
    nowMs += 15_001;
    expect(await has()).toBe(true);
    expect(confirm.disputes()).toEqual([]);
  });

  describe("what it has disputed is asked again without a decision", () => {
    const signer = (n: number) => new Uint8Array(32).fill(n);
    const keyDispute = { fid: FID, type: 1, upstreams: [] };
    const ownerDispute = { fid: FID, type: 3, upstreams: [] };
    beforeEach(async () => {
      for (const n of [1, 2]) node.ingestEvent(signerEvent(FID, signer(n), { block: 900 + n }));
      node.ingestEvent(transferEvent(FID, seller, thief, { block: 950 }));
      for (const n of [1, 2]) await confirm.confirmKey(FID, signer(n), "open");
      await custody();
      expect(confirm.disputes()).toEqual([keyDispute, ownerDispute]);
    });

    test("in turns, and settled once the chain agrees", async () => {
      for (const n of [1, 2]) rpc.chain.keys.add(toHex(signer(n)));
      rpc.chain.owners.set(FID, thief);
      await confirm.recheck();
      // The other key has yet to be asked for.
      expect(confirm.disputes()).toEqual([keyDispute, ownerDispute]);
      await confirm.recheck();
      expect(confirm.disputes()).toEqual([ownerDispute]);
      await confirm.recheck();
      expect(confirm.disputes()).toEqual([]);
      const { calls } = rpc.chain;
      await confirm.recheck();
      expect(rpc.chain.calls).toBe(calls);
    });

    test("and settled once the index agrees", async () => {
      for (const n of [1, 2]) node.ingestEvent(signerEvent(FID, signer(n), { block: 960 + n }, "remove"));
      node.ingestEvent(transferEvent(FID, thief, seller, { block: 970 }));
      for (let n = 0; n < 3; n++) await confirm.recheck();
      expect(confirm.disputes()).toEqual([]);
    });

    test("and stays while the chain does not respond, without keeping others from their turn", async () => {
      rpc.chain.isDown = true;
      await confirm.recheck();
      rpc.chain.isDown = false;
      rpc.chain.keys.add(toHex(signer(2)));
      rpc.chain.owners.set(FID, thief);
      await confirm.recheck();
      await confirm.recheck();
      expect(confirm.disputes()).toEqual([keyDispute]);
      expect(noted).toEqual([FID, FID]);
    });
  });
});
