import { badField, type Refusal } from "../management/refusal.ts";
import { RegexFault, readRegexProgram } from "./match/regex-program.ts";

/** Reads a regular expression in RE2's syntax, which is matched in linear time. */
export function readRegex(value: unknown, name: string): string | Refusal {
  const program = readRegexProgram(value);
  return program instanceof RegexFault ? badField(`${name} ${program.reason}`) : program.source;
}
