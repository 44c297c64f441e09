import { TURNS } from "../../admission/budgets.ts";
import { FairTurns } from "../../admission/fair-turns.ts";
import { err, ok } from "../../lib/result.ts";
import { Snapshots, TrieNode } from "../../protocol/wire/generated/snapshot.ts";
import { invalidParam, type Refusal, refuse } from "../../read/hub/refusal.ts";
import { ACCOUNT_BYTES } from "../../trust/trie-key.ts";
import { unreadablePage } from "../grpc-errors.ts";
import type { RawMethod } from "../raw-service.ts";
import { bytes, readRequest, text, u32, u64 } from "../reads/request.ts";
import type { PinnedIndex } from "./pinned-index.ts";

const VIRTUAL_SHARDS = 256;
/** Maximum time that the thread rests after a page; it rests as long as the page took. */
const MAX_REST_MS = 1000;

const METADATA = { shard: u32(1) };
const PAGE = { shard: u32(1), height: u64(2), virtualShard: u32(3), pageToken: text(4) };
const NODE = { shard: u32(1), prefix: bytes(2) };

const TOO_MANY: Refusal = {
  code: "rate_limited",
  reason: "too many pages of snapshots are being read; try again",
};

/** The methods by which other nodes fill their index from this one. */
export interface ReplicationMethods {
  /** Methods of ReplicationService. */
  readonly replication: Readonly<Record<"GetShardSnapshotMetadata" | "GetShardTransactions", RawMethod>>;
  /** Methods of HubService. */
  readonly hub: Readonly<Record<"GetTrieMetadataByPrefix", RawMethod>>;
}

/**
 * Serves snapshots as the reference node does: the state after a signed block, in pages of a thousand records in the order
 * of their keys, for each of 256 parts of a shard. Pages are read one at a time, with clients taking turns, and use at most
 * half of the thread.
 */
export function createReplication(pinned: PinnedIndex): ReplicationMethods {
  const turns = new FairTurns(TURNS.snapshotPages);
  return {
    replication: {
      async GetShardSnapshotMetadata(encoded) {
        const request = readRequest(encoded, METADATA);
        if (!request.ok) return request;
        const { shard = 0 } = request.value;
        const snapshots = await pinned.use(({ heads, chunks }) => {
          const head = heads.get(shard);
          if (!head) return [];
          const { height, timestamp } = head;
          return [{ shard, height, timestamp, chunk: chunks.get(shard), keys: 0 }];
        });
        return ok(Snapshots.encode({ snapshots: snapshots ?? [] }).finish());
      },

      async GetShardTransactions(encoded, call) {
        const request = readRequest(encoded, PAGE);
        if (!request.ok) return request;
        const { shard = 0, height = 0, virtualShard = 0, pageToken } = request.value;
        if (virtualShard >= VIRTUAL_SHARDS) return invalidParam("virtual_shard must be below 256");
        const read = () =>
          pinned.use(({ heads, reader }) =>
            heads.get(shard)?.height === height ? reader.page(shard, virtualShard, pageToken) : undefined,
          );
        const page = await inTurn(turns, call.clientKey, read);
        if (page === TOO_LATE) return err(TOO_MANY);
        // Uses the reference node's wording, which readers know.
        if (!page)
          return err(
            unreadablePage("Failed to get transactions: No stores found for the given height and shard"),
          );
        if (page.kind === "bad_token") return err(unreadablePage("Invalid page token"));
        if (page.kind === "unreadable")
          return err(unreadablePage(`a record of the account is not kept here, for FID ${page.fid}`));
        return ok(page.bytes);
      },
    },
    hub: {
      async GetTrieMetadataByPrefix(encoded, call) {
        const request = readRequest(encoded, NODE);
        if (!request.ok) return request;
        const { shard = 0, prefix = new Uint8Array() } = request.value;
        if (prefix.length !== ACCOUNT_BYTES)
          return invalidParam("prefix must be that of an account: 5 bytes");
        const read = () => pinned.use(({ reader }) => reader.accountChildren(shard, prefix));
        const children = await inTurn(turns, call.clientKey, read);
        if (children === TOO_LATE) return err(TOO_MANY);
        if (!children) return refuse("unavailable", "no state of the index is proven now; try again");
        return ok(
          TrieNode.encode({
            children: children.map(({ root, ...child }) => ({
              ...child,
              hash: Buffer.from(root).toString("hex"),
            })),
          }).finish(),
        );
      },
    },
  };
}

const TOO_LATE = Symbol("too late");

/** Runs work in its client's turn. The turn lasts twice as long as the work, so that the thread has time for other work. */
async function inTurn<T>(
  turns: FairTurns,
  client: string,
  work: () => Promise<T>,
): Promise<T | typeof TOO_LATE> {
  return new Promise((resolve, reject) => {
    const turn = turns.run(client, async () => {
      const startedMs = performance.now();
      await work().then(resolve, reject);
      await Bun.sleep(Math.min(MAX_REST_MS, performance.now() - startedMs));
      return true;
    });
    turn.then((ran) => ran ?? resolve(TOO_LATE), reject);
  });
}
