import {
  type CastAddBody,
  type CastType,
  type Embed,
  MessageType,
} from "../../protocol/wire/generated/message.ts";
import type { DemoGraph } from "../graph.ts";
import type { Person } from "../people.ts";
import { type Random, seededRandom } from "../random.ts";
import { DAY_SECS, HOUR_SECS, type PlannedMessage, somewhatLater, WEEK_SECS } from "../roster.ts";
import { writeReply, writeRoot } from "./cast-contents.ts";
import type { Topic } from "./english.ts";
import type { Language } from "./other-languages.ts";
import type { Texts } from "./texts.ts";

/** A cast before it is signed, with the facts that later casts and reactions use. */
export interface PlannedCast extends PlannedMessage {
  readonly author: Person;
  readonly parent: PlannedCast | undefined;
  /** Topic of the whole thread. */
  readonly topic: Topic;
  /** 0 for a cast that starts a thread. */
  readonly depth: number;
  /** How strongly it attracts replies and reactions, from 0 to 1. Small for most casts, near 1 for very few. */
  readonly appeal: number;
}

/** Content of a cast. Parts that refer to other casts are resolved once their hashes are known. */
export interface CastContent {
  readonly topic: Topic;
  readonly text: string;
  readonly type: CastType;
  readonly mentions: readonly number[];
  readonly mentionsPositions: readonly number[];
  readonly parentUrl?: string;
  readonly urls: readonly string[];
  readonly quoted?: PlannedCast;
}

export interface DemoCasts {
  /** Oldest first, without removed casts. */
  readonly live: readonly PlannedCast[];
  readonly messages: readonly PlannedMessage[];
}

const REPLY_SHARE = 0.46;
/** Number of recent casts from which an author picks one to reply to. */
const LOOKED_AT = 20;
const MEAN_CASTS_BACK = 45;
const REMOVED_COUNT = 26;
const ANSWER_APPEAL = 0.3;
/** Minimum delay of a reply. */
const LEAST_REPLY_SECS = 20;

/** Returns the casts of the week, and the removals of a few of them. */
export function weekOfCasts(people: readonly Person[], graph: DemoGraph, texts: Texts): DemoCasts {
  const random = seededRandom("casts");
  const moments = people
    .flatMap((author) =>
      Array.from({ length: author.castCount }, () => ({
        author,
        secsBeforeAnchor: momentOfWeek(author.language, random),
      })),
    )
    .sort((a, b) => b.secsBeforeAnchor - a.secsBeforeAnchor);

  const casts: PlannedCast[] = [];
  for (const { author, secsBeforeAnchor } of moments) {
    const parent = random.chance(REPLY_SHARE)
      ? castToReplyTo(author, secsBeforeAnchor, casts, graph, random)
      : undefined;
    const scene = { author, people, graph, texts, random, earlier: casts };
    const content = parent ? writeReply(scene, parent) : writeRoot(scene);
    casts.push(plannedCast(author, secsBeforeAnchor, parent, content, appealOf(parent, random)));
  }
  const removals = removalsOf(casts, random);
  return {
    live: casts.filter((cast) => !removals.has(cast)),
    messages: [...casts, ...removals.values()],
  };
}

/** Picks one of the recent casts, preferably by someone that the author follows, and most likely a reply to the author. */
function castToReplyTo(
  author: Person,
  secsBeforeAnchor: number,
  casts: readonly PlannedCast[],
  graph: DemoGraph,
  random: Random,
): PlannedCast | undefined {
  const following = graph.following.get(author.fid);
  const candidates = Array.from({ length: LOOKED_AT }, () => {
    const back = Math.floor(-Math.log(1 - random.next()) * MEAN_CASTS_BACK);
    return casts[casts.length - 1 - back];
  }).filter((cast) => cast !== undefined && cast.secsBeforeAnchor - secsBeforeAnchor >= LEAST_REPLY_SECS);
  if (candidates.length === 0) return undefined;
  const weights = candidates.map((cast) => {
    if (!cast) return 0;
    let weight = 0.15 + cast.author.prominence + cast.appeal * 60;
    if (following?.has(cast.fid)) weight *= 4;
    if (cast.author.language === author.language) weight *= 5;
    if (cast.author.language === author.language && cast.author.topic === author.topic) weight *= 2;
    if (cast.parent?.fid === author.fid) weight *= 20;
    if (cast.depth > 0) weight *= 2;
    return cast.fid === author.fid ? weight * 0.04 : weight;
  });
  return candidates[random.weighted(weights)];
}

