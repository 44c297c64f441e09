import type { OutboundClient, OutboundErrorKind } from "../../net/client.ts";

const PATH = "/.well-known/farcaster.json";
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const IMAGE_TIMEOUT_MS = 5000;
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)(?:;|$)/i;
/** Hosted manifests are reached by one of these. */
const MOVED = new Set([307, 308]);

/** What a domain returns as its manifest. */
export interface FetchedManifest {
  /** Undefined without a response. */
  readonly status: number | undefined;
  /** The URL that a redirect led to. */
  readonly redirectedTo: string | undefined;
  /** Undefined unless a response with status 200 fits. */
  readonly body: Uint8Array | undefined;
  /** Why there is no body. */
  readonly fault:
    | { readonly code: OutboundErrorKind | "status" | "too_large"; readonly message: string }
    | undefined;
}

/** Fetches the manifest of a domain. One redirect of the kinds 307 and 308 is followed, if the guard passes it, too. */
export async function fetchManifest(
  client: OutboundClient,
  domain: string,
  requester: string,
): Promise<FetchedManifest> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const get = (url: string) =>
    client.request({
      url,
      requester,
      method: "GET",
      headers: { accept: "application/json" },
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
      signal,
    });
  const url = `https://${domain}${PATH}`;
  let response = await get(url);
  let redirectedTo: string | undefined;
  if (!response.ok && response.error.redirect && MOVED.has(response.error.redirect.status)) {
    const target = URL.parse(response.error.redirect.location, url);
    redirectedTo = target?.href;
    if (target?.protocol !== "https:" || target.port !== "")
      return failed(
        { code: "redirect", message: "the redirect leads to no https URL on port 443" },
        redirectedTo,
      );
    response = await get(target.href);
  }
  if (!response.ok) {
    const { kind, message } = response.error;
    // Both time limits are one for the caller.
    const isLate = kind === "cancelled";
    return failed(
      isLate ? { code: "timeout", message: "no complete response in time" } : { code: kind, message },
      redirectedTo,
    );
  }
  const { status, body, truncated } = response.value;
  if (status !== 200)
    return failed({ code: "status", message: `the response has status ${status}` }, redirectedTo, status);
  if (truncated)
    return failed(
      { code: "too_large", message: `the manifest has more than ${MAX_BYTES} bytes` },
      redirectedTo,
      status,
    );
  return { status, redirectedTo, body, fault: undefined };
}

function failed(
  fault: NonNullable<FetchedManifest["fault"]>,
  redirectedTo: string | undefined,
  status?: number,
): FetchedManifest {
  return { status, redirectedTo, body: undefined, fault };
}

/** Returns why an image cannot be used; undefined where it can. */
export async function imageFault(
  client: OutboundClient,
  url: string,
  requester: string,
): Promise<string | undefined> {
  const response = await client.request({ url, requester, method: "HEAD", timeoutMs: IMAGE_TIMEOUT_MS });
  if (!response.ok) return `cannot be reached: ${response.error.message}`;
  const { status, headers } = response.value;
  if (status !== 200) return `cannot be reached: the response has status ${status}`;
  return IMAGE_TYPE.test(headers.get("content-type") ?? "")
    ? undefined
    : "is not an image by its content-type";
}
