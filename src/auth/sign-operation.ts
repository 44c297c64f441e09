import type { PrivateKeyAccount } from "viem/accounts";
import { keccak256, toHex } from "viem/utils";
import type { ServiceNames } from "../config/names.ts";
import { signedOpTypedData } from "./typed-data.ts";

const NONCE_BYTES = 32;

/** The parts of a management request that its signature covers. */
export interface OperationToSign {
  readonly names: ServiceNames;
  readonly account: PrivateKeyAccount;
  /** The acting fid. Its custody address must be the account's. */
  readonly fid: number;
  /** The name in the operation table, such as `app.create`. */
  readonly op: string;
  /** The body, byte for byte as it is sent; empty when there is none. */
  readonly body: Uint8Array;
  /** Unix seconds. */
  readonly signedAt: number;
}

/** Signs a request with a fresh nonce. Returns the five headers, which are valid for one request. */
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
