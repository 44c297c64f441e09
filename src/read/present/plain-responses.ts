import type { Page } from "../cursor.ts";
import type { Hash } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";

/** The object presenters of a dialect. Each returns undefined for an object that does not exist. */
interface ObjectPresenters<User, Cast, Channel> {
  readonly user: (fid: number, hydration: Hydration) => User | undefined;
  readonly cast: (hash: Hash, hydration: Hydration) => Cast | undefined;
  readonly channel: (id: string, hydration: Hydration) => Channel | undefined;
}

/**
 * Creates the responses that all dialects share but for their objects: the objects under their plain names. Lists follow
 * the order of the ids and omit objects that do not exist.
 */
export function plainResponses<User extends object, Cast extends object, Channel extends object>(
  present: ObjectPresenters<User, Cast, Channel>,
) {
  const users = (fids: readonly number[], hydration: Hydration): User[] =>
    fids.flatMap((fid) => present.user(fid, hydration) ?? []);
  const casts = (hashes: readonly Hash[], hydration: Hydration): Cast[] =>
    hashes.flatMap((hash) => present.cast(hash, hydration) ?? []);
  const channels = (rows: readonly { readonly id: string }[], hydration: Hydration): Channel[] =>
    rows.flatMap(({ id }) => present.channel(id, hydration) ?? []);

  return {
    user(fid: number, hydration: Hydration) {
      const user = present.user(fid, hydration);
      return user && { user };
    },
    users: (fids: readonly number[], hydration: Hydration) => ({ users: users(fids, hydration) }),
    userPage({ rows, cursor }: Page<{ readonly fid: number }>, hydration: Hydration) {
      const fids = rows.map(({ fid }) => fid);
      return { users: users(fids, hydration), next: { cursor } };
    },
    cast(hash: Hash, hydration: Hydration) {
      const cast = present.cast(hash, hydration);
      return cast && { cast };
    },
    casts: (hashes: readonly Hash[], hydration: Hydration) => ({ casts: casts(hashes, hydration) }),
    castPage({ rows, cursor }: Page<{ readonly hash: Hash }>, hydration: Hydration) {
      const hashes = rows.map(({ hash }) => hash);
      return { casts: casts(hashes, hydration), next: { cursor } };
    },
    channel(id: string, hydration: Hydration) {
      const channel = present.channel(id, hydration);
      return channel && { channel };
    },
    channelPage: ({ rows, cursor }: Page<{ readonly id: string }>, hydration: Hydration) => ({
      channels: channels(rows, hydration),
      next: { cursor },
    }),
    membershipPage(
      { fid, rows, cursor }: Page<{ readonly id: string }> & { readonly fid: number },
      hydration: Hydration,
    ) {
      const user = present.user(fid, hydration);
      const shown = channels(rows, hydration);
      const membership = { object: "member" as const, role: "member" as const };
      return {
        members: user ? shown.map((channel) => ({ ...membership, user, channel })) : [],
        channels: shown,
        next: { cursor },
      };
    },
  };
}
