/** Shorter ones occur in almost any text. */
const MIN_LITERAL_CHARS = 2;
/** Longer literals are truncated: the prefix is selective enough. */
const MAX_LITERAL_CHARS = 16;
/** Literals of which a matching text contains at least one; undefined when none are known. */
type Literals = readonly string[] | undefined;

const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/y;
const GROUP = /\((?:\?(?:P?<\w+>|[imsU-]*:))?(?!\?)/y;
const FLAGS = /\(\?[imsU-]+\)/y;
const CLASS = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/uy;
const ESCAPED = /\\([!-/:-@[-`{-~])/y;
const ZERO_OR_ONE_CHAR = /[.^$]|\\[bBAzdDsSwW]/y;
const PLAIN = /[^\\[\](){}.^$|*+?]|[\]}]|\{(?!\d)/uy;

/**
 * Finds literals of an expression in RE2's syntax of which every matching text contains at least one, both case-folded by
 * `foldCase`. Returns undefined when it finds none, which is always sound: syntax that it does not parse is not used.
 */
export function requiredLiterals(expression: string): readonly string[] | undefined {
  const reader = new Reader(expression);
  const literals = reader.alternatives();
  if (!reader.isAtEnd || literals === undefined) return undefined;
  return [...new Set(literals.map((literal) => literal.slice(0, MAX_LITERAL_CHARS)))];
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

  /** Parses a sequence. Literals of any part suffice; the best part has the longest shortest literal. */
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

const shortest = (literals: readonly string[]) => Math.min(...literals.map(({ length }) => length));
