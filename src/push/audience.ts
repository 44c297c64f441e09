import type { IndexDatabase } from "../db/index/database.ts";
import { LinkType } from "../db/index/messages/columns.ts";
import { statement } from "../db/index/statement.ts";
import type { LeftOut } from "./left-out.ts";
import type { Audience } from "./store/campaigns/campaign-store.ts";
import type { LiveToken, TokenPosition, TokenStore } from "./store/tokens/token-store.ts";

const followersAmong = statement<{ fid: number }, [fids: string, targetFid: number]>(
  "notify.followers-among",
  `SELECT l.fid FROM json_each(?1) AS j CROSS JOIN links l
   ON l.fid = j.value AND l.type = ${LinkType.Follow} AND l.target_fid = ?2`,
);

/** Returns those of `fids` that currently follow `targetFid`. */
export type FollowersAmong = (fids: readonly number[], targetFid: number) => ReadonlySet<number>;

export function followersFromIndex(db: IndexDatabase): FollowersAmong {
  return (fids, targetFid) =>
    new Set(db.all(followersAmong, JSON.stringify(fids), targetFid).map(({ fid }) => fid));
}

const PAGE_TOKENS = 1000;
const PAGE_HOSTS = 100;

/** Tokens of one client host to send to, and the number of the others by reason. */
export interface AudiencePage {
  readonly tokens: readonly LiveToken[];
  readonly notAttempted: { readonly excluded: number; readonly not_following: number };
}

/** Reads the tokens of an audience by client host. */
export interface AudienceReader {
  /** Counts the tokens before filters. They may change while the audience is read. */
  count(): Promise<number>;
  hosts(): AsyncIterable<string>;
  /** Yields the tokens of a host in pages that are read on demand. */
  pagesOf(host: string): AsyncIterable<AudiencePage>;
}

/**
 * Reads an audience host by host, so that the tokens of a client that does not respond wait in the database and not in
 * memory. An explicit list of fids is sorted by host first, which takes a few bytes for each fid.
 */
export async function createAudienceReader(deps: {
  readonly appId: string;
  /** The owner of the app. */
  readonly ownerFid: number;
  readonly audience: Audience;
  readonly tokens: TokenStore;
  readonly followersAmong: FollowersAmong;
  readonly leftOut: LeftOut;
}): Promise<AudienceReader> {
  const { appId, ownerFid, audience, tokens, followersAmong, leftOut } = deps;
  const { targetFids, followingFid } = audience;

  async function filter(found: readonly LiveToken[]): Promise<AudiencePage> {
    const excluded = await leftOut(
      { ownerFid, audience },
      found.map(({ fid }) => fid),
    );
    const included = excluded.size === 0 ? found : found.filter(({ fid }) => !excluded.has(fid));
    const selected = followingFid === null ? included : following(included, followingFid);
    const notAttempted = {
      excluded: found.length - included.length,
      not_following: included.length - selected.length,
    };
    return { tokens: selected, notAttempted };
  }

  function following(found: readonly LiveToken[], target: number): readonly LiveToken[] {
    const followers = followersAmong(
      found.map(({ fid }) => fid),
      target,
    );
    return found.filter(({ fid }) => followers.has(fid));
  }

  if (targetFids.length > 0) {
    const { fidsByHost, count } = await sortByHost(tokens, appId, targetFids);
    return {
      count: async () => count,
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
    count: () => tokens.countEnabled(appId),
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
