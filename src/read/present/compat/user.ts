import { isoTime } from "../../../lib/iso-time.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import { presentUser as presentSpecUser } from "../native/user.ts";

/** The zero address, in place of an unknown custody address: clients expect a string. */
const NO_ADDRESS = "0x0000000000000000000000000000000000000000";

/** Presents the User object; undefined for an fid that does not exist. Absent fields are omitted, not null. */
export function presentUser(fid: number, hydration: Hydration) {
  const user = presentSpecUser(fid, hydration);
  if (!user) return undefined;
  const { profile, pro, registered_at, custody_address, auth_addresses, ...rest } = user;
  const { bio, location, banner, url } = profile;
  const context = hydration.viewer?.users.get(fid);
  return {
    ...rest,
    custody_address: custody_address ?? NO_ADDRESS,
    registered_at: isoTime(registered_at ?? 0),
    profile: { bio, ...(location && { location }), ...(banner && { banner }), ...(url !== null && { url }) },
    auth_addresses: auth_addresses.map(({ address, app }) => ({
      address,
      app: presentApp(app.fid ?? 0, hydration),
    })),
    ...(pro && {
      pro: { ...pro, subscribed_at: isoTime(pro.subscribed_at), expires_at: isoTime(pro.expires_at) },
    }),
    ...(context && {
      viewer_context: {
        following: context.following,
        followed_by: context.followedBy,
        blocking: context.blocking,
        blocked_by: context.blockedBy,
      },
    }),
  };
}

export type User = NonNullable<ReturnType<typeof presentUser>>;

/** Presents the users among `fids` that exist, in the order of `fids`. */
export function presentUsers(fids: readonly number[], hydration: Hydration): User[] {
  return fids.flatMap((fid) => presentUser(fid, hydration) ?? []);
}

/** Presents an app as a user. An unregistered app has its fid alone, which is 0 when the app is unknown. */
function presentApp(fid: number, hydration: Hydration) {
  return presentUserDehydrated(fid, hydration) ?? { object: "user_dehydrated" as const, fid };
}

/** Presents a user as a part of another object. */
export function presentUserDehydrated(fid: number, hydration: Hydration) {
  const user = presentSpecUser(fid, hydration);
  if (!user) return undefined;
  const { username, display_name, pfp_url, custody_address } = user;
  return {
    object: "user_dehydrated" as const,
    fid,
    username,
    display_name,
    pfp_url,
    custody_address: custody_address ?? NO_ADDRESS,
  };
}

export type UserDehydrated = NonNullable<ReturnType<typeof presentUserDehydrated>>;
