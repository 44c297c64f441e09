import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../lib/failure.ts";
import { writePrivateFile } from "../../lib/private-file.ts";
import { randomBase58 } from "../../lib/random-base58.ts";

/** In the data directory. It is in no backup and no snapshot. */
export const OPERATOR_TOKEN_FILE = "operator.token";
const CHARS = 44;
const VALID = /^[1-9A-HJ-NP-Za-km-z]{44}$/;
const READABLE_BY_OTHERS = 0o077;

/**
 * Returns the secret in the file of the data directory. Makes a new one where there is none, where it is no secret, or where others
 * could read it.
 */
export function ensureOperatorToken(dataDir: string): string {
  const path = join(dataDir, OPERATOR_TOKEN_FILE);
  const stored = read(path);
  if (stored !== undefined && VALID.test(stored) && (statSync(path).mode & READABLE_BY_OTHERS) === 0)
    return stored;
  const token = randomBase58(CHARS);
  writePrivateFile(path, `${token}\n`);
  return token;
}

/**
 * Returns the secret that a running node has written.
 *
 * @throws UserError when the file cannot be read or has no secret
 */
export function readOperatorToken(dataDir: string): string {
  const path = join(dataDir, OPERATOR_TOKEN_FILE);
  const token = read(path);
  if (token === undefined)
    throw new UserError(
      `${path} cannot be read: the node makes it at its start, for the user that runs it. For another node set console.operator_token`,
    );
  if (!VALID.test(token))
    throw new UserError(`${path} has no operator token. Restart the node: it makes a new one at its start`);
  return token;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
