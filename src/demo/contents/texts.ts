import type { Random } from "../random.ts";
import { ENGLISH_ARTICLE, ENGLISH_COMMON, ENGLISH_TOPICS, type Topic } from "./english.ts";
import { type Language, OTHER_LANGUAGES } from "./other-languages.ts";

/** Properties that determine how a user writes. Only English speakers have a topic. */
export interface Voice {
  readonly language: Language;
  readonly topic: Topic;
}

/** Writes drafts: texts in which each MENTION_MARK is the placeholder of a mentioned user. */
export interface Texts {
  bio(voice: Voice, random: Random): string;
  /** Returns a cast about the voice's topic, at most 320 bytes long. */
  post(voice: Voice, random: Random): string;
  /** Returns a cast about no particular topic, at most 320 bytes long. */
  smallTalk(voice: Voice, random: Random): string;
  reply(voice: Voice, random: Random): string;
  /** Returns an author's reply in their own thread. */
  followUp(voice: Voice, random: Random): string;
  quoteComment(voice: Voice, random: Random): string;
  /** Returns 321 to 1,024 bytes of English text without mentions. */
  longCast(topic: Topic, random: Random): string;
  /** Returns an English article of more than 1,024 and less than 10,000 bytes without mentions. */
  article(topic: Topic, random: Random): string;
}

/** A draft with its mentions removed, as a CastAdd stores it: positions are byte offsets into `text`. */
export interface MentionedText {
  readonly text: string;
  readonly mentions: number[];
  readonly mentionsPositions: number[];
}

const MAX_CAST_BYTES = 320;
const LONG_CAST_BYTES = { atLeast: 360, atMost: 1000 };
const ARTICLE_BYTES = { atLeast: 3600, atMost: 9000 };

export function createTexts(): Texts {
  const english = new Map(
    Object.entries(ENGLISH_TOPICS).map(([topic, source]) => [topic, readGrammar(ENGLISH_COMMON, source)]),
  );
  const others = new Map(
    Object.entries(OTHER_LANGUAGES).map(([language, source]) => [language, readGrammar(source)]),
  );
  const article = readGrammar(ENGLISH_COMMON, ENGLISH_ARTICLE);
  const grammarOf = ({ language, topic }: Voice): Grammar => {
    const grammar = language === "en" ? english.get(topic) : others.get(language);
    if (!grammar) throw new Error(`no texts for ${language} and ${topic}`);
    return grammar;
  };
  const short = (grammar: Grammar, name: string, random: Random): string => {
    for (;;) {
      const draft = expand(grammar, name, random);
      if (byteLength(draft) <= MAX_CAST_BYTES) return draft;
    }
  };
  const sentences = (topic: Topic, random: Random): string => {
    const grammar = grammarOf({ language: "en", topic });
    for (;;) {
      const draft = `${sentence(expand(grammar, "post", random))} ${expand(grammar, "aside", random)}`;
      if (!draft.includes(MENTION_MARK)) return draft;
    }
  };
  const paragraphs = (start: string[], topic: Topic, random: Random, bytes: typeof ARTICLE_BYTES): string => {
    let draft = start.join("\n\n");
    while (byteLength(draft) < bytes.atLeast) {
      const longer = [draft, sentences(topic, random)].filter((part) => part !== "").join("\n\n");
      if (byteLength(longer) > bytes.atMost) break;
      draft = longer;
    }
    return draft;
  };

  return {
    bio: ({ language, topic }, random) =>
      language === "en"
        ? `${capitalised(expand(grammarOf({ language, topic }), "bio", random))}. ${capitalised(expand(article, "place_bio", random))}.`
        : expand(grammarOf({ language, topic }), "bio", random),
    post: (voice, random) => short(grammarOf(voice), "post", random),
    smallTalk: (voice, random) =>
      short(grammarOf(voice), voice.language === "en" ? "smalltalk" : "post", random),
    reply: (voice, random) => short(grammarOf(voice), "reply", random),
    followUp: (voice, random) => short(grammarOf(voice), "followup", random),
    quoteComment: (voice, random) => short(grammarOf(voice), "quote", random),
    longCast: (topic, random) => paragraphs([], topic, random, LONG_CAST_BYTES),
    article: (topic, random) => {
      const body = paragraphs([expand(article, "opening", random)], topic, random, ARTICLE_BYTES);
      return `${body}\n\n${expand(article, "closing", random)}`;
    },
  };
}

export function mentionCount(draft: string): number {
  return draft.split(MENTION_MARK).length - 1;
}

/** Replaces the marks of a draft with users, in order; `fids` has one entry per mark. */
export function withMentions(draft: string, fids: readonly number[]): MentionedText {
  const parts = draft.split(MENTION_MARK);
  const mentionsPositions: number[] = [];
  let text = "";
  for (const [index, part] of parts.entries()) {
    if (index > 0) mentionsPositions.push(byteLength(text));
    text += part;
  }
  return { text, mentions: fids.slice(0, parts.length - 1), mentionsPositions };
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

function sentence(text: string): string {
  return /[.!?…]$/u.test(text) ? text : `${text}.`;
}

/** Alternatives by name. `{name}` in an alternative is replaced by any alternative of that name. */
type Grammar = ReadonlyMap<string, readonly string[]>;

/** Placeholder of a mention while a text is composed. Alternatives must not contain it otherwise. */
export const MENTION_MARK = "\uE000";

/**
 * Parses a grammar from lines `name: one | another | …`. A repeated name adds alternatives, and `{@}` becomes a mention. Later sources
 * add to earlier ones.
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
 * Returns a text for a name, with every `{name}` in it filled at random. A name that occurs several times in a text is filled with
 * different alternatives as long as there are any; `{name'}` repeats the last one. The first letter of each sentence is capitalized.
 *
 * @throws if the grammar lacks a name.
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

/** Returns the text with its first character in uppercase if it is a letter. */
function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
