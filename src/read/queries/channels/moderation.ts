import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { ChannelSlotKind, SlotState } from "../../../protocol/channels/slots.ts";
import type { RegisteredChannel } from "../../channel-names.ts";
import { cursorCodec, pagedList } from "../../cursor.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";
import { unixOf } from "./roles.ts";

/** Moderators' decisions in registered channels. */

interface SlotRow {
  readonly target: Uint8Array;
  readonly state: number;
  readonly authorFid: number;
  readonly timestamp: number;
  readonly detail: Uint8Array | null;
}

const columns = "target, state, author_fid AS authorFid, timestamp, detail FROM channel_slots";
const moderationsAfter = statement<SlotRow, [channelId: Uint8Array, after: Uint8Array, limit: number]>(
  "skeleton.channel-moderations",
  `SELECT ${columns} WHERE channel_id = ? AND kind = ${ChannelSlotKind.Moderation} AND target > ?
   ORDER BY target LIMIT ?`,
);
const pinOf = statement<SlotRow, [channelId: Uint8Array]>(
  "skeleton.channel-pin",
  `SELECT ${columns} WHERE channel_id = ? AND kind = ${ChannelSlotKind.Pin} AND target = x''
     AND state = ${SlotState.On}`,
);

/** A cast that a moderator has hidden, or has hidden and shown again. */
export interface ModerationRow {
  readonly hash: Hash;
  readonly isHidden: boolean;
  /** 0 if unknown. */
  readonly moderatorFid: number;
  /** Unix seconds; 0 if unknown. */
  readonly moderatedAt: number;
}

/** Lists moderators' decisions about casts, by the casts' hashes. */
export const channelModerations = pagedList(
  cursorCodec("channel/moderations", ["hash"]),
  (db, { channel }: { readonly channel: RegisteredChannel }, { limit, after }): ModerationRow[] => {
    const from = after ? Uint8Array.fromHex(after[0].slice(2)) : new Uint8Array();
    return db.all(moderationsAfter, channel.channelId, from, limit).map((row) => ({
      hash: hex(row.target),
      isHidden: row.state === SlotState.On,
      moderatorFid: row.authorFid,
      moderatedAt: unixOf(row.timestamp),
    }));
  },
  ({ hash }) => [hash],
);

/** The pinned cast of a channel, which need not exist. */
export interface PinRow {
  readonly hash: Hash;
  /** 0 if unknown. */
  readonly pinnedByFid: number;
  /** Unix seconds; 0 if unknown. */
  readonly pinnedAt: number;
}

/** Returns the pin of a channel; undefined while it has none. */
export function channelPin(db: IndexDatabase, channel: RegisteredChannel): PinRow | undefined {
  const row = db.get(pinOf, channel.channelId);
  if (!row?.detail) return undefined;
  return { hash: hex(row.detail), pinnedByFid: row.authorFid, pinnedAt: unixOf(row.timestamp) };
}
