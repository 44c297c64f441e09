import type { Cast, Channel, User } from "../data/call.ts";

/** The number of rows in a list page. */
export const PAGE_SIZE = 25;

export const castKey = (cast: Cast) => cast.hash;
export const userKey = (user: User) => user.fid;
export const channelKey = (channel: Channel) => channel.id;

/** Returns the authors of some casts, each once, ordered by followers. */
export function authorsByFollowers(casts: readonly Cast[], limit: number): User[] {
  const authors = new Map(casts.map(({ author }) => [author.fid, author]));
  return [...authors.values()]
    .sort((a, b) => b.follower_count - a.follower_count || a.fid - b.fid)
    .slice(0, limit);
}

/** A cast and the replies below it, as returned by `/cast/conversation`. */
export interface Conversation {
  readonly cast: Cast;
  readonly replies: readonly Conversation[];
}

/** A reply in the order of the page, and its depth below the cast: 1 for a direct reply. */
export interface ThreadRow {
  readonly cast: Cast;
  readonly depth: number;
  /** The number of this cast's replies that the response leaves out. */
  readonly hidden: number;
}

/** Returns the replies of a conversation from top to bottom: each one, followed by those below it. */
export function threadRows(conversation: Conversation): ThreadRow[] {
  const rows: ThreadRow[] = [];
  const visit = ({ cast, replies }: Conversation, depth: number) => {
    if (depth > 0) rows.push({ cast, depth, hidden: hiddenReplies({ cast, replies }) });
    for (const reply of replies) visit(reply, depth + 1);
  };
  visit(conversation, 0);
  return rows;
}

/** Returns how many replies a cast has beyond those that a conversation shows. */
export const hiddenReplies = ({ cast, replies }: Conversation) =>
  Math.max(0, cast.replies.count - replies.length);

/** Returns the prefix that similar names are likely to share with a name, to search by. */
export const nearPrefix = (name: string) => name.slice(0, Math.max(1, Math.ceil(name.length * 0.6)));

/** Returns the Levenshtein distance: the minimum number of inserted, deleted and replaced characters. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** Returns at most `count` users whose names are nearest to a name; equally near ones keep their order. */
export function nearestNames<T extends { readonly username: string }>(
  name: string,
  users: readonly T[],
  count: number,
): T[] {
  const distances = new Map(users.map((user) => [user, editDistance(name, user.username.slice(0, 32))]));
  return users.toSorted((a, b) => (distances.get(a) ?? 0) - (distances.get(b) ?? 0)).slice(0, count);
}
