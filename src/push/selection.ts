import lookUpZone from "@photostructure/tz-lookup";
import { scoresOf } from "../db/index/counts/scores.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { LinkType } from "../db/index/messages/columns.ts";
import { statement } from "../db/index/statement.ts";
import type { BannedPair } from "../moderation/moderation-store.ts";
import { UserDataType } from "../protocol/wire/generated/message.ts";
import type { ScoreSource } from "../read/hydrate/users.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { dueIn, isSameZone, waveOf, zoneNamed } from "./schedules/timing.ts";
import type { Audience, AudienceShare, SegmentFilter } from "./store/campaigns/campaign-store.ts";
import { fidTest } from "./store/fid-list.ts";
import type { OpenStore } from "./store/open-store.ts";
import type { TokenPosition, TokenStore } from "./store/tokens/token-store.ts";

const followersAmong = statement<{ fid: number }, [fids: string, targetFid: number]>(
  "notify.followers-among",
  `SELECT l.fid FROM json_each(?1) AS j CROSS JOIN links l
   ON l.fid = j.value AND l.type = ${LinkType.Follow} AND l.target_fid = ?2`,
);
const membersAmong = statement<{ fid: number }, [fids: string, channelId: string]>(
  "notify.members-among",
  `SELECT m.fid FROM json_each(?1) AS j CROSS JOIN channel_members m ON m.channel_id = ?2 AND m.fid = j.value`,
);

/** Why a token of the audience gets no notification. */
export type LeftOutReason = "excluded" | "not_following" | "not_in_segment";

/** The tokens selected for a send, and the numbers of those left out by reason. Tokens in other shares are not counted. */
export interface Selected<Token> {
  readonly tokens: readonly Token[];
  readonly notAttempted: Readonly<Record<LeftOutReason, number>>;
}

/** Selects the recipients of one send, a page of tokens at a time. */
export type SelectRecipients = <Token extends TokenPosition>(
  tokens: readonly Token[],
) => Promise<Selected<Token>>;

/** Returns the selection for a send of an app. */
export type Selection = (send: {
  readonly appId: string;
  readonly ownerFid: number;
  readonly audience: Audience;
}) => SelectRecipients;

const DAY_SECS = 86_400;
/** The number of parts into which a hash divides the people of a schedule. */
export const SHARES = 10_000;

/** Returns the part that a person belongs to, from 0 to `SHARES` - 1. It is the same on every node and in every release. */
export function shareOf(scheduleId: string, fid: number): number {
  return Bun.hash.xxHash32(`${scheduleId} ${fid}`) % SHARES;
}

/**
 * Leaves out recipients that the send excludes, who are currently banned by its owner or who have less than the minimum score, then those
 * who do not meet its conditions, and those in other shares of its schedule.
 *
 * @param deps.scores undefined unless the operator lets scores decide on sends
 */
