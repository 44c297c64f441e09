import type { Random } from "./random.ts";

/** Alternatives by name. An alternative may contain `{name}`, which is replaced by any alternative of that name. */
export type Grammar = ReadonlyMap<string, readonly string[]>;

/** The placeholder of a mention while a text is composed. No alternative contains it otherwise. */
export const MENTION_MARK = "\uE000";

/**
 * Reads a grammar from lines `name: one | another | …`. A repeated name adds alternatives, and `{@}` becomes a mention.
 * Later sources add to earlier ones.
 */
export function readGrammar(...sources: readonly string[]): Grammar {
  const grammar = new Map<string, string[]>();
  for (const line of sources.flatMap((source) => source.split("\n"))) {
    const colon = line.indexOf(":");
    if (colon < 0) continue;
    const name = line.slice(0, colon).trim();
    const alternatives = line
      .slice(colon + 1)
      .split(" | ")
      .map((alternative) => alternative.trim().replaceAll("{@}", MENTION_MARK));
    grammar.set(name, [...(grammar.get(name) ?? []), ...alternatives]);
  }
  return grammar;
}

/**
 * Returns one text for a name, with every `{name}` in it filled at random. A name that occurs twice in a text is filled
 * with different alternatives while there are any; `{name'}` repeats the last one. The first letter of a sentence is
 * capitalised. Throws when the grammar lacks a name.
 */
export function expand(grammar: Grammar, name: string, random: Random): string {
  return fill(grammar, name, random, new Map());
}

function fill(grammar: Grammar, name: string, random: Random, used: Map<string, string[]>): string {
  const all = grammar.get(name);
  if (!all) throw new Error(`the grammar has no "${name}"`);
  const before = used.get(name) ?? [];
  const fresh = all.filter((alternative) => !before.includes(alternative));
  const chosen = random.pick(fresh.length > 0 ? fresh : all);
  used.set(name, [...before, chosen]);
  return chosen.replace(/\{(\w+)('?)\}/g, (_, inner: string, again: string, at: number) => {
    const filled = (again && used.get(inner)?.at(-1)) || fill(grammar, inner, random, used);
    return /(^|[.!?…] )$/.test(chosen.slice(0, at)) ? capitalised(filled) : filled;
  });
}

/** Returns the text with its first character in upper case, if it is a letter. */
export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