function plannedCast(
  author: Person,
  secsBeforeAnchor: number,
  parent: PlannedCast | undefined,
  content: CastContent,
  appeal: number,
): PlannedCast {
  return {
    author,
    parent,
    topic: content.topic,
    depth: parent ? parent.depth + 1 : 0,
    appeal,
    fid: author.fid,
    type: MessageType.MESSAGE_TYPE_CAST_ADD,
    secsBeforeAnchor,
    body: ({ hashOf }) => {
      const castId = (cast: PlannedCast) => ({ fid: cast.fid, hash: hashOf(cast) });
      const embeds: Embed[] = content.urls.map((url) => ({ embed: { $case: "url", value: url } }));
      if (content.quoted) embeds.push({ embed: { $case: "castId", value: castId(content.quoted) } });
      const value: CastAddBody = {
        embedsDeprecated: [],
        mentions: [...content.mentions],
        parent: parentOf(content, parent && castId(parent)),
        text: content.text,
        mentionsPositions: [...content.mentionsPositions],
        embeds,
        type: content.type,
      };
      return { $case: "castAddBody", value };
    },
  };
}

function appealOf(parent: PlannedCast | undefined, random: Random): number {
  const appeal = random.next() ** 14;
  return parent ? appeal * ANSWER_APPEAL : appeal;
}

function parentOf(content: CastContent, castId: { fid: number; hash: Uint8Array } | undefined) {
  if (castId) return { $case: "parentCastId", value: castId } as const;
  if (content.parentUrl) return { $case: "parentUrl", value: content.parentUrl } as const;
  return undefined;
}

/** Returns removals of a few casts. The removal of a cast with replies or quotes follows all of them and leaves a gap in the thread. */
function removalsOf(casts: readonly PlannedCast[], random: Random): Map<PlannedCast, PlannedMessage> {
  const lastReply = new Map<PlannedCast, number>();
  for (const cast of casts) {
    if (cast.parent) lastReply.set(cast.parent, cast.secsBeforeAnchor);
  }
  const removals = new Map<PlannedCast, PlannedMessage>();
  for (const cast of random.shuffled(casts)) {
    if (removals.size === REMOVED_COUNT) break;
    const removedAt = somewhatLater(lastReply.get(cast) ?? cast.secsBeforeAnchor, HOUR_SECS, random);
    if (removedAt === undefined) continue;
    removals.set(cast, {
      fid: cast.fid,
      type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
      secsBeforeAnchor: removedAt,
      body: ({ hashOf }) => ({ $case: "castRemoveBody", value: { targetHash: hashOf(cast) } }),
    });
  }
  return removals;
}

/** When the speakers of each language are most active, in hours before the anchor. */
const BUSIEST_HOURS_AGO: Record<Language, number> = { en: 3, es: 7, pt: 7, ja: 13, ko: 13, zh: 14 };
const QUIETEST_SHARE = 0.08;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

/**
 * Returns a time within the week, in seconds before the anchor, most likely while speakers of a language are awake. Days are counted from
 * the anchor instead of midnight, so that every anchor produces the same week.
 */
function momentOfWeek(language: Language, random: Random): number {
  const busiest = BUSIEST_HOURS_AGO[language];
  const hour = random.weighted(
    HOURS.map((hoursAgo) => {
      const wave = (1 + Math.cos(((hoursAgo - busiest) / 24) * 2 * Math.PI)) / 2;
      return QUIETEST_SHARE + wave ** 1.5;
    }),
  );
  const moment = random.below(7) * DAY_SECS + hour * HOUR_SECS + random.below(HOUR_SECS);
  return Math.min(moment, WEEK_SECS);
}
