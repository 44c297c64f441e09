/** Shorter ones occur in almost any text. */
const MIN_LITERAL_CHARS = 2;
/** The beginning of a longer one tells enough. */
const MAX_LITERAL_CHARS = 16;
/** Literals of which a text that matches holds at least one; undefined where nothing is known. */
type Literals = readonly string[] | undefined;

const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/y;
const GROUP = /\((?:\?(?:P?<\w+>|[imsU-]*:))?(?!\?)/y;
const FLAGS = /\(\?[imsU-]+\)/y;
const CLASS = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/uy;
const ESCAPED = /\\([!-/:-@[-`{-~])/y;
const ZERO_OR_ONE_CHAR = /[.^$]|\\[bBAzdDsSwW]/y;
const PLAIN = /[^\\[\](){}.^$|*+?]|[\]}]|\{(?!\d)/uy;

/**
 * Finds, in an expression of RE2's syntax, literals of which every text that it matches holds at least one, both in the
 * form that `folded` gives. Undefined where it knows none, which is always sound: what is not understood is not used.
 */
export function requiredLiterals(expression: string): readonly string[] | undefined {
  const reader = new Reader(expression);
  const literals = reader.alternatives();
  if (!reader.isAtEnd || literals === undefined) return undefined;
  return [...new Set(literals.map((literal) => literal.slice(0, MAX_LITERAL_CHARS)))];
}

/**
 * A text without regard to case. RE2 ignores case by simple folding, where "ſ" and the Kelvin sign are an s and a k as
 * well.
 */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.includes("ſ") ? lower.replaceAll("ſ", "s") : lower;
}

/** Whether `folded` takes a character to what it takes every other to that an expression may mean by it. */
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

  alternatives(): Literals {
    const all: string[] = [];
    let isKnown = true;
    do {
      const literals = this.#sequence();
      if (literals) all.push(...literals);
      else isKnown = false;
    } while (this.#take(/\|/y));
    return isKnown ? all : undefined;
  }

  /** Any of its parts will do; the best is the one whose shortest literal is longest. */
  #sequence(): Literals {
    let best: Literals;
    const offer = (literals: Literals) => {
      if (literals && shortest(literals) > (best ? shortest(best) : MIN_LITERAL_CHARS - 1)) best = literals;
    };
    let run = "";
    const endRun = () => {
      offer([run]);
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
        const literals = this.alternatives();
        if (!this.#take(/\)/y)) return undefined;
        if (this.#quantifier()?.min !== 0) offer(literals);
      } else if (this.#take(CLASS) || this.#take(ZERO_OR_ONE_CHAR)) this.#quantifier();
      else return best;
    }
  }

  /** A character that stands for itself. */
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

const shortest = (literals: readonly string[]) => Math.min(...literals.map(({ length }) => length));
