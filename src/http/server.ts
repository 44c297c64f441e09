import { type AnyElysia, Elysia } from "elysia";
import { basePathOf, serviceNames } from "../config/names.ts";
import type { Config } from "../config/schema.ts";
import type { Common } from "../runtime/common.ts";
import type { Descriptors } from "../runtime/descriptors.ts";
import { createAcceptMetrics } from "./accept-metrics.ts";
import { createCors } from "./cors.ts";
import { docsRoutes } from "./docs.ts";
import { errorResponse } from "./error-response.ts";
import { exchangeOf, type TaggedBody } from "./exchange.ts";
import { createHttpMetrics } from "./http-metrics.ts";
import { Listener } from "./listener.ts";
import { type ApiDocumentation, openApiDocument } from "./openapi.ts";
import type { OpenApiDocument } from "./openapi-document.ts";
import { type OpsProviders, opsRoutes } from "./ops.ts";
import { createPipeline } from "./pipeline.ts";
import { createPolicyLookup } from "./policy.ts";
import { createRepresent, readHeaders, respondToRead, tagBody } from "./representation.ts";
import { createBodySender } from "./response-body.ts";
import type { ResponseCache } from "./response-cache.ts";
import { createCacheOfRoute } from "./route-cache.ts";
import { UnsentBytes } from "./unsent-bytes.ts";

export interface HttpServerOptions {
  readonly common: Pick<Common, "log" | "metrics" | "clock"> & {
    readonly config: Pick<Config, "http" | "service">;
  };
  /** Routes of the API, with paths within `/v2/<service>`. */
  readonly plugins: readonly AnyElysia[];
  /** The same API in the dialect of `service.compat_prefixes`, made where there is such a prefix. */
  readonly compatPlugins: () => readonly AnyElysia[];
  readonly ops: OpsProviders;
  /** What the OpenAPI document holds beside the routes; loaded when the document is first requested. */
  readonly documentation: () => Promise<ApiDocumentation>;
  /** Responses of routes that declare it; all are made anew where it is left out. */
  readonly cache?: ResponseCache | undefined;
  /** The budget that this shares with the other threads that respond; one of its own where it is left out. */
  readonly unsent?: UnsentBytes | undefined;
  /** Those of the process; any number of connections is accepted where they are left out. */
  readonly descriptors?: Descriptors | undefined;
  readonly version: string;
}

export interface HttpServer {
  /** Answers a request as a listening server would. */
  readonly handle: (request: Request) => Response | Promise<Response>;
  readonly openApi: () => Promise<OpenApiDocument>;
  /**
   * Starts accepting. Port 0 in the settings takes a free one. With `sharesPort` others may accept on it as well, and the
   * kernel deals the connections out.
   */
  readonly listen: (options?: { readonly sharesPort?: boolean }) => {
    readonly url: string;
    readonly port: number;
  };
  /**
   * Stops accepting, lets what was accepted finish, and closes what has not finished after `graceMs`
   * (`http.shutdown_grace_secs` where it is not given).
   */
  readonly stop: (options?: { readonly graceMs?: number }) => Promise<void>;
}

