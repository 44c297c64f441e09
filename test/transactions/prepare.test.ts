import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  ID_GATEWAY_ADDRESS,
  ID_GATEWAY_EIP_712_TYPES,
  idGatewayABI,
  KEY_GATEWAY_ADDRESS,
  KEY_GATEWAY_EIP_712_TYPES,
  keyGatewayABI,
  SIGNED_KEY_REQUEST_VALIDATOR_EIP_712_TYPES,
  STORAGE_REGISTRY_ADDRESS,
  storageRegistryABI,
  ViemLocalEip712Signer,
} from "@farcaster/core";
import fc from "fast-check";
import { type Abi, decodeAbiParameters, decodeFunctionData, getAddress, hashTypedData } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createAdmission } from "../../src/admission/admission.ts";
import { type Hex, toHex } from "../../src/protocol/validate/eth.ts";
import { createChainValues } from "../../src/transactions/chain-values.ts";
import { createTransactions } from "../../src/transactions/prepare.ts";
import type { PreparedTransaction, TypedData } from "../../src/transactions/prepared-transaction.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { makeWallet } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { post } from "../support/sign-in.ts";
import { type ScriptedOptimism, startOptimismOfGateways } from "./scripted-optimism.ts";

const NOW_SECS = 1_780_000_000;
const clock = { nowMs: () => NOW_SECS * 1000 };
const offline = createTransactions({
  chain: createChainValues({ ethCall: undefined, admission: createAdmission() }),
  clock,
});
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex);
const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex);
const signature = fc.uint8Array({ minLength: 1, maxLength: 200 }).map(toHex);
const fid = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const deadline = fc.integer({ min: NOW_SECS, max: 2 ** 33 });

/** What the official library reads from the call. */
function decoded(prepared: PreparedTransaction, abi: Abi | readonly unknown[], to: string) {
  expect(getAddress(prepared.to)).toBe(getAddress(to));
  const { functionName, args = [] } = decodeFunctionData({ abi: abi as Abi, data: prepared.data ?? "0x" });
  return [functionName, ...args.map((arg) => (typeof arg === "string" ? arg.toLowerCase() : arg))];
}

/** The digest that a wallet signs, with numbers as its library has them. */
function digestOf({ domain, types, primaryType, message }: TypedData): Hex {
  return hashTypedData({ domain, types, primaryType, message } as never);
}

