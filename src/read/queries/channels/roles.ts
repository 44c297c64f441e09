import { fidOfOwner } from "../../../db/index/channels/owner-claims.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { ChannelSlotKind, MemberState, memberTarget } from "../../../protocol/channels/slots.ts";
import { toUnixSecs } from "../../../protocol/time.ts";
import { channelsOfProtocol, type RegisteredChannel } from "../../channel-names.ts";
import { cursorCodec, cutPage, type Key, type Page, pagedList } from "../../cursor.ts";
import { type ChannelRole, roleOfState } from "../../hydrate/channel-relations.ts";
import { ownedChannels } from "./owned.ts";

/** The owner, the moderators and the members of registered channels. */

interface SlotRow {
  readonly fid: number;
  readonly state: number;
  readonly timestamp: number;
}

/** Excludes slots of unregistered fids. */
const isUser = "EXISTS (SELECT 1 FROM fids f WHERE f.fid = s.target_fid)";
const below = (state: MemberState) =>
  `SELECT * FROM (SELECT s.target_fid AS fid, s.state, s.timestamp FROM channel_slots s
   WHERE s.channel_id = ?1 AND s.kind = ${ChannelSlotKind.Member} AND s.state = ${state}
     AND (s.timestamp, s.target_fid) < (?2, ?3) AND s.target_fid != ?4 AND ${isUser}
   ORDER BY s.timestamp DESC, s.target_fid DESC LIMIT ?5)`;
type Below = [channelId: Uint8Array, timestamp: number, fid: number, ownerFid: number, limit: number];
const slotsBelow = statement<SlotRow, Below>(
  "skeleton.channel-roles.of-channel",
  `${below(MemberState.Member)} UNION ALL ${below(MemberState.Moderator)}
   ORDER BY timestamp DESC, fid DESC LIMIT ?5`,
);
const bannedBelow = statement<SlotRow & { authorFid: number }, Below>(
  "skeleton.channel-roles.banned",
  below(MemberState.Banned).replace("s.timestamp FROM", "s.timestamp, s.author_fid AS authorFid FROM"),
);
const slotOf = statement<{ state: number }, [channelId: Uint8Array, target: Uint8Array]>(
  "skeleton.channel-roles.of-fid",
  `SELECT state FROM channel_slots WHERE channel_id = ? AND kind = ${ChannelSlotKind.Member} AND target = ?`,
);

/** A user with a role in a channel. */
export interface RoleRow {
  readonly fid: number;
  readonly role: ChannelRole;
}

const FROM_THE_NEWEST = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const;

/** Lists the owner of a channel, then its moderators and members, most recent role change first. */
export const channelRoles = pagedList(
  cursorCodec("channel/roles", ["int", "int"]),
  (
    db,
    { channel }: { readonly channel: RegisteredChannel },
    { limit, after },
  ): readonly (RoleRow & { readonly timestamp: number })[] => {
    const ownerFid = fidOfOwner(db, channel.ownerAddress);
    const from = after ?? FROM_THE_NEWEST;
    const rows = db.all(slotsBelow, channel.channelId, ...from, ownerFid, limit).flatMap((slot) => {
      const role = roleOfState(slot.state);
      return role ? [{ fid: slot.fid, role, timestamp: slot.timestamp }] : [];
    });
    if (after !== undefined || ownerFid === 0) return rows;
    return [{ fid: ownerFid, role: "owner", timestamp: FROM_THE_NEWEST[0] }, ...rows];
  },
  ({ role, timestamp, fid }) => (role === "owner" ? FROM_THE_NEWEST : [timestamp, fid]),
);

/** Returns the role of one fid in a channel, as a list of at most one. */
export function channelRoleOf(db: IndexDatabase, channel: RegisteredChannel, fid: number): Page<RoleRow> {
  const isOwner = fid !== 0 && fidOfOwner(db, channel.ownerAddress) === fid;
  const state = db.get(slotOf, channel.channelId, memberTarget(fid))?.state;
  const role = isOwner ? "owner" : roleOfState(state);
  return { rows: role ? [{ fid, role }] : [], cursor: null };
}

