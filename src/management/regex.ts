import { RegexFault, readRegexProgram } from "../matching/regex-program.ts";
import { badField, type Refusal } from "./refusal.ts";

/** A regular expression in RE2's syntax, which is matched in linear time. */
export function readRegex(value: unknown, name: string): string | Refusal {
  const program = readRegexProgram(value);
  return program instanceof RegexFault ? badField(`${name} ${program.reason}`) : program.source;
}
