import { availableParallelism } from "node:os";
import type { Config } from "../../config/schema.ts";
import { RetryableError, UserError } from "../../lib/failure.ts";
import { parentUrlsOf } from "../../protocol/channel-url.ts";
import { networkOf } from "../../protocol/network/network.ts";
import {
  type FarcasterNetwork,
  type MessageData,
  MessageType,
} from "../../protocol/wire/generated/message.ts";
import { checkPeer, dataOnNetwork } from "../../upstream/calls/check-peer.ts";
import { createUpstreamClient, type UpstreamClient } from "../../upstream/calls/client.ts";
import { connectUpstream } from "../../upstream/calls/connection.ts";
import { type Page, readShardPages } from "../../upstream/calls/pages.ts";
import { PeerError, reasonOfCall, SilentPeerError } from "../../upstream/calls/peer.ts";
import { DEFAULT_TIMINGS } from "../../upstream/timings.ts";
import { estimateUpstream, type UpstreamEstimate } from "../../upstream/verify/estimate-upstream.ts";
import type { Choice } from "./choice.ts";

/** What the followed node says about a choice. */
export interface Asked {
  /** For a channel or for followers. */
  readonly resolved: ResolvedScope | undefined;
  /** Undefined if it was not requested. */
  readonly estimate: UpstreamEstimate | undefined;
}

export interface AskOptions {
  readonly url: string;
  readonly choice: Choice;
  /** The fids of a choice that lists them; undefined for all, and for a choice that the upstream resolves. */
  readonly named: ReadonlySet<number> | undefined;
  readonly networkName: Config["protocol"]["network"];
  /** From the settings that will be written. */
  readonly concurrency: number;
  readonly wantsEstimate: boolean;
  readonly onProgress: (text: string) => void;
  readonly limits?: ScopeLimits;
  readonly timeouts?: Timeouts;
}

export interface Timeouts {
  readonly callMs: number;
  /** Time limit for everything together, however slowly the node responds. */
  readonly allMs: number;
}

const TIMEOUTS: Timeouts = { callMs: 20_000, allMs: 300_000 };
/** After this the estimate ends early, with a smaller sample. */
const ESTIMATE_BUDGET_MS = 30_000;

/**
 * Asks the node to be followed whether it can be, which fids the choice means, and what it will cost.
 *
 * @throws UserError if it is not such a node or the choice is empty or too large; RetryableError if it does not respond.
 */
export async function askUpstream(options: AskOptions): Promise<Asked> {
  const { url, choice, named, networkName, wantsEstimate, onProgress, limits } = options;
  const { callMs, allMs } = options.timeouts ?? TIMEOUTS;
  const connection = connectUpstream(url);
  const ended = AbortSignal.timeout(allMs);
  const client = createUpstreamClient(connection, { ...DEFAULT_TIMINGS, callTimeoutMs: callMs }, ended);
  const network = networkOf(networkName);
  try {
    onProgress(`Asking ${url}`);
    await checkPeer(client);
    const deps = { client, network, ...(limits && { limits }) };
    const resolved = await resolve(choice, deps);
    if (resolved) onProgress(resolved.origin);
    if (!wantsEstimate) return { resolved, estimate: undefined };
    onProgress("Sampling fids for the estimate");
    const followed = resolved ? new Set(resolved.fids) : named;
    const cores = availableParallelism();
    const estimate = await estimateUpstream(
      { client, network, cores, concurrency: options.concurrency, budgetMs: ESTIMATE_BUDGET_MS },
      followed,
    );
    return { resolved, estimate };
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    const isSilent = cause instanceof SilentPeerError;
    if (cause instanceof PeerError && !isSilent) throw new UserError(cause.message, { cause });
    const answer = isSilent ? cause.reason : reasonOfCall(cause);
    const reason = ended.aborted ? `it did not respond to everything within ${allMs / 1000} s` : answer;
    throw new RetryableError(`the upstream ${url} cannot be queried: ${reason}`, { cause });
  } finally {
    connection.close();
  }
}

async function resolve(
  choice: Choice,
  deps: Parameters<typeof followersOf>[0],
): Promise<ResolvedScope | undefined> {
  if (choice.kind === "followers") return await followersOf(deps, choice.fid);
  if (choice.kind === "channel") return await channelAuthors(deps, choice.channel);
  return undefined;
}

/** The fids of a scope, as resolved by the followed node. */
interface ResolvedScope {
  /** In ascending order. */
  readonly fids: readonly number[];
  /** Their origin, for the comment in their file. */
  readonly origin: string;
}

interface ScopeLimits {
  /** Maximum number of pages, of up to 1,000 messages, that are read. */
  readonly maxPages: number;
  /** Maximum number of fids that fit into a settings file of 1 MiB. */
  readonly maxFids: number;
}

const SCOPE_LIMITS: ScopeLimits = { maxPages: 2000, maxFids: 100_000 };

interface ScopeDeps {
  readonly client: UpstreamClient;
  readonly network: FarcasterNetwork;
  readonly limits?: ScopeLimits;
}

type FetchPage = (token: Uint8Array | undefined) => Promise<Page<Uint8Array>>;

/**
 * Finds everyone who follows an fid, and the fid itself.
 *
 * @throws UserError if there are none, or too many for a file; PeerError for another network; the errors of the calls.
 */
async function followersOf(deps: ScopeDeps, targetFid: number): Promise<ResolvedScope> {
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
 * Finds everyone who has a cast in a channel: the authors of the casts below one of its URLs, who are the only users of a channel that
 * the protocol knows. For a channel with more casts than are read, these are the authors of the newest.
 *
 * @param channel its name, or its parent URL.
 * @throws like `followersOf`.
 */
async function channelAuthors(deps: ScopeDeps, channel: string): Promise<ResolvedScope> {
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
      // The node's list is not trusted: each message shows its own author.
      if (data && data.fid > 0 && isWanted(data)) fids.add(data.fid);
    }
    if (fids.size > limits.maxFids) return false;
  }
}

function tooMany(subject: string, what: string, { maxFids }: ScopeLimits): UserError {
  return new UserError(
    `${subject} more ${what} than a list of fids can hold (${maxFids}). Follow everyone with --all, or make a list of those that ` +
      "matter and name it with --fid-file",
  );
}

function sorted(fids: ReadonlySet<number>): number[] {
  return [...fids].sort((a, b) => a - b);
}
