import { readSmallFile } from "../../config/small-file.ts";
import { reasonOf, UserError } from "../../lib/failure.ts";

const SEED = /^(?:0x)?([0-9a-f]{64})$/i;

/**
 * Reads an Ed25519 private key: 64 hex digits, with or without `0x`. It comes from a file, not from an argument, which every user
 * of the machine can see. Messages never include it.
 *
 * @throws UserError when there is none.
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
