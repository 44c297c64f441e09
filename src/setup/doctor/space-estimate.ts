import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { followedFids } from "../../config/fid-file.ts";
import type { Config } from "../../config/schema.ts";
import { indexPath } from "../../db/index/database.ts";
import { networkOf } from "../../protocol/network.ts";
import { grouped } from "../../runtime/progress-line.ts";
import { UpstreamClient } from "../../upstream/client.ts";
import { connectUpstream } from "../../upstream/connection.ts";
import { estimateUpstream } from "../../upstream/estimate-upstream.ts";
import { DEFAULT_TIMINGS } from "../../upstream/timings.ts";
import { followedNodeText, partText, wholeNetworkText } from "../costs.ts";
import type { Check } from "./checks.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import type { Place } from "./place.ts";

/** A rough figure is enough to see that a disk is too small. */
const SAMPLED_FIDS = 40;
const BUDGET_MS = 5000;
/** The index of a node that has started and stored next to nothing. */
const UNFILLED_BYTES = 4_000_000;
/** A migration to a new index format builds a second file of about this share. */
const MIGRATION_SHARE = 0.65;

/** Whether the disk has room for the index: for filling an empty one, later for a migration. */
export const spaceForIndexCheck = (config: Config, { freeBytes }: Place): Check => ({
  name: "space for the index",
  run: async (signal) => {
    if (freeBytes === undefined) return [];
    const bytes = statSync(indexPath(config.data.dir), { throwIfNoEntry: false })?.size ?? 0;
    const isFilled = bytes > UNFILLED_BYTES || config.upstream.url === "";
    if (bytes > 0 && isFilled) return [forMigration(bytes, freeBytes)];
    if (config.upstream.url === "") return [];
    return [await forFilling(config, freeBytes, signal)];
  },
});

/** What following costs, also where this machine is not concerned. */
export const costCheck = ({ upstream }: Pick<Config, "upstream">): Check => ({
  name: "costs",
  run: async () => {
    if (upstream.url === "") return [];
    const fids = followedFids(upstream)?.size;
    const own =
      fids === undefined
        ? `the whole network has ${wholeNetworkText()}; ${partText()}`
        : `${grouped(fids)} fids, see "space for the index"; the whole network has ${wholeNetworkText()}`;
    return [
      ok("costs", own),
      ok("costs", `the followed node, if it is your own, too, takes ${followedNodeText()}`),
    ];
  },
});

function forMigration(bytes: number, freeBytes: number): Finding {
  const check = "space for the index";
  const needed = bytes * MIGRATION_SHARE;
  const text = `it has ${megabytes(bytes)}; a migration to a new format takes ${megabytes(needed)} more`;
  if (freeBytes >= needed) return ok(check, text);
  return warn(check, `${text}, and ${megabytes(freeBytes)} are free`, "Free space before the next upgrade");
}

async function forFilling(config: Config, freeBytes: number, signal: AbortSignal): Promise<Finding> {
  const check = "space for the index";
  const connection = connectUpstream(config.upstream.url);
  const client = new UpstreamClient(connection, DEFAULT_TIMINGS, signal);
  try {
    const cores = availableParallelism();
    const network = networkOf(config.protocol.network);
    const { concurrency } = config.upstream;
    const limits = { concurrency, sampledFids: SAMPLED_FIDS, budgetMs: BUDGET_MS };
    const { bytes, bytesWhileFilling } = await estimateUpstream(
      { client, network, cores, ...limits },
      followedFids(config.upstream),
    );
    const text = `about ${megabytes(bytes)}, and ${megabytes(bytesWhileFilling)} while it is filled; ${megabytes(freeBytes)} are free`;
    if (freeBytes >= bytesWhileFilling) return ok(check, text);
    return fail(check, text, "Use a larger disk, or follow fewer fids (upstream.fids)");
  } catch {
    const reason = signal.aborted ? "in time" : "without the answers of the followed node";
    return warn(
      check,
      `could not be estimated ${reason}`,
      "`svc upstream estimate` takes longer and says more",
    );
  } finally {
    connection.close();
  }
}

function megabytes(bytes: number): string {
  return `${grouped(Math.ceil(bytes / 1e6))} MB`;
}
