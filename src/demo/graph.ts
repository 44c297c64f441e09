import { toFarcasterSecs } from "../protocol/time.ts";
import { MessageType } from "../protocol/wire/generated/message.ts";
import type { Person } from "./people.ts";
import { type Random, seededRandom } from "./random.ts";
import { DAY_SECS, HOUR_SECS, type PlannedMessage, somewhatLater, WEEK_SECS } from "./roster.ts";

/** The follows at the end of the week, and the messages that led to them. */
export interface DemoGraph {
  readonly following: ReadonlyMap<number, ReadonlySet<number>>;
  readonly followers: ReadonlyMap<number, ReadonlySet<number>>;
  readonly messages: readonly PlannedMessage[];
}

const CIRCLE_SHARE = 0.32;
const FOLLOW_BACK_SHARE = 0.7;
const LEAST_KNOWN_FOLLOWED = 3;
/** Most of the graph is older than the week; its follows are sent again in the first hours. */
const OLD_FOLLOW_SHARE = 0.6;
const OLD_FOLLOW_SECS = 20 * HOUR_SECS;
const DISPLAY_TIME_SHARE = 0.1;
const UNFOLLOW_COUNT = 40;
const RETURN_SHARE = 0.15;
const BLOCK_COUNT = 16;
const MUTE_COUNT = 16;
const REMOVED_SHARE = 0.15;
/** The fid whose client sends its follows again as one compact state, which drops the others. It never unfollows. */
const COMPACTING_FID = 14;
const COMPACTED_AT_SECS_BEFORE_ANCHOR = 2 * DAY_SECS;
const REMAINING_AFTER_COMPACTION_SHARE = 0.75;

interface Follow {
  readonly fid: number;
  readonly target: number;
  readonly secsBeforeAnchor: number;
}

/** Creates follows among users with shared topics and languages and of well-known users, then unfollows, blocks and mutes. */
export function socialGraph(people: readonly Person[]): DemoGraph {
  const random = seededRandom("graph");
  const targetsByFid = chooseFollows(people, random);
  const follows: Follow[] = [...targetsByFid].flatMap(([fid, targets]) =>
    [...targets].map((target) => ({ fid, target, secsBeforeAnchor: followTime(fid, random) })),
  );
  const messages = follows.map((follow) => link(follow, "follow", followDisplayTime(random)));

  const undoable = follows.filter(
    (follow) => follow.fid !== COMPACTING_FID && follow.secsBeforeAnchor > DAY_SECS,
  );
  for (const follow of random.shuffled(undoable).slice(0, UNFOLLOW_COUNT)) {
    const end = removal(follow, "follow", random);
    messages.push(...end.messages);
    if (!end.holds) targetsByFid.get(follow.fid)?.delete(follow.target);
  }
  messages.push(compactState(targetsByFid, random));
  messages.push(...blocksOrMutes(people, targetsByFid, "block", BLOCK_COUNT, random));
  messages.push(...blocksOrMutes(people, targetsByFid, "mute", MUTE_COUNT, random));
  return { following: targetsByFid, followers: inverted(targetsByFid), messages };
}

function chooseFollows(people: readonly Person[], random: Random): Map<number, Set<number>> {
  const targetsByFid = new Map(people.map(({ fid }) => [fid, new Set<number>()]));
  const prominences = people.map((person) => person.prominence);
  for (const person of people) {
    const targets = targetsByFid.get(person.fid);
    if (!targets) continue;
    for (const other of people) {
      if (other.fid === person.fid || circleOf(other) !== circleOf(person)) continue;
      const isFollowedBack = targetsByFid.get(other.fid)?.has(person.fid) === true;
      if (random.chance(isFollowedBack ? FOLLOW_BACK_SHARE : CIRCLE_SHARE)) targets.add(other.fid);
    }
    const wellKnown = LEAST_KNOWN_FOLLOWED + Math.floor(random.next() ** 3 * 22);
    for (let count = 0; count < wellKnown; count++) {
      const other = people[random.weighted(prominences)];
      if (other && other.fid !== person.fid) targets.add(other.fid);
    }
  }
  return targetsByFid;
}

/** Users know each other by language. English speakers also do by topic, because there are many of them. */
function circleOf(person: Person): string {
  return person.language === "en" ? person.topic : person.language;
}

