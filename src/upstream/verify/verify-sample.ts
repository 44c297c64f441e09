import type { IndexDatabase } from "../../db/index/database.ts";
import { Store } from "../../protocol/message/merge-rules.ts";
import { decodeMessage } from "../../protocol/message/signed-message.ts";
import { UserNameProof } from "../../protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { SignerSource } from "../../protocol/wire/generated/state.ts";
import { nameText, readLiveProofs, usernamesIn } from "../blocks/name-proofs.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { listFids, readPages } from "../calls/pages.ts";
import { STORES } from "../fill/read-fid.ts";
import {
  EVENT_TYPES,
  registeredFidsAfter,
  storedEvents,
  storedKeys,
  storedMessages,
  storedProofs,
} from "../fill/stored.ts";
import { UpstreamPositions } from "../positions.ts";

/** Dependencies and settings of a comparison. */
export interface ComparisonDeps {
  readonly client: UpstreamClient;
  /** Another process may be writing to this index. */
  readonly db: IndexDatabase;
  /** Fids that are compared concurrently. */
  readonly concurrency: number;
  /** Waits for the index to follow for a while before differing fids are compared again. */
  readonly settle: () => Promise<void>;
}

export interface ComparisonReport {
  /** Number of compared fids. */
  readonly compared: number;
  /** The fids that differ, in order. */
  readonly differences: readonly FidDifferences[];
  readonly shards: readonly {
    readonly shard: number;
    readonly appliedBlock: number;
    readonly headBlock: number;
  }[];
}

const ROUNDS = 3;
const FIDS_PER_PAGE = 10_000;

/**
 * Compares fids with the upstream. Both sides change meanwhile, so fids that differ are compared again, and only what
 * differs in every round is reported.
 *
 * @throws the errors of the calls.
 */
export async function compareFids(
  comparison: ComparisonDeps,
  fids: readonly number[],
): Promise<ComparisonReport> {
  let differences = await compareAll(comparison, fids);
  for (let round = 1; round < ROUNDS && differences.length > 0; round += 1) {
    await comparison.settle();
    const before = new Map(differences.map((one) => [one.fid, one]));
    const again = await compareAll(comparison, [...before.keys()]);
    differences = again
      .map((one) => inBoth(before.get(one.fid) ?? one, one))
      .filter(({ missing, extra }) => missing.length + extra.length > 0);
  }
  return {
    compared: fids.length,
    differences: differences.toSorted((a, b) => a.fid - b.fid),
    shards: await shardsOf(comparison),
  };
}

/** Compares a few fids at a time. Returns those that differ. */
async function compareAll(comparison: ComparisonDeps, fids: readonly number[]): Promise<FidDifferences[]> {
  const left = [...fids];
  const found: FidDifferences[] = [];
  const work = async () => {
    for (let fid = left.pop(); fid !== undefined; fid = left.pop()) {
      const one = await compareFid(comparison, fid);
      if (one.missing.length + one.extra.length > 0) found.push(one);
    }
  };
  await Promise.all(Array.from({ length: Math.min(comparison.concurrency, fids.length) }, work));
  return found;
}

/** Returns every fid that the upstream lists or the index has registered. */
export async function knownFids({ client, db }: Pick<ComparisonDeps, "client" | "db">): Promise<number[]> {
  const fids = await upstreamFids(client);
  for (let page = registeredFidsAfter(db, 0, FIDS_PER_PAGE); page.length > 0; ) {
    for (const fid of page) fids.add(fid);
    page = registeredFidsAfter(db, page.at(-1) ?? 0, FIDS_PER_PAGE);
  }
  return [...fids];
}

/** Returns every fid that the upstream lists. */
export async function upstreamFids(client: UpstreamClient): Promise<Set<number>> {
  const fids = new Set<number>();
  for (const { shardId, numFidRegistrations } of (await client.info()).shardInfos) {
    if (shardId === 0) continue;
    await listFids(
      (token) => client.fids(shardId, token),
      numFidRegistrations,
      async (page) => {
        for (const fid of page) fids.add(fid);
      },
    );
  }
  return fids;
}

/**
 * Returns a random sample of `size` of the fids, all equally likely.
 *
 * @param random returns 0 to 1, like `Math.random`.
 */
export function sampleOf(fids: readonly number[], size: number, random: () => number): number[] {
  const drawn = [...fids];
  const count = Math.min(size, drawn.length);
  for (let at = 0; at < count; at += 1) {
    const other = at + Math.floor(random() * (drawn.length - at));
    [drawn[at], drawn[other]] = [drawn[other] as number, drawn[at] as number];
  }
  return drawn.slice(0, count);
}

async function shardsOf({ client, db }: ComparisonDeps): Promise<ComparisonReport["shards"]> {
  const { shardInfos } = await client.info();
  const positions = new UpstreamPositions(db);
  return shardInfos.map(({ shardId, maxHeight }) => ({
    shard: shardId,
    appliedBlock: positions.applied(shardId) ?? 0,
    headBlock: maxHeight,
  }));
}

