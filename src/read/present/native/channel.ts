import { channelIdOf } from "../../../protocol/channel-url.ts";
import { type ChannelState, canonicalUrl } from "../../hydrate/channels.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import { memoizePresenter } from "../memoize.ts";
import { presentUser, type User } from "./user.ts";

/** Presents the Channel object; undefined for a channel that does not exist. */
export function presentChannel(id: string, hydration: Hydration) {
  const channel = hydration.channels.get(id);
  if (!channel) return undefined;
  const { leadFid } = channel;
  return presentState(channel, (leadFid !== null ? presentUser(leadFid, hydration) : undefined) ?? null);
}

const presentState = memoizePresenter((channel: ChannelState, lead: User | null) => {
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
});

export type Channel = NonNullable<ReturnType<typeof presentChannel>>;

/** Presents the channel of a cast's thread; null for a thread without a parent URL. */
export function presentChannelDehydrated(rootParentUrl: string | null, hydration: Hydration) {
  if (rootParentUrl === null) return null;
  const id = channelIdOf(rootParentUrl);
  const channel = hydration.channels.get(id);
  return channel ? presentDehydrated(channel) : dehydrated(id, id, null, canonicalUrl(id));
}

const presentDehydrated = memoizePresenter(({ id, name, imageUrl, url }: ChannelState) =>
  dehydrated(id, name, imageUrl, url),
);

function dehydrated(id: string, name: string, imageUrl: string | null, url: string) {
  return { object: "channel_dehydrated" as const, id, name, image_url: imageUrl, parent_url: url };
}
