import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAdmission } from "../../src/admission/admission.ts";
import { BucketTable } from "../../src/admission/bucket-table.ts";
import { SHARES } from "../../src/admission/budgets.ts";
import { fromHex, type Hex } from "../../src/protocol/validate/eth.ts";
import { createContractSignatures } from "../../src/sign-in/contract-signature.ts";
import { CLOSED_PORT } from "../support/addresses.ts";
import type { TestApi, TestApiOptions } from "../support/api.ts";
import { makeWallet } from "../support/messages.ts";
import {
  addressOf,
  authWallet,
  custody,
  DOMAIN,
  newNonce,
  OTHER,
  post,
  signInMessage,
  signText,
  startOptimism,
  startSignInApi,
} from "../support/sign-in.ts";

const ACCEPTED = `0x${"ab".repeat(100)}` as const;
const WRAPPED = `0x${"cd".repeat(96)}${"6492".repeat(16)}` as const;
const REJECTED = `0x${"ef".repeat(100)}` as const;
const WITH_AUTHORIZATION = `0x${"ab".repeat(100)}${"8010".repeat(16)}` as const;
const UNBOUNDED = {
  ...SHARES,
  signIns: { perMinute: 1e9, burst: 1e9 },
  contractChecks: { perMinute: 1e9, burst: 1e9 },
};

/** The contract of the person's custody address accepts two signatures, deployed or not. */
const optimism = startOptimism(
  ({ address, signature }) =>
    address === addressOf(custody) && [ACCEPTED, WRAPPED].some((one) => one === signature),
  [addressOf(custody)],
);
let api: TestApi;

const start = (url: string, options: TestApiOptions = {}) =>
  startSignInApi({ settings: [`chain.op_rpc_url=${url}`], shares: UNBOUNDED, ...options });

beforeAll(async () => {
  api = await start(optimism.url);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  optimism.stop();
});

async function signIn(
  signature: string,
  { at = api, ...changes }: Parameters<typeof signInMessage>[1] & { at?: TestApi } = {},
) {
  const message = signInMessage(await newNonce(at), changes);
  return post(at, "/quick-auth/verify-siwf", {
    message,
    signature: signature === "own" ? signText(message) : signature,
    domain: DOMAIN,
  });
}

test("check 18: a contract wallet signs in, deployed (EIP-1271) or not yet (ERC-6492)", async () => {
  for (const signature of [ACCEPTED, WRAPPED]) {
    const { body } = await signIn(signature);
    expect(body.valid).toBe(true);
  }
  expect(optimism.asked.map(({ signature }) => signature)).toEqual([ACCEPTED, WRAPPED]);
});

test("an account's own key needs no call, as one that has delegated to a contract (EIP-7702)", async () => {
  const before = optimism.asked.length;
  expect((await signIn("own")).body.valid).toBe(true);
  expect(optimism.asked).toHaveLength(before);
});

test("what the contract rejects is refused, and so is a signature with an authorization (ERC-8010)", async () => {
  expect((await signIn(REJECTED)).body).toMatchObject({ valid: false, reason: "invalid_signature" });
  const before = optimism.asked.length;
  expect((await signIn(WITH_AUTHORIZATION)).body).toMatchObject({ valid: false, reason: "contract_wallet" });
  expect(optimism.asked).toHaveLength(before);
});

test("of an account without code the chain is asked once a day, whatever is sent for it", async () => {
  const [calls, codes] = [optimism.asked.length, optimism.askedCode.length];
  for (const signature of [ACCEPTED, REJECTED, signText("another", makeWallet("a stranger"))]) {
    const { body } = await signIn(signature, {
      address: addressOf(makeWallet(`custody ${OTHER}`)),
      resources: [`farcaster://fid/${OTHER}`],
    });
    expect(body).toMatchObject({ valid: false, reason: "invalid_signature" });
  }
  expect(optimism.asked).toHaveLength(calls);
  expect(optimism.askedCode).toHaveLength(codes + 1);
});

test("a wallet that was asked for before it was deployed signs in by EIP-1271 after its first sign-in", async () => {
  const contracts: Hex[] = [];
  await using chain = startOptimism(() => true, contracts);
  await using later = await start(chain.url);
  expect((await signIn(ACCEPTED, { at: later })).body).toMatchObject({ reason: "invalid_signature" });
  contracts.push(addressOf(custody));
  expect((await signIn(WRAPPED, { at: later })).body.valid).toBe(true);
  expect((await signIn(ACCEPTED, { at: later })).body.valid).toBe(true);
});

