import type { FileFacts } from "../../src/config/files/small-file.ts";
import type { ArgvFlags, ConfigInput, ConfigProblem } from "../../src/config/layers.ts";
import { ConfigError, type LoadedConfig, loadConfig, type SettingsReader } from "../../src/config/load.ts";

export interface Sources {
  readonly flags?: ArgvFlags;
  readonly env?: Record<string, string>;
  /** Text by absolute path; a fault stands for a file that cannot be read. */
  readonly files?: Record<string, string | Error>;
  /** Of files by absolute path; by default they are root's, and private. */
  readonly facts?: Record<string, Partial<FileFacts>>;
  /** The user who runs the command. */
  readonly uid?: number;
}

/** Sources of settings that consist of nothing but what the test gives. */
export function inputOf({
  flags = {},
  env = {},
  files = {},
  facts = {},
  uid = 0,
}: Sources = {}): ConfigInput {
  return {
    argvFlags: flags,
    env,
    cwd: "/cwd",
    uid,
    readFile(path, look) {
      const file = files[path];
      if (file instanceof Error) throw file;
      if (file !== undefined) look?.({ uid: 0, gid: 0, mode: 0o100_600, ...facts[path] });
      return file;
    },
  };
}

export function load(sources: Sources = {}, reader?: SettingsReader): LoadedConfig {
  return loadConfig(inputOf(sources), reader);
}

/** Returns the problems of the sources; fails the test when there are none. */
export function problemsOf(sources: Sources, reader?: SettingsReader): readonly ConfigProblem[] {
  try {
    load(sources, reader);
  } catch (fault) {
    if (fault instanceof ConfigError) return fault.problems;
    throw fault;
  }
  throw new Error("the settings were accepted");
}
