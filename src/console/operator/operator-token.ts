import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { randomBase58 } from "../../lib/base58.ts";
import { UserError } from "../../lib/failure.ts";
import { writePrivateFile } from "../../runtime/files.ts";
import { programName } from "../../version.ts";

/** In the data directory. No backup or snapshot contains it. */
export const OPERATOR_TOKEN_FILE = "operator.token";
const CHARS = 44;
const VALID = /^[1-9A-HJ-NP-Za-km-z]{44}$/;
const READABLE_BY_OTHERS = 0o077;

/**
 * Returns the secret in the data directory's file. Creates a new one if there is none, if the file is not a secret, or if others could
 * read it.
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
 * @throws UserError if the file cannot be read or contains no secret
 */
export function readOperatorToken(dataDir: string): string {
  const path = join(dataDir, OPERATOR_TOKEN_FILE);
  const token = read(path);
  if (token === undefined) throw new UserError(missingToken(dataDir));
  if (!VALID.test(token))
    throw new UserError(`${path} has no operator token. Restart the node: it makes a new one at its start`);
  return token;
}

function missingToken(dataDir: string): string {
  if (existsSync(dataDir) && !mayEnter(dataDir))
    return `the data directory ${dataDir} is for the user of its node alone: run this as that user, as in \`sudo -u ${programName} ${programName} console\``;
  return `no node has started over the data directory ${dataDir}: start one with \`${programName} serve\`, name its --data-dir, or set console.operator_token for one elsewhere`;
}

function mayEnter(dir: string): boolean {
  try {
    accessSync(dir, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
