import type { Config } from "../config/schema.ts";
import { createOutboundClient, type OutboundClient } from "./client.ts";
import { createUrlGuard, type UrlGuard, type UrlGuardOptions } from "./guard.ts";

type NetSettings = Pick<Config["net"], "allow_cidrs" | "allow_http">;

/** Creates the URL guard from the operator's settings. */
export function createConfiguredGuard(
  { allow_cidrs, allow_http }: NetSettings,
  options: Pick<UrlGuardOptions, "resolve" | "dnsTimeoutMs" | "ownAddresses" | "loopbackTargets"> = {},
): UrlGuard {
  return createUrlGuard({ ...options, allowCidrs: allow_cidrs, allowHttp: allow_http });
}

/** Creates the outbound client from the operator's settings. */
export function createConfiguredClient(
  settings: NetSettings,
  { proxyUrl, ...options }: Pick<UrlGuardOptions, "loopbackTargets"> & { readonly proxyUrl?: string } = {},
): OutboundClient {
  const proxy = proxyUrl === undefined || proxyUrl === "" ? {} : { proxyUrl };
  return createOutboundClient({ guard: createConfiguredGuard(settings, options), ...proxy });
}
