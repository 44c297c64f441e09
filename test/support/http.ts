import type { AnyElysia } from "elysia";
import { Registry } from "prom-client";
import type { Admission } from "../../src/admission/admission.ts";
import { createClientAddresses } from "../../src/admission/client-address.ts";
import type { Config } from "../../src/config/schema.ts";
import type { Gate } from "../../src/http/gate.ts";
import type { ApiDocumentation } from "../../src/http/openapi/openapi.ts";
import type { ResponseCache } from "../../src/http/response/response-cache.ts";
import type { OpsProviders } from "../../src/http/route/ops.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "../../src/http/server.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { Descriptors } from "../../src/runtime/process.ts";
import type { Spans } from "../../src/runtime/trace/span.ts";
import { logTo } from "./log.ts";

/** A line of the log, as the program writes it. */
export type LogLine = Readonly<Record<string, unknown>>;

export interface RunningHttp extends AsyncDisposable {
  readonly server: HttpServer;
  readonly url: string;
  readonly port: number;
  /** All lines logged so far, at any level. */
  readonly logLines: LogLine[];
  /**
   * Returns the URL of a path under the node's prefix, as in `api("/user?fid=3")`. A path that has a prefix is used
   * unchanged.
   */
  api(path: string): string;
}

export interface RunHttpOptions {
  readonly plugins?: readonly AnyElysia[];
  readonly hubPlugins?: readonly AnyElysia[];
  readonly mounts?: HttpServerOptions["mounts"];
  /** A further address for them. */
  readonly hubAddress?: { readonly host: string; readonly port: number };
  /** The prefixes of `compatPlugins`. */
  readonly compatPrefixes?: readonly string[];
  readonly compatPlugins?: () => readonly AnyElysia[];
  readonly pages?: readonly AnyElysia[];
  readonly documentation?: () => Promise<ApiDocumentation>;
  readonly ops?: Partial<OpsProviders>;
  readonly http?: Partial<Config["http"]>;
  readonly serviceName?: string;
  readonly clock?: Clock;
  readonly cache?: ResponseCache;
  readonly gate?: Gate;
  readonly unavailableReason?: () => string | undefined;
  readonly admission?: Admission;
  readonly bodyPace?: HttpServerOptions["bodyPace"];
  readonly lateRefusalMs?: number;
  readonly descriptors?: Descriptors;
  readonly spans?: Spans;
  /** The lowest level that is logged; all levels by default. */
  readonly logLevel?: Config["log"]["level"];
}

export const httpSettings: Config["http"] = {
  host: "127.0.0.1",
  port: 0,
  workers: 1,
  max_ids: 350,
  cors_origins: ["*"],
  anonymous: true,
  anonymous_units_per_minute: 0,
  anonymous_burst_units: 0,
  trusted_proxies: [],
  proxy_header: "x-forwarded-for",
  idle_timeout_secs: 30,
  shutdown_grace_secs: 5,
  drain_delay_secs: 0,
};

/** The time that bodies have where a test is about their bytes, however busy the machine is. */
export const UNHURRIED = { graceMs: 60_000, discardPauseMs: 60_000, discardMs: 60_000 } as const;

/** Finds the clients of requests and calls where no proxy is trusted. */
export const directClients = createClientAddresses(httpSettings);

/** The id that responses of these servers name. */
export const NODE_ID = "test-node";

const noDocumentation: ApiDocumentation = {
  examples: () => ({ native: {}, compat: {} }),
  webhooks: () => ({}),
};

/** An HTTP server on a free port, with the provided route plugins and no backend. */
export function makeHttp(options: RunHttpOptions = {}): { server: HttpServer; logLines: LogLine[] } {
  const logLines: LogLine[] = [];
  const level = options.logLevel ?? "trace";
  const log = logTo((line) => logLines.push(JSON.parse(line)), level);
  const name = options.serviceName ?? "svc";
  const registry = new Registry();
  const server = createHttpServer({
    common: {
      config: {
        http: { ...httpSettings, ...options.http },
        service: {
          name,
          compat_prefixes: [...(options.compatPrefixes ?? [])],
          shutdown_deadline_secs: 10,
          public_url: "",
          ready_when_empty: true,
        },
      },
      log,
      metrics: { registry, prefix: `${name}_` },
      clock: options.clock ?? { nowMs: () => 1_700_000_000_000 },
      spans: options.spans,
    },
    plugins: options.plugins ?? [],
    hubPlugins: options.hubPlugins ?? [],
    mounts: options.mounts ?? [],
    hubAddress: options.hubAddress,
    pages: options.pages ?? [],
    compatPlugins: options.compatPlugins ?? (() => []),
    documentation: options.documentation ?? (async () => noDocumentation),
    ops: {
      notReadyReason: () => undefined,
      readyFacts: () => ({ degraded: [], isSetUp: true }),
      canBeProven: () => true,
      status: () => ({}),
      metrics: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
      ...options.ops,
    },
    cache: options.cache,
    gate: options.gate,
    unavailableReason: options.unavailableReason,
    admission: options.admission,
    ...(options.bodyPace === undefined ? {} : { bodyPace: options.bodyPace }),
    lateRefusalMs: options.lateRefusalMs,
    descriptors: options.descriptors,
    version: "1.2.3",
    nodeId: NODE_ID,
  });
  return { server, logLines };
}

export function runHttp(options: RunHttpOptions = {}): RunningHttp {
  const { server, logLines } = makeHttp(options);
  const { url, port } = server.listen();
  return {
    server,
    url,
    port,
    logLines,
    api: (path) =>
      /^\/v[12]\//.test(path) ? url + path : `${url}/v2/${options.serviceName ?? "svc"}${path}`,
    [Symbol.asyncDispose]: () => server.stop({ graceMs: 0 }),
  };
}