/**
 * The whole HTTP interface. A request passes, in this order: the edge (id, canonical path, preflight), the router,
 * the hooks of its route's group, parameters and body, the handler, the representation (JSON, ETag), and the edge again
 * (CORS, metrics, access log). Errors of any step meet in one hook, which is registered first because Elysia's hooks
 * cover only what is registered after them.
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { common, plugins, ops, version } = options;
  const { config, metrics, clock } = common;
  const log = common.log.child({ subsystem: "http" });
  const names = serviceNames(config.service.name);
  let listener: Listener | undefined;
  let stopping = false;
  let document: Promise<OpenApiDocument> | undefined;

  const documented = new Elysia({ name: "documented" })
    .use(opsRoutes({ providers: ops, clock, version }))
    .use(new Elysia({ prefix: names.basePath }).use([...plugins]));
  const { compat_prefixes: compatPrefixes } = config.service;
  const compatPlugins = compatPrefixes.length > 0 ? options.compatPlugins() : [];
  for (const prefix of compatPrefixes) {
    documented.use(new Elysia({ prefix: basePathOf(prefix) }).use([...compatPlugins]));
  }

  const openApi = () => {
    document ??= options
      .documentation()
      .then((documentation) =>
        openApiDocument({ app: documented, names, compatPrefixes, version, documentation }),
      );
    return document;
  };

  const sender = createBodySender({ unsent: options.unsent ?? new UnsentBytes(), log });
  let documentBody: Promise<TaggedBody> | undefined;
  const answerDocument = async (request: Request) => {
    documentBody ??= openApi().then((document) =>
      tagBody(new TextEncoder().encode(JSON.stringify(document))),
    );
    const tagged = await documentBody;
    return respondToRead(request, tagged, readHeaders(tagged.etag), sender);
  };

  const app = new Elysia({
    // Static answers would bypass the hooks, and Bun's own router would see paths before they are canonical.
    nativeStaticResponse: false,
    systemRouter: false,
    // Unknown fields are judged by the schema of each route, not dropped before it sees them.
    normalize: false,
  })
    .onError({ as: "global" }, ({ request, error, route }) => {
      const exchange = exchangeOf(request);
      exchange.route ??= route === "" ? undefined : route;
      return errorResponse({ exchange, error, log });
    })
    .mapResponse({ as: "global" }, createRepresent(createCacheOfRoute(documented.routes), sender))
    .use(documented)
    .use(docsRoutes({ title: `${names.capitalised} API` }))
    .get("/openapi.json", ({ request }) => answerDocument(request), { detail: { hide: true } })
    .compile();

  const handle = createPipeline({
    route: (request) => app.fetch(request),
    policyOf: createPolicyLookup([names.basePath, ...compatPrefixes.map(basePathOf)]),
    cors: createCors({ origins: config.http.cors_origins, names, isCompat: compatPrefixes.length > 0 }),
    cache: options.cache,
    sender,
    observe: createHttpMetrics(metrics),
    log,
    isStopping: () => stopping,
  });

  const serve = (port: number, sharesPort: boolean) => {
    const server = Bun.serve({
      hostname: config.http.host,
      port,
      reusePort: sharesPort,
      development: false,
      // Between bytes of a body or of an answer. Bun itself ends a connection whose headers take over 10 s.
      idleTimeout: config.http.idle_timeout_secs,
      // Bun's own refusal has no body; `readBody` refuses with one and reads no further.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: handle,
      error(error) {
        log.error({ err: error }, "Failed a request outside the edge");
        const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
        return Response.json({ message: "internal error" }, { status: 500, headers });
      },
    });
    app.server = server;
    return server;
  };
  const acceptMetrics = createAcceptMetrics(metrics, {
    isAccepting: () => listener?.isAccepting ?? false,
    descriptors: options.descriptors,
  });

  return {
    handle,
    openApi,

    listen({ sharesPort = false } = {}) {
      listener = new Listener({
        serve: (port) => serve(port, sharesPort),
        port: config.http.port,
        descriptors: options.descriptors,
        onPause: () => acceptMetrics.pauses.inc(),
        log,
      });
      const { url, port } = listener;
      log.info({ url: url.href }, "Opened the HTTP interface");
      return { url: url.href.replace(/\/$/, ""), port };
    },

    async stop({ graceMs = config.http.shutdown_grace_secs * 1000 } = {}) {
      if (listener === undefined) return;
      stopping = true;
      const closing = listener;
      const deadline = Promise.withResolvers<"late">();
      const timer = setTimeout(() => deadline.resolve("late"), graceMs);
      const outcome = await Promise.race([closing.stop(false), deadline.promise]);
      clearTimeout(timer);
      if (outcome === "late") {
        log.warn(
          { graceMs, pendingRequests: closing.pendingRequests },
          "Closed connections whose requests had not finished",
        );
        await closing.stop(true);
      }
    },
  };
}
