import type { Config } from "../../config/schema.ts";
import { errorKinds } from "../../http/errors.ts";
import { createLogger } from "../../runtime/log/logger.ts";
import { createSupervisor } from "../../runtime/supervisor.ts";
import { version } from "../../version.ts";
import { runWorker } from "./worker-entry.ts";

/** What a node does before it can serve. */
export interface StartingProgress {
  /** Such as `migrating the index to a new format`. */
  readonly task: string;
  /** The stage of a migration. */
  readonly stage?: string;
  /** The completed share of the task, from 0 to 1. */
  readonly share?: number;
  /** Messages in the index. */
  readonly messages?: number;
}

/** The initial message of the worker. */
export interface StartingWorkerInit {
  readonly config: Config;
  readonly startedAtMs: number;
  readonly progress: StartingProgress;
}

const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
/** Request bodies are never read. */
const MAX_BODY_BYTES = 1024;
const IDLE_SECS = 10;

/** Listens in place of the HTTP workers during a long start. */
runWorker<StartingWorkerInit>(async ({ config, startedAtMs, progress: first }, { keepLine }) => {
  const log = createLogger(config, { subsystem: "http", keep: keepLine });
  let progress = first;
  const status = () => ({
    version,
    uptime_secs: Math.max(0, Math.floor((Date.now() - startedAtMs) / 1000)),
    network: config.protocol.network,
    starting: {
      task: progress.task,
      stage: progress.stage ?? null,
      share: progress.share === undefined ? null : Math.round(progress.share * 1000) / 1000,
      messages: progress.messages ?? null,
    },
  });
  const { status: statusCode, retryAfterSecs, code } = errorKinds.unavailable;
  const server = Bun.serve({
    hostname: config.http.host,
    port: config.http.port,
    // The HTTP workers start listening before this one stops.
    reusePort: true,
    development: false,
    idleTimeout: IDLE_SECS,
    maxRequestBodySize: MAX_BODY_BYTES,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/health") return Response.json({ status: "ok" }, { headers: HEADERS });
      if (pathname === "/status") return Response.json(status(), { headers: HEADERS });
      const { task, stage, share } = progress;
      const done = share === undefined ? undefined : `${Math.floor(share * 100)} %`;
      const parts = [stage, done].filter((part) => part !== undefined).join(", ");
      return Response.json(
        { message: `the node is starting: ${task}${parts && ` (${parts})`}` },
        {
          status: statusCode,
          headers: { ...HEADERS, "retry-after": `${retryAfterSecs}`, "x-error-code": code },
        },
      );
    },
  });
  // The work blocks the main thread, which therefore cannot signal that it is alive.
  const supervisor = createSupervisor();
  supervisor.ready();
  log.info(
    { url: server.url.href, task: progress.task },
    "Opened the HTTP interface for a start that takes long",
  );
  return {
    facts: { port: server.port },
    connect(port) {
      port.onmessage = (event) => {
        progress = event.data as StartingProgress;
      };
    },
    async stop() {
      supervisor.stop();
      await server.stop(true);
    },
  };
});
