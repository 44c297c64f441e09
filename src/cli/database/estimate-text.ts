import type { SizeEstimate } from "../../db/index/counts/size-estimate.ts";
import figures from "../../protocol/network/network-figures.json" with { type: "json" };
import { formatDuration, grouped } from "../../runtime/progress-line.ts";
import type { UpstreamEstimate } from "../../upstream/verify/estimate-upstream.ts";

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
    `time: about ${formatDuration(seconds * 1000)} on ${cores} ${cores === 1 ? "core" : "cores"}, every signature verified`,
    `memory: up to ${megabytes(memoryBytes)} while it is filled`,
    "",
  ].join("\n");
}

/** Formats an estimate from a followed node, with the part of the time that its responses take. */
export function formatUpstreamEstimate(estimate: UpstreamEstimate, cores: number): string {
  const { callMs, callSeconds, concurrency } = estimate;
  const ms = callMs < 10 ? callMs.toFixed(1) : grouped(callMs);
  return (
    formatEstimate(estimate, sampleText(estimate), cores) +
    `calls: ${CALLS_PER_FID} for each fid and more for its further pages, ${ms} ms each, with upstream.concurrency = ${concurrency}: ` +
    `at least ${formatDuration(callSeconds * 1000)}\n`
  );
}

/** What an estimate from a followed node is based on. */
function sampleText(estimate: UpstreamEstimate): string {
  const { sampledFids, sampledMessages, fids } = estimate;
  if (sampledFids >= fids) return "all of them";
  return `${grouped(sampledMessages)} messages of ${grouped(sampledFids)} fids`;
}

function megabytes(bytes: number): string {
  return `${grouped(Math.ceil(bytes / 1e6))} MB`;
}
