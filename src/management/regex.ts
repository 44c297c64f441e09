import { RE2JS, RE2JSException } from "re2js";
import { badField, type Refusal } from "./refusal.ts";

export const MAX_REGEX_CHARS = 1_000;
/**
 * Instructions of the compiled expression. Matching takes time in proportion to them, and counted repetitions make
 * hundreds of thousands out of a short text.
 */
const MAX_PROGRAM_SIZE = 4_000;

/** A regular expression in RE2's syntax, which is matched in linear time. */
export function readRegex(value: unknown, name: string): string | Refusal {
  if (typeof value !== "string") return badField(`${name} must be a string`);
  if (value.length > MAX_REGEX_CHARS)
    return badField(`${name} must have at most ${MAX_REGEX_CHARS} characters`);
  if (!value.isWellFormed() || value.includes("\0")) {
    return badField(`${name} must be well-formed Unicode without NUL`);
  }
  const tooLarge = badField(`${name} repeats too much`);
  if (expandedSize(value) > MAX_PROGRAM_SIZE) return tooLarge;
  try {
    return RE2JS.compile(value).programSize() > MAX_PROGRAM_SIZE ? tooLarge : value;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return badField(`${name} is not a valid RE2 regular expression`);
  }
}

/** A quotation, an escape with its argument, a class, a counted repetition, or one character. */
const TOKEN =
  /\\Q.*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gsu;

interface Group {
  total: number;
  /** Size of what a repetition that comes next would repeat. */
  last: number;
}

/**
 * How many single characters an expression stands for once its counted repetitions are written out: a bound on the size
 * of its program, known without the time that compiling it takes.
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
