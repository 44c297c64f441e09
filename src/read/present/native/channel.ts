import { channelIdOf } from "../../../protocol/channel-url.ts";
import { type ChannelState, canonicalUrl } from "../../hydrate/channels.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import { memoizePresenter } from "../presenters.ts";
import { presentUser, type User } from "./user.ts";

/** Presents the Channel object; undefined for a channel that does not exist. */
export function presentChannel(id: string, hydration: Hydration) {
  const channel = hydration.channels.get(id);
  if (!channel) return undefined;
  const { leadFid } = channel;
  return presentState(channel, (leadFid !== null ? presentUser(leadFid, hydration) : undefined) ?? null);
}

/** Builds the fields of the Channel object. */
export function channelFields(channel: ChannelState, lead: User | null) {
  return {
    object: "channel" as const,
    id: channel.id,
    url: channel.url,
    parent_url: channel.url,
    name: channel.name,
    image_url: channel.imageUrl,
    description: channel.description,
    lead,
    moderator_fids: [...channel.moderatorFids],
    follower_count: channel.followers,
    member_count: channel.members,
    created_at: channel.createdAt,
    pinned_cast_hash: channel.pinnedCastHash,
  };
}

const presentState = memoizePresenter(channelFields);

export type Channel = NonNullable<ReturnType<typeof presentChannel>>;

/** The fields of a channel that a cast shows. */
type ThreadChannel = Pick<ChannelState, "id" | "name" | "imageUrl" | "url">;

/**
 * Presents the channel of a cast's thread, whose channel may have no state; null for a thread without a parent URL.
 * @param present presents the channel's fields
 */
export function presentThreadChannel<Shown>(
  rootParentUrl: string | null,
  { channels }: Hydration,
  present: (channel: ThreadChannel) => Shown,
): Shown | null {
  if (rootParentUrl === null) return null;
  const id = channelIdOf(rootParentUrl);
  return present(channels.get(id) ?? { id, name: id, imageUrl: null, url: canonicalUrl(id) });
}

/** Presents the channel of a cast's thread; null for a thread without a parent URL. */
export function presentChannelDehydrated(rootParentUrl: string | null, hydration: Hydration) {
  return presentThreadChannel(rootParentUrl, hydration, presentDehydrated);
}

const presentDehydrated = memoizePresenter(({ id, name, imageUrl, url }: ThreadChannel) => ({
  object: "channel_dehydrated" as const,
  id,
  name,
  image_url: imageUrl,
  parent_url: url,
}));
