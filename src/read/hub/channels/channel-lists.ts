import { channelsActiveAt } from "../../../db/index/channels/follows.ts";
import { fidOfOwner } from "../../../db/index/channels/owner-claims.ts";
import { registrarOfIndex } from "../../../db/index/channels/registrar.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Result } from "../../../lib/result.ts";
import { followUriOf } from "../../../protocol/channels/follow-uri.ts";
import { ChannelSlotKind, memberTarget, SlotState } from "../../../protocol/channels/slots.ts";
import { toFarcasterSecs } from "../../../protocol/time.ts";
import { ChannelModerateAction, ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { Key, KeyShape } from "../../cursor.ts";
import { followsOfUser } from "../../queries/channels/follows.ts";
import { channelsOfAddress, type OwnedChannel, ownedChannels } from "../../queries/channels/owned.ts";
import { type ReadContext, readList } from "../context.ts";
import { EMPTY_PAGE, type Page, type PageQuery, type RowFormat, readKeyedList, tokenCodec } from "../page.ts";
import { invalidParam, type Refusal } from "../refusal.ts";
import type { ListReader } from "../turns.ts";
import { type OfChannel, refusalOfChannel, refusalOfFid, refusalOfUnread } from "./channel-reads.ts";

type List<Query, Row> = <Item>(
  query: Query & PageQuery,
  format: RowFormat<Row, Item>,
  reader?: ListReader,
) => Promise<Result<Page<Item>, Refusal>>;

/** A channel of an owner. `fid` is 0 while no account has verified the address. */
export interface ChannelInfo extends OwnedChannel {
  readonly fid: number;
}

export interface MemberEntry {
  readonly fid: number;
  readonly state: number;
}

export interface ModerationEntry {
  readonly castHash: Uint8Array;
  readonly action: ChannelModerateAction;
  readonly authorFid: number;
}

export interface MembershipEntry {
  readonly channelId: Uint8Array;
  readonly state: number;
}

/** `timestamp` is in Unix seconds, `followedAt` in Farcaster seconds. */
export interface FollowerEntry {
  readonly fid: number;
  readonly timestamp: number;
  readonly followedAt: number;
}

export interface FollowEntry {
  readonly channelId: Uint8Array;
  readonly followedAt: number;
}

/** Lists of channels. Page tokens are bound to the channel, address or fid of their list. */
export interface ChannelLists {
  /** The channels of an address, by key. */
  readonly channelsByAddress: List<{ readonly address: Uint8Array }, ChannelInfo>;
  /** The channels of the addresses that an fid stands for, by address, then by key. */
  readonly channelsByFid: List<{ readonly fid: number }, ChannelInfo>;
  /** The members of a channel, in any state or in a given one, by fid. */
  readonly channelMembers: List<OfChannel & { readonly stateFilter?: number | undefined }, MemberEntry>;
  /** The decisions of moderators about casts, by the casts' hashes. */
  readonly channelModerations: List<OfChannel, ModerationEntry>;
  /** The channels in which an fid has a state, by id. */
  readonly channelMembershipsByFid: List<{ readonly fid: number }, MembershipEntry>;
  /** The followers of a channel, oldest follow first. */
  readonly channelFollowers: List<OfChannel, FollowerEntry>;
  /** The channels that an fid follows, by id. */
  readonly channelFollows: List<{ readonly fid: number }, FollowEntry>;
}

const MAX_ROWS = 1000;
const SIZES = { byDefault: MAX_ROWS, max: MAX_ROWS };

const member = `SELECT target_fid AS fid, state FROM channel_slots
  WHERE channel_id = ?1 AND kind = ${ChannelSlotKind.Member} AND (?2 = 0 OR state = ?2)`;
type AfterFid = [channelId: Uint8Array, state: number, target: Uint8Array, limit: number];
const membersAfter = statement<MemberEntry, AfterFid>(
  "hub.channel-members",
  `${member} AND target > ?3 ORDER BY target LIMIT ?4`,
);
const membersBefore = statement<MemberEntry, AfterFid>(
  "hub.channel-members-reversed",
  `${member} AND target < ?3 ORDER BY target DESC LIMIT ?4`,
);

interface ModerationRow {
  readonly target: Uint8Array;
  readonly state: number;
  readonly authorFid: number;
}

const moderation = `SELECT target, state, author_fid AS authorFid FROM channel_slots
  WHERE channel_id = ? AND kind = ${ChannelSlotKind.Moderation}`;
type AfterTarget = [channelId: Uint8Array, target: Uint8Array, limit: number];
const moderationsAfter = statement<ModerationRow, AfterTarget>(
  "hub.channel-moderations",
  `${moderation} AND target > ? ORDER BY target LIMIT ?`,
);
const moderationsBefore = statement<ModerationRow, AfterTarget>(
  "hub.channel-moderations-reversed",
  `${moderation} AND target < ? ORDER BY target DESC LIMIT ?`,
);

const membership = `SELECT channel_id AS channelId, state FROM channel_slots
  WHERE target_fid = ? AND target_fid > 0 AND kind = ${ChannelSlotKind.Member}`;
type AfterChannel = [fid: number, channelId: Uint8Array, limit: number];
const membershipsAfter = statement<MembershipEntry, AfterChannel>(
  "hub.channel-memberships",
  `${membership} AND channel_id > ? ORDER BY channel_id LIMIT ?`,
);
const membershipsBefore = statement<MembershipEntry, AfterChannel>(
  "hub.channel-memberships-reversed",
  `${membership} AND channel_id < ? ORDER BY channel_id DESC LIMIT ?`,
);

type LikeRow = Omit<FollowerEntry, "followedAt">;

const like = `SELECT r.fid, r.timestamp FROM urls u CROSS JOIN reactions r ON r.target_id = u.id
  WHERE u.url = ?1 AND r.type = ${ReactionType.REACTION_TYPE_LIKE} AND r.timestamp >= ?2`;
type AfterLike = [url: string, since: number, timestamp: number, fid: number, limit: number];
const likesAfter = statement<LikeRow, AfterLike>(
  "hub.channel-followers",
  `${like} AND (r.timestamp, r.fid) > (?3, ?4) ORDER BY r.timestamp, r.fid LIMIT ?5`,
);
const likesBefore = statement<LikeRow, AfterLike>(
  "hub.channel-followers-reversed",
  `${like} AND (r.timestamp, r.fid) < (?3, ?4) ORDER BY r.timestamp DESC, r.fid DESC LIMIT ?5`,
);

const NO_BYTES = new Uint8Array();
/** Sorts after every target of a slot and every id of a channel. */
const LAST_BYTES = new Uint8Array(64).fill(0xff);
const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));

