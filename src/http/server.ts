import { type AnyElysia, Elysia } from "elysia";
import { type Admission, createAdmission } from "../admission/admission.ts";
import { createClientAddresses } from "../admission/client-address.ts";
import { basePathOf, serviceNames } from "../config/names.ts";
import type { Config } from "../config/schema.ts";
import type { Common } from "../runtime/common.ts";
import type { Descriptors } from "../runtime/process.ts";
import { createCommonHeaders, createCors } from "./cors.ts";
import { errorKinds } from "./errors.ts";
import { type BodyIntake, exchangeOf } from "./exchange.ts";
import { type Gate, keylessGate } from "./gate.ts";
import { createLateRefusals } from "./limits/late-refusals.ts";
import { Listener, stopListeners } from "./listener.ts";
import { createHttpMetrics } from "./metrics/http-metrics.ts";
import { createNotableRequests } from "./metrics/notable-requests.ts";
import { docsRoutes } from "./openapi/docs.ts";
import type { OpenApiDocument } from "./openapi/document.ts";
import { type ApiDocumentation, openApiDocument } from "./openapi/openapi.ts";
import { type DocumentedSurface, documentOfSurface } from "./openapi/surfaces.ts";
import { createPipeline } from "./pipeline.ts";
import { createPolicyLookup, isHubPath } from "./policy.ts";
import { BODY_PACE } from "./request/body.ts";
import { canonicalUrl } from "./request/canonical-url.ts";
import type { TaggedBody } from "./response/content-coding.ts";
import { errorResponse } from "./response/error-response.ts";
import { hubErrorOf } from "./response/hub-error.ts";
import { createRepresent, respondToRead, tagBody } from "./response/representation.ts";
import { createBodySender } from "./response/response-body.ts";
import type { ResponseCache } from "./response/response-cache.ts";
import { type OpsProviders, opsRoutes } from "./route/ops.ts";
import { createCacheOfRoute, createMethodCheck, createTermsOf } from "./route-terms.ts";
import { webSocketHandler } from "./web-socket.ts";

export interface HttpServerOptions {
  readonly common: Pick<Common, "log" | "metrics" | "clock" | "spans"> & {
    readonly config: Pick<Config, "http" | "service">;
  };
  /** Routes of the API, with paths relative to `/v2/<service>`. */
  readonly plugins: readonly AnyElysia[];
  /** Creates the same API in the compat dialect. Called only if `service.compat_prefixes` has an entry. */
  readonly compatPlugins: () => readonly AnyElysia[];
  /** Routes of the hub, with paths relative to `/v1`. */
  readonly hubPlugins?: readonly AnyElysia[];
  /** Further routes for clients, each group with paths relative to its own. */
  readonly mounts?: readonly { readonly path: string; readonly plugin: AnyElysia }[];
  /** A further address, where only the paths of the hub are served. */
  readonly hubAddress?: { readonly host: string; readonly port: number } | undefined;
  /** Pages for people and the calls of their scripts, outside of the API. */
  readonly pages?: readonly AnyElysia[];
  readonly ops: OpsProviders;
  /** Loads the parts of the OpenAPI document that the routes do not declare, at the first request of the document. */
  readonly documentation: () => Promise<ApiDocumentation>;
  /** Decides who may call a route. Default: there are no API keys. */
  readonly gate?: Gate | undefined;
  /** Cache for responses of routes that declare it; without it no response is cached. */
  readonly cache?: ResponseCache | undefined;
  /** Returns why the API cannot respond at the moment, as text for clients. Default: it always can. */
  readonly unavailableReason?: (() => string | undefined) | undefined;
  /** File descriptors of the process. If omitted, the number of connections is not limited. */
  readonly descriptors?: Descriptors | undefined;
  /** What clients hold and spend, over all servers of the process. Default: only this one. */
  readonly admission?: Admission | undefined;
  /** How long a request body may take. */
  readonly bodyPace?: Partial<Pick<BodyIntake, keyof typeof BODY_PACE>>;
  /** The delay of refusals beyond a client's share. */
  readonly lateRefusalMs?: number | undefined;
  readonly version: string;
  /** The id of the node, which every response contains. */
  readonly nodeId: string;
}

export type HttpServer = ReturnType<typeof createHttpServer>;

