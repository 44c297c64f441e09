import { channelsActiveAt } from "../../db/index/channels/follows.ts";
import { registrarOfIndex } from "../../db/index/channels/registrar.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { followUriOf } from "../../protocol/channels/follow-uri.ts";
import { ChannelSlotKind, MemberState } from "../../protocol/channels/slots.ts";
import { ReactionType } from "../../protocol/wire/generated/message.ts";
import type { RegisteredState } from "./channels.ts";

export type ChannelRole = "owner" | "moderator" | "member";

/** Relation of an fid to a channel. Each combination is a single object, so presenters can compare them by identity. */
export interface ChannelRelation {
  readonly following: boolean;
  readonly role: ChannelRole | undefined;
}

const ROLES = ["owner", "moderator", "member", undefined] as const;
const RELATIONS: readonly ChannelRelation[] = [false, true].flatMap((following) =>
  ROLES.map((role) => ({ following, role })),
);

/** Returns the single object of a relation. */
export function relationOf(following: boolean, role: ChannelRole | undefined): ChannelRelation {
  return RELATIONS[Number(following) * ROLES.length + ROLES.indexOf(role)] as ChannelRelation;
}

/** An fid and a registered channel. */
export interface RelationQuery {
  readonly fid: number;
  readonly channel: RegisteredState;
}

const memberStates = statement<{ at: number; state: number }, [pairsJson: string]>(
  "hydrate.channel-relations.roles",
  `SELECT j.key AS at, s.state FROM json_each(?) j
   CROSS JOIN channel_slots s ON s.target_fid = j.value ->> 0 AND s.target_fid > 0
     AND s.channel_id = unhex(j.value ->> 1) AND s.kind = ${ChannelSlotKind.Member}`,
);
const follows = statement<{ at: number }, [pairsJson: string, since: number]>(
  "hydrate.channel-relations.follows",
  `SELECT j.key AS at FROM json_each(?1) j
   CROSS JOIN urls u ON u.url = j.value ->> 1
   CROSS JOIN reactions r ON r.fid = j.value ->> 0 AND r.target_fid = 0 AND r.target_id = u.id
     AND r.type = ${ReactionType.REACTION_TYPE_LIKE}
   WHERE r.timestamp >= ?2`,
);

/** Loads the relations of fids to registered channels, in the order of the queries, with two statements. */
export function loadChannelRelations(
  db: IndexDatabase,
  queries: readonly RelationQuery[],
): readonly ChannelRelation[] {
  if (queries.length === 0) return [];
  const ids = JSON.stringify(queries.map(({ fid, channel }) => [fid, channel.channelId.toHex()]));
  const states = new Map(db.all(memberStates, ids).map(({ at, state }) => [at, state]));
  const followed = followedAmong(db, queries);
  return queries.map(({ fid, channel }, at) => {
    const role = fid === channel.ownerFid ? "owner" : roleOfState(states.get(at));
    return relationOf(followed.has(at), role);
  });
}

function followedAmong(db: IndexDatabase, queries: readonly RelationQuery[]): ReadonlySet<number> {
  const registrar = registrarOfIndex(db);
  const since = channelsActiveAt(db);
  if (registrar === undefined || since === undefined) return new Set();
  const pairs = queries.map(({ fid, channel }) => [fid, followUriOf(registrar, channel.channelId)]);
  return new Set(db.all(follows, JSON.stringify(pairs), since).map(({ at }) => at));
}

/** Returns the role of a member's slot in a given state. */
export function roleOfState(state: number | undefined): ChannelRole | undefined {
  if (state === MemberState.Moderator) return "moderator";
  return state === MemberState.Member ? "member" : undefined;
}
