import type { Page } from "../../cursor.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { ChannelCasts } from "../../queries/channels/channel-casts.ts";
import type { MembershipPage } from "../presenters.ts";
import { presentChannel } from "./channel.ts";
import { presentUser } from "./user.ts";

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
