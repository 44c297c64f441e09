import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { followedFids } from "../../config/files/fid-file.ts";
import type { Config } from "../../config/schema.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import { indexPath } from "../../db/index/database.ts";
import { networkOf } from "../../protocol/network/network.ts";
import figures from "../../protocol/network/network-figures.json" with { type: "json" };
import { grouped } from "../../runtime/progress-line.ts";
import { openUpstream } from "../../upstream/peers/open-upstream.ts";
import { estimateUpstream } from "../../upstream/verify/estimate-upstream.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";
import type { Place } from "./place.ts";

/** A rough figure is enough to notice that a disk is too small. */
const SAMPLED_FIDS = 40;
const BUDGET_MS = 5000;
/** The index of a node that has started and stored almost nothing. */
const UNFILLED_BYTES = 4_000_000;
/** A migration to a new index format builds a second file of about this share. */
const MIGRATION_SHARE = 0.65;

/** Checks whether the disk has room for the index: first to fill it, later to migrate it. */
export const spaceForIndexCheck = (config: Config, { freeBytes }: Place): Check => ({
  name: "space for the index",
  run: async (signal) => {
    if (freeBytes === undefined) return [];
    const bytes = statSync(indexPath(config.data.dir), { throwIfNoEntry: false })?.size ?? 0;
    const isFilled = bytes > UNFILLED_BYTES || !isFollowing(config);
    if (bytes > 0 && isFilled) return [forMigration(bytes, freeBytes)];
    if (!isFollowing(config)) return [];
    return [await forFilling(config, freeBytes, signal)];
  },
});

/** Reports the costs of following, even those that do not concern this machine. */
export const costCheck = ({ upstream }: Pick<Config, "upstream">): Check => ({
  name: "costs",
  run: async () => {
    if (!isFollowing({ upstream })) return [];
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
  const text = `the index has ${megabytes(bytes)}; migrating it to a new format needs ${megabytes(needed)} more`;
  if (freeBytes >= needed) return ok(check, text);
  return warn(check, `${text}; ${megabytes(freeBytes)} free`, "Free space before the next upgrade");
}

async function forFilling(config: Config, freeBytes: number, signal: AbortSignal): Promise<Finding> {
  const check = "space for the index";
  using upstream = await openUpstream(config, signal);
  const { client } = upstream;
  const { concurrency } = upstream.limits;
  try {
    const cores = availableParallelism();
    const network = networkOf(config.protocol.network);
    const limits = { concurrency, sampledFids: SAMPLED_FIDS, budgetMs: BUDGET_MS };
    const { bytes, bytesWhileFilling } = await estimateUpstream(
      { client, network, cores, ...limits },
      followedFids(config.upstream),
    );
    const text = `about ${megabytes(bytes)}, and ${megabytes(bytesWhileFilling)} while it is filled; ${megabytes(freeBytes)} free`;
    if (freeBytes >= bytesWhileFilling) return ok(check, text);
    return fail(check, text, "Use a larger disk, or follow fewer fids (upstream.fids)");
  } catch {
    const reason = signal.aborted ? "in time" : "without the responses of the followed node";
    return warn(
      check,
      `could not be estimated ${reason}`,
      "`svc upstream estimate` takes longer and reports more",
    );
  }
}

function megabytes(bytes: number): string {
  return `${grouped(Math.ceil(bytes / 1e6))} MB`;
}

const { network, followedNode, filling } = figures;
const GB = 1e9;
/** The machine of the documentation: two otherwise idle cores. */
const CORES = 2;
const HALF_HOURS = 2;

/** The costs of an index filled from a followed node, from figures measured by `bun run bench` (network-figures.json). */
interface Cost {
  readonly bytes: number;
  readonly bytesWhileFilling: number;
  /** On two free cores, from a followed node that responds at once. */
  readonly seconds: number;
}

export function costOf({ messages, fids }: { readonly messages: number; readonly fids: number }): Cost {
  const bytes = messages * filling.bytesPerMessage;
  return {
    bytes,
    bytesWhileFilling: bytes * filling.spaceShare,
    seconds: (messages * filling.messageMicros + fids * filling.fidMicros) / 1e6 / CORES,
  };
}

/** Returns what a node that serves the whole network needs, as the end of a sentence. */
export function wholeNetworkText(): string {
  const { bytes, bytesWhileFilling, seconds } = costOf(network);
  const hours = Math.round((seconds / 3600) * HALF_HOURS) / HALF_HOURS;
  return (
    `about ${Math.round(network.messages / 1e6)} million messages (${network.asOf}), an index of ${Math.round(bytes / GB)} GB, ` +
    `${Math.round(bytesWhileFilling / GB)} GB while it is filled, ${hours} h of two free cores`
  );
}

/** Returns what a part of the network needs instead, as a sentence. */
export function partText(): string {
  const [app] = figures.scopes;
  if (!app) throw new Error("there are no scopes");
  const { bytes, seconds } = costOf(app);
  const messages = app.messages.toLocaleString("en");
  return `${app.fids.toLocaleString("en")} fids with ${messages} messages take ${(bytes / GB).toFixed(1)} GB and ${Math.round(seconds)} s`;
}

/** Returns what the followed node needs, as the end of a sentence. */
export function followedNodeText(): string {
  const { memoryGb, cores, diskTb, sources, asOf } = followedNode;
  return (
    `a machine of ${memoryGb} GB of memory, ${cores} cores and ${diskTb.join(" to ")} TB of disk ` +
    `(${sources.map(({ name }) => name).join(" and ")}, ${asOf})`
  );
}
