import { RE2JS, RE2JSException } from "re2js";
import { type Err, err, ok, type Result } from "../../../lib/result.ts";
import { compileCost } from "./compile-cost.ts";
import { requiredLiterals } from "./required-literals.ts";

export const MAX_REGEX_CHARS = 1_000;
/**
 * Limit of instructions of a compiled expression. In the worst case a match takes 10 to 130 ns per instruction and character of the text
 * (more for shorter texts), and counted repetitions turn a short expression into hundreds of thousands of instructions.
 */
export const MAX_PROGRAM_SIZE = 1_200;
/** The limit without a required literal: such an expression runs against every text, at up to 15 ms per 10,000 bytes. */
export const MAX_UNFILTERED_PROGRAM_SIZE = 150;
/** Limit of the steps for compiling the character classes of an expression, at about 10 ns each. */
export const MAX_CLASS_STEPS = 200_000;
/** Steps for classes that count as one instruction. */
const STEPS_PER_INSTRUCTION = 1_000;

/** A regular expression in RE2's syntax, which is matched in linear time. */
export interface RegexProgram {
  readonly source: string;
  /** Instructions of the compiled program, plus the cost of its character classes as instructions. */
  readonly size: number;
}

/** Why a text is not accepted as a regular expression. */
export interface RegexFault {
  /** Text that follows the name of the field. */
  readonly reason: string;
}

function fault(reason: string): Err<RegexFault> {
  return err({ reason });
}

/** Results for the last expressions, including refusals: an event, a preview and an update of a webhook read the same ones again. */
const lastRead = new Map<string, Result<RegexProgram, RegexFault>>();
const MAX_LAST_READ = 500;

/** Reads an expression and limits its worst-case costs: that of compiling, estimated from its text, and that of matching. */
export function readRegexProgram(source: unknown): Result<RegexProgram, RegexFault> {
  if (typeof source !== "string") return fault("must be a string");
  if (source.length > MAX_REGEX_CHARS) return fault(`must have at most ${MAX_REGEX_CHARS} characters`);
  if (!source.isWellFormed() || source.includes("\0")) {
    return fault("must be well-formed Unicode without NUL");
  }
  const known = lastRead.get(source);
  if (known) return known;
  for (const oldest of lastRead.keys()) {
    if (lastRead.size < MAX_LAST_READ) break;
    lastRead.delete(oldest);
  }
  const read = readProgram(source);
  lastRead.set(source, read);
  return read;
}

function readProgram(source: string): Result<RegexProgram, RegexFault> {
  const cost = compileCost(source);
  if (!cost) return fault(INVALID);
  const { instructions, classSteps } = cost;
  const maxSize = requiredLiterals(source).length > 0 ? MAX_PROGRAM_SIZE : MAX_UNFILTERED_PROGRAM_SIZE;
  // The estimate is rough. Far above the limit it avoids compiling; below it, the size of the program decides.
  if (instructions > MAX_ESTIMATED_SIZE) return tooLarge(maxSize);
  if (classSteps > MAX_CLASS_STEPS)
    return fault(`${CLASSES_TOO_LARGE}: ${classSteps} steps, and ${MAX_CLASS_STEPS} are allowed`);
  try {
    const size = compileRegex(source).programSize() - GROUP_SIZE;
    if (size > maxSize) return tooLarge(maxSize, size);
    return ok({ source, size: size + Math.floor(classSteps / STEPS_PER_INSTRUCTION) });
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return fault(INVALID);
  }
}

/**
 * Compiles an expression that `readRegexProgram` accepts. It is wrapped in a group so that it never starts with `^`: the library would
 * then try to build a different automaton, in time cubic in the size.
 */
export function compileRegex(source: string): RE2JS {
  return RE2JS.compile(`(${source}${compileCost(source)?.endsQuoted ? "\\E" : ""})`);
}

const INVALID = "is not a valid RE2 regular expression";
const CLASSES_TOO_LARGE =
  "has character classes that are too large, for repetitions or for ranges without case";
const MAX_ESTIMATED_SIZE = 4_000;
/** Instructions of the added group. */
const GROUP_SIZE = 2;

function tooLarge(maxSize: number, size?: number): Err<RegexFault> {
  const found = size === undefined ? "too many" : `${size}`;
  const most =
    maxSize === MAX_UNFILTERED_PROGRAM_SIZE
      ? `${maxSize} are allowed where the expression requires no literal of two or more characters`
      : `${maxSize} are allowed`;
  return fault(`repeats too much: it compiles to ${found} instructions, and ${most}`);
}