export function createChannelLists(context: ReadContext): ChannelLists {
  const { db } = context;
  return {
    channelsByAddress(query, format, reader) {
      const { address } = query;
      const fid = fidOfOwner(db, address);
      return keyedList(context, query, format, reader, {
        mayBeEmpty: true,
        refused: refusalOfUnread(context),
        name: `GetChannelsByAddress ${address.toHex()}`,
        shape: ["text"],
        keyOf: ({ channelId }) => [channelId.toHex()],
        read: (after, limit, reverse) =>
          channelsOfAddress(db, address, { after: after && bytesOf(after[0]), limit, reverse }).map(
            (row) => ({
              ...row,
              fid,
            }),
          ),
      });
    },
    channelsByFid(query, format, reader) {
      const { fid } = query;
      return keyedList(context, { ...query, reverse: false }, format, reader, {
        mayBeEmpty: true,
        refused: refusalOfFid(context, fid),
        name: `GetChannelsByFid ${fid}`,
        shape: ["text", "text"],
        keyOf: ({ ownerAddress, channelId }) => [ownerAddress.toHex(), channelId.toHex()],
        read: (after = ["", ""], limit) =>
          ownedChannels(db, fid, { address: bytesOf(after[0]), channelId: bytesOf(after[1]) }, limit).map(
            (row) => ({ ...row, fid }),
          ),
      });
    },
    channelMembers(query, format, reader) {
      const { channelId, stateFilter = 0 } = query;
      return keyedList(context, query, format, reader, {
        refused: refusalOfChannel(context, channelId, true),
        name: `GetChannelMembers ${channelId.toHex()} ${stateFilter}`,
        shape: ["int"],
        keyOf: ({ fid }) => [fid],
        read(after, limit, reverse) {
          const target = after ? memberTarget(Math.max(0, after[0])) : reverse ? LAST_BYTES : NO_BYTES;
          return db.all(reverse ? membersBefore : membersAfter, channelId, stateFilter, target, limit);
        },
      });
    },
    channelModerations(query, format, reader) {
      const { channelId } = query;
      return keyedList(context, query, format, reader, {
        refused: refusalOfChannel(context, channelId, true),
        name: `GetChannelModerations ${channelId.toHex()}`,
        shape: ["text"],
        keyOf: ({ castHash }) => [castHash.toHex()],
        read(after, limit, reverse) {
          const target = after ? bytesOf(after[0]) : reverse ? LAST_BYTES : NO_BYTES;
          return db
            .all(reverse ? moderationsBefore : moderationsAfter, channelId, target, limit)
            .map(moderationEntry);
        },
      });
    },
    channelMembershipsByFid(query, format, reader) {
      const { fid } = query;
      return keyedList(context, query, format, reader, {
        refused: refusalOfFid(context, fid),
        name: `GetChannelMembershipsByFid ${fid}`,
        shape: ["text"],
        keyOf: ({ channelId }) => [channelId.toHex()],
        read(after, limit, reverse) {
          const from = after ? bytesOf(after[0]) : reverse ? LAST_BYTES : NO_BYTES;
          return db.all(reverse ? membershipsBefore : membershipsAfter, fid, from, limit);
        },
      });
    },
    channelFollowers(query, format, reader) {
      const { channelId } = query;
      const since = channelsActiveAt(db);
      return keyedList(context, query, format, reader, {
        refused: refusalOfChannel(context, channelId, false),
        name: `GetChannelFollowers ${channelId.toHex()}`,
        shape: ["int", "int"],
        keyOf: ({ timestamp, fid }) => [timestamp, fid],
        read(after, limit, reverse) {
          const uri = followUriOf(registrarOfIndex(db), channelId);
          if (uri === undefined || since === undefined) return [];
          const start = reverse ? Number.MAX_SAFE_INTEGER : -1;
          const [timestamp, fid] = after ?? [start, start];
          return db
            .all(reverse ? likesBefore : likesAfter, uri, since, timestamp, fid, limit)
            .map((row) => ({ ...row, followedAt: toFarcasterSecs(row.timestamp) }));
        },
      });
    },
    channelFollows(query, format, reader) {
      const { fid } = query;
      const refused = refusalOfFid(context, fid);
      const follows = refused ? [] : followEntries(db, fid);
      return keyedList(context, query, format, reader, {
        refused,
        name: `GetChannelFollows ${fid}`,
        shape: ["text"],
        keyOf: ({ channelId }) => [channelId.toHex()],
        read(after, limit, reverse) {
          const ordered = reverse ? follows.toReversed() : follows;
          const sign = reverse ? -1 : 1;
          const isAfter = ({ channelId }: FollowEntry) =>
            !after || sign * Buffer.compare(channelId, bytesOf(after[0])) > 0;
          return ordered.filter(isAfter).slice(0, limit);
        },
      });
    },
  };
}