/** A part of an fid's state that only one side has, as text such as `Casts 0x…`. */
type Difference = string;

/** Messages of an fid that only the upstream has (`missing`) or only the index (`extra`). */
export interface FidDifferences {
  readonly fid: number;
  readonly missing: readonly Difference[];
  readonly extra: readonly Difference[];
}

/**
 * Compares the state of an fid on the upstream with the index: messages of every store by their hashes, compact
 * states, on-chain events and name proofs by their bytes, gasless keys. Unlike during a backfill nothing is
 * validated, so a message that this node refuses by mistake is reported as missing.
 */
async function compareFid(
  { client, db }: { readonly client: UpstreamClient; readonly db: IndexDatabase },
  fid: number,
): Promise<FidDifferences> {
  const parts = [];
  for (const type of EVENT_TYPES)
    parts.push(compareEvents(await client.onChainEvents(fid, type), db, fid, type));
  parts.push(await compareKeys(client, db, fid));
  const usernames: string[] = [];
  for (const [store, methods] of STORES) {
    const hashes = new Set<string>();
    for (const method of methods) {
      for await (const page of readPages((token) => client.messages(method, fid, token))) {
        for (const bytes of page) for (const hash of hashIn(bytes)) hashes.add(hash);
        if (store === Store.UserData) usernames.push(...usernamesIn(page));
      }
    }
    const stored = new Set(storedMessages(db, fid, store).keys());
    parts.push(difference(hashes, stored, (hash) => `${storeName(store)} 0x${hash}`));
  }
  parts.push(await compareProofs(client, db, fid, usernames));
  return {
    fid,
    missing: parts.flatMap(({ missing }) => missing),
    extra: parts.flatMap(({ extra }) => extra),
  };
}

/**
 * Returns the differences that two comparisons of an fid share. Changes in transit during the first are not
 * differences.
 */
function inBoth(first: FidDifferences, second: FidDifferences): FidDifferences {
  const [missing, extra] = [new Set(first.missing), new Set(first.extra)];
  return {
    fid: first.fid,
    missing: second.missing.filter((one) => missing.has(one)),
    extra: second.extra.filter((one) => extra.has(one)),
  };
}

function storeName(store: Store): string {
  return Object.entries(Store).find(([, value]) => value === store)?.[0] ?? "";
}

/** Returns the hash of a message in hex. A lend of 0 units only ends another one and is not stored. */
function hashIn(bytes: Uint8Array): string[] {
  const decoded = decodeMessage(bytes);
  if (!decoded.ok) return [`unreadable (${decoded.error.reason})`];
  const { data, hash } = decoded.value;
  return data.body?.$case === "lendStorageBody" && data.body.value.numUnits === 0 ? [] : [hash.toHex()];
}

function compareEvents(
  received: readonly Uint8Array[],
  db: IndexDatabase,
  fid: number,
  type: OnChainEventType,
) {
  const theirs = received.map((bytes) => OnChainEvent.encode(OnChainEvent.decode(bytes)).finish().toHex());
  return difference(new Set(theirs), new Set(storedEvents(db, fid, type).keys()), (hex) => {
    const { blockNumber, logIndex } = OnChainEvent.decode(Buffer.from(hex, "hex"));
    return `${OnChainEventType[type]} of block ${blockNumber}, log ${logIndex}`;
  });
}

async function compareProofs(
  client: UpstreamClient,
  db: IndexDatabase,
  fid: number,
  usernames: readonly string[],
) {
  const stored = storedProofs(db, fid);
  const names = [...stored.values()].map((bytes) => nameText(UserNameProof.decode(bytes).name));
  const live = await readLiveProofs(client, fid, [...usernames, ...names], (bytes) =>
    UserNameProof.decode(bytes),
  );
  const theirs = [...live].filter(([, proof]) => proof.fid === fid).map(([hex]) => hex);
  return difference(new Set(theirs), new Set(stored.keys()), (hex) => {
    const { name, timestamp } = UserNameProof.decode(Buffer.from(hex, "hex"));
    return `proof of the name ${JSON.stringify(nameText(name))} of ${timestamp}`;
  });
}

async function compareKeys(client: UpstreamClient, db: IndexDatabase, fid: number) {
  const theirs = new Set<string>();
  for await (const page of readPages((token) => client.signers(fid, token, [])))
    for (const { source, key } of page)
      if (source === SignerSource.SIGNER_SOURCE_OFFCHAIN) theirs.add(key.toHex());
  return difference(theirs, new Set(storedKeys(db, fid).keys()), (hex) => `gasless key 0x${hex}`);
}

function difference(theirs: Set<string>, stored: Set<string>, name: (id: string) => string) {
  return {
    missing: [...theirs.difference(stored)].map(name),
    extra: [...stored.difference(theirs)].map(name),
  };
}
