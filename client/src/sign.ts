import { keccak_256 } from "@noble/hashes/sha3.js";

/** Typed data as `signTypedData` of viem's accounts and wallet clients takes it. */
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

/** Signs as the custody address of an fid: an account of viem, or `walletSigner` for a wallet in a browser. */
export interface Signer {
  // The parameters of viem's own type depend on each other, so a narrower type would not accept its accounts.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly signTypedData: (data: any) => Promise<string>;
}

/** What a signature covers. */
export interface OperationToSign {
  readonly signer: Signer;
  /** The acting fid; its custody address must be the signer's. */
  readonly fid: number;
  /** The name of the operation, as `app.create`. */
  readonly op: string;
  /** The body, byte for byte as it is sent; empty when there is none. */
  readonly body: string | Uint8Array;
  /** `service.name` of the node; `svc` by default. */
  readonly service?: string;
  /** Unix seconds; now by default. */
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

/** Signs one request with a fresh nonce. Returns its five headers, which are valid once and for five minutes. */
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

/** A wallet as browsers have it (EIP-1193). */
export interface Eip1193Provider {
  request(request: { readonly method: string; readonly params?: unknown }): Promise<unknown>;
}

/** A signer that asks a wallet for each signature (`eth_signTypedData_v4`). The wallet has to stand on OP Mainnet. */
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
