import { setImmediate as turn } from "node:timers/promises";
import type { App } from "../apps/app-store.ts";
import type { EstimatedSend } from "./schedules/campaign-request.ts";
import type { Selection } from "./selection.ts";
import type { CampaignStore } from "./store/campaigns/campaign-store.ts";
import type { AudienceToken, TokenPosition, TokenStore } from "./store/tokens/token-store.ts";

/** Tokens of one client that a send would reach. */
export interface EstimatedClient {
  /** 0 for clients whose signing keys have no fid. */
  readonly clientFid: number;
  readonly host: string;
  readonly tokens: number;
}

/** The number of recipients if the send started now. */
export interface Estimate {
  /** Tokens that pass its filters. */
  readonly tokens: number;
  /** Users with these tokens. */
  readonly fids: number;
  /** Sorted by the number of tokens, descending. */
  readonly clients: readonly EstimatedClient[];
  /** Tokens that already have the notification; the send skips them. */
  readonly sentBefore: number;
}

export interface EstimateDeps {
  readonly tokens: Pick<TokenStore, "listAudience" | "listLiveOf">;
  readonly campaigns: Pick<CampaignStore, "sentBefore">;
  readonly selection: Selection;
}

/** Rows that are read at once. Other requests of the thread get a turn between pages. */
const PAGE_TOKENS = 2000;
/** Maximum number of clients that are listed. */
const MAX_CLIENTS = 100;

type LiveAudienceToken = TokenPosition & { readonly host: string };

/**
 * Counts the recipients of a send after its filters, in pages by fid.
 *
 * @param signal ends the count early
 * @throws the signal's reason
 */
export async function estimateSend(
  { tokens, campaigns, selection }: EstimateDeps,
  { appId, ownerFid }: Pick<App, "appId" | "ownerFid">,
  { audience, uuid }: Omit<EstimatedSend, "segmentId">,
  signal: AbortSignal,
): Promise<Estimate> {
  const select = selection({ appId, ownerFid, audience });
  const clients = new Map<string, { clientFid: number; host: string; tokens: number }>();
  let total = 0;
  let fids = 0;
  let lastFid = -1;
  let sentBefore = 0;

  for await (const page of pagesOf(tokens, appId, audience.targetFids)) {
    const { tokens: selected } = await select(page);
    for (const { fid, clientFid, host } of selected) {
      total += 1;
      if (fid !== lastFid) fids += 1;
      lastFid = fid;
      const key = `${clientFid} ${host}`;
      const client = clients.get(key);
      if (client) client.tokens += 1;
      else clients.set(key, { clientFid, host, tokens: 1 });
    }
    if (uuid !== undefined) {
      sentBefore += (await campaigns.sentBefore({ appId, notificationId: uuid }, selected)).length;
    }
    await turn();
    signal.throwIfAborted();
  }
  const largest = [...clients.values()].sort((a, b) => b.tokens - a.tokens || a.clientFid - b.clientFid);
  return { tokens: total, fids, clients: largest.slice(0, MAX_CLIENTS), sentBefore };
}

/** Yields the enabled tokens of an audience before filters, by fid. */
async function* pagesOf(
  tokens: EstimateDeps["tokens"],
  appId: string,
  targetFids: readonly number[],
): AsyncGenerator<LiveAudienceToken[]> {
  if (targetFids.length > 0) {
    const fids = Float64Array.from(new Set(targetFids)).sort();
    for (let at = 0; at < fids.length; at += PAGE_TOKENS) {
      const found = await tokens.listLiveOf(appId, [...fids.subarray(at, at + PAGE_TOKENS)]);
      yield found.map(({ fid, clientFid, details }) => ({ fid, clientFid, host: details.host }));
    }
    return;
  }
  let after: TokenPosition | undefined;
  for (;;) {
    const page = await tokens.listAudience({ appId, after, max: PAGE_TOKENS });
    yield page.filter(isLive);
    if (page.length < PAGE_TOKENS) return;
    after = page.at(-1);
  }
}

function isLive(token: AudienceToken): token is LiveAudienceToken {
  return token.host !== null;
}
