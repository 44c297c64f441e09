import { disableTypes, imageSize } from "image-size";
import type { OutboundClient, ResponseHead } from "../net/client.ts";
import { requestFollowing } from "../net/follow.ts";
import type { PreviewHtml } from "../read/hydrate/previews.ts";
import { decodePage } from "./parse/charset.ts";
import { cleanText } from "./parse/clean.ts";
import type { Frame } from "./parse/frame.ts";
import { oembedOf } from "./parse/oembed.ts";
import { parsePage } from "./parse/page.ts";
import { type PreviewUrl, previewUrlOf } from "./preview-url.ts";

/** What was found at a URL. */
export interface FoundPreview {
  readonly contentType: string | null;
  readonly contentLength: number | null;
  readonly image: { readonly width_px: number; readonly height_px: number } | undefined;
  readonly html: PreviewHtml | undefined;
  readonly frame: Frame | undefined;
  /** How long the server allows it to be cached. Undefined if the server does not state it. */
  readonly maxAgeSecs: number | undefined;
  /** Host that redirects led to, if it differs from that of the URL. A `www.` prefix makes no difference. */
  readonly movedTo?: string | undefined;
}

/**
 * - `refused`: the guard refuses the URL or a redirect target;
 * - `missing`: 404 or 410;
 * - `failed`: no usable response;
 * - `rest`: a host asks to wait for `afterSecs`, or this node's limits do not allow calling it now.
 */
export type FetchOutcome =
  | { readonly kind: "found"; readonly found: FoundPreview }
  | { readonly kind: "refused" | "missing" | "failed" }
  | { readonly kind: "rest"; readonly host: string; readonly afterSecs: number | undefined };

export interface FetchDeps {
  readonly client: OutboundClient;
  readonly userAgent: string;
  /** Hosts whose oEmbed data is accepted for pages on other hosts. */
  readonly oembedHosts: ReadonlySet<string>;
  /** Reports whether a host may be called once more now. Asked before each call but the first. */
  readonly mayCall: (host: string) => boolean;
  /** Cancels the calls. */
  readonly signal?: AbortSignal;
}

const TIMEOUT_MS = 5_000;
const MAX_REDIRECTS = 3;
const MAX_HTML_BYTES = 512 * 1024;
const MAX_INFLATED_BYTES = 1024 * 1024;
const MAX_IMAGE_BYTES = 64 * 1024;
const MAX_OEMBED_BYTES = 64 * 1024;
const MAX_REST_SECS = 86_400;
/** How long calls of a host are paused if it does not state for how long. */
const REST_SECS = 60;
const FILE = /\.(?:png|jpe?g|gif|webp|avif|bmp|ico|svg|mp4|webm|mov|mp3|pdf|zip|m3u8)$/i;

// Formats whose detection needs more than the first bytes, or that browsers do not show.
disableTypes([
  "tiff",
  "psd",
  "dds",
  "ktx",
  "icns",
  "pnm",
  "tga",
  "cur",
  "j2c",
  "jp2",
  "jxl",
  "jxl-stream",
  "svg",
]);

/** Fetches the preview data of a URL. Runs no code of the page, and sends nothing but the URL. */
export async function fetchPreview(target: PreviewUrl, deps: FetchDeps): Promise<FetchOutcome> {
  const startedAtMs = performance.now();
  const response = await call(target.href, deps, {
    timeoutMs: TIMEOUT_MS,
    accept: "text/html,application/xhtml+xml,image/*;q=0.9,*/*;q=0.5",
    isFile: FILE.test(new URL(target.href).pathname),
    maxBytes: ({ headers }) => limitOf(essenceOf(headers)),
  });
  if (response.kind !== "response") return response;
  const { headers, body, url } = response;
  const contentType = essenceOf(headers) ?? null;
  const kind = kindOf(contentType);
  const page =
    kind === "html" ? parsePage(decodePage(body, headers.get("content-type") ?? ""), url) : undefined;
  const leftMs = TIMEOUT_MS - (performance.now() - startedAtMs);
  const oembed =
    page?.oembedUrl === undefined ? undefined : await oembedAt(page.oembedUrl, url, leftMs, deps);
  const html = page && (oembed ? { ...page.html, oembed } : page.html);
  return {
    kind: "found",
    found: {
      contentType,
      contentLength: lengthOf(headers),
      image: kind === "image" ? sizeOf(body) : undefined,
      html: html && Object.keys(html).length > 0 ? html : undefined,
      frame: page?.frame,
      maxAgeSecs: maxAgeOf(headers.get("cache-control")),
      movedTo: movedTo(target.host, new URL(url).hostname),
    },
  };
}

