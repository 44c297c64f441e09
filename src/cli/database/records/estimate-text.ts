import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { refuseDatabase } from "../../../config/files/small-file.ts";
import type { Config } from "../../../config/schema.ts";
import { estimateSize, type SizeEstimate } from "../../../db/index/counts/size-estimate.ts";
import { estimateFile } from "../../../import/estimate-file.ts";
import { UserError } from "../../../lib/failure.ts";
import { networkOf } from "../../../protocol/network/network.ts";
import figures from "../../../protocol/network/network-figures.json" with { type: "json" };
import { formatDuration, grouped } from "../../../runtime/progress-line.ts";
import type { UpstreamEstimate } from "../../../upstream/verify/estimate-upstream.ts";

const { callsPerFid: CALLS_PER_FID } = figures.filling;

/**
 * Formats an estimate for people.
 *
 * @param basis what was sampled.
 */
export function formatEstimate(estimate: SizeEstimate, basis: string, cores: number): string {
  const { messages, fids, bytes, bytesWhileFilling, seconds, memoryBytes } = estimate;
  return [
    `${grouped(messages)} messages of ${grouped(fids)} fids, estimated from ${basis}`,
    `index: ${megabytes(bytes)}; ${megabytes(bytesWhileFilling)} of free space while it is filled`,
    `time: about ${duration(seconds)} on ${cores} ${cores === 1 ? "core" : "cores"}, every signature verified`,
    `memory: up to ${megabytes(memoryBytes)} while it is filled`,
    "",
  ].join("\n");
}

/** Formats an estimate from a followed node, including how much of the time its responses take. */
export function formatUpstreamEstimate(estimate: UpstreamEstimate, cores: number): string {
  const { callMs, callSeconds, concurrency } = estimate;
  const ms = callMs < 10 ? callMs.toFixed(1) : grouped(callMs);
  return (
    formatEstimate(estimate, sampleText(estimate), cores) +
    `calls: ${CALLS_PER_FID} for each fid and more for its further pages, ${ms} ms each, with upstream.concurrency = ${concurrency}: ` +
    `${duration(callSeconds)} of that time\n`
  );
}

/** Formats an estimated duration: at least a second. */
function duration(seconds: number): string {
  return formatDuration(Math.max(1, seconds) * 1000);
}

/** Describes the sample on which an estimate from a followed node is based. */
function sampleText(estimate: UpstreamEstimate): string {
  const { sampledFids, sampledMessages, fids } = estimate;
  if (sampledFids >= fids) return "all of them";
  return `${grouped(sampledMessages)} messages of ${grouped(sampledFids)} fids`;
}

function megabytes(bytes: number): string {
  return `${grouped(Math.ceil(bytes / 1e6))} MB`;
}

/** The costs of importing a file. */
export interface ImportEstimate {
  readonly estimate: SizeEstimate;
  readonly records: number;
  /** Lines for people. */
  readonly text: string;
}

/** @throws UserError if the file does not exist. */
export async function estimateImport(
  path: string,
  { protocol }: Pick<Config, "protocol">,
): Promise<ImportEstimate> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new UserError(`no such file: ${path}`);
  // Opening a pipe would wait.
  if (!found.isFile()) throw new UserError(`not a regular file: ${path}`);
  refuseDatabase(path);
  const { network, records, share } = await estimateFile(path, networkOf(protocol.network));
  const cores = availableParallelism();
  const estimate = estimateSize(network, { cores, from: "file" });
  const basis = share === 1 ? "the whole file" : `${records} records of the file`;
  return { estimate, records, text: formatEstimate(estimate, basis, cores) };
}
