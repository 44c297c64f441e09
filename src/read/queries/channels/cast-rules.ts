import { fidOfOwner } from "../../../db/index/channels/owner-claims.ts";
import { registrarOfIndex } from "../../../db/index/channels/registrar.ts";
import { settingsOf } from "../../../db/index/channels/registrations.ts";
import { countsOfChannel } from "../../../db/index/channels/slots.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { parentUrlsOf } from "../../../protocol/channel-url.ts";
import { followUriOf } from "../../../protocol/channels/follow-uri.ts";
import { ChannelSlotKind, MemberState, SlotState } from "../../../protocol/channels/slots.ts";
import { CastingMode, ReactionType } from "../../../protocol/wire/generated/message.ts";
import { countingChannels, type RegisteredChannel } from "../../channel-names.ts";
import type { CastRef } from "../../hydrate/casts.ts";

/** Which casts in registered channels a request asks for. */
export interface CastRulesRequest {
  /** Whether only casts of the owner, moderators and members are shown; undefined to follow each channel's settings. */
  readonly membersOnly?: boolean | undefined;
  /** Whether only casts that the owner or a moderator likes are shown, in channels that have one. */
  readonly shouldModerate?: boolean | undefined;
  /** Whether casts hidden in the channel, and casts of banned users, are shown. */
  readonly withHidden?: boolean | undefined;
}

/** Decides which casts of a list are shown. */
export interface CastRules {
  /** Returns the rows that are shown, in their order. Casts outside of channels with a rule are all shown. */
  readonly visible: <Row extends CastRef>(rows: readonly Row[]) => Row[];
}

interface Rule {
  readonly channelId: string;
  readonly ownerFid: number;
  readonly membersOnly: boolean;
  readonly hides: boolean;
  /** Accounts whose likes approve a cast; empty if there is no such rule. */
  readonly approvers: readonly number[];
}

const urlIds = statement<{ at: number; id: number }, [urlsJson: string]>(
  "skeleton.cast-rules.urls",
  "SELECT j.key AS at, u.id FROM json_each(?) j CROSS JOIN urls u ON u.url = j.value",
);
const moderatorsOf = statement<{ fid: number }, [channelId: Uint8Array]>(
  "skeleton.cast-rules.moderators",
  `SELECT target_fid AS fid FROM channel_slots
   WHERE channel_id = ? AND kind = ${ChannelSlotKind.Member} AND state = ${MemberState.Moderator}`,
);

/** SQL for the id of the URL that the thread of a cast is under. */
const URL_ID = "coalesce(c.root_url_id, c.parent_url_id)";

interface RuledRow {
  readonly id: number;
  readonly fid: number;
  readonly urlId: number;
  readonly isHidden: number;
  readonly memberState: number | null;
  readonly isApproved: number;
}

/** `?2` contains the channels, and `?3` the approvers, by the ids of parent URLs. */
const ruledRows = statement<RuledRow, [idsJson: string, channelsJson: string, approversJson: string]>(
  "skeleton.cast-rules.casts",
  `SELECT c.id, c.fid, ${URL_ID} AS urlId,
     EXISTS (SELECT 1 FROM channel_slots s WHERE s.channel_id = unhex(?2 ->> ('$.u' || ${URL_ID}))
       AND s.kind = ${ChannelSlotKind.Moderation} AND s.target = c.hash AND s.state = ${SlotState.On}) AS isHidden,
     (SELECT s.state FROM channel_slots s WHERE s.target_fid = c.fid AND s.target_fid > 0
       AND s.channel_id = unhex(?2 ->> ('$.u' || ${URL_ID}))) AS memberState,
     EXISTS (SELECT 1 FROM json_each(?3, '$.u' || ${URL_ID}) a CROSS JOIN reactions r ON r.fid = a.value
       AND r.target_fid = c.fid AND r.target_id = c.id AND r.type = ${ReactionType.REACTION_TYPE_LIKE}) AS isApproved
   FROM json_each(?1) j CROSS JOIN casts c ON c.id = j.value
   WHERE (?2 ->> ('$.u' || ${URL_ID})) IS NOT NULL`,
);

/**
 * Returns the rules for casts in the registered channels among `ids`; undefined if none of them hides anything.
 *
 * @param ids ids of channels.
 */
export function openCastRules(
  db: IndexDatabase,
  ids: readonly string[],
  request: CastRulesRequest,
): CastRules | undefined {
  const rules = new Map<string, Rule>();
  for (const channel of countingChannels(db, ids)) {
    const rule = ruleOf(db, channel, request);
    if (rule.hides || rule.membersOnly || rule.approvers.length > 0)
      for (const url of urlsOf(db, channel)) rules.set(url, rule);
  }
  if (rules.size === 0) return undefined;
  const urls = [...rules.keys()];
  const byUrlId = new Map<number, Rule>();
  for (const { at, id } of db.all(urlIds, JSON.stringify(urls))) {
    const rule = rules.get(urls[at] ?? "");
    if (rule) byUrlId.set(id, rule);
  }
  if (byUrlId.size === 0) return undefined;
  const channelsJson = JSON.stringify(
    Object.fromEntries([...byUrlId].map(([id, { channelId }]) => [`u${id}`, channelId])),
  );
  const approversJson = JSON.stringify(
    Object.fromEntries([...byUrlId].map(([id, { approvers }]) => [`u${id}`, approvers])),
  );
  return {
    visible(rows) {
      if (rows.length === 0) return [];
      const hidden = new Set<number>();
      for (const row of db.all(
        ruledRows,
        JSON.stringify(rows.map(({ id }) => id)),
        channelsJson,
        approversJson,
      )) {
        const rule = byUrlId.get(row.urlId);
        if (rule && !isShown(row, rule)) hidden.add(row.id);
      }
      return rows.filter(({ id }) => !hidden.has(id));
    },
  };
}

function isShown({ fid, isHidden, memberState, isApproved }: RuledRow, rule: Rule): boolean {
  if (rule.hides && (isHidden === 1 || memberState === MemberState.Banned)) return false;
  if (rule.approvers.length > 0 && isApproved === 0) return false;
  if (!rule.membersOnly || fid === rule.ownerFid) return true;
  return memberState === MemberState.Member || memberState === MemberState.Moderator;
}

function ruleOf(
  db: IndexDatabase,
  { channelId, ownerAddress }: RegisteredChannel,
  { membersOnly, shouldModerate = false, withHidden = false }: CastRulesRequest,
): Rule {
  const ownerFid = fidOfOwner(db, ownerAddress);
  const { memberSlots, moderationSlots } = countsOfChannel(db, channelId);
  const moderators = shouldModerate ? db.all(moderatorsOf, channelId).map(({ fid }) => fid) : [];
  return {
    channelId: channelId.toHex(),
    ownerFid,
    // Otherwise a channel without settings would show nothing from the day of its registration.
    membersOnly:
      membersOnly ?? settingsOf(db, channelId)?.castingMode === CastingMode.CASTING_MODE_MEMBERS_ONLY,
    hides: !withHidden && memberSlots + moderationSlots > 0,
    approvers: shouldModerate && ownerFid !== 0 ? [ownerFid, ...moderators] : moderators,
  };
}

function urlsOf(db: IndexDatabase, { id, channelId }: RegisteredChannel): string[] {
  const uri = followUriOf(registrarOfIndex(db), channelId);
  return uri === undefined ? parentUrlsOf(id) : [...parentUrlsOf(id), uri];
}
