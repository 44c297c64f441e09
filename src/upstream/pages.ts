import type { Page } from "./client.ts";

/**
 * The pages of a list, also empty and short ones, until a page has no token behind it. A token that comes back unchanged
 * leads nowhere but to the page before, and ends the list too.
 */
export async function* walkPages<Item>(
  fetchPage: (token: Uint8Array | undefined) => Promise<Page<Item>>,
): AsyncGenerator<readonly Item[]> {
  let token: Uint8Array | undefined;
  for (;;) {
    const { items, nextToken } = await fetchPage(token);
    yield items;
    if (!nextToken || (token && Buffer.compare(token, nextToken) === 0)) return;
    token = nextToken;
  }
}

/** A list of fids that stayed short of what the node itself says it knows. */
export class ShortListError extends Error {
  override name = "ShortListError";
}

const WALKS = 5;
/** Fids that registered twice may be counted twice by the node, and there are a handful of them. */
const MAX_UNEXPLAINED_SHARE = 0.001;

/**
 * All fids of a shard. The node answers a fault of its store with an empty page, which looks like the end, so a list is
 * held against `expected`, the number of registrations that it announced, and walked again while it is short. One that
 * is short each time by the same few rows that came twice is whole.
 *
 * @param onFids told of fids that had not been seen before.
 * @throws ShortListError when it stays short.
 */
export async function walkFids(
  fetchPage: (token: Uint8Array | undefined) => Promise<Page<number>>,
  expected: number,
  onFids: (fids: readonly number[]) => Promise<void>,
): Promise<void> {
  const seen = new Set<number>();
  const rowsOfWalks: number[] = [];
  while (rowsOfWalks.length < WALKS) {
    let rows = 0;
    for await (const page of walkPages(fetchPage)) {
      rows += page.length;
      const news = [...new Set(page)].filter((fid) => fid > 0 && !seen.has(fid));
      for (const fid of news) seen.add(fid);
      if (news.length > 0) await onFids(news);
    }
    if (seen.size >= expected) return;
    rowsOfWalks.push(rows);
  }
  const isStable = rowsOfWalks.every((rows) => rows >= expected && rows === rowsOfWalks[0]);
  if (isStable || expected - seen.size <= expected * MAX_UNEXPLAINED_SHARE) return;
  throw new ShortListError(`the upstream lists ${seen.size} fids and speaks of ${expected} registrations`);
}
