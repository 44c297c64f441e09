import type { Cast, Channel, User } from "../data/objects.ts";
import type { Page } from "../data/pages.ts";

/** The number of rows of a page of a list. */
export const PAGE_SIZE = 25;

interface Next {
  readonly next?: { readonly cursor: string | null };
}

const nextOf = ({ next }: Next) => next?.cursor ?? null;

export const castsOf = (body: Next & { casts: readonly Cast[] }): Page<Cast> => ({
  items: body.casts,
  next: nextOf(body),
});

export const usersOf = (body: Next & { users: readonly User[] }): Page<User> => ({
  items: body.users,
  next: nextOf(body),
});

export const channelsOf = (body: Next & { channels: readonly Channel[] }): Page<Channel> => ({
  items: body.channels,
  next: nextOf(body),
});

export interface Reaction {
  readonly reaction_type: "like" | "recast";
  readonly user: User;
  readonly cast: Cast;
  readonly timestamp: number;
}

export const reactionsOf = (body: Next & { reactions: readonly Reaction[] }): Page<Reaction> => ({
  items: body.reactions,
  next: nextOf(body),
});

export const castKey = (cast: Cast) => cast.hash;
export const userKey = (user: User) => user.fid;
export const channelKey = (channel: Channel) => channel.id;

/** The people who wrote some casts, each once, those with the most followers first. */
export function authorsByFollowers(casts: readonly Cast[], limit: number): User[] {
  const authors = new Map(casts.map(({ author }) => [author.fid, author]));
  return [...authors.values()]
    .sort((a, b) => b.follower_count - a.follower_count || a.fid - b.fid)
    .slice(0, limit);
}
