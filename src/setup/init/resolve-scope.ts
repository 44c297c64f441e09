import { UserError } from "../../lib/failure.ts";
import { parentUrlsOf } from "../../protocol/channel-url.ts";
import {
  type FarcasterNetwork,
  type MessageData,
  MessageType,
} from "../../protocol/wire/generated/message.ts";
import type { Page, UpstreamClient } from "../../upstream/client.ts";
import { dataOnNetwork } from "../../upstream/network-check.ts";
import { readShardPages } from "../../upstream/shard-pages.ts";

/** The fids of a scope that the followed node was asked for. */
export interface ResolvedScope {
  /** In ascending order. */
  readonly fids: readonly number[];
  /** Where they come from, for the comment of their file. */
  readonly origin: string;
}

export interface ScopeLimits {
  /** Pages of up to 1,000 messages that are read. */
  readonly maxPages: number;
  /** Fids that a settings file of 1 MiB has room for. */
  readonly maxFids: number;
}

export const SCOPE_LIMITS: ScopeLimits = { maxPages: 2000, maxFids: 100_000 };

export interface ScopeDeps {
  readonly client: UpstreamClient;
  readonly network: FarcasterNetwork;
  readonly limits?: ScopeLimits;
}

type FetchPage = (token: Uint8Array | undefined) => Promise<Page<Uint8Array>>;

/**
 * Finds everybody who follows an fid, and the fid itself.
 *
 * @throws UserError when there are none, or too many for a file; PeerError for another network; the errors of the calls.
 */
export async function followersOf(deps: ScopeDeps, targetFid: number): Promise<ResolvedScope> {
  const isFollow = ({ type, body }: MessageData) =>
    type === MessageType.MESSAGE_TYPE_LINK_ADD &&
    body?.$case === "linkBody" &&
    body.value.type === "follow" &&
    body.value.target?.$case === "targetFid" &&
    body.value.target.value === targetFid;
  const fetchPage: FetchPage = (token) => deps.client.followsOf(targetFid, token);
  const { limits = SCOPE_LIMITS } = deps;
  const fids = new Set<number>();
  const isWhole = await collectAuthors(deps, fetchPage, isFollow, fids);
  if (fids.size > limits.maxFids) throw tooMany(`fid ${targetFid} has`, "followers", limits);
  if (!isWhole)
    throw new UserError(
      `the list of the followers of fid ${targetFid} did not end after ${limits.maxPages} pages`,
    );
  fids.delete(targetFid);
  if (fids.size === 0) throw new UserError(`no user follows fid ${targetFid}, as far as the upstream knows`);
  const origin = `Fid ${targetFid} and ${fids.size === 1 ? "its one follower" : `its ${fids.size} followers`}`;
  return { fids: sorted(fids.add(targetFid)), origin };
}

/**
 * Finds everybody who has a cast in a channel: the authors of the casts below one of its URLs, the only users of a channel that the
 * protocol knows. Of a channel with more casts than are read it is the authors of the newest.
 *
 * @param channel its name, or its parent URL.
 * @throws like `followersOf`.
 */
export async function channelAuthors(deps: ScopeDeps, channel: string): Promise<ResolvedScope> {
  const { limits = SCOPE_LIMITS } = deps;
  const fids = new Set<number>();
  let isWhole = true;
  for (const url of parentUrlsOf(channel)) {
    const isBelow = ({ type, body }: MessageData) =>
      type === MessageType.MESSAGE_TYPE_CAST_ADD &&
      body?.$case === "castAddBody" &&
      body.value.parent?.$case === "parentUrl" &&
      body.value.parent.value === url;
    const fetchPage: FetchPage = (token) => deps.client.castsBelow(url, token);
    isWhole = (await collectAuthors(deps, fetchPage, isBelow, fids)) && isWhole;
  }
  if (fids.size > limits.maxFids) throw tooMany(`the channel ${channel} has`, "authors", limits);
  if (fids.size === 0)
    throw new UserError(
      `the upstream has no cast in the channel ${channel}; give its name or its parent URL`,
    );
  const casts = isWhole ? "all casts" : `the newest ${limits.maxPages * 1000} casts`;
  return { fids: sorted(fids), origin: `The ${fids.size} authors of ${casts} in the channel ${channel}` };
}

/** @returns whether the list was read to its end. */
async function collectAuthors(
  { network, limits = SCOPE_LIMITS }: ScopeDeps,
  fetchPage: FetchPage,
  isWanted: (data: MessageData) => boolean,
  fids: Set<number>,
): Promise<boolean> {
  const pages = readShardPages(fetchPage, limits.maxPages);
  for (;;) {
    const next = await pages.next();
    if (next.done) return next.value;
    for (const bytes of next.value) {
      const data = dataOnNetwork(bytes, network);
      // What a node lists is not believed: each message says by itself whose it is.
      if (data && data.fid > 0 && isWanted(data)) fids.add(data.fid);
    }
    if (fids.size > limits.maxFids) return false;
  }
}

function tooMany(subject: string, what: string, { maxFids }: ScopeLimits): UserError {
  return new UserError(
    `${subject} more ${what} than a list of fids can hold (${maxFids}). Follow everybody with --all, or make a list of those that ` +
      "matter and name it with --fid-file",
  );
}

function sorted(fids: ReadonlySet<number>): number[] {
  return [...fids].sort((a, b) => a - b);
}
