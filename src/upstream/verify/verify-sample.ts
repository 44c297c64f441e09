import { addressesInTransit } from "../../db/index/channels/owner-claims.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { Store, slotOf } from "../../protocol/message/merge-rules.ts";
import { decodeMessage } from "../../protocol/message/signed-message.ts";
import { verifyFnameSignature } from "../../protocol/validate/username-proof.ts";
import { UserNameProof, UserNameType } from "../../protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { SignerSource } from "../../protocol/wire/generated/state.ts";
import { nameText, readLiveProofs, usernamesIn } from "../blocks/name-proofs.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { listFids, readPages } from "../calls/pages.ts";
import { STORES } from "../fill/read-fid.ts";
import { replayedSeqnum } from "../fill/replayed.ts";
import {
  EVENT_TYPES,
  registeredFidsAfter,
  storedEvents,
  storedKeys,
  storedMessages,
  storedProofs,
} from "../fill/stored.ts";
import { UpstreamPositions } from "../positions.ts";
import {
  compareInRounds,
  type Differences,
  setDifferences as difference,
  type RoundsDeps,
} from "./rounds.ts";

/** Dependencies and settings for a comparison. */
export interface ComparisonDeps extends RoundsDeps {
  readonly client: UpstreamClient;
  /** Another process may be writing to this index. */
  readonly db: IndexDatabase;
  /** Address that signs the fnames of the network; undefined if they need no signature. */
  readonly nameServer: Uint8Array | undefined;
}

export interface ComparisonReport {
  /** Number of compared fids. */
  readonly compared: number;
  /** The fids that differ, in order. */
  readonly differences: readonly FidDifferences[];
  /** Fnames of the upstream that another name server has signed, as in a demo network. A node that follows it skips them. */
  readonly foreignNames: number;
  readonly shards: readonly {
    readonly shard: number;
    readonly appliedBlock: number;
    readonly headBlock: number;
  }[];
}

const FIDS_PER_PAGE = 10_000;

/**
 * Compares fids with the upstream. See `compareInRounds`.
 *
 * @throws the errors of the calls.
 */
export async function compareFids(
  comparison: ComparisonDeps,
  fids: readonly number[],
): Promise<ComparisonReport> {
  const foreign = new Set<string>();
  const differences = await compareInRounds(
    fids,
    comparison,
    () => replayedSeqnum(comparison.client),
    (fid, replayed) => compareFid(comparison, fid, replayed, foreign),
  );
  return {
    compared: fids.length,
    differences: differences.toSorted((a, b) => a.fid - b.fid),
    foreignNames: foreign.size,
    shards: await shardsOf(comparison),
  };
}

/** Returns every fid that the upstream lists or that is registered in the index. */
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
 * Returns a random sample of `size` of the items, all equally likely.
 *
 * @param random returns 0 to 1, like `Math.random`.
 */
export function sampleOf<Item>(items: readonly Item[], size: number, random: () => number): Item[] {
  const drawn = [...items];
  const count = Math.min(size, drawn.length);
  for (let at = 0; at < count; at += 1) {
    const other = at + Math.floor(random() * (drawn.length - at));
    [drawn[at], drawn[other]] = [drawn[other] as Item, drawn[at] as Item];
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

export interface FidDifferences extends Differences {
  readonly fid: number;
}

/**
 * Compares the state of an fid on the upstream with the index: messages of every store by their hashes, compact states,
 * on-chain events and name proofs by their bytes, gasless keys. Unlike in a backfill, nothing is validated, so a message
 * that this node refuses by mistake is reported as missing. Names that are skipped on purpose are added to `foreign`.
 */
async function compareFid(
  { client, db, nameServer }: Pick<ComparisonDeps, "client" | "db" | "nameServer">,
  fid: number,
  replayed: number,
  foreign: Set<string>,
): Promise<FidDifferences> {
  const parts = [];
  for (const type of EVENT_TYPES)
    parts.push(compareEvents(await client.onChainEvents(fid, type), db, fid, type));
  parts.push(await compareKeys(client, db, fid));
  const usernames: string[] = [];
  // The home shard of the fid may repeat, minutes later, what shard 0 has decided about a verification.
  const inTransit = new Set(addressesInTransit(db, fid, replayed).map((address) => address.toHex()));
  const isCompared = (store: Store, slot: Uint8Array) =>
    store !== Store.Verifications || inTransit.size === 0 || !inTransit.has(slot.toHex());
  for (const [store, methods] of STORES) {
    const hashes = new Set<string>();
    for (const method of methods) {
      for await (const page of readPages((token) => client.messages(method, fid, token))) {
        for (const bytes of page)
          for (const { hash, slot } of messageIn(bytes)) if (isCompared(store, slot)) hashes.add(hash);
        if (store === Store.UserData) usernames.push(...usernamesIn(page));
      }
    }
    const own = [...storedMessages(db, fid, store)].filter(([, { slot }]) => isCompared(store, slot));
    const stored = new Set(own.map(([hash]) => hash));
    parts.push(difference(hashes, stored, (hash) => `${storeName(store)} 0x${hash}`));
  }
  parts.push(await compareProofs({ client, db, nameServer }, fid, usernames, foreign));
  return {
    fid,
    missing: parts.flatMap(({ missing }) => missing),
    extra: parts.flatMap(({ extra }) => extra),
  };
}

function storeName(store: Store): string {
  return Object.entries(Store).find(([, value]) => value === store)?.[0] ?? "";
}

const NO_SLOT = new Uint8Array();

/** Returns the hash of a message in hex, with its slot. A lend of 0 units only ends another one and is not stored. */
function messageIn(bytes: Uint8Array): { hash: string; slot: Uint8Array }[] {
  const decoded = decodeMessage(bytes);
  if (!decoded.ok) return [{ hash: `unreadable (${decoded.error.reason})`, slot: NO_SLOT }];
  const { data, hash } = decoded.value;
  if (data.body?.$case === "lendStorageBody" && data.body.value.numUnits === 0) return [];
  return [{ hash: hash.toHex(), slot: data.body ? slotOf(decoded.value).slot : NO_SLOT }];
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
  { client, db, nameServer }: Pick<ComparisonDeps, "client" | "db" | "nameServer">,
  fid: number,
  usernames: readonly string[],
  foreign: Set<string>,
) {
  const isForeign = (proof: UserNameProof) =>
    nameServer !== undefined &&
    proof.type === UserNameType.USERNAME_TYPE_FNAME &&
    verifyFnameSignature(proof, nameServer) !== undefined;
  const stored = storedProofs(db, fid);
  const names = [...stored.values()].map((bytes) => nameText(UserNameProof.decode(bytes).name));
  const live = await readLiveProofs(client, fid, [...usernames, ...names], (bytes) =>
    UserNameProof.decode(bytes),
  );
  const theirs = new Set<string>();
  for (const [hex, proof] of live) {
    if (proof.fid !== fid) continue;
    if (stored.has(hex) || !isForeign(proof)) theirs.add(hex);
    else foreign.add(hex);
  }
  return difference(theirs, new Set(stored.keys()), (hex) => {
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
