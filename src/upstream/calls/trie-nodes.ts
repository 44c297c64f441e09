import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import type { TrieChild } from "../../protocol/wire/generated/snapshot.ts";
import type { PathChild } from "../../trust/account-path.ts";
import type { TrieKey } from "../../trust/trie-key.ts";
import { fidOfKey, kindOfKey, onChainKey } from "../../trust/trie-key.ts";
import type { UpstreamClient } from "./client.ts";

const NIBBLES = 16;
const HASH = /^[0-9a-f]{40}$/i;

/**
 * Returns the children of a node of another node's trie. Anything that cannot be in a trie is left out, so that no signed
 * root results.
 */
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

const UNREAD_TYPES = [
  OnChainEventType.EVENT_TYPE_SIGNER_MIGRATED,
  OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER,
];
const MAX_UNREAD_EVENTS = 100;

/** Returns the keys of an fid's on-chain events that are not read with its state: those of migrations and of channels. */
export async function unreadKeys(
  client: Pick<UpstreamClient, "onChainEvents">,
  fid: number,
): Promise<TrieKey[]> {
  const keys: TrieKey[] = [];
  // A node of an earlier version does not know the type.
  for (const type of UNREAD_TYPES)
    for (const bytes of (await client.onChainEvents(fid, type).catch(() => [])).slice(0, MAX_UNREAD_EVENTS)) {
      const key = onChainKey(bytes);
      if (key && fidOfKey(key) === fid && kindOfKey(key) === type) keys.push(key);
    }
  return keys;
}