export function createSelection(deps: {
  readonly db: IndexDatabase;
  readonly bannedAmong: (
    ownerFids: readonly number[],
    fids: readonly number[],
  ) => Promise<readonly BannedPair[]>;
  readonly scores: ScoreSource | undefined;
  readonly tokens: Pick<TokenStore, "addedAt">;
  readonly opens: Pick<OpenStore, "openedAmong" | "zonesAt">;
  readonly clock: Clock;
}): Selection {
  const { db, bannedAmong, scores, tokens, opens, clock } = deps;
  const zonesOf = createZonesOf(deps);
  const followers = (fids: readonly number[], target: number) =>
    new Set(db.all(followersAmong, JSON.stringify(fids), target).map(({ fid }) => fid));

  return ({ appId, ownerFid, audience }) => {
    const { excludeFids, followingFid, minimumScore = 0, segment, share } = audience;
    const excluded = new Set(excludeFids);
    const inSegment = segment && segmentTest(appId, segment);

    async function leftOutAmong(fids: readonly number[]): Promise<(fid: number) => boolean> {
      const banned = new Set((await bannedAmong([ownerFid], fids)).map(({ fid }) => fid));
      const known = scores && minimumScore > 0 ? scoresOf(db, scores.mode, fids) : undefined;
      return (fid) =>
        excluded.has(fid) ||
        banned.has(fid) ||
        (known !== undefined && (known.get(fid) ?? scores?.unknown ?? 0) < minimumScore);
    }

    return async (all) => {
      const own = share ? await ofShare(appId, share, all) : all;
      const isLeftOut = await leftOutAmong(fidsOf(own));
      const included = own.filter(({ fid }) => !isLeftOut(fid));
      let selected = included;
      if (followingFid !== null) {
        const following = followers(fidsOf(included), followingFid);
        selected = included.filter(({ fid }) => following.has(fid));
      }
      const found = inSegment ? await inSegment(selected) : selected;
      return {
        tokens: found,
        notAttempted: {
          excluded: own.length - included.length,
          not_following: included.length - selected.length,
          not_in_segment: selected.length - found.length,
        },
      };
    };
  };

  async function ofShare<Token extends TokenPosition>(
    appId: string,
    { scheduleId, from, to, wave }: AudienceShare,
    all: readonly Token[],
  ): Promise<readonly Token[]> {
    const part = all.filter(({ fid }) => {
      const at = shareOf(scheduleId, fid);
      return at >= from && at < to;
    });
    const [first = 0] = wave?.waves ?? [];
    if (!wave || part.length === 0) return part;
    // As of the first wave, so that no one moves to another wave meanwhile.
    const zones = await zonesOf(appId, fidsOf(part), first);
    const places = new Map<string, number>();
    return part.filter(({ fid }) => {
      const zone = zones.get(fid)?.zone ?? wave.timing.zone;
      const place = places.get(zone) ?? waveOf(wave.waves, dueIn(wave.timing, zone));
      places.set(zone, place);
      return place === wave.place;
    });
  }

  /** All conditions of a segment must hold. */
  function segmentTest(appId: string, segment: SegmentFilter) {
    const clients = segment.client_fids && new Set(segment.client_fids);
    const isListed = segment.fids === undefined ? undefined : fidTest(segment.fids);
    const isInZone = segment.time_zones && zoneTest(segment.time_zones);

    return async <Token extends TokenPosition>(candidates: readonly Token[]): Promise<readonly Token[]> => {
      let left = candidates;
      const keep = (test: (token: Token) => boolean) => {
        left = left.filter(test);
      };
      if (clients) keep(({ clientFid }) => clients.has(clientFid));
      if (isListed) keep(({ fid }) => isListed(fid));
      const { following_fid, channel_id, added_after, added_before } = segment;
      if (following_fid !== undefined) {
        const following = followers(fidsOf(left), following_fid);
        keep(({ fid }) => following.has(fid));
      }
      if (channel_id !== undefined) {
        const members = new Set(
          db.all(membersAmong, JSON.stringify(fidsOf(left)), channel_id).map(({ fid }) => fid),
        );
        keep(({ fid }) => members.has(fid));
      }
      if (added_after !== undefined || added_before !== undefined) {
        const addedAt = await tokens.addedAt(appId, fidsOf(left));
        keep(({ fid }) => {
          const at = addedAt.get(fid) ?? 0;
          return at >= (added_after ?? 0) && at < (added_before ?? Number.POSITIVE_INFINITY);
        });
      }
      for (const [days, isWanted] of [
        [segment.opened_within_days, true],
        [segment.not_opened_within_days, false],
      ] as const) {
        if (days === undefined) continue;
        const opened = await opens.openedAmong(appId, fidsOf(left), nowSecs(clock) - days * DAY_SECS);
        keep(({ fid }) => opened.has(fid) === isWanted);
      }
      if (isInZone) {
        const known = await zonesOf(appId, fidsOf(left), nowSecs(clock));
        keep(({ fid }) => {
          const zone = known.get(fid)?.zone;
          return zone !== undefined && isInZone(zone);
        });
      }
      return left;
    };
  }
}

/** Returns a test for whether a zone is one of these, under any of its names. */
function zoneTest(zones: readonly string[]): (zone: string) => boolean {
  const results = new Map<string, boolean>();
  return (zone) => {
    const isOne = results.get(zone) ?? zones.some((one) => isSameZone(one, zone));
    results.set(zone, isOne);
    return isOne;
  };
}

const fidsOf = (tokens: readonly TokenPosition[]): number[] => [...new Set(tokens.map(({ fid }) => fid))];

/** How someone's zone is known. */
type ZoneSource = "reported" | "location";

/** Returns the known zones of some fids, as of a time in unix seconds. */
type ZonesOf = (
  appId: string,
  fids: readonly number[],
  atSecs: number,
) => Promise<ReadonlyMap<number, { readonly zone: string; readonly source: ZoneSource }>>;

const locations = statement<{ fid: number; value: string }, [fids: string]>(
  "push.locations",
  `SELECT d.fid, d.value FROM json_each(?) j CROSS JOIN user_data d
   ON d.fid = j.value AND d.type = ${UserDataType.USER_DATA_TYPE_LOCATION} WHERE d.value != ''`,
);

/** Locations have two decimals, so the people of a town share one. */
const MAX_KNOWN = 10_000;

/** Uses the zone that an app has reported, or else the location that the profile declares. */
function createZonesOf({
  db,
  opens,
}: {
  readonly db: IndexDatabase;
  readonly opens: Pick<OpenStore, "zonesAt">;
}): ZonesOf {
  const known = new Map<string, string | undefined>();

  function zoneAt(location: string): string | undefined {
    if (known.has(location)) return known.get(location);
    const [, latitude, longitude] = /^geo:(-?[\d.]+),(-?[\d.]+)$/.exec(location) ?? [];
    if (known.size >= MAX_KNOWN) known.clear();
    const zone = latitude === undefined ? undefined : placeZone(Number(latitude), Number(longitude));
    known.set(location, zone);
    return zone;
  }

  return async (appId, fids, atSecs) => {
    const reported = await opens.zonesAt(appId, fids, atSecs);
    const zones = new Map<number, { zone: string; source: ZoneSource }>();
    for (const [fid, zone] of reported) zones.set(fid, { zone, source: "reported" });
    const others = fids.filter((fid) => !zones.has(fid));
    for (const { fid, value } of db.all(locations, JSON.stringify(others))) {
      const zone = zoneAt(value);
      if (zone !== undefined) zones.set(fid, { zone, source: "location" });
    }
    return zones;
  };
}

function placeZone(latitude: number, longitude: number): string | undefined {
  try {
    return zoneNamed(lookUpZone(latitude, longitude));
  } catch {
    // Validation accepts only coordinates that exist, but an old record may have others.
    return undefined;
  }
}
