import { parseJsonBytes } from "../../lib/json.ts";
import { PeerError } from "./peer.ts";

/** A page of a list, with the token of the next one; undefined at the end. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextToken: Uint8Array | undefined;
}

/** Messages per response. Several pages of the largest messages fit into the connection's limit. */
export const MESSAGES_PER_PAGE = 1000;

/** Returns a page of a response, whose token is empty at the end of the list. */
export function pageOf<Item>(items: readonly Item[], token: Uint8Array | undefined): Page<Item> {
  return { items, nextToken: token && token.length > 0 ? token : undefined };
}

/** Ten times as many as the largest account has of any kind. */
const MAX_PAGES = 20_000;

/**
 * Yields the pages of a list, including empty and short ones, until a page has no token for a next one. An unchanged token
 * would lead to the same page again, so it ends the list too.
 *
 * @throws PeerError for a list that never ends.
 */
export async function* readPages<Item>(
  fetchPage: (token: Uint8Array | undefined) => Promise<Page<Item>>,
): AsyncGenerator<readonly Item[]> {
  let token: Uint8Array | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { items, nextToken } = await fetchPage(token);
    yield items;
    if (!nextToken || (token && Buffer.compare(token, nextToken) === 0)) return;
    token = nextToken;
  }
  throw new PeerError(`a list of it has not ended after ${MAX_PAGES.toLocaleString("en")} pages`);
}

/** Thrown for a list of fids that is shorter than the number of registrations that the node reports. */
export class ShortListError extends Error {
  override name = "ShortListError";
}

const MAX_ATTEMPTS = 5;
/** The node may count an fid twice that registered twice. There are only a handful. */
const MAX_UNEXPLAINED_SHARE = 0.001;
/** The network has 1.4 million. The list is kept in memory while it is being read. */
const MAX_FIDS = 10_000_000;
/** Maximum number of registrations while a list is being read. */
const MAX_MORE_FIDS = 10_000;

/**
 * Lists all fids of a shard. The node responds to an error of its store with an empty page, which looks like the end of the
 * list. Therefore the list is compared with `expected`, the number of registrations that the node reports, and read again
 * while it is shorter. A list that is short each time by the same few rows, which were returned twice, is complete.
 *
 * @param onFids called with fids that were not listed before.
 * @throws ShortListError if it stays short; PeerError if it does not end after all registrations.
 */
export async function listFids(
  fetchPage: (token: Uint8Array | undefined) => Promise<Page<number>>,
  expected: number,
  onFids: (fids: readonly number[]) => Promise<void>,
): Promise<void> {
  const seen = new Set<number>();
  const rowsOfAttempts: number[] = [];
  const most = Math.min(MAX_FIDS, expected > 0 ? expected + MAX_MORE_FIDS : MAX_FIDS);
  while (rowsOfAttempts.length < MAX_ATTEMPTS) {
    let rows = 0;
    for await (const page of readPages(fetchPage)) {
      rows += page.length;
      const fresh = [...new Set(page)].filter((fid) => fid > 0 && !seen.has(fid));
      for (const fid of fresh) seen.add(fid);
      if (seen.size > most)
        throw new PeerError(`it lists more than ${most.toLocaleString("en")} fids, and reports ${expected}`);
      if (fresh.length > 0) await onFids(fresh);
    }
    if (seen.size >= expected) return;
    rowsOfAttempts.push(rows);
  }
  const isStable = rowsOfAttempts.every((rows) => rows >= expected && rows === rowsOfAttempts[0]);
  if (isStable || expected - seen.size <= expected * MAX_UNEXPLAINED_SHARE) return;
  throw new ShortListError(`the upstream lists ${seen.size} fids but reports ${expected} registrations`);
}

/**
 * Yields at most `maxPages` pages of a list over all shards.
 *
 * The reference node lists its shards in parallel. Its token is a JSON array with the token of each shard, null for a shard
 * that has ended, and is present even after the last page. A shard with null starts again at its first page. The list has
 * therefore ended once each shard has had null, and may repeat items until then.
 *
 * @returns whether the list has ended.
 */
export async function* readShardPages<Item>(
  fetchPage: (token: Uint8Array | undefined) => Promise<Page<Item>>,
  maxPages: number,
): AsyncGenerator<readonly Item[], boolean> {
  const ended = new Set<number>();
  let token: Uint8Array | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    const { items, nextToken } = await fetchPage(token);
    yield items;
    if (!nextToken || (token && Buffer.compare(token, nextToken) === 0)) return true;
    const shards = shardTokens(nextToken);
    for (const [at, shard] of shards?.entries() ?? []) if (shard === null) ended.add(at);
    if (shards && ended.size >= shards.length) return true;
    token = nextToken;
  }
  return false;
}

/** Returns the tokens of the shards; undefined for a token in another form, whose list ends without one. */
function shardTokens(token: Uint8Array): readonly unknown[] | undefined {
  const parsed = parseJsonBytes(token);
  return Array.isArray(parsed) && parsed.every((one) => one === null || Array.isArray(one))
    ? parsed
    : undefined;
}
