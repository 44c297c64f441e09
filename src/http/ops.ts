import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Clock } from "../runtime/clock.ts";
import { ApiError } from "./errors.ts";
import { operation } from "./operation.ts";
import { choice, optional } from "./params.ts";

type MaybePromise<T> = T | Promise<T>;

/** What the operator's endpoints ask the rest of the process. */
export interface OpsProviders {
  /** Why the node does not serve what it is asked for; undefined while it does. */
  readonly notReadyReason: (request: ReadyRequest) => MaybePromise<string | undefined>;
  /** Counts, positions, lag and queue depths, as JSON. */
  readonly status: () => MaybePromise<Readonly<Record<string, unknown>>>;
  /** What `/metrics` shows. */
  readonly metrics: () => MaybePromise<MetricsPage>;
}

/** What has to work for a node to be ready. */
export interface ReadyRequest {
  /** Also what needs the state to be written: signed operations, token events, sends. */
  readonly forState: boolean;
}

/** Prometheus text, with the content type that names its version. */
export interface MetricsPage {
  readonly text: string;
  readonly contentType: string;
}

export interface OpsOptions {
  readonly providers: OpsProviders;
  readonly clock: Clock;
  readonly version: string;
}

const StatusOnly = (status: string) => Type.Object({ status: Type.Literal(status) });

const NodeStatus = Type.Object(
  { version: Type.String(), uptime_secs: Type.Integer({ minimum: 0 }) },
  {
    additionalProperties: true,
    description: "Version, uptime, and what each part of the node tells of itself",
  },
);

const tags = ["Operations"];

const readyQuery = {
  for: optional(
    choice(["state"], {
      description: "`state`: also whether what changes apps, webhooks, tokens or sends can be stored",
    }),
  ),
};

/** `/health`, `/ready`, `/status` and `/metrics`. */
export function opsRoutes({ providers, clock, version }: OpsOptions) {
  const startedAtMs = clock.nowMs();
  return new Elysia({ name: "ops" })
    .get(
      "/health",
      () => ({ status: "ok" }),
      operation({
        operationId: "getHealth",
        summary: "Whether the process lives",
        tags,
        response: StatusOnly("ok"),
      }),
    )
    .get(
      "/ready",
      async ({ query }) => {
        const reason = await providers.notReadyReason({ forState: query.for === "state" });
        if (reason !== undefined) throw new ApiError("unavailable", reason);
        return { status: "ready" };
      },
      operation({
        operationId: "getReadiness",
        summary: "Whether the node serves current data",
        tags,
        query: readyQuery,
        response: StatusOnly("ready"),
        errors: ["unavailable"],
      }),
    )
    .get(
      "/status",
      async () => ({
        version,
        uptime_secs: Math.max(0, Math.floor((clock.nowMs() - startedAtMs) / 1000)),
        ...(await providers.status()),
      }),
      operation({
        operationId: "getStatus",
        summary: "Counts, positions, lag, queue depths",
        tags,
        response: NodeStatus,
      }),
    )
    .get(
      "/metrics",
      async () => {
        const { text, contentType } = await providers.metrics();
        return new Response(text, { headers: { "content-type": contentType, "cache-control": "no-store" } });
      },
      { detail: { hide: true } },
    );
}