test("check 18: 1,000 requests by strangers make the node call no one", async () => {
  const before = [optimism.asked.length, optimism.askedCode.length];
  const stranger = makeWallet("a stranger");
  const all = await Promise.all(
    [...Array(1000)].map((_, at) =>
      signIn(at % 2 === 0 ? ACCEPTED : signText(`message ${at}`, stranger), {
        address: addressOf(stranger),
        ...(at % 3 === 0 ? { resources: [`farcaster://fid/${OTHER}`] } : {}),
      }),
    ),
  );
  expect(all.every(({ body }) => body.valid === false)).toBe(true);
  expect([optimism.asked.length, optimism.askedCode.length]).toEqual(before);
});

test("an RPC that does not respond is 503 with the reason, and a client's share of calls is bounded", async () => {
  await using dead = await start(`http://127.0.0.1:${CLOSED_PORT}`, {
    shares: { ...UNBOUNDED, contractChecks: { perMinute: 1, burst: 3 } },
  });
  for (let time = 0; time < 3; time += 1) {
    const { status, headers, body } = await signIn(ACCEPTED, { at: dead });
    expect({ status, reason: body.reason }).toEqual({ status: 503, reason: "contract_wallet" });
    expect(headers.get("retry-after")).toBe("5");
  }
  expect((await signIn(ACCEPTED, { at: dead })).status).toBe(429);
});

test("garbage of many clients for one address, and for many, makes few calls; a client that has signed in is admitted still", async () => {
  const time = { nowMs: 0 };
  const monotonicMs = () => time.nowMs;
  const admission = createAdmission();
  const buckets = {
    ...admission.buckets,
    contractChecks: new BucketTable(8192, monotonicMs),
    contractRefusals: new BucketTable(8192, monotonicMs),
  };
  const accepted = fromHex(WRAPPED);
  await using chain = startOptimism(({ signature }) => signature === WRAPPED);
  const contracts = createContractSignatures({
    rpcUrl: chain.url,
    admission: { ...admission, buckets },
    monotonicMs,
  });
  const check = (client: string, signature: Uint8Array, address = custody.address) =>
    contracts.check({ address, digest: new Uint8Array(32).fill(1), signature, client });
  const garbage = (n: number) => Uint8Array.from([...Buffer.from(`garbage ${n}`), ...accepted.subarray(-32)]);
  const flood = async (addressOfClient: (n: number) => Uint8Array) => {
    const before = chain.asked.length;
    const verdicts = new Set<string>();
    for (let n = 0; n < 1000; n += 1)
      verdicts.add(await check(`client ${n}`, garbage(n), addressOfClient(n)));
    return { calls: chain.asked.length - before, verdicts: [...verdicts] };
  };
  expect(await check("owner", accepted)).toBe("valid");
  expect(await flood(() => custody.address)).toEqual({ calls: 30, verdicts: ["invalid", "limited"] });
  expect(await check("owner", accepted)).toBe("valid");
  expect(await check("owner elsewhere", accepted)).toBe("limited");
  // Other addresses have a share of their own, up to that of all.
  expect(await check("another owner", accepted, authWallet.address)).toBe("valid");
  const many = await flood((n) => Uint8Array.from(Buffer.from(`address ${String(n).padStart(12, "0")}`)));
  expect(many.calls).toBe(270);
  expect(await check("another owner", accepted, authWallet.address)).toBe("valid");
  time.nowMs = 60_000;
  expect(await check("owner elsewhere", accepted)).toBe("valid");
  // What is asked by way of /rpc/10 proves nothing: a signature there may be a copy.
  const {
    encodeDeployData,
    erc6492SignatureValidatorAbi: abi,
    erc6492SignatureValidatorByteCode,
  } = await import("viem");
  const args = [addressOf(custody), `0x${"01".repeat(32)}`, WRAPPED] as const;
  const data = encodeDeployData({ abi, bytecode: erc6492SignatureValidatorByteCode as Hex, args });
  expect(await contracts.validate({ data, address: custody.address, signature: accepted }, "copier")).toBe(
    "0x01",
  );
  await flood(() => custody.address);
  expect(await check("copier", accepted)).toBe("limited");
});
