import { hostOfUrl, type UpstreamSettings, upstreamUrls } from "../../config/upstream-urls.ts";
import { CallRate } from "../calls/call-rate.ts";
import { createUpstreamClient, type UpstreamClient } from "../calls/client.ts";
import { connectUpstream } from "../calls/connection.ts";
import { DEFAULT_TIMINGS, type Timings } from "../timings.ts";
import { type CallLimits, isPublicHost, type LimitSettings, limitsFor } from "./network-place.ts";

/** A node that a command calls, within the call limits. */
export interface OpenUpstream extends Disposable {
  readonly url: string;
  readonly client: UpstreamClient;
  /** The limits for calls to it. */
  readonly limits: CallLimits;
  readonly isPublic: boolean;
}

/**
 * Connects to a node from the settings.
 *
 * @param url default: the first one.
 * @throws Error if there is none.
 */
export async function openUpstream(
  settings: UpstreamSettings & { readonly upstream: LimitSettings & { readonly contact: string } },
  signal: AbortSignal,
  {
    url = upstreamUrls(settings)[0],
    timings = DEFAULT_TIMINGS,
  }: { url?: string | undefined; timings?: Pick<Timings, "callTimeoutMs" | "stallMs"> } = {},
): Promise<OpenUpstream> {
  if (url === undefined) throw new Error("the settings name no upstream");
  const { upstream } = settings;
  const isPublic = await isPublicHost(hostOfUrl(url));
  const limits = limitsFor(upstream, isPublic);
  const connection = connectUpstream(url, { contact: upstream.contact });
  const client = createUpstreamClient(connection, timings, signal, {
    rate: new CallRate(limits.callsPerSec),
  });
  return { url, client, limits, isPublic, [Symbol.dispose]: () => connection.close() };
}
