import { bulkPhaseOf } from "../../../db/index/bulk/bulk-state.ts";
import { isSpooledFid, type SpooledPart, spooledParts } from "../../../db/index/bulk/spool-tables.ts";
import type { Verifier } from "../../../ingest/bulk/verify/verifier.ts";
import { Replication, replicationPosition } from "../../positions.ts";
import type { StageDeps } from "../../stage.ts";
import { listFidsOfShards, writeWork } from "../full-sync.ts";
import { keyOps } from "../read-fid.ts";
import { SpoolBatcher } from "../spool-batcher.ts";
import { RefusedPageError } from "./account-records.ts";
import { createListedFids } from "./listed-fids.ts";
import { NoSnapshotError } from "./page-calls.ts";
import { type PartDeps, readPart } from "./read-part.ts";
import { createSnapshots } from "./snapshots.ts";

const VIRTUAL_SHARDS = 256;

/**
 * Reads the newest snapshot of each data shard into the spool of the bulk build, one virtual shard after another. Parts of
 * several heights make up one state, because the journal starts after the oldest: an operation can be applied again over a
 * state that already has it. If the node stops serving snapshots, the other fids are listed to be read one by one.
 */
export async function fillFromSnapshots(deps: StageDeps, verifier: Verifier): Promise<void> {
  const { writer, trust, signal } = deps;
  const ending = new AbortController();
  const end = () => ending.abort();
  signal.addEventListener("abort", end);
  const client = deps.client.until(ending.signal);
  const batcher = new SpoolBatcher(writer);
  const parts = remainingParts(deps);
  const snapshots = createSnapshots(
    { ...deps, client },
    { left: parts.length / (VIRTUAL_SHARDS * deps.shards) },
  );
  const reader: PartDeps = {
    ...deps,
    client,
    signal: ending.signal,
    verifier,
    listed: createListedFids(client),
    readKeys: (fid) => keyOps({ ...deps, client }, fid),
    write: (portion) => batcher.add(portion),
    keepsKeys: deps.chain.isVerifying,
    mayHave: snapshots.mayHave,
  };
  const work = async () => {
    for (let next = parts.pop(); next; next = parts.pop())
      for (let place = next; !place.isDone; ) {
        const height = place.height || snapshots.current(place.shard);
        place = await readPart(reader, { ...place, height });
        if (!place.isDone)
          place = { ...place, height: await snapshots.after(place.shard, height), token: null };
      }
  };
  let areAllRead = false;
  try {
    await snapshots.announce();
    const workers = Array.from({ length: deps.concurrency }, () =>
      work().finally(() => parts.length > 0 && end()),
    );
    const failure = (await Promise.allSettled(workers)).find(({ status }) => status === "rejected");
    if (failure?.status === "rejected") throw failure.reason;
    await batcher.flush();
    areAllRead = true;
  } catch (cause) {
    if (cause instanceof RefusedPageError) trust.refused(cause.code);
    if (!(cause instanceof NoSnapshotError)) throw cause;
    await batcher.flush();
    await listOthers(deps);
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
  await writer.apply({
    ops: [],
    spooled: [],
    positions: [replicationPosition(Replication.Read)],
    ...(areAllRead && deps.chain.isVerifying && { keysKnown: newestHeights(deps) }),
  });
}

/** Returns the newest snapshot of each data shard from which a part was read. */
function newestHeights({ db, shards }: StageDeps): { readonly shard: number; readonly from: number }[] {
  const parts = spooledParts(db);
  return Array.from({ length: shards }, (_, index) => {
    const heights = parts.filter(({ shard }) => shard === index + 1).map(({ height }) => height);
    return { shard: index + 1, from: Math.max(0, ...heights) };
  });
}

/** Returns the parts that are not done, the last one first. */
function remainingParts({ db, shards }: StageDeps): SpooledPart[] {
  const started = new Map(
    (bulkPhaseOf(db) === undefined ? [] : spooledParts(db)).map((part) => [nameOf(part), part]),
  );
  const parts: SpooledPart[] = [];
  for (let shard = shards; shard >= 1; shard--)
    for (let virtualShard = VIRTUAL_SHARDS - 1; virtualShard >= 0; virtualShard--) {
      const fresh = { shard, virtualShard, height: 0, fid: -1, token: null, isDone: false };
      const part = started.get(nameOf(fresh)) ?? fresh;
      if (!part.isDone) parts.push(part);
    }
  return parts;
}

function nameOf({ shard, virtualShard }: SpooledPart): string {
  return `${shard} ${virtualShard}`;
}

/** Adds the fids that are not in the spool to the todo list. */
async function listOthers({ client, db, writer, shards }: StageDeps): Promise<void> {
  const isSpooling = bulkPhaseOf(db) !== undefined;
  await listFidsOfShards(client, shards, (fids) =>
    writeWork(writer, { todo: fids.filter((fid) => !isSpooling || !isSpooledFid(db, fid)) }),
  );
}
