import { RE2JS, RE2JSException } from "re2js";
import { type Err, err, ok, type Result } from "../../lib/result.ts";
import { requiredLiterals } from "./required-literals.ts";

export const MAX_REGEX_CHARS = 1_000;
/**
 * Limit of instructions of a compiled expression. In the worst case a match takes 10 to 130 ns for each instruction and
 * character of the text (more for shorter texts), and counted repetitions turn a short expression into hundreds of
 * thousands of instructions.
 */
export const MAX_PROGRAM_SIZE = 1_200;
/** The limit without a required literal: the expression runs against every text, 15 ms for 10,000 bytes. */
export const MAX_UNFILTERED_PROGRAM_SIZE = 150;

/** A regular expression in RE2's syntax, which is matched in linear time. */
export interface RegexProgram {
  readonly source: string;
  /** Instructions of the compiled program. */
  readonly size: number;
}

/** The reason why a text is not accepted as a regular expression. */
export interface RegexFault {
  /** Text that follows the name of the field. */
  readonly reason: string;
}

function fault(reason: string): Err<RegexFault> {
  return err({ reason });
}

/** Reads an expression and limits its worst-case cost. */
export function readRegexProgram(source: unknown): Result<RegexProgram, RegexFault> {
  if (typeof source !== "string") return fault("must be a string");
  if (source.length > MAX_REGEX_CHARS) return fault(`must have at most ${MAX_REGEX_CHARS} characters`);
  if (!source.isWellFormed() || source.includes("\0")) {
    return fault("must be well-formed Unicode without NUL");
  }
  const maxSize = requiredLiterals(source).length > 0 ? MAX_PROGRAM_SIZE : MAX_UNFILTERED_PROGRAM_SIZE;
  // The estimate is rough: far above the limit it avoids compiling, below it the program size decides.
  if (expandedSize(source) > MAX_ESTIMATED_SIZE) return tooLarge(maxSize);
  try {
    const size = RE2JS.compile(source).programSize();
    return size > maxSize ? tooLarge(maxSize, size) : ok({ source, size });
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return fault("is not a valid RE2 regular expression");
  }
}

const MAX_ESTIMATED_SIZE = 4_000;

function tooLarge(maxSize: number, size?: number): Err<RegexFault> {
  const found = size === undefined ? "too many" : `${size}`;
  const most =
    maxSize === MAX_UNFILTERED_PROGRAM_SIZE
      ? `${maxSize} are allowed where the expression requires no literal of two or more characters`
      : `${maxSize} are allowed`;
  return fault(`repeats too much: it compiles to ${found} instructions, and ${most}`);
}

/** A quotation, an escape with its argument, a class, a counted repetition, or one character. */
const TOKEN =
  /\\Q.*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gsu;

interface Group {
  total: number;
  /** Size of the element that a following repetition repeats. */
  last: number;
}

/**
 * Returns the number of single characters of an expression with its counted repetitions expanded: an upper bound of its
 * program size that needs no compilation.
 */
function expandedSize(regex: string): number {
  const outer: Group[] = [];
  let group: Group = { total: 0, last: 0 };
  const add = (size: number) => {
    group.total += size;
    group.last = size;
  };
  for (const [token, min, max] of regex.matchAll(TOKEN)) {
    if (min !== undefined) {
      const times = Math.max(Number(min), Number(max || min), 1);
      group.total += group.last * (times - 1);
      group.last *= times;
    } else if (token === "(") {
      outer.push(group);
      group = { total: 0, last: 0 };
    } else if (token === ")") {
      const { total } = group;
      group = outer.pop() ?? { total: 0, last: 0 };
      add(total + 2);
    } else if (!/^[*+?|]$/.test(token)) add(token.length > 2 && token.startsWith("\\Q") ? token.length : 1);
  }
  return outer.reduce((sum, { total }) => sum + total, group.total);
}
