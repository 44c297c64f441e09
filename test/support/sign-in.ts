import {
  decodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  getAddress,
} from "viem";
import { createSiweMessage } from "viem/siwe";
import { type Hex, toHex } from "../../src/protocol/validate/eth.ts";
import { hashSignedText } from "../../src/sign-in/verify-message.ts";
import { startTestApi, type TestApi, type TestApiOptions } from "./api.ts";
import { keyAddedEvent } from "./envelopes.ts";
import { makeWallet, signDigest, type TestWallet } from "./messages.ts";
import { accountRecords } from "./node.ts";
import { MASTER_KEY } from "./signers.ts";

/** The fids of a test's node, with the wallets `custody <fid>` and, for the first, an auth address. */
export const PERSON = 3;
export const OTHER = 4;
export const custody = makeWallet(`custody ${PERSON}`);
export const authWallet = makeWallet("auth address");
export const DOMAIN = "app.example";

/** Starts an API that signs people in, with a clock that other libraries agree with. */
export async function startSignInApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { settings = [], ...rest } = options;
  const api = await startTestApi({
    ...rest,
    linksToItself: true,
    settings: [`signers.encryption_key=${MASTER_KEY}`, ...settings],
  });
  api.node.clock.setMs(Date.now());
  for (const fid of [PERSON, OTHER]) api.node.ingestAll(accountRecords(fid));
  const added = keyAddedEvent(
    PERSON,
    authWallet.address,
    { block: 900_000 },
    { keyType: 2, requestFid: OTHER },
  );
  api.node.ingestEvent(added);
  return api;
}

type Fields = Parameters<typeof createSiweMessage>[0];

/** The message by which a person signs in, as another library writes it. */
export function signInMessage(
  nonce: string,
  changes: Partial<Fields> & { readonly nowMs?: number } = {},
): string {
  const { nowMs = Date.now(), ...fields } = changes;
  return createSiweMessage({
    address: addressOf(custody),
    chainId: 10,
    domain: DOMAIN,
    uri: `https://${DOMAIN}/login`,
    version: "1",
    statement: "Farcaster Auth",
    issuedAt: new Date(nowMs),
    resources: [`farcaster://fid/${PERSON}`],
    nonce,
    ...fields,
  });
}

export function addressOf(wallet: TestWallet): Hex {
  return getAddress(toHex(wallet.address));
}

export function signText(text: string, wallet: TestWallet = custody): Hex {
  return toHex(signDigest(hashSignedText(text), wallet));
}

/** Posts JSON to a path of the node. */
export async function post(
  api: Pick<TestApi, "url">,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> }> {
  const response = await fetch(`${api.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

export async function newNonce(api: Pick<TestApi, "url">): Promise<string> {
  return String((await post(api, "/quick-auth/nonce")).body.nonce);
}

/** What the validator of signatures on a scripted Optimism is asked. */
export interface AskedSignature {
  readonly address: Hex;
  readonly signature: Hex;
}

/** An RPC of Optimism that runs the validator for contracts known to `accepts`. The addresses of `contracts` have code. */
export function startOptimism(accepts: (asked: AskedSignature) => boolean, contracts: readonly Hex[] = []) {
  const asked: AskedSignature[] = [];
  const askedCode: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { id, method, params } = (await request.json()) as {
        id: number;
        method: string;
        params: [{ data: Hex } & string];
      };
      if (method === "eth_getCode") {
        askedCode.push(params[0]);
        const hasCode = contracts.some((one) => one.toLowerCase() === params[0].toLowerCase());
        return Response.json({ jsonrpc: "2.0", id, result: hasCode ? "0x60" : "0x" });
      }
      if (method !== "eth_call")
        return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: method } });
      const { args } = decodeDeployData({
        abi: erc6492SignatureValidatorAbi,
        bytecode: erc6492SignatureValidatorByteCode as Hex,
        data: params[0].data,
      });
      const [address, , signature] = args as unknown as [Hex, Hex, Hex];
      asked.push({ address, signature });
      return Response.json({ jsonrpc: "2.0", id, result: accepts({ address, signature }) ? "0x01" : "0x00" });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    askedCode,
    stop: () => server.stop(true),
    [Symbol.asyncDispose]: async () => server.stop(true),
  };
}
