import {
  type FileManifest,
  formatSnapshotProgress,
  type Manifest,
  type SnapshotProgress,
} from "../../node/snapshot/manifest.ts";
import type { ListedSnapshot } from "../../node/snapshot/places/place.ts";
import type { Common } from "../../runtime/common.ts";
import {
  createProgressReporter,
  grouped,
  type ProgressReporter,
  progressOnStderr,
} from "../../runtime/progress-line.ts";

const LOG_INTERVAL_MS = 5000;

/** Reports the progress of a snapshot on standard error. */
export function startSnapshotProgress({ clock, log }: Common): ProgressReporter<SnapshotProgress> {
  const output = progressOnStderr();
  const reporter = createProgressReporter<SnapshotProgress>({
    clock,
    logIntervalMs: LOG_INTERVAL_MS,
    log: (step) => log.info(step, "Working on the snapshot"),
    output,
    format: formatSnapshotProgress,
  });
  // A short snapshot logs nothing.
  return output.isTerminal ? reporter : { update: reporter.update, finish: () => undefined };
}

/** Describes the content of a snapshot in a few lines. */
export function summaryOf({ created_at, version, node, index, state }: Manifest): string {
  const lines = [`Made ${created_at} by ${version} on ${node}`];
  if (index) {
    const { network, demo, upstream, rows } = index;
    const blocks = Object.entries(upstream?.applied_blocks ?? {}).map(
      ([shard, block]) => `${shard}:${block}`,
    );
    const source = demo ? "the demo network" : network;
    lines.push(`index  ${source}, ${grouped(rows.messages ?? 0)} messages, ${sizesOf(index)}`);
    if (blocks.length > 0) lines.push(`       applied blocks by shard: ${blocks.join(" ")}`);
  }
  if (state) lines.push(`state  ${sizesOf(state)}`);
  return `${lines.join("\n")}\n`;
}

/** Lists snapshots, one per line, by name. */
export function listOf(snapshots: readonly ListedSnapshot[]): string {
  if (snapshots.length === 0) return "There are no snapshots.\n";
  const width = Math.max(...snapshots.map(({ name }) => name.length));
  return [...snapshots]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, bytes }) => `${name.padEnd(width)}  ${sizeOf(bytes)}\n`)
    .join("");
}

function sizesOf({ bytes, compressed_bytes }: FileManifest): string {
  return `${sizeOf(bytes)}, compressed ${sizeOf(compressed_bytes)}`;
}

/** Formats a size in MB, or in kB if that would be 0.0. */
function sizeOf(bytes: number): string {
  return bytes < 1e5 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
