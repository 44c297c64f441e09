import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Clock } from "../../runtime/clock.ts";
import { ApiError } from "../errors.ts";
import { choice, optional } from "../request/params.ts";
import { operation } from "./operation.ts";

type MaybePromise<T> = T | Promise<T>;

/** Functions that supply the operator endpoints with data. */
export interface OpsProviders {
  /** Returns why the node is not ready; undefined while it is. */
  readonly notReadyReason: (request: ReadyRequest) => MaybePromise<string | undefined>;
  readonly readyFacts: () => MaybePromise<ReadyFacts>;
  /** Reports whether the index can ever be proven, which is not the case while the node follows no network. */
  readonly canBeProven: () => MaybePromise<boolean>;
  /** Counts, positions, lag and queue depths, as JSON. */
  readonly status: () => MaybePromise<Readonly<Record<string, unknown>>>;
  /** Content of `/metrics`. */
  readonly metrics: () => MaybePromise<MetricsPage>;
}

/** Facts about a ready node. */
export interface ReadyFacts {
  /** Why it serves less than the whole network; empty if it serves all of it. */
  readonly degraded: readonly string[];
  /** False for a node without data that follows no other. */
  readonly isSetUp: boolean;
}

/** What a caller needs from a ready node besides reads. */
export interface ReadyRequest {
  /** `state`: a writable state database, which signed operations, token events and sends require. `proof`: a proven index. */
  readonly for?: "state" | "proof" | undefined;
}

/** Metrics in the Prometheus text format, with the content type that names its version. */
export interface MetricsPage {
  readonly text: string;
  readonly contentType: string;
}

export interface OpsOptions {
  readonly providers: OpsProviders;
  readonly clock: Clock;
  readonly version: string;
}

const StatusOnly = (status: string) =>
  Type.Object({ status: Type.Literal(status) }, { additionalProperties: false });

const Readiness = Type.Object(
  {
    status: Type.Literal("ready"),
    degraded: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Why the node serves less than the network has decided; absent while it serves all of it",
      }),
    ),
    set_up: Type.Optional(
      Type.Literal(false, { description: "The node has no data and follows no other; absent once it does" }),
    ),
  },
  { additionalProperties: false },
);

const NodeStatus = Type.Object(
  { version: Type.String(), uptime_secs: Type.Integer({ minimum: 0 }) },
  {
    additionalProperties: true,
    description: "Version, uptime, and the status of each part of the node",
  },
);

const tags = ["Operations"];

const readyQuery = {
  for: optional(
    choice(["state", "proof"], {
      description:
        "`state`: also check whether changes of apps, webhooks, tokens and sends can be stored. `proof`: also check whether the index is proven to be what the validators of the network signed",
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
        summary: "Whether the process is alive",
        tags,
        response: StatusOnly("ok"),
      }),
    )
    .get(
      "/ready",
      async ({ query }) => {
        const reason = await providers.notReadyReason(query);
        if (reason !== undefined) {
          const isForever = query.for === "proof" && !(await providers.canBeProven());
          throw new ApiError("unavailable", reason, isForever ? { retryAfterSecs: null } : {});
        }
        const { degraded, isSetUp } = await providers.readyFacts();
        return {
          status: "ready",
          ...(degraded.length > 0 && { degraded }),
          ...(!isSetUp && { set_up: false }),
        };
      },
      operation({
        operationId: "getReadiness",
        summary: "Whether the node is up to date",
        tags,
        query: readyQuery,
        response: Readiness,
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
