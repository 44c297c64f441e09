import { availableParallelism } from "node:os";
import type { Config } from "../../config/schema.ts";
import { RetryableError, UserError } from "../../lib/failure.ts";
import { networkOf } from "../../protocol/network.ts";
import { checkPeer } from "../../upstream/check-peer.ts";
import { UpstreamClient } from "../../upstream/client.ts";
import { connectUpstream } from "../../upstream/connection.ts";
import { estimateUpstream, type UpstreamEstimate } from "../../upstream/estimate-upstream.ts";
import { PeerError, reasonOfCall, SilentPeerError } from "../../upstream/peer.ts";
import { DEFAULT_TIMINGS } from "../../upstream/timings.ts";
import type { Choice } from "./choice.ts";
import { channelAuthors, followersOf, type ResolvedScope, type ScopeLimits } from "./resolve-scope.ts";

/** What the followed node says about a choice. */
export interface Asked {
  /** Of a channel or of followers. */
  readonly resolved: ResolvedScope | undefined;
  /** Undefined where it was not wanted. */
  readonly estimate: UpstreamEstimate | undefined;
}

export interface AskOptions {
  readonly url: string;
  readonly choice: Choice;
  /** The fids of a choice that names them; undefined for all, and for a choice that the upstream resolves. */
  readonly named: ReadonlySet<number> | undefined;
  readonly networkName: Config["protocol"]["network"];
  /** Of the settings to be written. */
  readonly concurrency: number;
  readonly wantsEstimate: boolean;
  readonly onProgress: (text: string) => void;
  readonly limits?: ScopeLimits;
  readonly timeouts?: Timeouts;
}

export interface Timeouts {
  readonly callMs: number;
  /** Of everything together, however slowly the node answers. */
  readonly allMs: number;
}

const TIMEOUTS: Timeouts = { callMs: 20_000, allMs: 300_000 };
/** The estimate ends early, with a smaller sample. */
const ESTIMATE_BUDGET_MS = 30_000;

/**
 * Asks the node that is to be followed: whether it can be, which fids the choice means, and what it will cost.
 *
 * @throws UserError when it is not such a node or the choice is empty or too large; RetryableError when it does not answer.
 */
export async function askUpstream(options: AskOptions): Promise<Asked> {
  const { url, choice, named, networkName, wantsEstimate, onProgress, limits } = options;
  const { callMs, allMs } = options.timeouts ?? TIMEOUTS;
  const connection = connectUpstream(url);
  const ended = AbortSignal.timeout(allMs);
  const client = new UpstreamClient(connection, { ...DEFAULT_TIMINGS, callTimeoutMs: callMs }, ended);
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
    const reason = ended.aborted ? `it did not answer everything within ${allMs / 1000} s` : answer;
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