describe("a prepared transaction, as the official library reads it", () => {
  test("registers an fid, for oneself or for another", async () => {
    await fc.assert(
      fc.asyncProperty(
        address,
        address,
        fc.nat(1000),
        deadline,
        signature,
        async (to, recovery, extraStorage, until, sig) => {
          const asked = { address: to, recovery, extraStorage, client: "c" };
          const own = await offline.register({ ...asked, sponsored: undefined });
          expect(decoded(own, idGatewayABI, ID_GATEWAY_ADDRESS)).toEqual([
            "register",
            recovery,
            BigInt(extraStorage),
          ]);
          expect(own.sender).toBe(to);
          const unsigned = await offline.register({
            ...asked,
            sponsored: { deadline: until, signature: undefined },
          });
          expect(unsigned.data).toBeNull();
          const message = { ...unsigned.typed_data?.message, nonce: "7" } as Record<string, string>;
          expect(digestOf({ ...(unsigned.typed_data as TypedData), message })).toBe(
            hashTypedData({
              ...ID_GATEWAY_EIP_712_TYPES,
              primaryType: "Register",
              message: { to, recovery, nonce: 7n, deadline: BigInt(until) },
            } as never),
          );
          const paid = await offline.register({ ...asked, sponsored: { deadline: until, signature: sig } });
          expect(decoded(paid, idGatewayABI, ID_GATEWAY_ADDRESS)).toEqual([
            "registerFor",
            ...[to, recovery, BigInt(until), sig, BigInt(extraStorage)],
          ]);
          expect(paid.expires_at).toBe(until);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("rents storage", async () => {
    await fc.assert(
      fc.asyncProperty(fid, fc.integer({ min: 1, max: 10_000 }), async (of, units) => {
        const rent = await offline.storage({ fid: of, units, client: "c" });
        expect(decoded(rent, storageRegistryABI, STORAGE_REGISTRY_ADDRESS)).toEqual([
          "rent",
          BigInt(of),
          BigInt(units),
        ]);
        expect(rent.value).toBeNull();
        const reads = rent.reads.map(({ to, data, gives }) => [
          ...decoded({ ...rent, to, data }, storageRegistryABI, STORAGE_REGISTRY_ADDRESS),
          gives,
        ]);
        expect(reads).toEqual([
          ["price", BigInt(units), "value"],
          ["deprecationTimestamp", "deprecated_at"],
        ]);
      }),
      { numRuns: 100 },
    );
  });

  test("adds a signer or an auth address, for oneself or for another", async () => {
    await fc.assert(
      fc.asyncProperty(
        ...[fc.oneof(key, address), address, fid, address, deadline, signature, deadline, signature],
        async (added, owner, requestFid, requestSigner, requestDeadline, requestSignature, until, sig) => {
          const request = { key: added, owner, requestFid, requestSigner, requestDeadline, client: "c" };
          const [type, bytes] =
            added.length === 42 ? [2, `0x${"0".repeat(24)}${added.slice(2)}`] : [1, added];
          const first = await offline.key({ ...request, requestSignature: undefined, sponsored: undefined });
          expect(digestOf(first.typed_data as TypedData)).toBe(
            hashTypedData({
              ...SIGNED_KEY_REQUEST_VALIDATOR_EIP_712_TYPES,
              primaryType: "SignedKeyRequest",
              message: { requestFid: BigInt(requestFid), key: bytes, deadline: BigInt(requestDeadline) },
            } as never),
          );
          expect(first.signer).toBe(requestSigner);
          const own = await offline.key({ ...request, requestSignature, sponsored: undefined });
          const [name, keyType, keyBytes, metadataType, metadata] = decoded(
            own,
            keyGatewayABI,
            KEY_GATEWAY_ADDRESS,
          );
          expect([name, keyType, keyBytes, metadataType]).toEqual(["add", type, bytes, 1]);
          const [tuple] = decodeAbiParameters(
            [
              {
                type: "tuple",
                components: [
                  { name: "a", type: "uint256" },
                  { name: "b", type: "address" },
                  { name: "c", type: "bytes" },
                  { name: "d", type: "uint256" },
                ],
              },
            ],
            metadata as Hex,
          );
          expect(tuple).toEqual({
            a: BigInt(requestFid),
            b: getAddress(requestSigner),
            c: requestSignature,
            d: BigInt(requestDeadline),
          });
          const unsigned = await offline.key({
            ...request,
            requestSignature,
            sponsored: { deadline: until, signature: undefined },
          });
          const message = { ...unsigned.typed_data?.message, nonce: "3" } as Record<string, string>;
          expect(digestOf({ ...(unsigned.typed_data as TypedData), message })).toBe(
            hashTypedData({
              ...KEY_GATEWAY_EIP_712_TYPES,
              primaryType: "Add",
              message: {
                owner,
                keyType: type,
                key: bytes,
                metadataType: 1,
                metadata,
                nonce: 3n,
                deadline: BigInt(until),
              },
            } as never),
          );
          const paid = await offline.key({
            ...request,
            requestSignature,
            sponsored: { deadline: until, signature: sig },
          });
          expect(decoded(paid, keyGatewayABI, KEY_GATEWAY_ADDRESS)).toEqual([
            "addFor",
            owner,
            type,
            bytes,
            1,
            metadata,
            BigInt(until),
            sig,
          ]);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("over HTTP", () => {
  let optimism: ScriptedOptimism;
  let api: TestApi;
  let alone: TestApi;
  beforeAll(async () => {
    optimism = startOptimismOfGateways({ nowSecs: NOW_SECS });
    [api, alone] = await Promise.all([
      startTestApi({ settings: [`chain.op_rpc_url=${optimism.url}`] }),
      startTestApi(),
    ]);
    for (const { node } of [api, alone]) {
      node.clock.setMs(NOW_SECS * 1000);
      for (const of of [3, 4]) node.ingestAll(accountRecords(of));
    }
  });
  afterAll(async () => {
    await Promise.all([api, alone].map((one) => one[Symbol.asyncDispose]()));
    optimism.stop();
  });
  const prepare = (path: string, body: unknown, at = api) => post(at, `/v2/svc/prepare/${path}`, body);
  const [someone, recovery] = [`0x${"a1".repeat(20)}`, `0x${"B2".repeat(20)}`];

  test("prices and nonces are the chain's, each price asked for once", async () => {
    const asked = optimism.calls.length;
    for (const _ of [1, 2]) {
      const { status, body } = await prepare("register", { address: someone, recovery, extra_storage: 2 });
      expect({ status, value: body.value, reads: body.reads }).toEqual({
        status: 200,
        value: "1002",
        reads: [],
      });
    }
    expect(optimism.calls.slice(asked)).toEqual(["price(2)"]);
    const { body } = await prepare("register", { address: someone, recovery, sponsored: {} });
    expect(body.typed_data).toMatchObject({ message: { nonce: "5", deadline: `${NOW_SECS + 86_400}` } });
    expect(body.signer).toBe(someone);
  });

  test("a node without an RPC says what the wallet must ask the chain", async () => {
    const { status, body } = await prepare("storage", { fid: 3, units: 1 }, alone);
    expect({ status, value: body.value }).toEqual({ status: 200, value: null });
    expect((body.reads as { gives: string }[]).map(({ gives }) => gives)).toEqual(["value", "deprecated_at"]);
  });

  test("a client that asks too often gets the reads instead of numbers, and no refusal", async () => {
    const bodies = [];
    for (let n = 0; n < 30; n++) bodies.push((await prepare("storage", { fid: 3, units: 100 + n })).body);
    expect(bodies.some(({ value }) => value === null)).toBe(true);
    expect(bodies.every(({ data }) => typeof data === "string")).toBe(true);
  });

  test("a key request is signed, and then its transaction is whole", async () => {
    const account = privateKeyToAccount(toHex(makeWallet("custody 4").privateKey));
    const asked = { fid: 3, key: `0x${"c3".repeat(32)}`, request: { fid: 4, deadline: NOW_SECS + 600 } };
    const first = await prepare("key", asked);
    expect({ status: first.status, data: first.body.data }).toEqual({ status: 200, data: null });
    expect(first.body.signer).toBe(account.address.toLowerCase());
    const signed = await new ViemLocalEip712Signer(account).signKeyRequest({
      requestFid: 4n,
      key: Buffer.from("c3".repeat(32), "hex"),
      deadline: BigInt(NOW_SECS + 600),
    });
    const sent = { ...asked, request: { ...asked.request, signature: toHex(signed._unsafeUnwrap()) } };
    const { status, body } = await prepare("key", sent);
    expect({ status, sender: body.sender }).toEqual({
      status: 200,
      sender: toHex(makeWallet("custody 3").address),
    });
    const other = await prepare("key", { ...sent, key: `0x${"c4".repeat(32)}` });
    expect([other.status, other.body.message]).toEqual([
      400,
      "request.signature is not that of the custody address of request.fid",
    ]);
  });

  test("what cannot become a transaction is refused with the field", async () => {
    const custody = toHex(makeWallet("custody 3").address);
    const request = { fid: 4 };
    const refused = [
      ["register", { address: custody, recovery }, 409, "address: it is the custody address of fid 3"],
      [
        "register",
        { address: someone, recovery, sponsored: { signature: "0x01" } },
        400,
        "sponsored.deadline must be the one that was signed",
      ],
      [
        "register",
        { address: someone, recovery, sponsored: { deadline: NOW_SECS } },
        400,
        "sponsored.deadline must be in the next 30 days",
      ],
      ["storage", { fid: 99, units: 1 }, 404, "fid: fid 99 is not registered, as far as this node knows"],
      ["key", { key: `0x${"c3".repeat(32)}`, request }, 400, "give one of fid and owner"],
      [
        "auth_address",
        { fid: 3, address: someone, request: { fid: 99 } },
        404,
        "request.fid: fid 99 is not registered, as far as this node knows",
      ],
    ] as const;
    for (const [path, body, status, message] of refused) {
      const response = await prepare(path, body);
      expect([path, response.status, response.body.message]).toEqual([path, status, message]);
    }
    for (const body of [
      {},
      { address: "0x12", recovery },
      { address: someone, recovery, extra_storage: 1e9 },
      { address: someone, recovery, more: 1 },
    ])
      expect((await prepare("register", body)).status).toBe(400);
  });
});
