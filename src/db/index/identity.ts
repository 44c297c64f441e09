import { UserError } from "../../lib/failure.ts";
import { networkOf } from "../../protocol/network/network.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { readTotals } from "./counts/totals.ts";
import type { IndexDatabase } from "./database.ts";
import { clearMeta, readMeta, writeMeta } from "./meta.ts";

/**
 * Binds an index to one network.
 *
 * @throws UserError when the index has another network's data.
 */
export function claimNetwork(db: IndexDatabase, network: string): void {
  const refusal = refusalOfNetwork(db, network);
  if (refusal !== undefined) throw new UserError(refusal);
  if (readMeta(db, "network") === undefined) writeMeta(db, "network", network);
}

/** Returns why an index does not serve a network; undefined if it does. */
export function refusalOfNetwork(db: IndexDatabase, network: string): string | undefined {
  const claimed = readMeta(db, "network");
  if (claimed === undefined || claimed === network) return undefined;
  return `the index in this data directory holds ${claimed}; protocol.network is ${network}. Use another data directory.`;
}

/**
 * Returns the network of the messages in an index.
 *
 * @throws Error when no network has claimed the index.
 */
export function networkOfIndex(db: IndexDatabase): FarcasterNetwork {
  db.network ??= readNetwork(db);
  return db.network;
}

function readNetwork(db: IndexDatabase): FarcasterNetwork {
  const network = readMeta(db, "network");
  if (network !== "mainnet" && network !== "testnet" && network !== "devnet")
    throw new Error("the index belongs to no network");
  return networkOf(network);
}

/** Reports whether the index was filled with the demo network, whose keys are public. */
export function isDemo(db: IndexDatabase): boolean {
  return readMeta(db, "demo") !== undefined;
}

/** Reports whether the index is filled only from an upstream. */
export function isFollowing(db: IndexDatabase): boolean {
  return readMeta(db, "follows") !== undefined;
}

/**
 * Binds an index to the source of its data. The demo network exists on one node only, so its index cannot follow an
 * upstream. An index that follows does so from its first record and permanently: records merged from other sources would
 * remain although no other node has them.
 *
 * @param follows whether an upstream is set.
 * @throws UserError when the index has another source.
 */
export function claimSource(db: IndexDatabase, { follows }: { follows: boolean }): void {
  const refusal = refusalOfSource(db, { follows });
  if (refusal !== undefined) throw new UserError(refusal);
  if (follows && !isFollowing(db)) writeMeta(db, "follows", "true");
}

/** Returns why an index does not take records of a source; undefined if it does. See `claimSource`. */
export function refusalOfSource(db: IndexDatabase, { follows }: { follows: boolean }): string | undefined {
  if (follows && isDemo(db))
    return "this data directory holds the demo network, which cannot follow upstream.url. Use another data directory.";
  if (follows && !isFollowing(db) && !isEmpty(db))
    return "the index in this data directory was filled without an upstream, and may hold records that upstream.url does not have. Use another data directory, or delete the index (index.db), which is then filled again.";
  if (!follows && isFollowing(db))
    return "the index in this data directory follows an upstream, and upstream.url is empty. Set it, or use another data directory.";
  return undefined;
}

/**
 * Reports whether the node of this index may start with an empty state without losing data: the index is empty or has the
 * demo network. A state database is created before the first record enters an index, so every other index had one.
 */
export function mayLackState(db: IndexDatabase): boolean {
  return isEmpty(db) || isDemo(db);
}

/** Reports whether an index has no records. */
export function isEmpty(db: IndexDatabase): boolean {
  const { messages, on_chain_events } = readTotals(db);
  return messages + on_chain_events === 0;
}

/** Marks the index as filled with the demo network. */
export function markDemo(db: IndexDatabase): void {
  writeMeta(db, "demo", "true");
}

const KEY = "followed fids";
const ALL = "all";

/** Fids whose complete state is in an index as of its positions: a list, or all fids of the network. */
export type FollowedFids = ReadonlySet<number> | typeof ALL;

/** Returns the fids whose complete state is in the index; undefined for an index that does not record them. */
export function readFollowedFids(db: IndexDatabase): FollowedFids | undefined {
  const text = readMeta(db, KEY);
  if (text === undefined || text === ALL) return text;
  return new Set(text === "" ? [] : text.split(",").map(Number));
}

export function writeFollowedFids(db: IndexDatabase, followed: FollowedFids | undefined): void {
  if (followed === undefined) clearMeta(db, KEY);
  else writeMeta(db, KEY, followed === ALL ? ALL : [...followed].sort((a, b) => a - b).join(","));
}

const LOG_ID = "log id";

const RESERVED = "log reserved height";

const RESERVING = "log reserving height";

/** Properties that belong to one index file. A copy that kept them would reuse event numbers for different events. */
export const LOG_PROPERTIES = [LOG_ID, RESERVED, RESERVING] as const;

/** Returns the id of the logs of this index; undefined until a node has served it. */
export function logIdOf(db: IndexDatabase): string | undefined {
  return readMeta(db, LOG_ID);
}

/**
 * Reports whether the state's reserved height is one that this index has recorded, or was about to record when the node
 * stopped.
 */
export function hasSeenReservedHeight(db: IndexDatabase, height: number): boolean {
  return [readMeta(db, RESERVED), readMeta(db, RESERVING)].includes(String(height));
}

/** Records the height that is about to be reserved in the state, for the logs with this id. */
export function startReservingHeight(db: IndexDatabase, logId: string, height: number): void {
  writeMeta(db, LOG_ID, logId);
  writeMeta(db, RESERVING, String(height));
}

/** Records the height that the state has reserved. */
export function markHeightReserved(db: IndexDatabase, height: number): void {
  writeMeta(db, RESERVED, String(height));
}
