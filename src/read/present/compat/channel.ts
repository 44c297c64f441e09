import { isoTime } from "../../../lib/iso-time.ts";
import { extendMemoized } from "../../../lib/json-text.ts";
import type { Page } from "../../cursor.ts";
import type { ChannelState } from "../../hydrate/channels.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { ChannelCasts } from "../../queries/channels.ts";
import { channelFields, presentThreadChannel } from "../native/channel.ts";
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
  viewer_context: { following: boolean; role?: "member" };
}

/** A user with casts in a channel is its member, and members count as followers: the protocol has no other membership. */
function viewerContextOf(id: string, { viewer }: Hydration): ViewerContext {
  const isMember = viewer?.channels.has(id) ?? false;
  return { viewer_context: { following: isMember, ...(isMember && { role: "member" as const }) } };
}

const MEMBER = { object: "member", role: "member" } as const;

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

/** Presents a page of the channels that a user is a member of. */
export function presentMemberships({ fid, rows, cursor }: MembershipPage, hydration: Hydration) {
  const user = presentUser(fid, hydration);
  const members = rows.flatMap(({ id }) => {
    const channel = presentChannel(id, hydration);
    return user && channel ? [{ ...MEMBER, user, channel }] : [];
  });
  return { members, next: { cursor } };
}

/** Presents a page of the members of a channel. */
export function presentChannelMembers(
  { rows, cursor, channelId }: Page<{ readonly fid: number }> & { readonly channelId: string },
  hydration: Hydration,
) {
  const channel = presentChannel(channelId, hydration);
  const members = rows.flatMap(({ fid }) => {
    const user = presentUser(fid, hydration);
    return user && channel ? [{ ...MEMBER, user, channel }] : [];
  });
  return { members, next: { cursor } };
}
