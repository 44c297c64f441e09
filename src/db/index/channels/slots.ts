import { type ChannelSlot, ChannelSlotKind, MemberState } from "../../../protocol/channels/slots.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** The content of a slot of a channel. */
export interface StoredSlot {
  readonly targetFid: number;
  readonly state: number;
  readonly authorFid: number;
  /** Farcaster seconds. */
  readonly timestamp: number;
  readonly seqnum: number;
  readonly detail: Uint8Array | null;
  /** The signed message; null for a state that was reported without its message. */
  readonly message: Uint8Array | null;
}

/** A slot of a channel with its content. */
export interface SlotRow extends StoredSlot {
  readonly kind: ChannelSlotKind;
  readonly target: Uint8Array;
}

export type SlotKey = Pick<ChannelSlot, "channelId" | "kind" | "target">;

const slotAt = statement<StoredSlot, [channelId: Uint8Array, kind: number, target: Uint8Array]>(
  "channel-slots.at",
  `SELECT target_fid AS targetFid, state, author_fid AS authorFid, timestamp, seqnum, detail, message
   FROM channel_slots WHERE channel_id = ? AND kind = ? AND target = ?`,
);
const slotsAt = statement<SlotRow, [channelId: Uint8Array]>(
  "channel-slots.of-channel",
  `SELECT kind, target, target_fid AS targetFid, state, author_fid AS authorFid, timestamp, seqnum, detail, message
   FROM channel_slots WHERE channel_id = ?`,
);
const channelsWithSlot = statement<{ channelId: Uint8Array }, [fid: number]>(
  "channel-slots.of-fid",
  "SELECT channel_id AS channelId FROM channel_slots WHERE target_fid = ? AND target_fid > 0",
);
const putSlotStatement = statement<
  unknown,
  [
    channelId: Uint8Array,
    kind: number,
    target: Uint8Array,
    targetFid: number,
    state: number,
    authorFid: number,
    timestamp: number,
    seqnum: number,
    detail: Uint8Array | null,
    message: Uint8Array | null,
  ]
