import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { readSmallFile } from "../../config/files/small-file.ts";
import { reasonOf, UserError } from "../../lib/failure.ts";

/** How much of the file is read. A key with its line end is much shorter. */
const MAX_FILE_BYTES = 1024;
const KEY = /^(?:0x)?([0-9a-f]{64})$/i;
/** Matches a key, or most of one, in place of a file name. Messages must not repeat it. */
const LOOKS_LIKE_A_KEY = /^(?:0x)?[0-9a-f]{40,}$/i;
const READABLE_BY_OTHERS = 0o044;

/** The variable with the key, used if no file is named. */
export const KEY_VARIABLE = "SVC_KEY";

export interface CustodyKey {
  readonly account: PrivateKeyAccount;
  /** A warning about unsafe permissions of the key file. */
  readonly warning: string | undefined;
}

/**
 * Reads the custody key that signs: 64 hex digits, with or without `0x`. It is read from a file or the environment, not from an argument,
 * which every user of the machine can see. Messages never include it.
 *
 * @throws UserError if there is none.
 */
export function readCustodyKey(from: {
  readonly file: string | undefined;
  /** The value of `KEY_VARIABLE`. */
  readonly variable: string | undefined;
}): CustodyKey {
  const { file, variable } = from;
  if (file !== undefined) {
    const { text, isShared } = readKeyFile(file);
    const warning = isShared ? `${file} can be read by others; "chmod 600" makes the key private` : undefined;
    return { account: accountOf(text, `key file ${file}`), warning };
  }
  if (!variable) throw new UserError(`no key: give --key-file <file>, or the key in ${KEY_VARIABLE}`);
  return { account: accountOf(variable, KEY_VARIABLE), warning: undefined };
}

function accountOf(text: string, source: string): PrivateKeyAccount {
  const [, digits] = KEY.exec(text.trim()) ?? [];
  if (digits === undefined) throw new UserError(`${source} must hold a private key: 64 hex digits`);
  try {
    return privateKeyToAccount(`0x${digits.toLowerCase()}`);
  } catch {
    // The library's message may quote the number.
    throw new UserError(`${source} contains a number that is not a private key of secp256k1`);
  }
}

function readKeyFile(path: string): { text: string; isShared: boolean } {
  if (LOOKS_LIKE_A_KEY.test(path)) {
    throw new UserError("--key-file takes the name of a file that holds the key, not the key");
  }
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const facts = fstatSync(file);
    // A pipe, as in `<(pass show key)`, belongs to the process that opened it.
    const isShared = facts.isFile() && (facts.mode & READABLE_BY_OTHERS) !== 0;
    return { text: readStart(file), isShared };
  } catch (cause) {
    throw new UserError(`key file ${path} cannot be read: ${reasonOf(cause)}`, { cause });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readStart(file: number): string {
  const bytes = Buffer.alloc(MAX_FILE_BYTES);
  let length = 0;
  while (length < MAX_FILE_BYTES) {
    const read = readSync(file, bytes, length, MAX_FILE_BYTES - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.toString("utf8", 0, length);
}

const SEED = /^(?:0x)?([0-9a-f]{64})$/i;

/**
 * Reads an Ed25519 private key: 64 hex digits, with or without `0x`. It is read from a file, not from an argument, which every user of
 * the machine can see. Messages never include it.
 *
 * @throws UserError if there is none.
 */
export function readSeedFile(path: string): string {
  if (SEED.test(path))
    throw new UserError("--seed-file takes the name of a file that holds the key, not the key");
  let text: string | undefined;
  try {
    text = readSmallFile(path);
  } catch (cause) {
    throw new UserError(`${path} cannot be read: ${reasonOf(cause)}`);
  }
  const [, digits] = SEED.exec(text?.trim() ?? "") ?? [];
  if (digits === undefined) throw new UserError(`${path} must hold an Ed25519 private key: 64 hex digits`);
  return `0x${digits.toLowerCase()}`;
}

/**
 * Reads an API key from a file.
 *
 * @throws UserError if the file has none.
 */
export function readApiKey(path: string): string {
  let text: string | undefined;
  try {
    text = readSmallFile(path)?.trim();
  } catch (cause) {
    throw new UserError(`key file ${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
  if (!/^[\x21-\x7e]{1,256}$/.test(text ?? "")) throw new UserError(`key file ${path} must hold an API key`);
  return text ?? "";
}
