import type { TrieChild } from "../../protocol/wire/generated/snapshot.ts";
import type { PathChild } from "../../trust/account-path.ts";
import type { UpstreamClient } from "./client.ts";

const NIBBLES = 16;
const HASH = /^[0-9a-f]{40}$/i;

/** Returns the children of a node of another node's trie. What is not one of a trie is left out, so that no signed root follows. */
export async function readChildren(
  client: Pick<UpstreamClient, "trieChildren">,
  shard: number,
  prefix: Uint8Array,
): Promise<PathChild[]> {
  const children = await client.trieChildren(shard, prefix);
  return children.slice(0, NIBBLES).flatMap(({ prefix: path, keys, hash }: TrieChild) => {
    const nibble = path.at(-1);
    if (nibble === undefined || nibble >= NIBBLES || !HASH.test(hash)) return [];
    return [{ nibble, root: Uint8Array.fromHex(hash), keys }];
  });
}