>(
  "channel-slots.put",
  `INSERT OR REPLACE INTO channel_slots
     (channel_id, kind, target, target_fid, state, author_fid, timestamp, seqnum, detail, message)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);

export interface ChannelCounts {
  readonly members: number;
  readonly moderators: number;
  readonly memberSlots: number;
  readonly moderationSlots: number;
  readonly followers: number;
}

const countsOf = statement<ChannelCounts, [channelId: Uint8Array]>(
  "channel-counts.of",
  `SELECT members, moderators, member_slots AS memberSlots, moderation_slots AS moderationSlots, followers
   FROM channel_counts WHERE channel_id = ?`,
);
const addCounts = statement<
  unknown,
  [
    channelId: Uint8Array,
    members: number,
    moderators: number,
    memberSlots: number,
    moderationSlots: number,
    followers: number,
  ]
>(
  "channel-counts.add",
  `INSERT INTO channel_counts (channel_id, members, moderators, member_slots, moderation_slots, followers)
   VALUES (?1, ?2, ?3, ?4, ?5, ?6)
   ON CONFLICT (channel_id) DO UPDATE SET
     members = members + ?2, moderators = moderators + ?3, member_slots = member_slots + ?4,
     moderation_slots = moderation_slots + ?5, followers = followers + ?6`,
);

const NO_COUNTS: ChannelCounts = {
  members: 0,
  moderators: 0,
  memberSlots: 0,
  moderationSlots: 0,
  followers: 0,
};

export function findSlot(db: IndexDatabase, { channelId, kind, target }: SlotKey): StoredSlot | undefined {
  return db.get(slotAt, channelId, kind, target);
}

export function slotsOfChannel(db: IndexDatabase, channelId: Uint8Array): SlotRow[] {
  return db.all(slotsAt, channelId);
}

/** Returns the channels with a slot for an fid, in any state. */
export function slotsOfFid(db: IndexDatabase, fid: number): Uint8Array[] {
  return db.all(channelsWithSlot, fid).map(({ channelId }) => channelId);
}

export function countsOfChannel(db: IndexDatabase, channelId: Uint8Array): ChannelCounts {
  return db.get(countsOf, channelId) ?? NO_COUNTS;
}

/** Changes the counts of a channel, in the transaction that changes its rows. */
export function addToCounts(db: IndexDatabase, channelId: Uint8Array, by: Partial<ChannelCounts>): void {
  const { members, moderators, memberSlots, moderationSlots, followers } = { ...NO_COUNTS, ...by };
  db.run(addCounts, channelId, members, moderators, memberSlots, moderationSlots, followers);
}

/** The new content of a slot. */
export interface SlotUpdate {
  readonly slot: ChannelSlot;
  readonly authorFid: number;
  /** Farcaster seconds. */
  readonly timestamp: number;
  /** Number of the event of shard 0 that decided it. */
  readonly seqnum: number;
  readonly message: Uint8Array | null;
}

/**
 * Replaces the content of a slot with what shard 0 merged last. Applying an event again, over a newer one or over itself,
 * changes nothing.
 *
 * @returns the previous content, or undefined if nothing changed.
 */
export function putSlot(
  db: IndexDatabase,
  update: SlotUpdate,
): { before: StoredSlot | undefined } | undefined {
  const { slot, authorFid, timestamp, seqnum, message } = update;
  const { channelId, kind, target, targetFid, state, detail } = slot;
  const before = findSlot(db, slot);
  if (before && before.seqnum >= seqnum) return undefined;
  db.run(
    putSlotStatement,
    channelId,
    kind,
    target,
    targetFid,
    state,
    authorFid,
    timestamp,
    seqnum,
    detail,
    message,
  );
  const isNew = Number(before === undefined);
  if (kind === ChannelSlotKind.Member) {
    const changeOf = (counted: number) => Number(state === counted) - Number(before?.state === counted);
    addToCounts(db, channelId, {
      members: changeOf(MemberState.Member),
      moderators: changeOf(MemberState.Moderator),
      memberSlots: isNew,
    });
  } else if (kind === ChannelSlotKind.Moderation) addToCounts(db, channelId, { moderationSlots: isNew });
  return { before };
}

const forgottenSlots = statement<
  { channelId: Uint8Array; kind: number; target: Uint8Array; state: number },
  [limit: number]
>(
  "channel-slots.forgotten",
  "SELECT channel_id AS channelId, kind, target, state FROM channel_slots WHERE channel_id >= x'' AND seqnum < 0 LIMIT ?",
);
const dropSlot = statement<unknown, [channelId: Uint8Array, kind: number, target: Uint8Array]>(
  "channel-slots.drop",
  "DELETE FROM channel_slots WHERE channel_id = ? AND kind = ? AND target = ?",
);
const FORGOTTEN_AT_ONCE = 1000;

/** Drops the slots that were marked by `forgetDecisions` and have not been read again since. Returns their channels. */
export function dropForgottenSlots(db: IndexDatabase): Uint8Array[] {
  const channels = new Map<string, Uint8Array>();
  for (;;) {
    const rows = db.all(forgottenSlots, FORGOTTEN_AT_ONCE);
    if (rows.length === 0) return [...channels.values()];
    for (const { channelId, kind, target, state } of rows) {
      channels.set(channelId.toHex(), channelId);
      db.run(dropSlot, channelId, kind, target);
      if (kind === ChannelSlotKind.Member)
        addToCounts(db, channelId, {
          members: -Number(state === MemberState.Member),
          moderators: -Number(state === MemberState.Moderator),
          memberSlots: -1,
        });
      else if (kind === ChannelSlotKind.Moderation) addToCounts(db, channelId, { moderationSlots: -1 });
    }
  }
}
