import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { parentUrlsOf } from "../../protocol/channel-url.ts";
import { ChannelSlotKind, MemberState, modesOf, SlotState } from "../../protocol/channels/slots.ts";
import { ChannelUpdateBody } from "../../protocol/wire/generated/message.ts";
import { type Hash, hex } from "./casts.ts";

/** The state of a Channel object without its lead. Times are in Unix seconds. */
export interface ChannelState {
  readonly id: string;
  /**
   * The registry's URL. A channel without a registry entry has the older client's URL, which the registry and most casts
   * use. It does not depend on the host in the casts' URLs.
   */
  readonly url: string;
  readonly name: string;
  readonly imageUrl: string | null;
  readonly description: string | null;
  readonly leadFid: number | null;
  readonly moderatorFids: readonly number[];
  readonly followers: number;
  readonly members: number;
  readonly createdAt: number | null;
  readonly pinnedCastHash: string | null;
  /** Source of the fields above: the protocol, an imported registry, or only casts. */
  readonly source: "protocol" | "import" | "activity";
  /** State of the channel in the protocol, whatever the source; undefined for a channel that is not registered. */
  readonly registered: RegisteredState | undefined;
  readonly isLapsed: boolean;
}

/** State that only registered channels have. */
export interface RegisteredState {
  readonly channelId: Uint8Array;
  readonly ownerAddress: Hash;
  /** Null while no fid has verified the owner's address: the channel is parked. */
  readonly ownerFid: number | null;
  readonly expiresAt: number;
  readonly header: string | null;
  readonly rules: string | null;
  readonly castingMode: number;
  readonly membershipMode: number;
}

/** A channel as stored in the index: what to show until its registration has lapsed, and what afterwards. */
export interface StoredChannel {
  readonly lapsesAt: number;
  readonly current: ChannelState;
  readonly lapsed: ChannelState;
}

interface ChannelRow {
  id: string;
  members: number | null;
  firstCastAt: number | null;
  url: string | null;
  name: string | null;
  imageUrl: string | null;
  description: string | null;
  leadFid: number | null;
  moderatorFids: string | null;
  followers: number | null;
  createdAt: number | null;
  pinnedCastHash: string | null;
  channelId: Uint8Array | null;
}

interface RegisteredRow {
  channelId: Uint8Array;
  id: string;
  key: string;
  ownerAddress: Uint8Array;
  expiry: number;
  registeredAt: number;
  members: number | null;
  moderators: number | null;
  followers: number | null;
  settings: Uint8Array | null;
  pinned: Uint8Array | null;
  ownerFid: number | null;
  moderatorFids: string;
}

const channelRows = statement<ChannelRow, [idsJson: string]>(
  "hydrate.channels",
  `SELECT j.value AS id, a.members, a.first_cast_at AS firstCastAt, r.url, r.name, r.image_url AS imageUrl,
     r.description, r.lead_fid AS leadFid, r.moderator_fids AS moderatorFids, r.follower_count AS followers,
     r.created_at AS createdAt, r.pinned_cast_hash AS pinnedCastHash, c.channel_id AS channelId
   FROM json_each(?) j
   LEFT JOIN channel_activity a ON a.id = j.value
   LEFT JOIN channel_registry r ON r.id = j.value
   LEFT JOIN channels c ON c.id = j.value
   WHERE a.id IS NOT NULL OR r.id IS NOT NULL OR c.id IS NOT NULL`,
);

const detailOf = (kind: ChannelSlotKind) =>
  `(SELECT s.detail FROM channel_slots s WHERE s.channel_id = c.channel_id AND s.kind = ${kind} AND s.target = x''
     AND s.state = ${SlotState.On})`;
const registeredRows = statement<RegisteredRow, [channelIdsJson: string]>(
  "hydrate.registered-channels",
  `SELECT c.channel_id AS channelId, c.id, c.key, c.owner_address AS ownerAddress, c.expiry,
     c.registered_at AS registeredAt, n.members, n.moderators, n.followers,
     ${detailOf(ChannelSlotKind.Settings)} AS settings, ${detailOf(ChannelSlotKind.Pin)} AS pinned,
     (SELECT o.fid FROM owner_claims o WHERE o.address = c.owner_address AND o.is_add = 1
      ORDER BY o.timestamp DESC, o.hash DESC, o.fid LIMIT 1) AS ownerFid,
     (SELECT json_group_array(s.target_fid) FROM channel_slots s WHERE s.channel_id = c.channel_id
        AND s.kind = ${ChannelSlotKind.Member} AND s.state = ${MemberState.Moderator}) AS moderatorFids
   FROM json_each(?) j
   CROSS JOIN channels c ON c.channel_id = unhex(j.value)
   LEFT JOIN channel_counts n ON n.channel_id = c.channel_id`,
);

