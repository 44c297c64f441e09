import { ENGLISH_TOPICS, type Topic } from "../src/demo/contents/english.ts";
import { createTexts } from "../src/demo/contents/texts.ts";
import { type Random, seededRandom } from "../src/demo/random.ts";
import type { CastFacts } from "../src/webhooks/match/facts.ts";
import { createMatcher, type Matcher } from "../src/webhooks/match/matcher.ts";
import type { CastFilter } from "../src/webhooks/subscription.ts";
import { plainMatcher } from "../test/support/plain-matcher.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const EVENTS = 4_000;
const RUNS = 5;
const FIDS = 50_000;
const CHANNELS = 500;

/**
 * Measures matching casts against 1,000 and 10,000 subscriptions, half of them with a regular expression. The baseline is a
 * plain loop over every subscription with precompiled expressions. Also measures the first casts after a start, before any
 * expression has been compiled.
 */
export async function benchMatch(): Promise<Figure[]> {
  const random = seededRandom("match");
  const events = Array.from({ length: EVENTS }, () => castFacts(random));
  return [1_000, 10_000].flatMap((count) => {
    const filters = Array.from({ length: count }, (_, at) => castFilter(at, random));
    const matcher = createMatcher();
    const plain = plainMatcher((regex, subject) => regex.test(subject));
    filters.forEach((filter, at) => {
      matcher.set(`${at}`, { "cast.created": filter });
      plain.set(`${at}`, { "cast.created": filter });
    });
    const coldUs = usPerEvent(matcher, events.slice(0, 500));
    const few = events.slice(0, count > 1_000 ? 100 : 500);
    usPerEvent(plain, few);
    usPerEvent(matcher, events);
    const plainUs: number[] = [];
    const ownUs: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      plainUs.push(usPerEvent(plain, few));
      ownUs.push(usPerEvent(matcher, events));
    }
    const subscriptions = `${count.toLocaleString("en")} subscriptions, half with a regex`;
    const bare = `${subscriptions}: plain loop`;
    const value = median(ownUs);
    return [
      { what: bare, value: median(plainUs), unit: "us/cast" },
      {
        what: `${subscriptions}: matcher`,
        value,
        unit: "us/cast",
        ratio: { of: bare, value: value / median(plainUs) },
      },
      { what: "  the first 500 casts", value: coldUs, unit: "us/cast" },
      { what: "  sustained", value: 1e6 / value, unit: "casts/s" },
    ];
  });
}

/**
 * Returns a function that matches some thousand casts against subscriptions, half of them with an expression, and returns
 * the number of casts.
 */
export function matchingOf(subscriptions: number): () => number {
  const random = seededRandom("match");
  const events = Array.from({ length: EVENTS }, () => castFacts(random));
  const matcher = createMatcher();
  for (let at = 0; at < subscriptions; at++) matcher.set(`${at}`, { "cast.created": castFilter(at, random) });
  return () => {
    usPerEvent(matcher, events);
    return events.length;
  };
}

function usPerEvent(matcher: Matcher, events: readonly CastFacts[]): number {
  const startedAt = performance.now();
  let matches = 0;
  for (const facts of events) matches += matcher.match(facts).length;
  if (matches === 0) throw new Error("nothing matched");
  return ((performance.now() - startedAt) / events.length) * 1_000;
}

const texts = createTexts();
const topics = Object.keys(ENGLISH_TOPICS) as Topic[];

function castFacts(random: Random): CastFacts {
  const voice = { language: "en", topic: random.pick(topics) } as const;
  const fid = () => someFid(random);
  const isReply = random.next() < 0.5;
  const channel = !isReply && random.next() < 0.5 ? channelUrl(random) : null;
  return {
    kind: "cast.created",
    authorFid: fid(),
    mentionedFids: random.next() < 0.2 ? [fid()] : [],
    parentUrl: channel,
    rootParentUrl: isReply && random.next() < 0.5 ? channelUrl(random) : channel,
    parentHash: isReply ? `0x${"c".repeat(40)}` : null,
    parentAuthorFid: isReply ? fid() : null,
    text: random.next() < 0.03 ? texts.longCast(voice.topic, random) : texts.post(voice, random),
    embedUrls: random.next() < 0.3 ? [`https://imagedelivery.example/${fid()}/original.jpg`] : [],
    embeddedCasts: [],
  };
}

const channelUrl = (random: Random) =>
  `https://farcaster.xyz/~/channel/c${Math.floor(CHANNELS * random.next() ** 2)}`;
const someFid = (random: Random) => 1 + Math.floor(FIDS * random.next() ** 2);

/** Returns a filter such as bots, communities, brands and moderators use. */
function castFilter(at: number, random: Random): CastFilter {
  const fids = (count: number) => Array.from({ length: count }, () => someFid(random));
  const word = () => random.pick(wordsOf(random));
  const filters: readonly (() => CastFilter)[] = [
    () => ({ author_fids: fids(20) }),
    () => ({ text: `(?i)\\b${word()}${at % 50 === 1 ? "" : at}\\b` }),
    () => ({ mentioned_fids: fids(1), parent_author_fids: fids(1), match: "any" }),
    () => ({ text: `(?i)(${word()}${at}|#${word()}|@${word()}${at})`, exclude_author_fids: fids(3) }),
    () => ({ root_parent_urls: [channelUrl(random)] }),
    () => ({ text: `\\$[A-Z]{2,6}${at}\\b`, parent_urls: [channelUrl(random)] }),
    () => ({ parent_urls: [channelUrl(random)], author_fids: fids(5) }),
    () => ({ embeds: `https?://[\\w.-]*brand${at}\\.example/` }),
    () => ({ author_fids: fids(100), exclude_author_fids: fids(2) }),
    () => ({ text: `(?i)\\b${word()}\\b.*\\b${word()}${at % 7 === 0 ? "" : at}\\b` }),
  ];
  return filters[at % filters.length]?.() ?? {};
}

const wordsOf = (random: Random): string[] =>
  texts.post({ language: "en", topic: random.pick(topics) }, random).match(/[a-z]{3,}/g) ?? ["gm"];
