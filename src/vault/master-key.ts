import { createHash, hkdfSync, randomBytes } from "node:crypto";

const MASTER_BYTES = 32;
const KEY_ID_BYTES = 8;

/** The purpose of a key that is derived from a master key. Keys of different purposes reveal nothing about each other. */
export type KeyPurpose =
  | "svc signer seed 1"
  | "svc approval token 1"
  | "svc quick auth key 1"
  | "svc notice 1";

/** A master key and its id. */
export interface MasterKey {
  /** The first 8 bytes of a digest of the master key, in hexadecimal. It is public. */
  readonly keyId: string;
  readonly bytes: Uint8Array;
}

/** Creates the text of a new master key: 64 hexadecimal digits. */
export function createMasterKeyText(): string {
  return randomBytes(MASTER_BYTES).toString("hex");
}

/** Reads a master key from 64 hexadecimal digits, which the settings have checked. */
export function readMasterKey(text: string): MasterKey {
  const bytes = new Uint8Array(Buffer.from(text, "hex"));
  if (bytes.length !== MASTER_BYTES) throw new RangeError(`a master key has ${MASTER_BYTES} bytes`);
  const digest = createHash("sha256").update("svc signer key id").update(bytes).digest();
  return { keyId: digest.subarray(0, KEY_ID_BYTES).toString("hex"), bytes };
}

/** Derives a key of 32 bytes from a master key. */
export function deriveKey({ bytes }: MasterKey, purpose: KeyPurpose): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", bytes, new Uint8Array(0), purpose, 32));
}
