import { type Clock, nowSecs } from "../app/clock.ts";
import type {
  CampaignStore,
  CampaignWork,
  DeliveryLedger,
  Settlement,
} from "../state/campaigns.ts";
import type { LiveToken } from "../state/records.ts";
import type { AppStore, TokenStore } from "../state/stores.ts";
import { type AudienceReader, openAudience } from "./audience.ts";
import { type Batch, Batcher } from "./batcher.ts";
import { failure, type TokenVerdict, verdictOn } from "./client-answer.ts";
import type { FollowersAmong } from "./followers.ts";
import type { BatchReply, PostBatch } from "./post-batch.ts";
import type { SendObserver } from "./send-stats.ts";
import type { Slot, Slots } from "./slots.ts";

/** Client hosts of one campaign that are worked on at a time. */
const MAX_LANES = 32;
/** Batches of one host that wait for another attempt before no further one is begun. */
const MAX_RETRYING = 8;
/** How much longer than the call a claim lasts: for the wait before the next attempt. */
const LEASE_MARGIN_SECS = 20;
const MIN_LEASE_SECS = 30;

export interface RunParts {
  readonly apps: AppStore;
  readonly tokens: TokenStore;
  readonly campaigns: CampaignStore;
  readonly ledger: DeliveryLedger;
  readonly followersAmong: FollowersAmong;
  readonly post: PostBatch;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly observe: SendObserver;
  readonly settings: RunSettings;
}

export interface RunSettings {
  /** How long the ledger keeps who has a notification. */
  readonly dedupeTtlSecs: number;
  /** Of one call. */
  readonly timeoutMs: number;
  /** Of one batch, the first included. */
  readonly maxAttempts: number;
  /** Before the second attempt; twice as long before the third. */
  readonly backoffMs: number;
}

/** The app of a campaign was deleted while it ran. */
class AppGone extends Error {}

/**
 * Sends a notification to the end of its audience. Every token that the audience has is counted once: as sent, as
 * failed, or as not attempted.
 *
 * @returns `aborted` where the app was deleted meanwhile
 * @throws the reason of `signal`, and faults of the stores; what was settled until then stays settled.
 */
export async function runCampaign(
  parts: RunParts,
  work: CampaignWork,
  signal: AbortSignal,
): Promise<"completed" | "aborted"> {
  const fault = new AbortController();
  const run = createRun(parts, work, AbortSignal.any([signal, fault.signal]));
  const fail = (cause: unknown) => fault.abort(cause);
  try {
    const { appId, audience } = work;
    const { tokens, followersAmong } = parts;
    const reader = await openAudience({ appId, audience, tokens, followersAmong });
    const hosts = reader.hosts()[Symbol.asyncIterator]();
    // Hosts wait for a lane, so that their number costs no memory; one that is down leaves its lane in the end.
    const lane = async () => {
      for (let next = await hosts.next(); !next.done; next = await hosts.next()) {
        await run.lane(reader, next.value);
      }
    };
    await Promise.all(Array.from({ length: MAX_LANES }, () => lane().catch(fail)));
    await run.settled();
    fault.signal.throwIfAborted();
    signal.throwIfAborted();
    return "completed";
  } catch (cause) {
    await run.settled();
    signal.throwIfAborted();
    if (fault.signal.reason instanceof AppGone) return "aborted";
    throw cause;
  }

  function createRunFail(cause: unknown) {
    fail(cause);
  }
}
