import { connectRpc } from "../lib/port-rpc.ts";
import type { Common } from "../runtime/common.ts";
import { progressOnStderr } from "../runtime/progress-line.ts";
import type { UpstreamRpc } from "../upstream/rpc.ts";
import { createUpstreamWatch, type UpstreamWatch } from "./upstream-watch.ts";
import type { WorkerChannels } from "./workers/worker-handle.ts";

/** Watches the worker that follows the upstream. Returns undefined when the settings name none. */
export function watchUpstream(
  { config, clock, log }: Pick<Common, "config" | "clock" | "log">,
  worker: WorkerChannels,
): UpstreamWatch | undefined {
  if (config.upstream.url === "") return undefined;
  const client = connectRpc<UpstreamRpc>(worker.connect());
  const output = progressOnStderr();
  return createUpstreamWatch({
    readProgress: () => client.progress(),
    clock,
    log: log.child({ subsystem: "upstream" }),
    readyLagSecs: config.upstream.ready_lag_secs,
    // JSON lines may be read by a program. A redrawn progress line would corrupt them.
    output: { ...output, isTerminal: output.isTerminal && config.log.format === "pretty" },
  });
}
