import { RE2JS, RE2JSException } from "re2js";

/** Upper bounds on the work of compiling an expression. */
export interface CompileCost {
  /** Instructions with counted repetitions expanded. */
  readonly instructions: number;
  /** Ranges of character classes, including characters that are folded one by one, with repetitions expanded. */
  readonly classSteps: number;
  /** Whether the expression ends inside a quotation that `\E` would end. */
  readonly endsQuoted: boolean;
}

/** The library folds the case of characters in this range one at a time; a range that contains all of them is left unchanged. */
const MIN_FOLD = 0x41;
const MAX_FOLD = 0x1e943;
/** How many ranges case folding can make of one range of characters. */
const MAX_FOLDED_RANGES = 3_000;
/** The steps of `\d` or `[:alpha:]`, folded. */
const GROUP_STEPS = 64;
/** Steps per range of a class, because ranges are sorted. */
const SORT_STEPS = 8;
/** Steps per range of an instruction: the automaton splits the characters at the ends of each, which takes longer than parsing. */
const SPLIT_STEPS = 4;

const PROPERTY = String.raw`\\[pP](?:\{[^}]*\}|[^])`;
const ATOM = String.raw`\\x\{[0-9a-fA-F]+\}|\\x[0-9a-fA-F]{2}|\\[0-7]{1,3}|\\[^]|[^]`;
const TOKEN = new RegExp(
  [
    String.raw`\\Q(?<quoted>[^]*?)(?<unquote>\\E|$)`,
    `(?<property>${PROPERTY})`,
    String.raw`\[\^?(?<body>\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*)\]`,
    String.raw`\{(?<min>0|[1-9]\d*)(?:,(?<max>0|[1-9]\d*)?)?\}`,
    String.raw`(?<flags>\(\?[a-zA-Z-]*\))`,
    String.raw`(?<open>\((?:\?(?:P?<\w*>|[a-zA-Z-]*:))?)`,
    ATOM,
  ].join("|"),
  "gu",
);
const ELEMENT = new RegExp(
  String.raw`(?<group>\[:\^?\w+:\]|\\[dswDSW])|(?<property>${PROPERTY})|(?<first>${ATOM})(?:-(?!$)(?<last>${ATOM}))?`,
  "gu",
);
const FOLDS = /\(\?[a-zA-Z-]*i/;

/** The part of an expression inside one group. */
class Part {
  instructions = 0;
  /** Ranges of its classes, with repetitions expanded. */
  ranges = 0;
  /** The costs of the last element, which a following repetition multiplies. */
  last = { instructions: 0, ranges: 0 };

  add(instructions: number, ranges = 0): void {
    this.instructions += instructions;
    this.ranges += ranges;
    this.last = { instructions, ranges };
  }

  repeat(times: number): void {
    const { instructions, ranges } = this.last;
    this.instructions += instructions * (times - 1) + times;
    this.ranges += ranges * (times - 1);
    this.last = { instructions: instructions * times + times, ranges: ranges * times };
  }
}

/**
 * Bounds the work of compiling an expression from its text, in one pass. Once a flag makes it case-insensitive, case is assumed to be
 * folded everywhere.
 *
 * @returns undefined for a text that is not an expression. It does not find all of these, so the library has to check the others.
 */
export function compileCost(source: string): CompileCost | undefined {
  if (source.startsWith("?")) return undefined;
  const folds = FOLDS.test(source);
  const outer: Part[] = [];
  let part = new Part();
  let classSteps = 0;
  let endsQuoted = false;
  for (const { 0: token, groups = {} } of source.matchAll(TOKEN)) {
    const { quoted, unquote, property, body, min, max, flags, open } = groups;
    if (quoted !== undefined) {
      for (const _ of quoted) part.add(1);
      endsQuoted = unquote === "";
    } else if (property !== undefined || body !== undefined) {
      const size = property === undefined ? classSize(body ?? "", folds) : propertySize(property, folds);
      if (!size) return undefined;
      classSteps += size.steps;
      part.add(1, size.ranges);
    } else if (min !== undefined) {
      part.repeat(Math.max(Number(min), Number(max || min), 1));
    } else if (open !== undefined) {
      outer.push(part);
      part = new Part();
    } else if (token === ")") {
      const inner = part;
      const around = outer.pop();
      if (!around) return undefined;
      part = around;
      // Single-character alternatives are merged to one class, which is sorted at the end of its group.
      classSteps += inner.ranges * SORT_STEPS;
      part.add(inner.instructions + 2, inner.ranges);
    } else if (token === "[") {
      return undefined;
    } else if (/^[*+?]$/.test(token)) {
      part.repeat(1);
    } else if (flags === undefined) {
      part.add(1);
    }
  }
  if (outer.length > 0) return undefined;
  return {
    instructions: part.instructions,
    classSteps: classSteps + part.ranges * SPLIT_STEPS,
    endsQuoted,
  };
}

interface ClassSize {
  /** Iterations of the loops that read it. */
  readonly steps: number;
  /** The number of ranges that result. */
  readonly ranges: number;
}

function classSize(body: string, folds: boolean): ClassSize | undefined {
  let steps = 0;
  let ranges = 0;
  for (const { groups = {} } of body.matchAll(ELEMENT)) {
    const { group, property, first = "", last = first } = groups;
    if (property !== undefined) {
      const size = propertySize(property, folds);
      if (!size) return undefined;
      steps += size.steps;
      ranges += size.ranges;
    } else if (group !== undefined) {
      steps += GROUP_STEPS;
      ranges += GROUP_STEPS;
    } else {
      const folded = folds ? foldedChars(codePointOf(first), codePointOf(last)) : 0;
      steps += 1 + folded;
      ranges += 1 + Math.min(folded, MAX_FOLDED_RANGES);
    }
  }
  return { steps: steps + ranges * SORT_STEPS, ranges };
}

function foldedChars(first: number, last: number): number {
  if (first <= MIN_FOLD && last >= MAX_FOLD) return 0;
  return Math.max(0, Math.min(last, MAX_FOLD) - Math.max(first, MIN_FOLD) + 1);
}

/** Returns the character of a class atom. Single-letter escapes are control characters. */
function codePointOf(atom: string): number {
  const code = atom.codePointAt(atom.startsWith("\\") ? 1 : 0) ?? 0;
  if (!atom.startsWith("\\")) return code;
  if (/^\\x./.test(atom)) return Number.parseInt(atom.replace(/\\x\{?/, ""), 16);
  if (/^\\[0-7]/.test(atom)) return Number.parseInt(atom.slice(1), 8);
  return /[a-z]/i.test(atom) ? 0 : code;
}

/** The number of ranges of each Unicode property used so far; there are a few hundred properties. */
const rangesOfProperty = new Map<string, number>();

function propertySize(property: string, folds: boolean): ClassSize | undefined {
  const source = folds ? `(?i)${property}` : property;
  let ranges = rangesOfProperty.get(source);
  if (ranges === undefined) {
    try {
      const { prog } = RE2JS.compile(source).re2();
      const insts: readonly { readonly runes: Int32Array }[] = prog.inst;
      ranges = insts.reduce((sum, { runes }) => sum + runes.length / 2, 1);
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error;
      return undefined;
    }
    rangesOfProperty.set(source, ranges);
  }
  return { steps: folds ? ranges * SORT_STEPS : ranges, ranges };
}
