import type { Topic } from "./english-topics.ts";
import type { Language } from "./other-languages.ts";
import type { Random } from "./random.ts";

/** A collection whose holders post under its own URI, as in the oldest channels. */
export const COLLECTION_PARENT_URL = "chain://eip155:1/erc721:0x00000000000000000000000000000000000de300";
/** A web page that users comment on: a parent URL that is no channel of either host. */
export const ARTICLE_PARENT_URL = "https://demo.example/articles/slow-bread";

const TOPIC_CHANNELS: Record<Topic, string> = {
  coffee: "coffee",
  garden: "garden",
  books: "books",
  music: "music",
  cycling: "cycling",
  photography: "photography",
  kitchen: "kitchen",
  gamedev: "gamedev",
  cats: "cats",
  nightsky: "night-sky",
  type: "type",
  opensource: "open-source",
};

const LANGUAGE_CHANNELS: Record<Exclude<Language, "en">, string> = {
  ja: "nihongo",
  ko: "hangul",
  zh: "zhongwen",
  es: "hispano",
  pt: "lusofonia",
};

/** The share of channel casts from clients that write the older of the two hosts. */
const OLD_HOST_SHARE = 0.6;

/** Returns the parent URL of the channel of a topic or a language. Both hosts of channel URLs occur. */
export function channelUrl(language: Language, topic: Topic, random: Random): string {
  const name = language === "en" ? TOPIC_CHANNELS[topic] : LANGUAGE_CHANNELS[language];
  const host = random.chance(OLD_HOST_SHARE) ? "warpcast.com" : "farcaster.xyz";
  return `https://${host}/~/channel/${name}`;
}
