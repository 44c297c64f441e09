/** Returns the begin of a name that similar names share with it, to search by. */
export const nearPrefix = (name: string) => name.slice(0, Math.max(1, Math.ceil(name.length * 0.6)));

/** The least number of inserted, deleted and replaced characters that make one text of another. */
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

/** Returns the users whose names are nearest to a name, at most `count`; those that are equally near in their order. */
export function nearestNames<T extends { readonly username: string }>(
  name: string,
  users: readonly T[],
  count: number,
): T[] {
  const distances = new Map(users.map((user) => [user, editDistance(name, user.username.slice(0, 32))]));
  return users.toSorted((a, b) => (distances.get(a) ?? 0) - (distances.get(b) ?? 0)).slice(0, count);
}
