import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { readSmallFile } from "../../config/files/small-file.ts";
import type { ConfigInput } from "../../config/layers.ts";
import { loadConfig } from "../../config/load.ts";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { giveToOwnerOf } from "../../runtime/files.ts";

/** A file that `init` writes. */
export interface NewFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly isSecret?: boolean;
}

const OWNER_ONLY = 0o600;
const READABLE_BY_ALL = 0o644;
/** `readSmallFile` refuses larger ones. */
const MAX_BYTES = 1024 * 1024;

/**
 * Refuses files that exist.
 *
 * @throws UserError naming the first one.
 */
export function refuseExisting(paths: readonly string[]): void {
  // A dangling link also exists.
  const found = paths.find((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  if (found !== undefined)
    throw new UserError(`${found} already exists; --force replaces it, --output names another file`);
}

/**
 * Checks settings that are not written yet, like `config check`.
 *
 * @param files the settings file, or that of the operator's page, then the files that it names.
 * @param given the flags and the environment with which they are read. Default: none.
 * @param settingsFile empty if it is searched for as by each command. Default: the first of the files.
 * @throws ConfigError for invalid settings; UserError for a file that would be too large to be read.
 */
export function checkFiles(
  files: readonly NewFile[],
  given: Pick<ConfigInput, "argvFlags" | "env"> = { argvFlags: {}, env: {} },
  settingsFile = files[0]?.path ?? "",
): void {
  const large = files.find(({ text }) => Buffer.byteLength(text) > MAX_BYTES);
  if (large)
    throw new UserError(`${large.path} would be larger than 1 MiB; follow fewer fids, or all with --all`);
  const readFile: ConfigInput["readFile"] = (path, look) =>
    files.find((file) => file.path === path)?.text ?? readSmallFile(path, look);
  const named = settingsFile === "" ? {} : { config: settingsFile };
  loadConfig({
    env: given.env,
    argvFlags: { ...given.argvFlags, ...named },
    readFile,
    cwd: dirname(settingsFile),
  });
}

/**
 * Writes files that every user can read, each atomically; secrets only for their owner, who, if root writes them, is the owner of the
 * data directory. A replaced file keeps its owner and group. A link stays, and its target is replaced. If a file cannot be written, the
 * new ones before it are removed, because they would be in the way of the next attempt.
 *
 * @throws UserError if a file cannot be written.
 */
export function writeFiles(files: readonly NewFile[], dataDir: string): void {
  const added: string[] = [];
  for (const { path, text, isSecret = false } of files.toReversed()) {
    let draft = "";
    try {
      mkdirSync(dirname(path), { recursive: true });
      const target = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? realpathSync(path) : path;
      draft = `${target}.${process.pid}.new`;
      writeFileSync(draft, text, { mode: OWNER_ONLY, flag: "wx" });
      const model = isSecret ? dataDir : target;
      if (existsSync(model)) giveToOwnerOf(model, draft);
      if (!isSecret) chmodSync(draft, READABLE_BY_ALL);
      const isNew = !existsSync(target);
      renameSync(draft, target);
      if (isNew) added.push(target);
    } catch (cause) {
      for (const left of [...added, draft]) if (left !== "") removeIfPossible(left);
      throw new UserError(`${path} cannot be written: ${reasonOf(cause)}`, { cause });
    }
  }
}

/** The reason why a file cannot be written may also prevent its removal; only the first reason is reported. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It is reported with the file that cannot be written.
  }
}
