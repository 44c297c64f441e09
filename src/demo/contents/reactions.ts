import { MessageType, type ReactionBody, ReactionType } from "../../protocol/wire/generated/message.ts";
import type { DemoGraph } from "../graph.ts";
import type { Person } from "../people.ts";
import { type Random, seededRandom } from "../random.ts";
import { DAY_SECS, HOUR_SECS, type PlannedMessage, somewhatLater } from "../roster.ts";
import { ARTICLE_PARENT_URL } from "./cast-contents.ts";
import type { PlannedCast } from "./casts.ts";

const MEAN_REACTION_SECS = 2.5 * HOUR_SECS;
const RECAST_SHARE = 0.2;
/** Share of recasters who also like the cast. */
const BOTH_SHARE = 0.7;
const PASSER_BY_SHARE = 0.12;
/** How often an author likes a reply to their own cast. */
const THANKS_SHARE = 0.22;
const REMOVED_COUNT = 60;
const URL_LIKE_COUNT = 6;

interface PlannedReaction {
  readonly fid: number;
  readonly type: ReactionType;
  readonly secsBeforeAnchor: number;
  readonly target: PlannedCast | string;
}

/** Returns the likes and recasts of the week: few for most casts, many for some, nearly all by followers. Some are removed again. */
export function weekOfReactions(
  people: readonly Person[],
  graph: DemoGraph,
  casts: readonly PlannedCast[],
): PlannedMessage[] {
  const random = seededRandom("reactions");
  const reactions = casts.flatMap((cast) => reactionsTo(cast, people, graph, random));
  for (const person of random.shuffled(people).slice(0, URL_LIKE_COUNT)) {
    const secsBeforeAnchor = random.below(6 * DAY_SECS);
    const type = ReactionType.REACTION_TYPE_LIKE;
    reactions.push({ fid: person.fid, type, secsBeforeAnchor, target: ARTICLE_PARENT_URL });
  }
  const removed = random
    .shuffled(reactions)
    .slice(0, REMOVED_COUNT)
    .flatMap((reaction) => {
      const removedAt = somewhatLater(reaction.secsBeforeAnchor, 20 * 60, random);
      return removedAt === undefined ? [] : [{ ...reaction, secsBeforeAnchor: removedAt }];
    });
  return [
    ...reactions.map((reaction) => planned(MessageType.MESSAGE_TYPE_REACTION_ADD, reaction)),
    ...removed.map((reaction) => planned(MessageType.MESSAGE_TYPE_REACTION_REMOVE, reaction)),
  ];
}

function reactionsTo(
  cast: PlannedCast,
  people: readonly Person[],
  graph: DemoGraph,
  random: Random,
): PlannedReaction[] {
  const audience = [...(graph.followers.get(cast.fid) ?? [])];
  const reach = (audience.length + 4) * (0.006 + cast.appeal * 0.85);
  const count = Math.floor(reach + random.next());
  const reactors = new Set(random.shuffled(audience).slice(0, count));
  for (let index = 0; index < count; index++) {
    if (random.chance(PASSER_BY_SHARE)) reactors.add(random.pick(people).fid);
  }
  if (cast.parent && random.chance(THANKS_SHARE)) reactors.add(cast.parent.fid);
  reactors.delete(cast.fid);

  return [...reactors].flatMap((fid) => {
    const secsBeforeAnchor = somewhatLater(cast.secsBeforeAnchor, MEAN_REACTION_SECS, random);
    if (secsBeforeAnchor === undefined) return [];
    const like = { fid, type: ReactionType.REACTION_TYPE_LIKE, secsBeforeAnchor, target: cast };
    if (!random.chance(RECAST_SHARE)) return [like];
    const recast = { ...like, type: ReactionType.REACTION_TYPE_RECAST };
    return random.chance(BOTH_SHARE) ? [like, recast] : [recast];
  });
}

function planned(type: MessageType, reaction: PlannedReaction): PlannedMessage {
  const { target } = reaction;
  return {
    fid: reaction.fid,
    type,
    secsBeforeAnchor: reaction.secsBeforeAnchor,
    body: ({ hashOf }) => {
      const value: ReactionBody = {
        type: reaction.type,
        target:
          typeof target === "string"
            ? { $case: "targetUrl", value: target }
            : { $case: "targetCastId", value: { fid: target.fid, hash: hashOf(target) } },
      };
      return { $case: "reactionBody", value };
    },
  };
}
