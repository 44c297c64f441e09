import type { OutboundClient, OutboundErrorKind } from "../../net/client.ts";
import { requestFollowing } from "../../net/follow.ts";

const PATH = "/.well-known/farcaster.json";
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const IMAGE_TIMEOUT_MS = 5000;
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml)(?:;|$)/i;
/** Redirects by which hosted manifests are reached. */
const MOVED = new Set([307, 308]);

/** Response to a request for the manifest of a domain. */
export interface FetchedManifest {
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  /** Target URL of a redirect. */
  readonly redirectedTo: string | undefined;
  /** Undefined unless a response with status 200 is within the size limit. */
  readonly body: Uint8Array | undefined;
  /** Reason why `body` is missing. */
  readonly fault:
    | { readonly code: OutboundErrorKind | "status" | "too_large"; readonly message: string }
    | undefined;
}

/** Fetches the manifest of a domain. Follows one redirect with status 307 or 308 if the guard allows its target. */
export async function fetchManifest(
  client: OutboundClient,
  domain: string,
  requester: string,
): Promise<FetchedManifest> {
  const url = `https://${domain}${PATH}`;
  const response = await requestFollowing(
    client,
    {
      url,
      requester,
      method: "GET",
      headers: { accept: "application/json" },
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
    },
    {
      maxRedirects: 1,
      statuses: MOVED,
      targetOf: ({ protocol, port, href }) => (protocol === "https:" && port === "" ? href : undefined),
    },
  );
  const called = response.ok ? response.value.url : response.error.url;
  const redirectedTo = called === url ? undefined : called;
  if (!response.ok) {
    const { kind, message, isRefusedTarget } = response.error;
    return failed(
      isRefusedTarget
        ? { code: "redirect", message: "the redirect leads to no https URL on port 443" }
        : { code: kind, message },
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

/** Returns why an image is unusable; undefined if it is usable. */
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