interface CallTerms {
  readonly timeoutMs: number;
  readonly accept: string;
  readonly isFile?: boolean;
  readonly maxBytes: (head: ResponseHead) => number;
}

type CallOutcome =
  | Exclude<FetchOutcome, { readonly kind: "found" }>
  | { readonly kind: "response"; readonly headers: Headers; readonly body: Uint8Array; readonly url: string };

async function call(href: string, deps: FetchDeps, terms: CallTerms): Promise<CallOutcome> {
  let busyHost: string | undefined;
  const response = await requestFollowing(
    deps.client,
    {
      url: href,
      method: "GET",
      headers: {
        accept: terms.accept,
        "user-agent": deps.userAgent,
        ...(terms.isFile && { range: `bytes=0-${MAX_IMAGE_BYTES - 1}` }),
      },
      timeoutMs: terms.timeoutMs,
      maxResponseBytes: terms.maxBytes,
      maxInflatedBytes: MAX_INFLATED_BYTES,
      ...(deps.signal && { signal: deps.signal }),
    },
    {
      maxRedirects: MAX_REDIRECTS,
      targetOf(location) {
        const target = previewUrlOf(location.href);
        if (target && !deps.mayCall(target.host)) busyHost = target.host;
        return busyHost === undefined ? target?.href : undefined;
      },
    },
  );
  if (busyHost !== undefined) return { kind: "rest", host: busyHost, afterSecs: undefined };
  if (!response.ok) {
    const { kind, isRefusedTarget } = response.error;
    return { kind: kind === "refused" || isRefusedTarget ? "refused" : "failed" };
  }
  const { status, headers, body, url } = response.value;
  if (status === 404 || status === 410) return { kind: "missing" };
  const retryAfter = headers.get("retry-after");
  if (status === 429 || (status === 503 && retryAfter !== null))
    return { kind: "rest", host: new URL(url).hostname, afterSecs: restSecs(retryAfter) };
  // 206 is the requested part.
  if (status !== 200 && status !== 203 && status !== 206) return { kind: "failed" };
  return { kind: "response", headers, body, url };
}

async function oembedAt(href: string, pageUrl: string, timeoutMs: number, deps: FetchDeps) {
  const target = previewUrlOf(href);
  if (!target || timeoutMs <= 0) return undefined;
  if (target.host !== new URL(pageUrl).hostname && !deps.oembedHosts.has(target.host)) return undefined;
  if (!deps.mayCall(target.host)) return undefined;
  const response = await call(target.href, deps, {
    timeoutMs,
    accept: "application/json",
    maxBytes: () => MAX_OEMBED_BYTES,
  });
  return response.kind === "response" ? oembedOf(response.body, response.url) : undefined;
}

function essenceOf(headers: Headers): string | undefined {
  return cleanText(headers.get("content-type")?.split(";")[0]?.toLowerCase(), 100);
}

function kindOf(contentType: string | null | undefined): "html" | "image" | "other" {
  if (contentType === "text/html" || contentType === "application/xhtml+xml") return "html";
  return contentType?.startsWith("image/") && contentType !== "image/svg+xml" ? "image" : "other";
}

function limitOf(contentType: string | undefined): number {
  const kind = kindOf(contentType);
  return kind === "html" ? MAX_HTML_BYTES : kind === "image" ? MAX_IMAGE_BYTES : 0;
}

/** Returns the length of the whole resource, even if only a part was requested. */
function lengthOf(headers: Headers): number | null {
  const text = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1] ?? headers.get("content-length");
  const length = Number(text ?? Number.NaN);
  // The length of compressed bytes is not the length of their content.
  return Number.isSafeInteger(length) && headers.get("content-encoding") === null ? length : null;
}

function sizeOf(body: Uint8Array): FoundPreview["image"] {
  try {
    const { width, height } = imageSize(body);
    return width > 0 && height > 0 ? { width_px: width, height_px: height } : undefined;
  } catch {
    return undefined;
  }
}

function maxAgeOf(cacheControl: string | null): number | undefined {
  const secs = /(?:^|[\s,])max-age=(\d{1,10})/i.exec(cacheControl ?? "")?.[1];
  return secs === undefined ? undefined : Number(secs);
}

function movedTo(from: string, to: string): string | undefined {
  const site = (host: string) => host.replace(/^www\./, "");
  return site(from) === site(to) ? undefined : to;
}

function restSecs(retryAfter: string | null): number {
  const secs = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(secs) && secs >= 0 ? Math.min(secs, MAX_REST_SECS) : REST_SECS;
}
