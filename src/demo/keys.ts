import { secp256k1 } from "@noble/curves/secp256k1.js";
import { blake3 } from "@noble/hashes/blake3.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { type Ed25519Key, ed25519KeyFromSeed } from "../protocol/message/build-message.ts";
import { AUTH_ADDRESS_FIDS, clientFidsOf, isDemoFid, transferredAtSecs } from "./roster.ts";

type Hex = `0x${string}`;

/** A secp256k1 key and its 20-byte Ethereum address. */
export interface Wallet {
  readonly privateKey: Uint8Array;
  readonly address: Uint8Array;
}

interface WalletText {
  readonly address: Hex;
  readonly privateKey: Hex;
}

/** The keys of one demo fid as text, for users who try signed requests. */
export interface DemoKeys {
  readonly fid: number;
  readonly custody: WalletText;
  /** May own channels of the demo network. */
  readonly recovery: WalletText;
  /** A wallet that may sign in for the fid in addition to the custody address. Null if the fid has none. */
  readonly authAddress: WalletText | null;
  readonly signers: readonly {
    readonly publicKey: Hex;
    readonly privateKey: Hex;
    readonly clientFid: number;
  }[];
}

/**
 * All keys of the demo network. They are derived from texts in this file, so they are public and represent no user outside a demo
 * network, whatever the fid is there.
 */
export type Keyring = ReturnType<typeof createKeyring>;

/** Derives keys on demand and caches them for the lifetime of the keyring. */
export function createKeyring() {
  const wallet = memoized((label) => walletFrom(secret(label)));
  const ed25519 = memoized((label) => ed25519KeyFromSeed(secret(label)));
  const firstCustody = (fid: number) => wallet(`custody ${fid}`);
  return {
    custody: (fid: number): Wallet =>
      transferredAtSecs(fid) ? wallet(`custody ${fid} after transfer`) : firstCustody(fid),
    /** Returns the custody wallet before the fid was transferred, or the current one if it never was. */
    firstCustody,
    recovery: (fid: number): Wallet => wallet(`recovery ${fid}`),
    authAddress: (fid: number): Wallet => wallet(`auth address ${fid}`),
    /** Returns a wallet that the fid verifies as its own. */
    verifiedWallet: (fid: number, index: number): Wallet => wallet(`verified wallet ${fid} ${index}`),
    solanaWallet: (fid: number): Ed25519Key => ed25519(`solana wallet ${fid}`),
    signer: (fid: number, clientFid: number): Ed25519Key => ed25519(`signer ${fid} of client ${clientFid}`),
    /** Returns the wallet that signs name proofs, like the network's name server. */
    nameServer: (): Wallet => wallet("name server"),
  };
}

/** Returns the current custody key, the auth address and the active signer keys of a demo fid; undefined for any other fid. */
export function demoKeys(fid: number): DemoKeys | undefined {
  if (!isDemoFid(fid)) return undefined;
  const keyring = createKeyring();
  return {
    fid,
    custody: walletText(keyring.custody(fid)),
    recovery: walletText(keyring.recovery(fid)),
    authAddress: AUTH_ADDRESS_FIDS.includes(fid) ? walletText(keyring.authAddress(fid)) : null,
    signers: clientFidsOf(fid).map((clientFid) => {
      const key = keyring.signer(fid, clientFid);
      return { publicKey: hex(key.publicKey), privateKey: hex(key.seed), clientFid };
    }),
  };
}

/** Derives 32 bytes from a text: secrets, block hashes and similar values of the demo network. */
export function secret(label: string): Uint8Array {
  return blake3(utf8ToBytes(`demo network: ${label}`));
}

function walletFrom(privateKey: Uint8Array): Wallet {
  const publicKey = secp256k1.getPublicKey(privateKey, false);
  return { privateKey, address: keccak_256(publicKey.subarray(1)).slice(-20) };
}

const walletText = ({ address, privateKey }: Wallet): WalletText => ({
  address: hex(address),
  privateKey: hex(privateKey),
});

function memoized<T>(make: (label: string) => T): (label: string) => T {
  const made = new Map<string, T>();
  return (label) => {
    const known = made.get(label);
    if (known !== undefined) return known;
    const fresh = make(label);
    made.set(label, fresh);
    return fresh;
  };
}

function hex(bytes: Uint8Array): Hex {
  return `0x${bytesToHex(bytes)}`;
}
