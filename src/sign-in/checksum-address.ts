import { keccak_256 } from "@noble/hashes/sha3.js";

const FIRST_UPPER_CASE = 8;

/** Returns an address in hex with the EIP-55 checksum, as wallets display it. */
export function checksumAddress(address: Uint8Array): `0x${string}` {
  const hex = Buffer.from(address).toString("hex");
  const hash = Buffer.from(keccak_256(Buffer.from(hex, "latin1"))).toString("hex");
  const digits = [...hex].map((digit, at) =>
    Number.parseInt(hash[at] ?? "0", 16) >= FIRST_UPPER_CASE ? digit.toUpperCase() : digit,
  );
  return `0x${digits.join("")}`;
}
