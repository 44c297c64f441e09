import { Elysia, NotFoundError } from "elysia";
import { serviceNames } from "../config/names.ts";
import type { Config } from "../config/schema.ts";
import { ApiError } from "../http/errors.ts";
import { exchangeOf } from "../http/exchange.ts";
import type { OwnOrigin } from "../http/request/own-origin.ts";
import { networkOf } from "../protocol/network/network.ts";
import { version } from "../version.ts";
import { retrySpanMs } from "../webhooks/deliver/schedule.ts";
import {
  acceptsHtml,
  chooseBytes,
  documentHeaders,
  type LoadedAssets,
  preferredLanguage,
  type WebAssets,
  type WebDocument,
} from "./assets.ts";
import type { PageSettings } from "./web/page-settings.ts";
import { LICENSES, SERVICE_WORKER } from "./web-build.ts";

/** Returns what the page must know about the node. None of it is secret. */
export function pageSettingsOf(
  config: Pick<
    Config,
    | "service"
    | "console"
    | "history"
    | "auth"
    | "http"
    | "net"
    | "stream"
    | "signers"
    | "quick_auth"
    | "web_signin"
    | "chain"
    | "webhooks"
    | "protocol"
  >,
  { isDemo, hasMasterKey }: { readonly isDemo: boolean; readonly hasMasterKey: boolean },
): PageSettings {
  const { segment, headerPrefix, domainName } = serviceNames(config.service.name);
  const { manage, operator, status } = config.console;
  const { webhooks } = config;
  return {
    service: segment,
    version,
    compat: config.service.compat_prefixes[0] ?? "",
    network: networkOf(config.protocol.network),
    demo: isDemo,
    headerPrefix,
    domain: domainName,
    publicUrl: config.service.public_url,
    get images() {
      return config.console.images;
    },
    manage,
    operator,
    incidents: status === "public",
    history: config.history.enabled,
    sessions: config.auth.sessions,
    get anonymous() {
      return config.http.anonymous;
    },
    allowHttp: config.net.allow_http,
    stream: config.stream.enabled,
    signers: !config.signers.enabled ? "off" : hasMasterKey ? "on" : "no_key",
    quickAuth: config.quick_auth.enabled,
    webSignIn: config.web_signin.enabled,
    contractWallets: config.chain.op_rpc_url !== "",
    get webhookAttempts() {
      return webhooks.retry_max_attempts;
    },
    get webhookRetryMs() {
      const { retry_max_attempts: maxAttempts, retry_initial_backoff_ms: initialBackoffMs } = webhooks;
      return retrySpanMs({ maxAttempts, initialBackoffMs });
    },
  };
}

export interface ConsoleRoutesDeps {
  readonly assets: WebAssets;
  /** Whether the pages are served; the files that other pages need are always served. */
  readonly enabled: boolean;
  /** Whether a reader may load images from other hosts. */
  readonly images: "ask" | "off";
}

/** Paths below `/console` that are not pages. */
const KEEP_THEIR_NAMES: readonly string[] = [LICENSES, SERVICE_WORKER];
const NOT_PAGES = /^\/console\/(a|api|op|demo)(\/|$)/;
/** What curl gets from the root. */
const NOTHING_HERE = "nothing is served at /; see /docs and /ready";
const hidden = { detail: { hide: true } } as const;

/** Serves the documents of the console and the files that they need. */
export function consoleRoutes(deps: ConsoleRoutesDeps) {
  const { assets, enabled } = deps;
  const asset = async ({ request, params }: { request: Request; params: { readonly "*": string } }) =>
    respondWithFile(request, params["*"]);

  async function respondWithFile(request: Request, name: string): Promise<Response> {
    const file = (await assets.load()).asset(name, request.headers.get("accept-encoding"));
    if (!file) throw new NotFoundError();
    const { bytes, coding, contentType } = file;
    const headers: Record<string, string> = {
      "content-type": contentType,
      "cache-control": KEEP_THEIR_NAMES.includes(name) ? "no-cache" : "public, max-age=31536000, immutable",
      "cross-origin-resource-policy": "same-origin",
      vary: "accept-encoding",
    };
    if (coding) headers["content-encoding"] = coding;
    return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
  }

  const page = async ({ request }: { request: Request }) => {
    const { path } = exchangeOf(request);
    if (NOT_PAGES.test(path)) throw new NotFoundError();
    const loaded = await assets.load();
    return respondWithPage(request, loaded, path);
  };

  const landing = ({ request }: { request: Request }) => {
    if (!enabled || !acceptsHtml(request.headers.get("accept"))) throw new ApiError("notFound", NOTHING_HERE);
    return assets.load().then((loaded) => {
      const response = respondWithPage(request, loaded, "/");
      response.headers.append("vary", "accept");
      return response;
    });
  };

  function respondWithPage(request: Request, loaded: LoadedAssets, path: string): Response {
    const withImages = deps.images === "ask" && new URL(request.url).searchParams.get("images") === "1";
    const { document, isKnown } = loaded.page(
      path.length > 1 ? path.replace(/\/$/, "") : path,
      preferredLanguage(request.headers.get("accept-language")),
    );
    const headers = documentHeaders(withImages);
    const response = respondWithDocument(request, document, { status: isKnown ? 200 : 404, headers });
    response.headers.append("vary", "accept-language");
    return response;
  }

  const routes = new Elysia({ name: "console" }).get("/console/a/*", asset, hidden).get("/", landing, hidden);
  if (!enabled) return routes;
  return routes
    .get(`/console/${SERVICE_WORKER}`, ({ request }) => respondWithFile(request, SERVICE_WORKER), hidden)
    .get("/console", page, hidden)
    .get("/console/*", page, hidden);
}

/** Responds with a document, or with 304 if the client already has it. */
function respondWithDocument(
  request: Request,
  document: WebDocument,
  { status, headers }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
): Response {
  const { bytes, coding } = chooseBytes(document, request.headers.get("accept-encoding"));
  const etag = `"${document.hash}${coding ? `-${coding}` : ""}"`;
  const isKnown = status === 200 && hasTag(request.headers.get("if-none-match"), etag);
  const response = isKnown
    ? new Response(null, { status: 304, headers })
    : new Response(bytes as Uint8Array<ArrayBuffer>, { status, headers });
  response.headers.set("etag", etag);
  response.headers.append("vary", "accept-encoding");
  if (isKnown) response.headers.delete("content-type");
  else if (coding) response.headers.set("content-encoding", coding);
  return response;
}

/** Compares tags as in RFC 9110, 13.1.2. A proxy may have weakened a tag. */
function hasTag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}

/**
 * Creates a group of routes that only the node's own pages may call, as in `privateRoutes("/console/op", …).get("/workers", …)`. Before a
 * handler runs, a request to a foreign `Host` or from a foreign `Origin` is refused with 403. Responses have no CORS headers
 * (`createPolicyLookup`) and are not cached.
 */
export function privateRoutes<Prefix extends `/console/${string}`>(prefix: Prefix, own: OwnOrigin) {
  return new Elysia({ prefix })
    .onTransform(({ request }) => {
      if (!own.isOwnHost(request.headers.get("host")))
        throw new ApiError("forbidden", "this host name is not one of the node's own");
      if (!own.isOwnOrigin(request)) throw new ApiError("forbidden", "other origins may not call this");
    })
    .onAfterHandle(({ responseValue }) => {
      if (responseValue instanceof Response) responseValue.headers.set("cache-control", "no-store");
    });
}
