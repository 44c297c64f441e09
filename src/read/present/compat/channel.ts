import { isoTime } from "../../../lib/iso-time.ts";
import { extendMemoized } from "../../../lib/json-text.ts";
import type { Page } from "../../cursor.ts";
import { type ChannelRelation, type ChannelRole, relationOf } from "../../hydrate/channel-relations.ts";
import type { ChannelState } from "../../hydrate/channels.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { ChannelCasts } from "../../queries/channels/channel-lists.ts";
import { channelFields, presentThreadChannel, registeredFields } from "../native/channel.ts";
import { type MembershipPage, memoizePresenter } from "../presenters.ts";
import { presentUser, type User } from "./user.ts";

/** Presents the Channel object; undefined for a channel that does not exist. Absent fields are omitted, not null. */
export function presentChannel(id: string, hydration: Hydration): Channel | undefined {
  const channel = hydration.channels.get(id);
  if (!channel) return undefined;
  const { leadFid } = channel;
  const lead = leadFid === null ? undefined : presentUser(leadFid, hydration);
  if (!hydration.viewer) return presentMemoized(channel, lead);
  return { ...presentState(channel, lead), ...viewerContextOf(id, hydration) };
}

function presentState(channel: ChannelState, lead: User | undefined) {
  const {
    lead: _,
    image_url,
    description,
    pinned_cast_hash,
    created_at,
    ...rest
  } = channelFields(channel, null);
  return {
    ...rest,
    created_at: isoTime(created_at ?? 0),
    ...(image_url !== null && { image_url }),
    ...(description !== null && { description }),
    ...(pinned_cast_hash !== null && { pinned_cast_hash }),
    ...(lead && { lead }),
    hosts: lead ? [lead] : [],
    ...presentRegistered(channel),
  };
}

/** Presents the fields of a registered channel, which the hosted API does not have. */
function presentRegistered(channel: ChannelState) {
  const fields = registeredFields(channel);
  if (!fields) return {};
  const { expires_at, lapsed, header, rules, ...rest } = fields;
  return {
    ...rest,
    expires_at: isoTime(expires_at),
    ...(lapsed && { lapsed }),
    ...(header !== null && { header }),
    ...(rules !== null && { rules }),
  };
}

const presentMemoized = memoizePresenter(presentState);

export type Channel = ReturnType<typeof presentState> & Partial<ViewerContext>;

/** Presents the channel of a cast's thread; null for a thread without a parent URL. */
export function presentChannelDehydrated(
  rootParentUrl: string | null,
  hydration: Hydration,
): ChannelDehydrated | null {
  const shown = presentThreadChannel(rootParentUrl, hydration, presentDehydrated);
  if (shown === null || !hydration.viewer) return shown;
  return extendMemoized(shown, viewerContextOf(shown.id, hydration));
}

const presentDehydrated = memoizePresenter(
  ({ id, name, imageUrl, url }: Pick<ChannelState, "id" | "name" | "imageUrl" | "url">) => ({
    object: "channel_dehydrated" as const,
    id,
    name,
    parent_url: url,
    ...(imageUrl !== null && { image_url: imageUrl }),
  }),
);

export type ChannelDehydrated = ReturnType<typeof presentDehydrated> & Partial<ViewerContext>;

interface ViewerContext {
  viewer_context: ChannelContext;
}

interface ChannelContext {
  following: boolean;
  role?: ChannelRole;
}

function viewerContextOf(id: string, { viewer }: Hydration): ViewerContext {
  return { viewer_context: presentRelation(viewer?.channels.get(id) ?? relationOf(false, undefined)) };
}

/** Presents the relation of a user to a channel. Equal relations give the same object. */
export const presentRelation = memoizePresenter(
  ({ following, role }: ChannelRelation): ChannelContext => ({ following, ...(role && { role }) }),
);

/** Presents a page of trending channels with their cast counts, which are strings. */
export function presentChannelActivity(
  {
    rows,
    cursor,
    casts,
  }: Page<{ readonly id: string }> & { readonly casts: ReadonlyMap<string, ChannelCasts> },
  hydration: Hydration,
) {
  const channels = rows.flatMap(({ id }) => {
    const channel = presentChannel(id, hydration);
    if (!channel) return [];
    const { day = 0, week = 0, month = 0 } = casts.get(id) ?? {};
    return [
      {
        object: "channel_activity" as const,
        cast_count_1d: String(day),
        cast_count_7d: String(week),
        cast_count_30d: String(month),
        channel,
      },
    ];
  });
  return { channels, next: { cursor } };
}

/** Presents a page of the channels of which a user is a member. */
export function presentMemberships({ fid, rows, cursor }: MembershipPage, hydration: Hydration) {
  const user = presentUser(fid, hydration);
  const members = rows.flatMap(({ id, role }) => {
    const channel = presentChannel(id, hydration);
    return user && channel ? [{ object: "member" as const, role, user, channel }] : [];
  });
  return { members, next: { cursor } };
}

export interface ChannelMemberRow {
  readonly fid: number;
  readonly role: ChannelRole;
}

export function presentChannelMembers(
  { rows, cursor, channelId }: Page<ChannelMemberRow> & { readonly channelId: string },
  hydration: Hydration,
) {
  const channel = presentChannel(channelId, hydration);
  const members = rows.flatMap(({ fid, role }) => {
    const user = presentUser(fid, hydration);
    return user && channel ? [{ object: "member" as const, role, user, channel }] : [];
  });
  return { members, next: { cursor } };
}
