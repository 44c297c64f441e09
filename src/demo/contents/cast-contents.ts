import { CastType } from "../../protocol/wire/generated/message.ts";
import type { DemoGraph } from "../graph.ts";
import type { Person } from "../people.ts";
import type { Random } from "../random.ts";
import { isPro } from "../roster.ts";
import type { CastContent, PlannedCast } from "./casts.ts";
import { ENGLISH_TOPICS, type Topic } from "./english.ts";
import type { Language } from "./other-languages.ts";
import { mentionCount, type Texts, type Voice, withMentions } from "./texts.ts";

/** A collection whose holders post under its own URI, as in the oldest channels. */
const COLLECTION_PARENT_URL = "chain://eip155:1/erc721:0x00000000000000000000000000000000000de300";
/** A web page that users comment on: a parent URL that is not a channel on either host. */
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

/** Share of channel casts by clients that write the older of the two hosts. */
const OLD_HOST_SHARE = 0.6;

/** Returns the parent URL of the channel for a topic or language, on either host. */
function channelUrl(language: Language, topic: Topic, random: Random): string {
  const name = language === "en" ? TOPIC_CHANNELS[topic] : LANGUAGE_CHANNELS[language];
  const host = random.chance(OLD_HOST_SHARE) ? "warpcast.com" : "farcaster.xyz";
  return `https://${host}/~/channel/${name}`;
}

/** The context in which an author writes a cast. */
export interface Scene {
  readonly author: Person;
  readonly people: readonly Person[];
  readonly graph: DemoGraph;
  readonly texts: Texts;
  readonly random: Random;
  /** All casts so far, oldest first. */
  readonly earlier: readonly PlannedCast[];
}

const CHANNEL_SHARE = 0.45;
const OTHER_TOPIC_SHARE = 0.2;
const QUOTE_SHARE = 0.06;
const LONG_SHARE = 0.03;
const ARTICLE_SHARE = 0.07;
const COLLECTION_SHARE = 0.012;
const COMMENT_SHARE = 0.01;
const PICTURE_SHARE = 0.14;
const GALLERY_SHARE = 0.02;
const LINK_SHARE = 0.08;
const WORDLESS_SHARE = 0.06;
const REPLY_PICTURE_SHARE = 0.03;
const QUOTED_AMONG_LATEST = 150;
const TOPICS = Object.keys(ENGLISH_TOPICS) as Topic[];

/** Writes a cast that starts a thread: on the author's feed or in a channel, sometimes with pictures, a link or a quoted cast. */
export function writeRoot(scene: Scene): CastContent {
  const { author, texts, random, earlier } = scene;
  const topic = random.chance(OTHER_TOPIC_SHARE) ? random.pick(TOPICS) : author.topic;
  const voice: Voice = { language: author.language, topic };

  const quoted = random.chance(QUOTE_SHARE) ? random.pick(earlier.slice(-QUOTED_AMONG_LATEST)) : undefined;
  if (quoted && quoted.fid !== author.fid) {
    return { ...plain(scene, topic, texts.quoteComment(voice, random)), quoted };
  }
  if (voice.language === "en" && isPro(author.fid) && random.chance(ARTICLE_SHARE)) {
    const text = texts.article(topic, random);
    return { ...plain(scene, topic, text), type: CastType.CAST_TYPE_TEN_K_CAST };
  }
  if (voice.language === "en" && random.chance(LONG_SHARE)) {
    const parentUrl = random.chance(CHANNEL_SHARE) ? channelUrl(voice.language, topic, random) : undefined;
    const text = texts.longCast(topic, random);
    return { ...plain(scene, topic, text), type: CastType.CAST_TYPE_LONG_CAST, parentUrl };
  }
  if (random.chance(COLLECTION_SHARE)) {
    return { ...plain(scene, topic, texts.smallTalk(voice, random)), parentUrl: COLLECTION_PARENT_URL };
  }
  if (random.chance(COMMENT_SHARE)) {
    return { ...plain(scene, topic, texts.reply(voice, random)), parentUrl: ARTICLE_PARENT_URL };
  }
  const parentUrl = random.chance(CHANNEL_SHARE) ? channelUrl(voice.language, topic, random) : undefined;
  const isTopical = parentUrl !== undefined || random.chance(0.6);
  const draft = isTopical ? texts.post(voice, random) : texts.smallTalk(voice, random);
  const urls = attachments(topic, random);
  const isWordless = urls.some((url) => url.endsWith(".jpg")) && random.chance(WORDLESS_SHARE);
  return { ...plain(scene, topic, isWordless ? "" : draft), parentUrl, urls };
}

/**
 * Writes a reply to a cast: to other authors in their language if the author speaks it, and to the author's own casts as thanks or an
 * afterthought.
 */
export function writeReply(scene: Scene, parent: PlannedCast): CastContent {
  const { author, texts, random } = scene;
  const isForeign = parent.author.language !== author.language && parent.author.language === "en";
  const { topic } = parent;
  const voice: Voice = { language: isForeign ? "en" : author.language, topic };
  const isOwnThread = parent.parent?.fid === author.fid || parent.fid === author.fid;
  const draft = isOwnThread ? texts.followUp(voice, random) : texts.reply(voice, random);
  const urls = random.chance(REPLY_PICTURE_SHARE) ? [picture(random)] : [];
  return { ...plain(scene, topic, draft), urls };
}

/** Returns a cast with only the text and mentions of the draft. */
function plain(scene: Scene, topic: Topic, draft: string): CastContent {
  const { text, mentions, mentionsPositions } = withMentions(draft, peopleToName(scene, mentionCount(draft)));
  return { topic, text, type: CastType.CAST_TYPE_CAST, mentions, mentionsPositions, urls: [] };
}

/** Picks users that the author follows if there are any, otherwise any other users. */
function peopleToName({ author, people, graph, random }: Scene, count: number): number[] {
  if (count === 0) return [];
  const known = random.shuffled([...(graph.following.get(author.fid) ?? [])]);
  const strangers = people.map((person) => person.fid).filter((fid) => fid !== author.fid);
  return Array.from({ length: count }, (_, index) => known[index] ?? random.pick(strangers));
}

function attachments(topic: Topic, random: Random): string[] {
  const pictureShare = topic === "photography" ? PICTURE_SHARE * 3 : PICTURE_SHARE;
  if (random.chance(GALLERY_SHARE)) return Array.from({ length: 2 + random.below(3) }, () => picture(random));
  if (random.chance(pictureShare)) return [picture(random)];
  return random.chance(LINK_SHARE) ? [`https://demo.example/read/${topic}/${1 + random.below(60)}`] : [];
}

function picture(random: Random): string {
  return `https://demo.example/pictures/${1 + random.below(900)}.jpg`;
}
