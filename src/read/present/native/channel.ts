import { channelIdOf } from "../../../protocol/channel-url.ts";
import { CastingMode, MembershipMode } from "../../../protocol/wire/generated/message.ts";
import { hex } from "../../hydrate/casts.ts";
import { type ChannelState, canonicalUrl, type RegisteredState } from "../../hydrate/channels.ts";
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
    source: channel.source,
  };
}

/** Builds the fields that only registered channels have; undefined for other channels. */
export function registeredFields({ registered, isLapsed }: ChannelState) {
  if (!registered) return undefined;
  const { channelId, ownerAddress, expiresAt, header, rules, castingMode, membershipMode } = registered;
  return {
    channel_id: hex(channelId),
    owner: ownerOf(registered),
    owner_address: ownerAddress,
    expires_at: expiresAt,
    lapsed: isLapsed,
    header,
    rules,
    casting_mode: CASTING_MODES[castingMode] ?? ("members_only" as const),
    membership_mode: MEMBERSHIP_MODES[membershipMode] ?? ("approval" as const),
  };
}

/**
 * Presents the owner. A channel without a resolved owner is parked until the address is verified again; it is not abandoned.
 */
function ownerOf({ ownerAddress: address, ownerFid: fid }: RegisteredState) {
  return { address, fid, state: fid === null ? ("unverified" as const) : ("verified" as const) };
}

const CASTING_MODES: Readonly<Record<number, "everyone" | "members_only" | "recommended">> = {
  [CastingMode.CASTING_MODE_EVERYONE]: "everyone",
  [CastingMode.CASTING_MODE_MEMBERS_ONLY]: "members_only",
  [CastingMode.CASTING_MODE_RECOMMENDED]: "recommended",
};
const MEMBERSHIP_MODES: Readonly<Record<number, "open" | "approval">> = {
  [MembershipMode.MEMBERSHIP_MODE_OPEN]: "open",
  [MembershipMode.MEMBERSHIP_MODE_APPROVAL]: "approval",
};

const NOT_REGISTERED = {
  channel_id: null,
  owner: null,
  owner_address: null,
  expires_at: null,
  lapsed: false,
  header: null,
  rules: null,
  casting_mode: null,
  membership_mode: null,
};

const presentState = memoizePresenter((channel: ChannelState, lead: User | null) => ({
  ...channelFields(channel, lead),
  ...(registeredFields(channel) ?? NOT_REGISTERED),
}));

export type Channel = NonNullable<ReturnType<typeof presentChannel>>;

/** The fields of a channel shown with a cast. */
type ThreadChannel = Pick<ChannelState, "id" | "name" | "imageUrl" | "url">;

/**
 * Presents the channel of a cast's thread, which may have no state; null for a thread without a parent URL.
 *
 * @param present presents the channel's fields.
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
