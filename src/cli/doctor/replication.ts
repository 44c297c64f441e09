import { followedFids } from "../../config/files/fid-file.ts";
import type { Config } from "../../config/schema.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import { SignedChunk } from "../../protocol/wire/generated/certificate.ts";
import type { SnapshotPage } from "../../protocol/wire/generated/snapshot.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { SnapshotPages } from "../../trust/snapshot-page.ts";
import type { ValidatorSets } from "../../trust/validator-sets.ts";
import { verifyChunk } from "../../trust/verify-block.ts";
import type { UpstreamClient } from "../../upstream/calls/client.ts";
import { isUnserved } from "../../upstream/fill/replication/page-calls.ts";
import { MAX_SNAPSHOT_AGE_SECS } from "../../upstream/fill/replication/snapshots.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const CHECK = "replication";

/** The newest snapshot of a data shard. */
interface Newest {
  readonly shard: number;
  readonly height: number;
  readonly timestamp: number;
  readonly chunk: SignedChunk | undefined;
}

export interface ReplicationDeps {
  readonly client: Pick<UpstreamClient, "snapshots" | "snapshotPage">;
  readonly config: Pick<Config, "upstream">;
  readonly clock: Clock;
  /** The number of data shards. */
  readonly shards: number;
  /** Undefined if blocks are not verified. */
  readonly sets: ValidatorSets | undefined;
}

/** Checks whether an index can be filled from a node's snapshots: it has a recent, signed one of each shard, and serves their pages. */
export async function replicationFinding(deps: ReplicationDeps): Promise<Finding> {
  const { client, config, clock, shards, sets } = deps;
  // With selected fids, each is read separately.
  if (followedFids(config.upstream)) return ok(CHECK, "not needed for an index of selected fids");
  const found: Newest[] = [];
  for (let shard = 1; shard <= shards; shard++) {
    let snapshots: Awaited<ReturnType<typeof client.snapshots>>;
    try {
      snapshots = await client.snapshots(shard);
    } catch (cause) {
      if (isUnserved(cause)) return slow("it serves no snapshots");
      throw cause;
    }
    const newest = snapshots.reduce<Newest | undefined>(
      (best, { height, timestamp, chunk }) =>
        height > (best?.height ?? 0) ? { shard, height, timestamp, chunk } : best,
      undefined,
    );
    if (!newest) return slow(`it has no snapshot of shard ${shard} yet`);
    const verified = sets && verifyChunk(sets, shard, newest.chunk ?? SignedChunk.create(), undefined);
    if (verified && !verified.ok && !verified.error.uncertified)
      return fail(
        CHECK,
        `its snapshot of shard ${shard} is not of a block of the network (${verified.error.code})`,
        "Do not fill an index from it",
      );
    found.push(newest);
  }
  const oldest = Math.max(...found.map(({ timestamp }) => nowSecs(clock) - toUnixSecs(timestamp)));
  if (oldest > MAX_SNAPSHOT_AGE_SECS) return slow(`its newest snapshots are ${hours(oldest)} old`);
  const page = await readablePage(client, found);
  if (typeof page === "string")
    return fail(
      CHECK,
      `a page of its snapshots is not of the network's state (${page})`,
      "Do not fill an index from it",
    );
  const read = page
    ? `a page of ${page.entries.length} records took ${page.ms} ms`
    : "no page could be read without gasless keys";
  return ok(CHECK, `its snapshots are at most ${hours(oldest)} old; ${read}`);
}

function slow(why: string): Finding {
  return warn(
    CHECK,
    `${why}: an index of the whole network is filled fid by fid, with 13 calls for each`,
    "List a node with snapshots in upstream.urls, or wait: nodes make one every eight hours",
  );
}

function hours(secs: number): string {
  return `${(Math.max(0, secs) / 3600).toFixed(1)} h`;
}

/** Reads a page of the first virtual shard of which one can be read. Returns the rule that it violates. */
async function readablePage(
  client: ReplicationDeps["client"],
  found: readonly Newest[],
): Promise<(SnapshotPage & { readonly ms: number }) | string | undefined> {
  for (const { shard, height } of found) {
    const virtualShard = 0;
    const started = performance.now();
    let page: SnapshotPage;
    try {
      page = await client.snapshotPage({ shard, height, virtualShard });
    } catch {
      // In snapchain 0.14, a page with a gasless key's message fails; a fill skips it.
      continue;
    }
    const accepted = new SnapshotPages(virtualShard).accept(page);
    return accepted.ok ? { ...page, ms: Math.round(performance.now() - started) } : accepted.error;
  }
  return undefined;
}
