import { keccak_256 } from "@noble/hashes/sha3.js";

/** Typed data in the form that `signTypedData` of viem's accounts and wallet clients accepts. */
export interface SignedOpTypedData {
  readonly domain: { readonly name: string; readonly version: string; readonly chainId: number };
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  readonly message: {
    readonly op: string;
    readonly fid: bigint;
    readonly signedAt: bigint;
    readonly nonce: `0x${string}`;
    readonly requestHash: `0x${string}`;
  };
}

/** Signs as the custody address of an fid: a viem account, or `walletSigner` for a wallet in a browser. */
export interface Signer {
  // The parameters of viem's type depend on each other, so a narrower type would reject its accounts.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly signTypedData: (data: any) => Promise<string>;
}

/** Input of a signature. */
export interface OperationToSign {
  readonly signer: Signer;
  /** The acting fid. Its custody address must be the signer's address. */
  readonly fid: number;
  /** Name of the operation, such as `app.create`. */
  readonly op: string;
  /** Body exactly as it is sent, byte for byte; empty if there is none. */
  readonly body: string | Uint8Array;
  /** `service.name` of the node. Default: `svc`. */
  readonly service?: string;
  /** Unix seconds. Default: now. */
  readonly signedAt?: number;
}

const OP_MAINNET = 10;
const NONCE_BYTES = 32;
const fields = [
  { name: "op", type: "string" },
  { name: "fid", type: "uint64" },
  { name: "signedAt", type: "uint256" },
  { name: "nonce", type: "bytes32" },
  { name: "requestHash", type: "bytes32" },
] as const;

/** Signs one request with a new nonce. Returns its five headers, which are valid for a single request within five minutes. */
export async function signOperation(operation: OperationToSign): Promise<Record<string, string>> {
  const { signer, fid, op, body, service = "svc", signedAt = Math.floor(Date.now() / 1000) } = operation;
  const name = service.slice(0, 1).toUpperCase() + service.slice(1);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const data: SignedOpTypedData = {
    domain: { name, version: "1", chainId: OP_MAINNET },
    types: { [`${name}SignedOp`]: fields },
    primaryType: `${name}SignedOp`,
    message: {
      op,
      fid: BigInt(fid),
      signedAt: BigInt(signedAt),
      nonce,
      requestHash: toHex(keccak_256(bytes)),
    },
  };
  return {
    [`X-${name}-Fid`]: String(fid),
    [`X-${name}-Op`]: op,
    [`X-${name}-Signed-At`]: String(signedAt),
    [`X-${name}-Nonce`]: nonce,
    [`X-${name}-Signature`]: await signer.signTypedData(data),
  };
}

/** A wallet as browsers expose it (EIP-1193). */
export interface Eip1193Provider {
  request(request: { readonly method: string; readonly params?: unknown }): Promise<unknown>;
}

/** Creates a signer that asks a wallet for each signature (`eth_signTypedData_v4`). The wallet must be connected to OP Mainnet. */
export function walletSigner(provider: Eip1193Provider, address: string): Signer {
  return {
    async signTypedData({ domain, types, primaryType, message }: SignedOpTypedData) {
      const data = {
        domain,
        primaryType,
        types: {
          EIP712Domain: [
            { name: "name", type: "string" },
            { name: "version", type: "string" },
            { name: "chainId", type: "uint256" },
          ],
          ...types,
        },
        message: { ...message, fid: String(message.fid), signedAt: String(message.signedAt) },
      };
      const params = [address, JSON.stringify(data)];
      return String(await provider.request({ method: "eth_signTypedData_v4", params }));
    },
  };
}

const toHex = (bytes: Uint8Array): `0x${string}` =>
  `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
