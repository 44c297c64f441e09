import type { ArgvFlags, ConfigInput, ConfigProblem } from "../../src/config/layers.ts";
import { ConfigError, type LoadedConfig, loadConfig } from "../../src/config/load.ts";

interface Sources {
  readonly flags?: ArgvFlags;
  readonly env?: Record<string, string>;
  /** Text by absolute path; a fault stands for a file that cannot be read. */
  readonly files?: Record<string, string | Error>;
}

/** Sources of settings that consist of nothing but what the test gives. */
export function inputOf({ flags = {}, env = {}, files = {} }: Sources = {}): ConfigInput {
  return {
    argvFlags: flags,
    env,
    cwd: "/cwd",
    readFile(path) {
      const file = files[path];
      if (file instanceof Error) throw file;
      return file;
    },
  };
}

export function load(sources: Sources = {}): LoadedConfig {
  return loadConfig(inputOf(sources));
}

/** Returns the problems of the sources; fails the test when there are none. */
export function problemsOf(sources: Sources): readonly ConfigProblem[] {
  try {
    load(sources);
  } catch (fault) {
    if (fault instanceof ConfigError) return fault.problems;
    throw fault;
  }
  throw new Error("the settings were accepted");
}
