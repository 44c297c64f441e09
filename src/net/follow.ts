import { err, ok, type Result } from "../lib/result.ts";
import type { OutboundCall, OutboundClient, OutboundError, OutboundResponse } from "./client.ts";

export interface FollowTerms {
  readonly maxRedirects: number;
  /** Statuses that are followed. Default: all that have a location. */
  readonly statuses?: ReadonlySet<number>;
  /** Returns the URL to call in place of a redirect's target; undefined refuses the redirect. */
  readonly targetOf: (location: URL) => string | undefined;
}

/** The end of a chain of redirects. `url` is the URL that was called last. */
export type FollowResult = Result<
  OutboundResponse & { readonly url: string },
  OutboundError & { readonly url: string; readonly isRefusedTarget?: true }
>;

/**
 * Makes a call and follows its redirects with a separate call each: the guard checks each URL, and each is called at the address that was
 * checked. The call's time limit covers the whole chain.
 */
export async function requestFollowing(
  client: OutboundClient,
  call: OutboundCall,
  { maxRedirects, statuses, targetOf }: FollowTerms,
): Promise<FollowResult> {
  const endsAtMs = performance.now() + call.timeoutMs;
  let { url } = call;
  for (let followed = 0; ; followed++) {
    const timeoutMs = Math.max(1, endsAtMs - performance.now());
    const response = await client.request({ ...call, url, timeoutMs });
    if (response.ok) return ok({ ...response.value, url });
    const { redirect } = response.error;
    if (!redirect || followed >= maxRedirects || (statuses && !statuses.has(redirect.status)))
      return err({ ...response.error, url });
    const location = redirect.location === "" ? null : URL.parse(redirect.location, url);
    const target = location && targetOf(location);
    if (!target) return err({ ...response.error, url: location?.href ?? url, isRefusedTarget: true });
    url = target;
  }
}