/** How long a registration counts after it has expired: the registry gives the owner this time to renew it. */
const GRACE_SECS = 90 * 86_400;

/** Loads the channels among `ids` that exist through casts, an import or a registration, in at most two statements. */
export function loadChannels(db: IndexDatabase, ids: Iterable<string>): Map<string, StoredChannel> {
  const distinct = [...new Set(ids)];
  const channels = new Map<string, StoredChannel>();
  if (distinct.length === 0) return channels;
  const rows = db.all(channelRows, JSON.stringify(distinct));
  const registered = rows.flatMap(({ channelId }) => channelId?.toHex() ?? []);
  const byId = new Map<string, RegisteredRow>();
  if (registered.length > 0)
    for (const row of db.all(registeredRows, JSON.stringify(registered))) byId.set(row.id, row);
  const importWins = db.protocolNames === "lose";
  for (const row of rows) channels.set(row.id, storedChannel(row, byId.get(row.id), importWins));
  return channels;
}

/** @param importWins whether an imported entry of the same name is shown instead of the registration. */
function storedChannel(
  row: ChannelRow,
  registration: RegisteredRow | undefined,
  importWins: boolean,
): StoredChannel {
  const { id, url, name, moderatorFids } = row;
  const known: ChannelState = {
    id,
    url: url ?? canonicalUrl(id),
    name: name ?? id,
    imageUrl: row.imageUrl,
    description: row.description,
    leadFid: row.leadFid,
    moderatorFids: moderatorFids === null ? [] : JSON.parse(moderatorFids),
    followers: row.followers ?? 0,
    members: row.members ?? 0,
    createdAt: row.createdAt ?? row.firstCastAt,
    pinnedCastHash: row.pinnedCastHash,
    source: url === null ? "activity" : "import",
    registered: undefined,
    isLapsed: false,
  };
  if (!registration) return { lapsesAt: Number.POSITIVE_INFINITY, current: known, lapsed: known };
  const registered = protocolState(known, registration);
  const imported = url === null ? registered : { ...known, registered: registered.registered };
  return {
    lapsesAt: registration.expiry + GRACE_SECS,
    current: importWins ? imported : registered,
    lapsed: { ...imported, isLapsed: true },
  };
}

function protocolState(known: ChannelState, row: RegisteredRow): ChannelState {
  const settings = row.settings === null ? undefined : ChannelUpdateBody.decode(row.settings);
  const moderators: number[] = JSON.parse(row.moderatorFids);
  return {
    id: row.id,
    url: known.url,
    name: settings?.name ?? row.key,
    imageUrl: settings?.imageUrl ?? null,
    description: settings?.description ?? null,
    leadFid: row.ownerFid,
    moderatorFids: moderators.sort((a, b) => a - b),
    followers: row.followers ?? 0,
    members: (row.members ?? 0) + (row.moderators ?? 0),
    createdAt: row.registeredAt,
    pinnedCastHash: row.pinned === null ? null : hex(row.pinned),
    source: "protocol",
    registered: {
      channelId: row.channelId,
      ownerAddress: hex(row.ownerAddress),
      ownerFid: row.ownerFid,
      expiresAt: row.expiry,
      header: settings?.header ?? null,
      rules: settings?.rules ?? null,
      ...modesOf(settings),
    },
    isLapsed: false,
  };
}

/** Returns what to show for a channel at a time. */
export function channelAt({ lapsesAt, current, lapsed }: StoredChannel, nowSecs: number): ChannelState {
  return nowSecs < lapsesAt ? current : lapsed;
}

/** Returns the channel's state in the protocol, if that is what is shown. */
export function protocolOf(state: ChannelState | undefined): RegisteredState | undefined {
  return state?.source === "protocol" ? state.registered : undefined;
}

/** Returns the URL of a channel without a registry entry. */
export function canonicalUrl(channelId: string): string {
  return parentUrlsOf(channelId)[0] ?? channelId;
}
