import type { LeftOutReason, Selection } from "./selection.ts";
import type { Audience } from "./store/campaigns/campaign-store.ts";
import type { LiveToken, TokenPosition, TokenStore } from "./store/tokens/token-store.ts";

const PAGE_TOKENS = 1000;
const PAGE_HOSTS = 100;

/** Tokens of one client host to send to, and the numbers of those left out by reason. */
export interface AudiencePage {
  readonly tokens: readonly LiveToken[];
  readonly notAttempted: Readonly<Record<LeftOutReason, number>>;
}

/** Reads the tokens of an audience by client host. */
export interface AudienceReader {
  /** Counts the tokens before filters; undefined for a share of the audience. The tokens may change while the audience is read. */
  count(): Promise<number | undefined>;
  hosts(): AsyncIterable<string>;
  /** Yields the tokens of a host in pages that are read on demand. */
  pagesOf(host: string): AsyncIterable<AudiencePage>;
}

/**
 * Reads an audience host by host, so that the tokens of a client that does not respond wait in the database and not in memory. An
 * explicit list of fids is first sorted by host, which takes a few bytes per fid.
 */
export async function createAudienceReader(deps: {
  readonly appId: string;
  /** The owner of the app. */
  readonly ownerFid: number;
  readonly audience: Audience;
  readonly tokens: TokenStore;
  readonly selection: Selection;
}): Promise<AudienceReader> {
  const { appId, ownerFid, audience, tokens, selection } = deps;
  const { targetFids, share } = audience;
  const filter: (found: readonly LiveToken[]) => Promise<AudiencePage> = selection({
    appId,
    ownerFid,
    audience,
  });

  if (targetFids.length > 0) {
    const { fidsByHost, count } = await sortByHost(tokens, appId, targetFids);
    return {
      count: async () => (share ? undefined : count),
      async *hosts() {
        yield* fidsByHost.keys();
      },
      async *pagesOf(host) {
        for (const fids of chunks(fidsByHost.get(host) ?? [])) {
          const found = await tokens.listLiveOf(appId, fids);
          yield await filter(found.filter(({ details }) => details.host === host));
        }
      },
    };
  }

  return {
    count: async () => (share ? undefined : tokens.countEnabled(appId)),
    async *hosts() {
      let after = "";
      for (;;) {
        const hosts = await tokens.listHosts(appId, after, PAGE_HOSTS);
        yield* hosts;
        if (hosts.length < PAGE_HOSTS) return;
        after = hosts.at(-1) ?? after;
      }
    },
    async *pagesOf(host) {
      let after: TokenPosition | undefined;
      for (;;) {
        const found = await tokens.listLive({ appId, after, max: PAGE_TOKENS, host });
        yield await filter(found);
        if (found.length < PAGE_TOKENS) return;
        after = found.at(-1);
      }
    },
  };
}

async function sortByHost(
  tokens: TokenStore,
  appId: string,
  targetFids: readonly number[],
): Promise<{ readonly fidsByHost: ReadonlyMap<string, readonly number[]>; readonly count: number }> {
  const fidsByHost = new Map<string, number[]>();
  let count = 0;
  for (const fids of chunks([...new Set(targetFids)])) {
    for (const { fid, details } of await tokens.listLiveOf(appId, fids)) {
      count += 1;
      const known = fidsByHost.get(details.host);
      // Tokens are ordered by fid, so two of one fid are adjacent.
      if (!known) fidsByHost.set(details.host, [fid]);
      else if (known.at(-1) !== fid) known.push(fid);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { fidsByHost, count };
}

function* chunks(fids: readonly number[]): Generator<readonly number[]> {
  for (let at = 0; at < fids.length; at += PAGE_TOKENS) yield fids.slice(at, at + PAGE_TOKENS);
}