/**
 * A user who is banned from a channel. `bannedAt` is in Unix seconds; 0 if the upstream reported the state without its
 * message.
 */
export interface BanRow {
  readonly fid: number;
  /** 0 if unknown. */
  readonly bannedBy: number;
  readonly bannedAt: number;
}

/** Lists the users who are banned from a channel, latest ban first. */
export const channelBans = pagedList(
  cursorCodec("channel/bans", ["int", "int"]),
  (db, { channel }: { readonly channel: RegisteredChannel }, { limit, after = FROM_THE_NEWEST }) =>
    db.all(bannedBelow, channel.channelId, ...after, 0, limit).map(({ fid, authorFid, timestamp }) => ({
      fid,
      bannedBy: authorFid,
      bannedAt: unixOf(timestamp),
      timestamp,
    })),
  ({ timestamp, fid }) => [timestamp, fid],
);

/** Converts the time of a slot to Unix seconds; 0 for a state without a time. */
export function unixOf(timestamp: number): number {
  return timestamp === 0 ? 0 : toUnixSecs(timestamp);
}

const slotsOf = statement<
  { channelId: Uint8Array; state: number },
  [fid: number, after: Uint8Array, limit: number]
>(
  "skeleton.channel-roles.of-user",
  `SELECT s.channel_id AS channelId, s.state FROM channel_slots s
   CROSS JOIN channels c ON c.channel_id = s.channel_id
   WHERE s.target_fid = ?1 AND s.target_fid > 0 AND s.channel_id > ?2
     AND s.state IN (${MemberState.Member}, ${MemberState.Moderator})
     AND ?1 IS NOT (SELECT o.fid FROM owner_claims o WHERE o.address = c.owner_address AND o.is_add = 1
       ORDER BY o.timestamp DESC, o.hash DESC, o.fid LIMIT 1)
   ORDER BY s.channel_id LIMIT ?3`,
);

/** A channel in which a user has a role. */
interface ChannelOfUser {
  readonly id: string;
  readonly role: ChannelRole;
}

/**
 * The position in the list: the owner's address for a channel that the user owns, or empty for a channel with another role;
 * then its id.
 */
export const rolesOfUserCursor = cursorCodec("user/memberships/list roles", ["word", "word"]);

const NONE = "";

/**
 * Returns the registered channels that a user owns, by the owner's address and key, followed by those with another role, by
 * id.
 */
export function rolesOfUser(
  db: IndexDatabase,
  query: { readonly fid: number; readonly limit: number; readonly after: Key<["word", "word"]> | undefined },
): Page<ChannelOfUser> {
  const { fid, limit, after = [NONE, NONE] } = query;
  const [address, last] = after.map(bytesOfHex);
  const isAmongOwned = after[0] !== NONE || after[1] === NONE;
  const found: { channelId: Uint8Array; address: string; role: ChannelRole }[] = isAmongOwned
    ? ownedChannels(db, fid, { address: address ?? NO_BYTES, channelId: last ?? NO_BYTES }, limit + 1).map(
        (row) => ({
          channelId: row.channelId,
          address: row.ownerAddress.toHex(),
          role: "owner",
        }),
      )
    : [];
  if (found.length <= limit) {
    const from = isAmongOwned ? NO_BYTES : (last ?? NO_BYTES);
    for (const { channelId, state } of db.all(slotsOf, fid, from, limit + 1 - found.length)) {
      const role = roleOfState(state);
      if (role) found.push({ channelId, address: NONE, role });
    }
  }
  const { rows, cursor } = cutPage(found, limit, ({ address, channelId }) =>
    rolesOfUserCursor.encode([address, channelId.toHex()]),
  );
  const channels = channelsOfProtocol(
    db,
    rows.map(({ channelId }) => channelId),
  );
  return {
    rows: rows.flatMap(({ channelId, role }) => {
      const id = channels.get(channelId.toHex())?.id;
      return id === undefined ? [] : [{ id, role }];
    }),
    cursor,
  };
}

const NO_BYTES = new Uint8Array();

/** Decodes hex from a cursor, which is a client's text. Anything but hex means the start. */
function bytesOfHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "hex"));
}
