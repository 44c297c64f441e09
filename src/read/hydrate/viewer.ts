import { LinkType } from "../../db/index/messages/columns.ts";
import { statement } from "../../db/index/statement.ts";
import { ReactionType } from "../../protocol/wire/generated/message.ts";
import type { Hash, StoredCast } from "./casts.ts";
import type { ChannelRelation } from "./channel-relations.ts";
import { type OwnerRules, Tie, type TieSource, tiesTo } from "./relations.ts";

/** The viewer's relations to the objects of a response. */
export interface ViewerContexts {
  readonly users: ReadonlyMap<number, UserContext>;
  readonly casts: ReadonlyMap<Hash, CastContext>;
  /**
   * The viewer's relations to channels, by id; absent if there is none. In a channel that is not registered, a user with
   * live casts is a member, and members count as followers.
   */
  readonly channels: ReadonlyMap<string, ChannelRelation>;
}

interface UserContext {
  readonly following: boolean;
  readonly followedBy: boolean;
  readonly blocking: boolean;
  readonly blockedBy: boolean;
  /** Publicly, or in the app of the request's API key. */
  readonly muting: boolean;
  /** By that app. */
  readonly banned: boolean;
}

interface CastContext {
  readonly liked: boolean;
  readonly recasted: boolean;
}

interface UserRow {
  fid: number;
  following: number;
  followedBy: number;
}

const link = (fid: string, type: keyof typeof LinkType, targetFid: string) =>
  `EXISTS (SELECT 1 FROM links l
     WHERE l.fid = ${fid} AND l.type = ${LinkType[type]} AND l.target_fid = ${targetFid})`;
const userRows = statement<UserRow, [viewerFid: number, fidsJson: string]>(
  "hydrate.viewer.users",
  `SELECT j.value AS fid, ${link("?1", "Follow", "j.value")} AS following,
     ${link("j.value", "Follow", "?1")} AS followedBy
   FROM json_each(?2) j`,
);

const reaction = (type: ReactionType) =>
  `EXISTS (SELECT 1 FROM reactions r WHERE r.fid = ?1 AND r.target_fid = j.value ->> 0
     AND r.target_id = j.value ->> 1 AND r.type = ${type})`;
const castRows = statement<
  { at: number; liked: number; recasted: number },
  [viewerFid: number, castsJson: string]
>(
  "hydrate.viewer.casts",
  `SELECT j.key AS at, ${reaction(ReactionType.REACTION_TYPE_LIKE)} AS liked,
     ${reaction(ReactionType.REACTION_TYPE_RECAST)} AS recasted
   FROM json_each(?2) j`,
);

/**
 * Loads a viewer's relations to users and casts, with one statement per kind.
 *
 * @param owner the lists of the request's API key.
 * @param shown.channels the viewer's relations to channels.
 */
export function loadViewerContexts(
  source: TieSource,
  viewerFid: number,
  owner: OwnerRules | undefined,
  shown: {
    readonly fids: Iterable<number>;
    readonly casts: Iterable<StoredCast>;
    readonly channels: ViewerContexts["channels"];
  },
): ViewerContexts {
  const { db } = source;
  const users = new Map<number, UserContext>();
  const fids = [...shown.fids];
  const ties = tiesTo(source, viewerFid, fids);
  const muted = owner?.muted.get(viewerFid);
  for (const row of db.all(userRows, viewerFid, JSON.stringify(fids))) {
    const tie = ties.get(row.fid) ?? 0;
    users.set(row.fid, {
      following: row.following === 1,
      followedBy: row.followedBy === 1,
      blocking: (tie & Tie.Blocking) !== 0,
      blockedBy: (tie & Tie.BlockedBy) !== 0,
      muting: (tie & Tie.Muting) !== 0 || muted?.has(row.fid) === true,
      banned: owner?.banned.has(row.fid) === true,
    });
  }
  const casts = new Map<Hash, CastContext>();
  const shownCasts = [...shown.casts];
  if (shownCasts.length > 0) {
    const json = JSON.stringify(shownCasts.map(({ fid, id }) => [fid, id]));
    for (const { at, liked, recasted } of db.all(castRows, viewerFid, json)) {
      const cast = shownCasts[at];
      if (cast) casts.set(cast.hash, { liked: liked === 1, recasted: recasted === 1 });
    }
  }
  return { users, casts, channels: shown.channels };
}
