import { encodeKeyRecord } from "../../ingest/trie/key-records.ts";
import type { DecodeMessage } from "../../protocol/message/signed-message.ts";
import type { ChunkTransaction } from "../../protocol/wire/generated/certificate.ts";
import type { FollowedEvent } from "../../protocol/wire/generated/upstream.ts";
import { changesOfEvent, keyOperations, type ShardPlace } from "../../trust/trie-changes.ts";
import { accountPrefix } from "../../trust/trie-key.ts";

const ROOT_BYTES = 20;

/** Once blocks are applied, the index itself knows what compact states and key operations delete. */
const KNOWN_BY_INDEX = { compactedLinks: () => [], keyAddOf: () => undefined };

/** Returns what the hub events of a block say about the keys of its shard's trie, encoded. */
export function keyRecordsOfEvents(events: readonly FollowedEvent[], decode: DecodeMessage): Uint8Array[] {
  return events.flatMap((event) =>
    [...changesOfEvent(event, KNOWN_BY_INDEX, decode)].map(({ kind, key }) =>
      encodeKeyRecord({ kind: "key", key, isPresent: kind === "insert" }),
    ),
  );
}

/**
 * Returns what the transactions of a verified chunk say besides its events: operations on gasless keys, and roots of
 * accounts.
 */
export function keyRecordsOfChunk(
  transactions: readonly ChunkTransaction[],
  place: ShardPlace,
): Uint8Array[] {
  const roots = new Map(
    transactions.flatMap(({ fid, accountRoot: root }) => (isRoot(root) ? [[fid, root] as const] : [])),
  );
  return [
    ...[...keyOperations(transactions, place)].map((operation) =>
      encodeKeyRecord({ kind: "gasless", ...operation }),
    ),
    ...[...roots].map(([fid, root]) => encodeKeyRecord({ kind: "root", account: accountPrefix(fid), root })),
  ];
}

/** The root of an account without keys is empty. */
function isRoot({ length }: Uint8Array): boolean {
  return length === 0 || length === ROOT_BYTES;
}
