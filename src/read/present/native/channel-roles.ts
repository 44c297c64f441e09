import type { Page } from "../../cursor.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { ModerationRow, PinRow } from "../../queries/channels/moderation.ts";
import type { BanRow, RoleRow } from "../../queries/channels/roles.ts";
import { presentCast } from "./cast.ts";
import { presentChannel } from "./channel.ts";
import { presentUser } from "./user.ts";

/** Presents a page of the owner, moderators and members of a channel. */
export function presentRoles(
  { rows, cursor, channelId }: Page<RoleRow> & { readonly channelId: string },
  hydration: Hydration,
) {
  const channel = presentChannel(channelId, hydration);
  const members = rows.flatMap(({ fid, role }) => {
    const user = presentUser(fid, hydration);
    return user && channel ? [{ object: "member" as const, role, user, channel }] : [];
  });
  return { members, next: { cursor } };
}

/** Presents the pin of a channel. */
export function presentPin(pin: PinRow | undefined, hydration: Hydration) {
  if (!pin) return { pin: null };
  return {
    pin: {
      cast_hash: pin.hash,
      cast: presentCast(pin.hash, hydration) ?? null,
      pinned_by: presentUser(pin.pinnedByFid, hydration) ?? null,
      pinned_at: pin.pinnedAt || null,
    },
  };
}

/** Presents a page of moderators' decisions about casts. */
export function presentModerations({ rows, cursor }: Page<ModerationRow>, hydration: Hydration) {
  const moderations = rows.map(({ hash, isHidden, moderatorFid, moderatedAt }) => ({
    object: "moderation" as const,
    cast_hash: hash,
    cast: presentCast(hash, hydration) ?? null,
    state: isHidden ? ("hidden" as const) : ("visible" as const),
    moderated_by: presentUser(moderatorFid, hydration) ?? null,
    moderated_at: moderatedAt || null,
  }));
  return { moderations, next: { cursor } };
}

/** Presents a page of the users who are banned from a channel. */
export function presentChannelBans({ rows, cursor }: Page<BanRow>, hydration: Hydration) {
  const bans = rows.flatMap(({ fid, bannedBy, bannedAt }) => {
    const user = presentUser(fid, hydration);
    if (!user) return [];
    const banned_by = presentUser(bannedBy, hydration) ?? null;
    return [{ object: "ban" as const, user, banned_by, banned_at: bannedAt || null }];
  });
  return { bans, next: { cursor } };
}
