import { ok, type Result } from "../lib/result.ts";
import { badField, type Refusal } from "../management/refusal.ts";
import { readRegexProgram } from "./match/regex-program.ts";

/** Reads a regular expression in RE2's syntax, which is matched in linear time. */
export function readRegex(value: unknown, name: string): Result<string, Refusal> {
  const program = readRegexProgram(value);
  return program.ok ? ok(program.value.source) : badField(`${name} ${program.error.reason}`);
}
