import { isoTime } from "../../../lib/iso-time.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import {
  presentChannel as presentSpecChannel,
  presentChannelDehydrated as presentSpecDehydrated,
} from "../native/channel.ts";
import { presentUser } from "./user.ts";

/** Presents the Channel object; undefined for a channel that does not exist. Absent fields are omitted, not null. */
export function presentChannel(id: string, hydration: Hydration) {
  const channel = presentSpecChannel(id, hydration);
  if (!channel) return undefined;
  const { lead: _, image_url, description, pinned_cast_hash, created_at, ...rest } = channel;
  const leadFid = hydration.channels.get(id)?.leadFid ?? null;
  const lead = leadFid === null ? undefined : presentUser(leadFid, hydration);
  return {
    ...rest,
    created_at: isoTime(created_at ?? 0),
    ...(image_url !== null && { image_url }),
    ...(description !== null && { description }),
    ...(pinned_cast_hash !== null && { pinned_cast_hash }),
    ...(lead && { lead }),
    hosts: lead ? [lead] : [],
    ...viewerContextOf(id, hydration),
  };
}

export type Channel = NonNullable<ReturnType<typeof presentChannel>>;

/** Presents the channel of a cast's thread; null for a thread without a parent URL. */
export function presentChannelDehydrated(rootParentUrl: string | null, hydration: Hydration) {
  const channel = presentSpecDehydrated(rootParentUrl, hydration);
  if (channel === null) return null;
  const { image_url, ...rest } = channel;
  return { ...rest, ...(image_url !== null && { image_url }), ...viewerContextOf(channel.id, hydration) };
}

/** A user with casts in a channel is its member, and members count as followers: the protocol has no other membership. */
function viewerContextOf(id: string, { viewer }: Hydration) {
  if (!viewer) return {};
  const isMember = viewer.channels.has(id);
  return { viewer_context: { following: isMember, ...(isMember && { role: "member" as const }) } };
}
