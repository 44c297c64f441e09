import { foldCase, type Literals, requiredLiterals } from "./required-literals.ts";

/** Limit of literals under one n-gram: each is compared at every occurrence of the n-gram, and no owner is charged. */
const MAX_LITERALS_PER_GRAM = 64;
/** Length limit of the n-grams that index literals. */
const MAX_GRAM_CHARS = 4;
/** If this many members share a literal, further members use another of their literals if they have one. */
const MANY_MEMBERS = 8;
/** Limit of additional literals that a member checks: each is searched for in the text, and no owner is charged. */
const MAX_FURTHER_LITERALS = 3;

interface LiteralEntry<Member> {
  readonly literal: string;
  /** Offset of its indexed n-gram within the literal. */
  readonly offset: number;
  /** With the additional literals that a matching text contains. */
  readonly members: Map<Member, readonly string[]>;
}

/**
 * Prefilter of regular expressions by literals that a matching text must contain. It scans a text once for any number of literals. A
 * member is listed under the literals of one part of its expression. If many expressions share a part, as with an app that builds them
 * from a template, a different part is used, and the text is searched for literals of further parts.
 *
 * Without it, RE2 sets (the shards of `ExpressionPool`) took 6 times as long per cast with 500 expressions and 170 to 230 times as long
 * with 5,000, far over the match budget (`bun run bench match`, both in one run).
 */
export class LiteralPrefilter<Member extends { readonly source: string }> {
  readonly #places = new Map<string, LiteralEntry<Member>>();
  /** By the hash of an n-gram; the comparison with the literal resolves collisions. */
  readonly #byGram = new Map<number, Set<LiteralEntry<Member>>>();
  readonly #gramLengths = new Map<number, number>();
  /** The literals under which a member is listed. */
  readonly #listed = new Map<Member, Literals>();

  /** Adds a member. Returns false, without adding it, if no required literal is known or too many literals share its n-gram. */
  add(member: Member): boolean {
    const parts = requiredLiterals(member.source);
    const listed = this.#leastShared(parts);
    if (listed === undefined) return false;
    const further = parts.flatMap((part) => (part !== listed && part.length === 1 ? part : []));
    const checked = [...new Set(further)].slice(0, MAX_FURTHER_LITERALS);
    for (const literal of listed)
      (this.#places.get(literal) ?? this.#list(literal)).members.set(member, checked);
    this.#listed.set(member, listed);
    return true;
  }

  remove(member: Member): void {
    for (const literal of this.#listed.get(member) ?? []) {
      const place = this.#places.get(literal);
      place?.members.delete(member);
      if (place?.members.size === 0) this.#unlist(place);
    }
    this.#listed.delete(member);
  }

  /** Returns the members that may match one of the texts. */
  candidates(texts: readonly string[]): ReadonlySet<Member> {
    const candidates = new Set<Member>();
    for (const text of texts) {
      const subject = foldCase(text);
      const found = new Set<LiteralEntry<Member>>();
      for (const length of this.#gramLengths.keys()) {
        for (let at = 0; at + length <= subject.length; at += 1) {
          const places = this.#byGram.get(gramHash(subject, at, length));
          if (places) addFound(places, subject, at, found);
        }
      }
      for (const { members } of found)
        for (const [member, further] of members)
          if (further.every((literal) => subject.includes(literal))) candidates.add(member);
    }
    return candidates;
  }

  /** Returns the part with the longest literals that few members share, or else the part that the fewest share. */
  #leastShared(parts: readonly Literals[]): Literals | undefined {
    let best: Literals | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const part of parts) {
      if (part.some((literal) => this.#isCrowded(literal))) continue;
      const most = part.reduce(
        (most, literal) => Math.max(most, this.#places.get(literal)?.members.size ?? 0),
        0,
      );
      if (most < MANY_MEMBERS) return part;
      if (most >= fewest) continue;
      best = part;
      fewest = most;
    }
    return best;
  }

  #isCrowded(literal: string): boolean {
    if (this.#places.has(literal)) return false;
    const length = gramLength(literal);
    return this.#listedAt(literal, this.#rarestOffset(literal, length), length) >= MAX_LITERALS_PER_GRAM;
  }

  /** Returns the offset of the n-gram, within the literal, under which the fewest literals are listed. */
  #rarestOffset(literal: string, length: number): number {
    let offset = 0;
    for (let at = 1; at + length <= literal.length; at += 1) {
      if (this.#listedAt(literal, at, length) < this.#listedAt(literal, offset, length)) offset = at;
    }
    return offset;
  }

  #listedAt(literal: string, at: number, length: number): number {
    return this.#byGram.get(gramHash(literal, at, length))?.size ?? 0;
  }

  /** Indexes a literal by its rarest n-gram, because many literals start alike. */
  #list(literal: string): LiteralEntry<Member> {
    const length = gramLength(literal);
    const offset = this.#rarestOffset(literal, length);
    const place = { literal, offset, members: new Map<Member, readonly string[]>() };
    this.#places.set(literal, place);
    const hash = gramHash(literal, offset, length);
    this.#byGram.set(hash, (this.#byGram.get(hash) ?? new Set()).add(place));
    this.#gramLengths.set(length, (this.#gramLengths.get(length) ?? 0) + 1);
    return place;
  }

  #unlist(place: LiteralEntry<Member>): void {
    const length = gramLength(place.literal);
    const hash = gramHash(place.literal, place.offset, length);
    const places = this.#byGram.get(hash);
    places?.delete(place);
    if (places?.size === 0) this.#byGram.delete(hash);
    const left = (this.#gramLengths.get(length) ?? 1) - 1;
    if (left > 0) this.#gramLengths.set(length, left);
    else this.#gramLengths.delete(length);
    this.#places.delete(place.literal);
  }
}

function addFound<Member>(
  places: ReadonlySet<LiteralEntry<Member>>,
  subject: string,
  at: number,
  found: Set<LiteralEntry<Member>>,
): void {
  for (const place of places) if (subject.startsWith(place.literal, at - place.offset)) found.add(place);
}

const gramLength = (literal: string) => Math.min(literal.length, MAX_GRAM_CHARS);

function gramHash(text: string, at: number, length: number): number {
  let hash = length;
  for (let i = at; i < at + length; i += 1) hash = (Math.imul(hash, 0x2f0b4a27) + text.charCodeAt(i)) | 0;
  return hash;
}
