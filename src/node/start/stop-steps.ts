import type { Config } from "../../config/schema.ts";
import { EXIT_OK, EXIT_RETRYABLE } from "../../lib/failure.ts";
import type { Common } from "../../runtime/common.ts";
import type { Replacement } from "../../runtime/replacement.ts";
import { createSupervisor } from "../../runtime/supervisor.ts";

/** Returns a function that ends a node whose data directory is no longer the one that was opened. */
export function endOnReplacement(
  { log, shutdown }: Pick<Common, "log" | "shutdown">,
  /** The files next to the databases. */
  companions: readonly string[],
): (replacement: Replacement) => void {
  return ({ path, change }) => {
    const what = `${path} was ${change}`;
    log.fatal({ what }, "The data directory is no longer the one that was opened");
    // A deleted log still holds commits. The writers move them into their databases when they close.
    if (change === "deleted" && companions.includes(path)) void shutdown.start(what, EXIT_RETRYABLE);
    // Work in flight would be acknowledged, but written to files that no other process can open.
    else process.exit(EXIT_RETRYABLE);
  };
}

/** Returns the first step of a shutdown: new requests are refused while load balancers notice (`http.drain_delay_secs`). */
export function drainFirst(
  { http: { drain_delay_secs: delaySecs } }: Config,
  drain: (ms: number) => Promise<unknown>,
): (exitCode: number) => Promise<void> {
  return async (exitCode) => {
    // A node with a fault does not keep serving.
    if (exitCode !== EXIT_OK || delaySecs === 0) return;
    await drain(delaySecs * 1000);
    await Bun.sleep(delaySecs * 1000);
  };
}

/** Reports to the process's supervisor when the node serves and when it stops. */
export function signalLife(shutdown: Common["shutdown"]): void {
  const supervisor = createSupervisor();
  supervisor.ready();
  shutdown.add("signs of life", () => supervisor.stop());
  shutdown.signal.addEventListener("abort", () => supervisor.stopping(), { once: true });
}
