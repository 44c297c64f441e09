import { encodeBase58 } from "../lib/base58.ts";
import type { CampaignWork } from "./store/campaigns/campaign-store.ts";
import type { OpenStore } from "./store/open-store.ts";

/** The maximum that clients accept. */
const MAX_URL_CHARS = 1024;
const TOKEN_CHARS = 10;
/** Hosts whose links are known to be stored. */
const MAX_KNOWN = 10_000;

/** Returns the URL that a campaign's notification opens in the clients of a host. */
export type OpenLinks = (
  work: Pick<CampaignWork, "seq" | "appId" | "campaignId" | "notification" | "audience">,
  host: string,
) => Promise<string>;

/**
 * Creates the links of campaigns that track opens. A query parameter identifies the campaign and the host; its value is stored before the
 * first call.
 *
 * @param deps.parameter the name of the parameter
 */
export function createOpenLinks(deps: {
  readonly opens: Pick<OpenStore, "addLink">;
  readonly parameter: string;
}): OpenLinks {
  const { opens, parameter } = deps;
  const known = new Set<string>();

  return async ({ seq, appId, campaignId, notification, audience }, host) => {
    const { targetUrl } = notification;
    if (!audience.tracksOpens) return targetUrl;
    const token = tokenOf(campaignId, host);
    const url = withParameter(targetUrl, parameter, token);
    if (url.length > MAX_URL_CHARS) return targetUrl;
    if (!known.has(token)) {
      await opens.addLink({ token, appId, campaign: seq, host });
      if (known.size >= MAX_KNOWN) known.clear();
      known.add(token);
    }
    return url;
  };
}

/** Returns the same token after a restart. Campaign ids are random, so tokens cannot be guessed. */
function tokenOf(campaignId: string, host: string): string {
  const digest = new Bun.CryptoHasher("sha256").update(`open ${campaignId} ${host}`).digest();
  return encodeBase58(digest).slice(0, TOKEN_CHARS);
}

/** Adds a parameter to a URL without changing the rest of its text. */
export function withParameter(url: string, name: string, value: string): string {
  const [, rest = url, fragment = ""] = /^([^#]*)(#.*)?$/s.exec(url) ?? [];
  return `${rest}${rest.includes("?") ? "&" : "?"}${name}=${value}${fragment}`;
}

/** Returns what is wrong with the host of a URL that a notification opens; undefined if it is the app's own. */
export function hostFault(targetUrl: string, appUrl: string): string | undefined {
  const { host } = new URL(appUrl);
  return new URL(targetUrl).host === host ? undefined : `must be on the host of the app, ${host}`;
}
