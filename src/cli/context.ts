import type { Command } from "commander";
import type { ArgvFlags } from "../config/layers.ts";

/** What the command line hands to a command. */
export interface CommandContext {
  /** The code that the process ends with when the command does not throw. */
  exitCode: number;
  /** The flags that set something, given before or after the command's name. */
  flags(): ArgvFlags;
}

/** Adds one value of a flag that may be repeated. */
export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** The global flags of a parsed command line. */
export function flagsOf(program: Command): ArgvFlags {
  return program.opts<ArgvFlags>();
}
