import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";

/** The default settings with some given as `section.key=value`, apart from this machine's files and environment. */
export function configWith(...set: string[]): Config {
  return loadConfig({ argvFlags: { set }, env: {}, readFile: () => undefined, cwd: "/" }).config;
}
