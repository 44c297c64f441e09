import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { UserError } from "../lib/failure.ts";
import type { DataDir } from "../runtime/data-dir.ts";
import { createPrivateFile } from "../runtime/files.ts";

const FILE = "node-id";
const VALID = /^[a-z0-9][a-z0-9.-]{0,62}$/;
/** Lowercase letters and digits, except those that look alike. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const CHARS = 12;

/**
 * Returns the id of this node: the setting, or else the content of the file `node-id` in the data directory, which is created with a
 * random id.
 *
 * @throws UserError if the file has other content.
 */
export function nodeIdOf(configured: string, dataDir: DataDir): string {
  if (configured !== "") return configured;
  const path = dataDir.file(FILE);
  const stored = readIfThere(path);
  if (stored !== undefined) {
    const id = stored.trim();
    if (!VALID.test(id))
      throw new UserError(`${path} does not hold the id of a node: delete it, or set node.id`);
    return id;
  }
  const id = randomId();
  // Renamed into place, so that a crash never leaves an incomplete id. This process has locked the data directory.
  const partial = `${path}.partial`;
  createPrivateFile(partial);
  writeFileSync(partial, `${id}\n`);
  renameSync(partial, path);
  return id;
}

function randomId(): string {
  const [...bytes] = crypto.getRandomValues(new Uint32Array(CHARS));
  return bytes.map((value) => ALPHABET[value % ALPHABET.length]).join("");
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new UserError(`${path} cannot be read`, { cause });
  }
}
