import type { Command } from "commander";
import type { ArgvFlags } from "../config/layers.ts";

/** The command line from the point of view of commands. */
export interface CommandContext {
  /** The exit code of the process if the command does not throw. */
  exitCode: number;
  /** The flags for settings, before or after the command's name. */
  flags(): ArgvFlags;
}

/** Collects the values of a repeatable flag. */
export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Returns the global flags of a parsed command line. */
export function flagsOf(program: Command): ArgvFlags {
  return program.opts<ArgvFlags>();
}
