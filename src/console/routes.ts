import { Elysia, NotFoundError } from "elysia";
import { ApiError } from "../http/errors.ts";
import { exchangeOf } from "../http/exchange.ts";
import type { LoadedAssets, WebAssets, WebDocument } from "./assets.ts";
import { acceptsHtml, chooseBytes } from "./choose-file.ts";
import { documentHeaders } from "./document-headers.ts";
import { LICENSES } from "./web-build.ts";

export interface ConsoleRoutesDeps {
  readonly assets: WebAssets;
  /** Whether the pages are served; the files that other pages need are in any case. */
  readonly enabled: boolean;
  /** Whether a reader may ask for images of other hosts. */
  readonly images: "ask" | "off";
}

/** What is not a page, below `/console`. */
const NOT_PAGES = /^\/console\/(a|api|op|demo)(\/|$)/;
/** What curl gets from the root. */
const NOTHING_HERE = "no API is at /: /docs describes it, /ready says whether the node serves";
const hidden = { detail: { hide: true } } as const;

/** The documents of the console and the files that they need. */
export function consoleRoutes({ assets, enabled, images }: ConsoleRoutesDeps) {
  const asset = async ({ request, params }: { request: Request; params: { readonly "*": string } }) => {
    const file = (await assets.load()).asset(params["*"]);
    if (!file) throw new NotFoundError();
    const { bytes, coding } = chooseBytes(file, request.headers.get("accept-encoding"));
    const headers: Record<string, string> = {
      "content-type": file.contentType,
      "cache-control": file.name === LICENSES ? "no-cache" : "public, max-age=31536000, immutable",
      "cross-origin-resource-policy": "same-origin",
      vary: "accept-encoding",
    };
    if (coding) headers["content-encoding"] = coding;
    return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
  };

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
    const withImages = images === "ask" && new URL(request.url).searchParams.get("images") === "1";
    const { document, isKnown } = loaded.page(path.length > 1 ? path.replace(/\/$/, "") : path);
    const headers = documentHeaders(withImages);
    return respondWithDocument(request, document, { status: isKnown ? 200 : 404, headers });
  }

  const routes = new Elysia({ name: "console" }).get("/console/a/*", asset, hidden).get("/", landing, hidden);
  if (!enabled) return routes;
  return routes.get("/console", page, hidden).get("/console/*", page, hidden);
}

/** Responds with a document, or with 304 where the client has it. */
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

/** RFC 9110, 13.1.2. A proxy may have weakened a tag. */
function hasTag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}
