import { isoTime } from "../../../lib/iso-time.ts";
import { extendMemoized } from "../../../lib/json-text.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { UserState } from "../../hydrate/users.ts";
import { hasPro, scoreFields, userFields } from "../native/user.ts";
import { memoizePresenter, oncePerVersion } from "../presenters.ts";

/** The zero address, used for an unknown custody address because clients expect a string. */
const NO_ADDRESS = "0x0000000000000000000000000000000000000000";

/** Presents the User object; undefined for an fid that does not exist. Absent fields are omitted, not null. */
export function presentUser(fid: number, hydration: Hydration): User | undefined {
  const user = hydration.users.get(fid);
  if (!user) return undefined;
  const shown = presentKnown(user, hydration);
  const context = hydration.viewer?.users.get(fid);
  if (!context) return shown;
  return extendMemoized(shown, {
    viewer_context: {
      following: context.following,
      followed_by: context.followedBy,
      blocking: context.blocking,
      blocked_by: context.blockedBy,
      muting: context.muting,
      banned: context.banned,
    },
  });
}

const presentState = memoizePresenter((user: UserState, isPro: boolean, apps: readonly App[]) => {
  const { profile, pro, registered_at, custody_address, auth_addresses, ...rest } = userFields(user, isPro);
  const { bio, location, banner, url } = profile;
  return {
    ...rest,
    custody_address: custody_address ?? NO_ADDRESS,
    registered_at: isoTime(registered_at ?? 0),
    profile: { bio, ...(location && { location }), ...(banner && { banner }), ...(url !== null && { url }) },
    auth_addresses: auth_addresses.flatMap(({ address }, at) => {
      const app = apps[at];
      return app ? [{ address, app }] : [];
    }),
    ...(pro && {
      pro: { ...pro, subscribed_at: isoTime(pro.subscribed_at), expires_at: isoTime(pro.expires_at) },
    }),
  };
});

const presentKnown = oncePerVersion((user: UserState, hydration: Hydration) =>
  presentState(user, hasPro(user, hydration), presentApps(user, hydration)),
);

export type User = ReturnType<typeof presentState> & { viewer_context?: ViewerContext };

interface ViewerContext {
  following: boolean;
  followed_by: boolean;
  blocking: boolean;
  blocked_by: boolean;
  muting: boolean;
  banned: boolean;
}

/** Presents the users among `fids` that exist, in the order of `fids`. */
export function presentUsers(fids: readonly number[], hydration: Hydration): User[] {
  return fids.flatMap((fid) => presentUser(fid, hydration) ?? []);
}

type App = UserDehydrated | BareUser;

/** A user with nothing but the fid. */
export interface BareUser {
  object: "user_dehydrated";
  fid: number;
}

const NO_APPS: readonly App[] = [];

/** Presents the apps of the auth addresses, one per address. */
function presentApps({ authAddresses }: UserState, hydration: Hydration): readonly App[] {
  if (authAddresses.length === 0) return NO_APPS;
  return authAddresses.map(({ appFid }) => presentUserDehydrated(appFid, hydration) ?? unknownApp(appFid));
}

const unknownApps = new Map<number, BareUser>();
const MAX_UNKNOWN_APPS = 1000;

/**
 * Presents an unregistered app, which has only its fid; the fid is 0 if the app is unknown. Returns a single object per fid.
 */
function unknownApp(fid: number): BareUser {
  let app = unknownApps.get(fid);
  if (app === undefined) {
    app = { object: "user_dehydrated", fid };
    if (unknownApps.size < MAX_UNKNOWN_APPS) unknownApps.set(fid, app);
  }
  return app;
}

/** Presents a user as a part of another object. */
export function presentUserDehydrated(fid: number, hydration: Hydration): UserDehydrated | undefined {
  const user = hydration.users.get(fid);
  return user && presentDehydrated(user);
}

const presentDehydrated = memoizePresenter((user: UserState) => {
  const { fid, username, display_name, pfp_url, custody_address } = userFields(user, false);
  return {
    object: "user_dehydrated" as const,
    fid,
    username,
    display_name,
    pfp_url,
    custody_address: custody_address ?? NO_ADDRESS,
    ...scoreFields(user),
  };
});

export type UserDehydrated = ReturnType<typeof presentDehydrated>;