/**
 * Creates the HTTP interface. A request passes through, in this order: the pipeline (id, canonical path, preflight),
 * the router, the hooks of its route's group, parameters and body, the handler, the representation (JSON, ETag), and
 * the pipeline again (CORS, metrics, access log). One hook handles the errors of all steps. It is registered first
 * because Elysia's hooks apply only to what is registered after them.
 */
export function createHttpServer(options: HttpServerOptions) {
  const { common, plugins, ops, version } = options;
  const { config, metrics, clock } = common;
  const log = common.log.child({ subsystem: "http" });
  const names = serviceNames(config.service.name);
  const admission = options.admission ?? createAdmission();
  let listener: Listener | undefined;
  let hubListener: Listener | undefined;
  let closesConnections = false;
  let document: Promise<OpenApiDocument> | undefined;

  const documented = new Elysia({ name: "documented" })
    .use(opsRoutes({ providers: ops, clock, version }))
    .use(new Elysia({ prefix: names.basePath }).use([...plugins]));
  const { compat_prefixes: compatPrefixes } = config.service;
  const compatPlugins = compatPrefixes.length > 0 ? options.compatPlugins() : [];
  for (const prefix of compatPrefixes) {
    documented.use(new Elysia({ prefix: basePathOf(prefix) }).use([...compatPlugins]));
  }

  const { hubPlugins = [], hubAddress } = options;
  if (hubPlugins.length > 0) documented.use(new Elysia({ prefix: "/v1" }).use([...hubPlugins]));

  for (const { path, plugin } of options.mounts ?? [])
    documented.use(new Elysia({ prefix: path }).use(plugin));

  const hasConsole = (options.pages ?? []).some(({ routes }) =>
    routes.some(({ path }) => path === "/console"),
  );

  const openApi = () => {
    document ??= options
      .documentation()
      .then((documentation) =>
        openApiDocument({ app: documented, names, compatPrefixes, version, documentation }),
      );
    return document;
  };

  const cors = createCors({
    get origins() {
      return config.http.cors_origins;
    },
    names,
    isCompat: compatPrefixes.length > 0,
  });
  const commonHeaders = createCommonHeaders(cors, [`${names.headerPrefix}Node`, options.nodeId]);
  const sender = createBodySender(log);
  const surfaces: [DocumentedSurface, ...DocumentedSurface[]] = [
    { id: names.segment, title: `${names.capitalised} API`, basePath: names.basePath },
    ...compatPrefixes.map((id) => ({ id, title: "Neynar-compatible API", basePath: basePathOf(id) })),
    ...(hubPlugins.length > 0 ? [{ id: "v1", title: "Hub API", basePath: "/v1" }] : []),
  ];
  /** The documents as they are sent, by surface; the complete one has no surface. */
  const documentBodies = new Map<DocumentedSurface | undefined, Promise<TaggedBody>>();
  const respondWithDocument = async (request: Request, surface?: DocumentedSurface) => {
    const body =
      documentBodies.get(surface) ??
      openApi().then((complete) => {
        const shown = surface === undefined ? complete : documentOfSurface(complete, surfaces, surface);
        return tagBody(new TextEncoder().encode(JSON.stringify(shown)));
      });
    documentBodies.set(surface, body);
    return respondToRead(request, await body, commonHeaders.ofReads, sender);
  };

  const app = new Elysia({
    // Static responses would bypass the hooks, and Bun's own router would receive paths before they are canonical.
    nativeStaticResponse: false,
    systemRouter: false,
    // Each route's schema decides about unknown fields; Elysia must not drop them first.
    normalize: false,
  })
    .onError({ as: "global" }, ({ request, error, route }) => {
      const exchange = exchangeOf(request);
      exchange.route ??= route === "" ? undefined : route;
      return errorResponse({ exchange, error, log });
    })
    .mapResponse(
      { as: "global" },
      createRepresent(createCacheOfRoute(documented.routes), { common: commonHeaders, sender }),
    )
    .use(documented)
    .use([...(options.pages ?? [])])
    .use(docsRoutes({ title: `${names.capitalised} API`, surfaces, hasConsole, respondWithDocument }))
    .get("/openapi.json", ({ request }) => respondWithDocument(request), { detail: { hide: true } })
    .compile();

  const httpMetrics = createHttpMetrics(metrics);
  const notable = createNotableRequests();
  const termsOf = createTermsOf([
    ...documented.routes,
    ...(options.pages ?? []).flatMap((page) => page.routes),
  ]);
  const otherMethods = createMethodCheck(app.routes);
  const pipelineWith = (gate: Gate) =>
    createPipeline({
      route: (request) => app.fetch(request),
      policyOf: createPolicyLookup([names.basePath, ...compatPrefixes.map(basePathOf)]),
      termsOf,
      otherMethods,
      gate,
      cors,
      clients: createClientAddresses(config.http),
      commonHeaders,
      cache: options.cache,
      sender,
      bodies: {
        ...BODY_PACE,
        ...options.bodyPace,
        budget: admission.budgets.httpBodies,
        uploads: admission.budgets.uploads,
        chunkedBodies: admission.budgets.chunkedBodies,
        chunks: admission.buckets.chunks,
        chunkShare: admission.shares.chunks,
        discards: admission.buckets.discards,
        discardShare: admission.shares.discards,
      },
      refuseLate: createLateRefusals(admission, options.lateRefusalMs),
      unsent: admission.budgets.unsentBytes,
      observe: httpMetrics.observe,
      notable,
      log,
      spans: common.spans,
      unavailableReason: options.unavailableReason ?? (() => undefined),
      closesConnections: () => closesConnections || (listener?.isCrowded ?? false),
    });
  const handle = pipelineWith(options.gate ?? keylessGate);
  /** The operator's choice of a listen address decides who can reach the port of the hub. */
  const handleUngated = pipelineWith(keylessGate);

  /** A port where only the paths of the hub exist. */
  const handleHubOnly: typeof handle = (request, connection) =>
    isHubPath(canonicalUrl(request.url).path)
      ? handleUngated(request, connection)
      : Response.json(hubErrorOf("unknown route", "notFound"), {
          status: errorKinds.notFound.status,
          // A body is not read.
          headers: { "cache-control": "no-store", connection: "close" },
        });

  const serve = (
    { host, handler }: { host: string; handler: typeof handle },
    port: number,
    sharesPort: boolean,
  ) =>
    Bun.serve({
      hostname: host,
      port,
      reusePort: sharesPort,
      development: false,
      // Between bytes of a request or response body. Bun closes a connection whose headers take over 10 s.
      idleTimeout: config.http.idle_timeout_secs,
      // Bun's own 413 response has no body. `readBody` throws an error with a message and stops reading.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: handler,
      websocket: webSocketHandler,
      error(error) {
        log.error({ err: error }, "Request failed outside the pipeline");
        const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
        return Response.json({ message: "internal error" }, { status: 500, headers });
      },
    });

  return {
    /** Handles a request like a listening server. Without a connection its client is unknown. */
    handle,
    openApi,
    /** The API's responses so far. */
    figures: httpMetrics.figures,
    /** Takes the failed and the slowest requests of the API since the last call. */
    takeRequests: notable.take,

    /**
     * Starts accepting. Port 0 in the settings selects a free port. With `sharesPort` other listeners may use the same
     * port, and the kernel distributes the connections.
     */
    listen({ sharesPort = false }: { readonly sharesPort?: boolean } = {}): {
      readonly url: string;
      readonly port: number;
    } {
      const listenOn = (host: string, wanted: number, handler: typeof handle) =>
        new Listener({
          serve: (port) => serve({ host, handler }, port, sharesPort),
          port: wanted,
          descriptors: options.descriptors,
          onPause: () => httpMetrics.countPause(),
          log,
        });
      listener = listenOn(config.http.host, config.http.port, handle);
      const { url, port } = listener;
      log.info({ url: url.href }, "Opened the HTTP interface");
      if (hubAddress !== undefined) {
        hubListener = listenOn(hubAddress.host, hubAddress.port, handleHubOnly);
        log.info({ url: hubListener.url.href }, "Opened the HTTP interface of the hub");
      }
      return { url: url.href.replace(/\/$/, ""), port };
    },

    /** Makes clients close their connections after the next response, so that they open new ones at another node. */
    drain(): void {
      closesConnections = true;
    },

    /**
     * Stops accepting, waits for accepted requests, and closes connections whose requests have not finished after
     * `graceMs` (default: `http.shutdown_grace_secs`).
     */
    async stop({
      graceMs = config.http.shutdown_grace_secs * 1000,
    }: {
      readonly graceMs?: number;
    } = {}): Promise<void> {
      if (listener === undefined) return;
      closesConnections = true;
      const closing = [listener, ...(hubListener === undefined ? [] : [hubListener])];
      await stopListeners(closing, graceMs, log);
    },
  };
}