function followTime(fid: number, random: Random): number {
  const isOld = random.chance(OLD_FOLLOW_SHARE) || fid === COMPACTING_FID;
  return isOld ? WEEK_SECS - random.below(OLD_FOLLOW_SECS) : random.below(WEEK_SECS - OLD_FOLLOW_SECS);
}

/**
 * Returns the time that a client displays as the start of a follow, in seconds before the anchor; undefined if the client does not set
 * one.
 */
function followDisplayTime(random: Random): number | undefined {
  return random.chance(DISPLAY_TIME_SHARE) ? WEEK_SECS + random.below(300) * DAY_SECS : undefined;
}

function link(
  { fid, target, secsBeforeAnchor }: Follow,
  type: string,
  displaySecsBeforeAnchor?: number,
): PlannedMessage {
  return {
    fid,
    type: MessageType.MESSAGE_TYPE_LINK_ADD,
    secsBeforeAnchor,
    body: ({ unixSecs }) => ({
      $case: "linkBody",
      value: {
        type,
        displayTimestamp:
          displaySecsBeforeAnchor === undefined
            ? undefined
            : toFarcasterSecs(unixSecs + secsBeforeAnchor - displaySecsBeforeAnchor),
        target: { $case: "targetFid", value: target },
      },
    }),
  };
}

/** Returns the removal of a link and, for a few links, its return. `holds` is whether the link exists at the end. */
function removal(
  follow: Follow,
  type: string,
  random: Random,
): { messages: PlannedMessage[]; holds: boolean } {
  const endedAt = somewhatLater(follow.secsBeforeAnchor, DAY_SECS, random);
  if (endedAt === undefined) return { messages: [], holds: true };
  const end: PlannedMessage = {
    fid: follow.fid,
    type: MessageType.MESSAGE_TYPE_LINK_REMOVE,
    secsBeforeAnchor: endedAt,
    body: () => ({
      $case: "linkBody",
      value: { type, displayTimestamp: undefined, target: { $case: "targetFid", value: follow.target } },
    }),
  };
  const returnsAt = random.chance(RETURN_SHARE) ? somewhatLater(endedAt, HOUR_SECS, random) : undefined;
  if (returnsAt === undefined) return { messages: [end], holds: false };
  return { messages: [end, link({ ...follow, secsBeforeAnchor: returnsAt }, type)], holds: true };
}

function compactState(targetsByFid: Map<number, Set<number>>, random: Random): PlannedMessage {
  const targets = [...(targetsByFid.get(COMPACTING_FID) ?? [])];
  const remaining = targets.filter(
    (_, index) => index === 0 || random.chance(REMAINING_AFTER_COMPACTION_SHARE),
  );
  targetsByFid.set(COMPACTING_FID, new Set(remaining));
  return {
    fid: COMPACTING_FID,
    type: MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE,
    secsBeforeAnchor: COMPACTED_AT_SECS_BEFORE_ANCHOR,
    body: () => ({ $case: "linkCompactStateBody", value: { type: "follow", targetFids: remaining } }),
  };
}

/** Returns blocks or mutes of users that the author does not follow. Some are removed again. */
function blocksOrMutes(
  people: readonly Person[],
  following: ReadonlyMap<number, ReadonlySet<number>>,
  type: string,
  count: number,
  random: Random,
): PlannedMessage[] {
  const pairs = new Set<string>();
  const messages: PlannedMessage[] = [];
  while (pairs.size < count) {
    const fid = random.pick(people).fid;
    const target = random.pick(people).fid;
    if (fid === target || following.get(fid)?.has(target) || pairs.has(`${fid} ${target}`)) continue;
    pairs.add(`${fid} ${target}`);
    const pair = { fid, target, secsBeforeAnchor: HOUR_SECS + random.below(WEEK_SECS - HOUR_SECS) };
    messages.push(link(pair, type));
    if (random.chance(REMOVED_SHARE)) messages.push(...removal(pair, type, random).messages);
  }
  return messages;
}

function inverted(following: ReadonlyMap<number, ReadonlySet<number>>): Map<number, Set<number>> {
  const followers = new Map([...following.keys()].map((fid) => [fid, new Set<number>()]));
  for (const [fid, targets] of following) for (const target of targets) followers.get(target)?.add(fid);
  return followers;
}
