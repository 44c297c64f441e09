import { constants } from "node:fs";
import { resolve } from "node:path";
import type { ConfigInput } from "../layers.ts";
import type { Config } from "../schema.ts";
import { readSmallFile } from "./small-file.ts";

const { S_IFMT, S_IFREG } = constants;

/**
 * Returns the fids that the node follows; undefined if it follows all.
 *
 * @throws Error if `upstream.fid_file` is invalid. Its message continues a sentence that starts with the setting's key.
 */
export function followedFids(
  { fids, fid_file }: Pick<Config["upstream"], "fids" | "fid_file">,
  { readFile, cwd }: Pick<ConfigInput, "readFile" | "cwd"> = { readFile: readSmallFile, cwd: process.cwd() },
): ReadonlySet<number> | undefined {
  if (fid_file !== "")
    return fidsInFile(
      fid_file,
      readFile(resolve(cwd, fid_file), ({ mode }) => {
        // Opening a pipe would wait.
        if ((mode & S_IFMT) !== S_IFREG) throw new Error(`names ${fid_file}, which is not a regular file`);
      }),
    );
  return fids.length > 0 ? new Set(fids) : undefined;
}

/** Parses fids that are separated by line ends, spaces or commas; `#` starts a comment up to the line end. */
function fidsInFile(path: string, text: string | undefined): ReadonlySet<number> {
  if (text === undefined) throw new Error(`names ${path}, which does not exist`);
  const fids = new Set<number>();
  for (const [at, line] of text.split("\n").entries()) {
    for (const word of line.replace(/#.*/, "").split(/[\s,]+/)) {
      if (word === "") continue;
      const fid = /^[1-9]\d{0,15}$/.test(word) ? Number(word) : Number.NaN;
      // The message does not repeat the word: it may be a secret from another file.
      if (!Number.isSafeInteger(fid))
        throw new Error(`names ${path}, where line ${at + 1} has something that is not an fid`);
      fids.add(fid);
    }
  }
  // An empty file is rejected, because it would follow all fids.
  if (fids.size === 0) throw new Error(`names ${path}, which has no fids`);
  return fids;
}
