/** Shorter literals occur in almost any text. */
const MIN_LITERAL_CHARS = 2;
/** Longer literals are truncated: the prefix is selective enough. */
const MAX_LITERAL_CHARS = 16;
/** Literals of one part of an expression; every matching text contains at least one of them. */
export type Literals = readonly string[];

const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/y;
const GROUP = /\((?:\?(?:P?<\w+>|[imsU-]*:))?(?!\?)/y;
const FLAGS = /\(\?[imsU-]+\)/y;
const CLASS = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/uy;
const ESCAPED = /\\([!-/:-@[-`{-~])/y;
const ZERO_OR_ONE_CHAR = /[.^$]|\\[bBAzdDsSwW]/y;
const PLAIN = /[^\\[\](){}.^$|*+?]|[\]}]|\{(?!\d)/uy;

/**
 * Finds the parts of an expression in RE2's syntax that require literals, all case-folded by `foldCase`: every matching text contains a
 * literal of each part. The parts are ordered by the length of their shortest literal, longest first. An empty result is always sound, so
 * syntax that it cannot parse is ignored.
 */
export function requiredLiterals(expression: string): readonly Literals[] {
  const reader = new Reader(expression);
  const parts = reader.alternatives();
  if (!reader.isAtEnd) return [];
  return parts
    .map((literals) => [...new Set(literals.map((literal) => literal.slice(0, MAX_LITERAL_CHARS)))])
    .sort((a, b) => shortest(b) - shortest(a));
}

/**
 * Folds the case of a text. RE2 ignores case by simple folding, in which "ſ" and the Kelvin sign equal s and k.
 */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.includes("ſ") ? lower.replaceAll("ſ", "s") : lower;
}

/** Returns whether `foldCase` maps a character and all its case variants in RE2 to the same text. */
function isFoldable(char: string): boolean {
  return char <= "\x7f" || (char.toLowerCase() === char && char.toUpperCase() === char);
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** Parses alternatives. All parts of a single alternative are required; of several alternatives, one part each. */
  alternatives(): readonly Literals[] {
    const sequences: (readonly Literals[])[] = [];
    do sequences.push(this.#sequence());
    while (this.#take(/\|/y));
    const [only] = sequences;
    if (only && sequences.length === 1) return only;
    const either: string[] = [];
    for (const parts of sequences) {
      const best = longest(parts);
      if (best === undefined) return [];
      either.push(...best);
    }
    return [either];
  }

  #sequence(): readonly Literals[] {
    const parts: Literals[] = [];
    let run = "";
    const endRun = () => {
      if (run.length >= MIN_LITERAL_CHARS) parts.push([run]);
      run = "";
    };
    for (;;) {
      const char = this.#char();
      if (char !== undefined) {
        const repeats = this.#quantifier();
        if (isFoldable(char) && repeats?.min !== 0) run += foldCase(char);
        if (repeats || !isFoldable(char)) endRun();
        continue;
      }
      endRun();
      if (this.#take(FLAGS)) continue;
      if (this.#take(GROUP)) {
        const inner = this.alternatives();
        if (!this.#take(/\)/y)) return [];
        if (this.#quantifier()?.min !== 0) parts.push(...inner);
      } else if (this.#take(CLASS) || this.#take(ZERO_OR_ONE_CHAR)) this.#quantifier();
      else return parts;
    }
  }

  /** Parses a literal character. */
  #char(): string | undefined {
    return this.#take(ESCAPED)?.[1] ?? this.#take(PLAIN)?.[0];
  }

  #quantifier(): { readonly min: number } | undefined {
    const found = this.#take(QUANTIFIER);
    if (!found) return undefined;
    return { min: found[0].startsWith("+") ? 1 : Number(found[1] ?? 0) };
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }
}

const shortest = (literals: Literals) =>
  literals.reduce((least, { length }) => Math.min(least, length), Number.POSITIVE_INFINITY);

function longest(parts: readonly Literals[]): Literals | undefined {
  let best: Literals | undefined;
  for (const part of parts) if (!best || shortest(part) > shortest(best)) best = part;
  return best;
}
