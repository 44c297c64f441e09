import { keccak_256 } from "@noble/hashes/sha3.js";

/** What a Sign In With Farcaster message says. */
export interface SignInText {
  readonly domain: string;
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly uri: string;
  readonly nonce: string;
  /** Unix milliseconds. */
  readonly issuedAtMs: number;
  readonly fid: number;
  readonly expirationTime?: string | undefined;
  readonly notBefore?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Writes the message that a wallet signs (EIP-4361), for chain 10. */
export function signInText(text: SignInText): string {
  const { domain, address, uri, nonce, issuedAtMs, fid, expirationTime, notBefore, requestId } = text;
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    checksumAddress(address),
    "",
    "Farcaster Auth",
    "",
    `URI: ${uri}`,
    "Version: 1",
    "Chain ID: 10",
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(issuedAtMs).toISOString()}`,
    ...(expirationTime === undefined ? [] : [`Expiration Time: ${expirationTime}`]),
    ...(notBefore === undefined ? [] : [`Not Before: ${notBefore}`]),
    ...(requestId === undefined ? [] : [`Request ID: ${requestId}`]),
    "Resources:",
    `- farcaster://fid/${fid}`,
  ].join("\n");
}

const FIRST_UPPER_CASE = 8;

/** Returns an address with the checksum of EIP-55, as wallets write it. */
export function checksumAddress(address: Uint8Array): `0x${string}` {
  const hex = Buffer.from(address).toString("hex");
  const hash = Buffer.from(keccak_256(Buffer.from(hex, "latin1"))).toString("hex");
  const digits = [...hex].map((digit, at) =>
    Number.parseInt(hash[at] ?? "0", 16) >= FIRST_UPPER_CASE ? digit.toUpperCase() : digit,
  );
  return `0x${digits.join("")}`;
}
