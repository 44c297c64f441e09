import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { hashTypedData, type TypedData } from "./typed-data.ts";

/** Signs typed data as a wallet does: r, s and v (27 or 28). `privateKey` is 32 bytes in hex. */
export function signTypedDataWith(privateKey: string, typedData: TypedData): string {
  const key = hexToBytes(privateKey.replace(/^0x/, ""));
  const signature = secp256k1.sign(hashTypedData(typedData), key, { prehash: false, format: "recovered" });
  const [recovery = 0] = signature;
  return `0x${bytesToHex(signature.subarray(1))}${(27 + recovery).toString(16)}`;
}
