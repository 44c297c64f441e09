import type { PrivateKeyAccount } from "viem/accounts";
import { keccak256, toHex } from "viem/utils";
import { signedOpTypedData } from "../../auth/typed-data.ts";
import type { ServiceNames } from "../../config/names.ts";

const NONCE_BYTES = 32;

/** One request of the management API, as far as its signature covers it. */
export interface OperationToSign {
  readonly names: ServiceNames;
  readonly account: PrivateKeyAccount;
  /** The acting fid, whose custody address the account must be. */
  readonly fid: number;
  /** As in the operation table: `app.create`. */
  readonly op: string;
  /** The body, byte for byte as it is sent; empty for none. */
  readonly body: Uint8Array;
  /** Unix seconds. */
  readonly signedAt: number;
}

/** Signs a request under a fresh nonce; the five headers that make it good for one use. */
export async function signOperation(operation: OperationToSign): Promise<Record<string, string>> {
  const { names, account, fid, op, body, signedAt } = operation;
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const signature = await account.signTypedData({
    ...signedOpTypedData(names),
    message: { op, fid: BigInt(fid), signedAt: BigInt(signedAt), nonce, requestHash: keccak256(body) },
  });
  return {
    [`${names.headerPrefix}Fid`]: String(fid),
    [`${names.headerPrefix}Op`]: op,
    [`${names.headerPrefix}Signed-At`]: String(signedAt),
    [`${names.headerPrefix}Nonce`]: nonce,
    [`${names.headerPrefix}Signature`]: signature,
  };
}
