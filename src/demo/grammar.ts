import type { Random } from "./random.ts";

/** Alternatives by name. An alternative may hold `{name}`, which stands for any alternative of that name. */
export type Grammar = ReadonlyMap<string, readonly string[]>;

/** Stands where a mention goes while a text is put together; no alternative holds it otherwise. */
export const MENTION_MARK = "\uE000";

/**
 * Reads a grammar from lines `name: one | another | …`. A name that comes again gets more alternatives, and `{@}`
 * becomes a mention. Later sources add to earlier ones.
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

/** One text for a name, every `{name}` in it filled at random. Throws when the grammar lacks a name. */
export function expand(grammar: Grammar, name: string, random: Random): string {
  const alternatives = grammar.get(name);
  if (!alternatives) throw new Error(`the grammar has no "${name}"`);
  return random
    .pick(alternatives)
    .replace(/\{(\w+)\}/g, (_, inner: string) => expand(grammar, inner, random));
}
