import type { ChannelChange } from "../../protocol/channels/change.ts";
import type { Hydration } from "../../read/hydrate/hydrate.ts";
import { presentCast } from "../../read/present/native/cast.ts";
import { presentChannel } from "../../read/present/native/channel.ts";
import { presentUser } from "../../read/present/native/user.ts";

/**
 * Presents a change of a channel, with the channel as it is now. Users are null where none is known, and where the fid has no
 * registration.
 */
export function presentChannelEvent(change: ChannelChange, hydration: Hydration) {
  const { kind, timestamp, role = null, previousRole = null } = change;
  const channel = presentChannel(change.id, hydration);
  if (!channel) return undefined;
  const personOf = (fid: number | null) => (fid === null ? null : (presentUser(fid, hydration) ?? null));
  const actor = personOf(change.actorFid);
  const common = { timestamp, channel };
  switch (kind) {
    case "channel.created":
      return { object: "channel_registration" as const, ...common };
    case "channel.updated":
      return { object: "channel_update" as const, ...common, changed: change.changed ?? [], actor };
    case "channel.follow.created":
    case "channel.follow.deleted": {
      const object = kind === "channel.follow.created" ? "channel_follow" : "channel_unfollow";
      return { object, ...common, user: personOf(change.fid) };
    }
    case "channel.pinned":
    case "channel.unpinned":
      return { object: "channel_pin" as const, ...common, ...castOf(change, hydration), actor };
    case "cast.moderated": {
      const hidden = change.isHidden === true;
      return { object: "moderation" as const, ...common, ...castOf(change, hydration), hidden, actor };
    }
    default: {
      const user = personOf(change.fid);
      return { object: "channel_role" as const, ...common, user, role, previous_role: previousRole, actor };
    }
  }
}

/** `cast` is null for one that is not live. */
function castOf({ castHash }: ChannelChange, hydration: Hydration) {
  return {
    cast_hash: castHash ?? null,
    cast: castHash ? (presentCast(castHash, hydration) ?? null) : null,
  };
}