interface KeyedChannelList<Row, Shape extends KeyShape> {
  /** Whether a page of 0 rows may be requested. Default: no. */
  readonly mayBeEmpty?: boolean;
  /** Why the list is refused, whichever page is requested. */
  readonly refused?: Result<never, Refusal> | undefined;
  /** Unique per list and its subject. */
  readonly name: string;
  readonly shape: Shape;
  readonly keyOf: (row: Row) => Key<Shape>;
  readonly read: (after: Key<Shape> | undefined, limit: number, reverse: boolean) => readonly Row[];
}

async function keyedList<Row, Item, const Shape extends KeyShape>(
  context: ReadContext,
  page: PageQuery,
  format: RowFormat<Row, Item>,
  reader: ListReader | undefined,
  list: KeyedChannelList<Row, Shape>,
): Promise<Result<Page<Item>, Refusal>> {
  const { mayBeEmpty = false, refused, name, shape, keyOf, read } = list;
  if (refused) return refused;
  const isEmpty = page.pageSize === 0;
  if (isEmpty && !mayBeEmpty) return invalidParam("page_size must be greater than 0");
  const tokens = tokenCodec(name, shape);
  if (isEmpty) return { ok: true, value: EMPTY_PAGE };
  return readList(context, reader, (turns) =>
    readKeyedList({ tokens, sizes: SIZES, keyOf, read }, { page, format, turns }),
  );
}

function moderationEntry({ target, state, authorFid }: ModerationRow): ModerationEntry {
  const { CHANNEL_MODERATE_ACTION_HIDE, CHANNEL_MODERATE_ACTION_UNHIDE } = ChannelModerateAction;
  const action = state === SlotState.On ? CHANNEL_MODERATE_ACTION_HIDE : CHANNEL_MODERATE_ACTION_UNHIDE;
  return { castHash: target, action, authorFid };
}

function followEntries(db: IndexDatabase, fid: number): FollowEntry[] {
  return followsOfUser(db, fid).map(({ channelId, timestamp }) => ({
    channelId,
    followedAt: toFarcasterSecs(timestamp),
  }));
}
