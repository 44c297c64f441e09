import { parseJsonBytes } from "../lib/json.ts";
import type { Page } from "./client.ts";

/**
 * Yields at most `maxPages` pages of a list over all shards.
 *
 * The reference node lists its shards side by side: its token is a JSON array with the token of each shard, null for one that has
 * ended, and is there after the last page, too. A shard with null starts again at its first page. So the list has ended once each
 * shard had null, and may repeat items until then.
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

/** The tokens of the shards; undefined for a token of another form, whose list ends without one. */
function shardTokens(token: Uint8Array): readonly unknown[] | undefined {
  const parsed = parseJsonBytes(token);
  return Array.isArray(parsed) && parsed.every((one) => one === null || Array.isArray(one))
    ? parsed
    : undefined;
}
