import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { extname, join } from "node:path";
import { UserError } from "../../lib/failure.ts";

/** A file of a repository. */
export interface SourceFile {
  /** Relative to the folder, with slashes. */
  readonly path: string;
  readonly text: string;
}

export interface SourceFiles {
  readonly files: readonly SourceFile[];
  /** Files that may call the hosted API and were not read, because they are too large or generated; at most 20. */
  readonly skipped: readonly string[];
  /** Whether a bound ended the search, so that there may be more. */
  readonly isCut: boolean;
}

const MAX_FILES = 20_000;
const MAX_ENTRIES = 400_000;
const MAX_DEPTH = 32;
const MAX_FILE_BYTES = 1_000_000;
/** A larger file is searched for `MENTION` only, up to this size. */
const MAX_SEARCHED_BYTES = 8_000_000;
const MAX_TOTAL_BYTES = 64_000_000;
/** What a source has that calls the hosted API: a host or package of the vendor, or a path. */
const MENTION = /neynar|\/farcaster/i;
/** A longer line is the work of a program. */
const MAX_LINE_CHARS = 20_000;
const MAX_SHOWN_SKIPPED = 20;

/** Folders with what others have written or a program has made. */
const FOREIGN_FOLDERS = new Set(
  (
    "node_modules bower_components jspm_packages vendor target dist build out coverage venv site-packages Pods " +
    "__pycache__ __generated__"
  ).split(" "),
);
const SOURCES = new Set(
  (
    ".ts .tsx .mts .cts .js .jsx .mjs .cjs .vue .svelte .astro .html .py .ipynb .go .rs .rb .php .java .kt .kts .swift .dart .ex .exs " +
    ".cs .fs .scala .clj .lua .sh .bash .zsh .json .yaml .yml .toml .env"
  ).split(" "),
);
const LOCK_FILES = new Set(["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml"]);

const isSource = (name: string) =>
  (SOURCES.has(extname(name)) && !LOCK_FILES.has(name)) || /^(\.env(\.[\w.-]+)?|Dockerfile)$/.test(name);
/** Hidden folders belong to tools, but for the one with the manifest of a mini app. */
const isForeign = (name: string) =>
  FOREIGN_FOLDERS.has(name) || (name.startsWith(".") && name !== ".well-known");

/**
 * Reads the sources below a folder, in the order of their names. Follows no link, and leaves out what others have written
 * (`node_modules`, hidden folders, outputs).
 *
 * @throws UserError if the folder cannot be read.
 */
export async function readSourceFiles(folder: string): Promise<SourceFiles> {
  const files: SourceFile[] = [];
  const skipped: string[] = [];
  let bytes = 0;
  let entriesSeen = 0;
  let isCut = false;

  async function readFolder(path: string, depth: number): Promise<void> {
    const entries = await readdir(join(root, path), { withFileTypes: true }).catch(() => []);
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const { name } = entry;
      entriesSeen += 1;
      if (files.length >= MAX_FILES || entriesSeen > MAX_ENTRIES || bytes > MAX_TOTAL_BYTES) {
        isCut = true;
        return;
      }
      const inner = path === "" ? name : `${path}/${name}`;
      if (entry.isDirectory() && !isForeign(name)) {
        if (depth < MAX_DEPTH) await readFolder(inner, depth + 1);
        else isCut = true;
      } else if (entry.isFile() && isSource(name)) {
        const { text, size, mayCall } = await readSource(join(root, inner));
        bytes += size;
        if (text !== undefined) files.push({ path: inner, text });
        else if (mayCall) skipped.push(inner);
      }
    }
  }

  const root = await realpath(folder).catch(() => folder);
  await readdir(root).catch((cause) => {
    throw new UserError(`${folder} is not a folder that can be read`, { cause });
  });
  await readFolder("", 0);
  return { files, skipped: skipped.slice(0, MAX_SHOWN_SKIPPED), isCut };
}

interface Source {
  /** Undefined if the file is too large, generated, binary or cannot be read. */
  readonly text?: string;
  /** Bytes that were read. */
  readonly size: number;
  readonly mayCall: boolean;
}

async function readSource(path: string): Promise<Source> {
  try {
    // Without O_NONBLOCK a named pipe that took the file's place would block.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    await using handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = await handle.stat();
    const { size } = stat;
    if (!stat.isFile() || size > MAX_SEARCHED_BYTES) return { size: 0, mayCall: true };
    const text = await handle.readFile("utf8");
    const mayCall = MENTION.test(text);
    const isRead = size <= MAX_FILE_BYTES && !text.includes("\0") && !hasLongLine(text);
    return isRead ? { text, size, mayCall } : { size, mayCall };
  } catch {
    return { size: 0, mayCall: true };
  }
}

function hasLongLine(text: string): boolean {
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\n", start);
    const next = end < 0 ? text.length : end;
    if (next - start > MAX_LINE_CHARS) return true;
    start = next + 1;
  }
  return false;
}
