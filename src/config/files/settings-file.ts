import { constants } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { reasonOf } from "../../lib/failure.ts";
import type { ConfigInput, ConfigProblem } from "../layers.ts";
import type { FileFacts } from "./small-file.ts";

const CONFIG_FILE_ENV = "SVC_CONFIG_FILE";
const LOCAL_FILE = "./svc.toml";
/** Only root can write to its directory, so its owner does not matter. */
const SYSTEM_FILE = "/etc/svc/svc.toml";

const ROOT = 0;
const { S_IFMT: FILE_TYPE, S_IFREG: REGULAR } = constants;
const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const OTHERS_READ = 0o004;
const NO_PERMISSION = new Set(["EACCES", "EPERM"]);

/** The settings file in effect. */
export interface SettingsFile {
  /** Absolute; empty if there is none. */
  readonly path: string;
  readonly text: string | undefined;
  /** Whether every user of the machine can read it. */
  readonly isPublic: boolean;
  /** Whether it was found in a default place rather than named. */
  readonly isFound?: boolean;
  readonly problems: readonly ConfigProblem[];
  /** As sentences. */
  readonly warnings: readonly string[];
}

/** A settings file was found that must not be trusted. */
class UntrustedFile extends Error {
  override name = "UntrustedFile";
}

/**
 * Finds the settings file: the one that was named, which must exist; otherwise `svc.toml` in the working directory, otherwise the
 * system's.
 *
 * Commands run in any directory, so a stranger's file there must not count: a file that was found is refused if it, or a link to it,
 * belongs to another user, or if others may write it. Root then takes the system's file, if there is one.
 *
 * @param mayLack whether a file that was found but may not be read counts as missing.
 */
export function findSettingsFile(
  input: ConfigInput,
  { mayLack }: { readonly mayLack: boolean },
): SettingsFile {
  const { argvFlags, env, uid } = input;
  if (argvFlags.config !== undefined) return namedFile(input, argvFlags.config, "--config");
  if (env[CONFIG_FILE_ENV]) return namedFile(input, env[CONFIG_FILE_ENV], CONFIG_FILE_ENV);
  const local = foundFile(input, LOCAL_FILE, { mayLack });
  if (local?.text !== undefined) return local;
  if (local && !(uid === ROOT && local.isUntrusted)) return local;
  const system = foundFile(input, SYSTEM_FILE, { mayLack });
  if (!local) return system ?? { path: "", text: undefined, isPublic: false, problems: [], warnings: [] };
  if (system?.text === undefined) return local;
  const [{ key, message } = { key: "", message: "" }] = local.problems;
  return { ...system, warnings: [`${key} ${message}, and was not read`, ...system.warnings] };
}

function namedFile(input: ConfigInput, name: string, by: string): SettingsFile {
  const path = absolute(input, name);
  let mode = 0;
  const look = (facts: FileFacts) => (mode = facts.mode);
  const nothing = { path, text: undefined, isPublic: false, warnings: [] };
  try {
    const text = input.readFile(path, look);
    if (text !== undefined) return { path, text, isPublic: isPublic(mode), problems: [], warnings: [] };
    return {
      ...nothing,
      problems: [{ key: "settings file", source: by, message: `${path} does not exist` }],
    };
  } catch (cause) {
    const message = `${path} cannot be read: ${reasonOf(cause)}`;
    return { ...nothing, problems: [{ key: "settings file", source: by, message }] };
  }
}

/** @returns undefined if there is no such file. */
function foundFile(
  input: ConfigInput,
  name: string,
  { mayLack }: { readonly mayLack: boolean },
): (SettingsFile & { readonly isUntrusted?: boolean }) | undefined {
  const path = absolute(input, name);
  let mode = 0;
  const look = (facts: FileFacts) => {
    mode = facts.mode;
    const reason = distrust(facts, name === SYSTEM_FILE ? undefined : input.uid);
    if (reason !== undefined) throw new UntrustedFile(reason);
  };
  const nothing = { path, text: undefined, isPublic: false };
  try {
    const text = input.readFile(path, look);
    if (text === undefined) return undefined;
    return { path, text, isPublic: isPublic(mode), isFound: true, problems: [], warnings: [] };
  } catch (cause) {
    // Whether a directory that may not be entered contains the file does not matter: operators run `sudo -u svc` in their home
    // directories.
    if (name === LOCAL_FILE && isForbidden(cause) && callOf(cause) === "stat") return undefined;
    const isUntrusted = cause instanceof UntrustedFile;
    const message = isUntrusted ? cause.message : `cannot be read: ${reasonOf(cause)}`;
    if (mayLack && !isUntrusted && isForbidden(cause))
      return { ...nothing, problems: [], warnings: [`${path} ${message}; the defaults apply`] };
    return {
      ...nothing,
      isUntrusted,
      problems: [{ key: path, source: "settings file", message }],
      warnings: [],
    };
  }
}

/**
 * Returns why a file that was found must not count.
 *
 * @param uid the user who may own it, besides root; undefined for anyone.
 */
function distrust(facts: FileFacts, uid: number | undefined): string | undefined {
  const isOther = (owner: number) => uid !== undefined && owner !== ROOT && owner !== uid;
  const { linkUid } = facts;
  if (linkUid !== undefined && isOther(linkUid))
    return `is a symbolic link of another user (${linkUid}); name it by --config if it is to count`;
  if (isOther(facts.uid))
    return `belongs to another user (${facts.uid}); name it by --config if it is to count`;
  if ((facts.mode & FILE_TYPE) !== REGULAR) return "is not a regular file";
  // Most systems give each user a private group with the user's number.
  const groupWrites = (facts.mode & GROUP_WRITES) !== 0 && facts.gid !== facts.uid;
  if (groupWrites || (facts.mode & OTHERS_WRITE) !== 0)
    return "can be written by other users; chmod go-w makes it safe";
  return undefined;
}

function isPublic(mode: number): boolean {
  return (mode & OTHERS_READ) !== 0;
}

function isForbidden(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && NO_PERMISSION.has(String(cause.code));
}

/** Returns the system call that failed. */
function callOf(cause: unknown): unknown {
  return cause instanceof Error && "syscall" in cause ? cause.syscall : undefined;
}

function absolute({ cwd }: ConfigInput, path: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path);
}
