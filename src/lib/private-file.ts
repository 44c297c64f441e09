import { chmodSync, closeSync, openSync, statSync } from "node:fs";

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** Makes an empty file that only its owner can read and write, where there is none yet; otherwise as `closeToOthers`. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, "a", OWNER_ONLY));
  closeToOthers(path);
}

/** Takes a file from everybody but its owner. Does nothing where there is no such file. */
export function closeToOthers(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || (found.mode & OTHERS) === 0) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch {
    // Another user's file, or a file system without modes: whoever set that up decides who reads it.
  }
}
