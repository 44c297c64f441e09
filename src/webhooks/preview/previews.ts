import { err, type Result } from "../../lib/result.ts";
import type { Subscription } from "../subscription.ts";
import type { PreviewOutcome, ScanDeps } from "./scan.ts";

/** Maximum number of events in one preview. */
export const MAX_PREVIEW_EVENTS = 1_000;
/** The longest time of a scan, and the longest wait for its turn. */
const TIME_LIMIT_MS = 2_000;
const WINDOW_MS = 60_000;
export const MAX_PREVIEWS_PER_MINUTE = 10;
const MAX_WAITING = 16;
/** Number of fids above which those without a preview in the last minute are forgotten. */
const MAX_REMEMBERED_FIDS = 10_000;

export interface PreviewRequest {
  readonly fid: number;
  readonly subscription: Subscription;
  readonly events: number;
  /** Bounds (inclusive) of the time at which the node applied the events, in unix seconds. */
  readonly fromSecs?: number | undefined;
  readonly toSecs?: number | undefined;
}

/** Why there is no preview, as text for the owner. */
export interface PreviewRefusal {
  readonly reason: string;
  readonly retryAfterSecs: number;
}

/** Previews of subscriptions. They run one at a time, because they use the delivery thread and its matcher. */
export interface Previews {
  preview(request: PreviewRequest): Promise<Result<PreviewOutcome, PreviewRefusal>>;
}

/** Runs work that uses the previews' matcher, one at a time. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export interface PreviewsDeps extends ScanDeps {
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

export function createPreviews(deps: PreviewsDeps): Previews & { readonly inTurn: InTurn } {
  const { nowMs = () => performance.now() } = deps;
  /** When the previews of an fid within the last minute were requested, oldest first. */
  const recent = new Map<number, number[]>();
  /** The fids with a preview that is waiting or running. */
  const open = new Set<number>();
  let turn: Promise<unknown> = Promise.resolve();

  function refusalOf(fid: number, atMs: number): PreviewRefusal | undefined {
    if (open.has(fid)) return { reason: "another preview of this fid is still running", retryAfterSecs: 1 };
    const times = (recent.get(fid) ?? []).filter((time) => atMs - time < WINDOW_MS);
    recent.set(fid, times);
    const [oldest] = times;
    if (oldest !== undefined && times.length >= MAX_PREVIEWS_PER_MINUTE) {
      const retryAfterSecs = Math.ceil((oldest + WINDOW_MS - atMs) / 1000);
      return { reason: `an fid may run ${MAX_PREVIEWS_PER_MINUTE} previews a minute`, retryAfterSecs };
    }
    return open.size >= MAX_WAITING ? BUSY : undefined;
  }

  function forgetOld(atMs: number): void {
    if (recent.size <= MAX_REMEMBERED_FIDS) return;
    for (const [fid, times] of recent) {
      if (atMs - (times.at(-1) ?? 0) >= WINDOW_MS || times.length === 0) recent.delete(fid);
    }
  }

  async function run(request: PreviewRequest, askedAtMs: number) {
    const { fid, subscription, fromSecs, toSecs } = request;
    const startMs = nowMs();
    if (startMs - askedAtMs > TIME_LIMIT_MS) return err(BUSY);
    const events = Math.min(request.events, MAX_PREVIEW_EVENTS);
    // Not the owner of the fid's webhooks, because a preview must not stop one of them.
    const ownerId = `preview:${fid}`;
    // The first preview loads the schema of subscriptions and RE2, which no delivery needs.
    const { scanEvents } = await import("./scan.ts");
    const isOver = () => nowMs() - startMs > TIME_LIMIT_MS;
    const time = { fromSecs, toSecs };
    const scanned = await scanEvents(deps, { ownerId, ownerFid: fid, subscription, events, ...time, isOver });
    if (scanned.ok) return scanned;
    return err({ reason: `the preview was stopped: ${scanned.error}`, retryAfterSecs: WINDOW_MS / 1000 });
  }

  const inTurn: InTurn = (work) => {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  };

  return {
    inTurn,

    async preview(request) {
      const { fid } = request;
      const askedAtMs = nowMs();
      forgetOld(askedAtMs);
      const refusal = refusalOf(fid, askedAtMs);
      if (refusal) return err(refusal);
      recent.get(fid)?.push(askedAtMs);
      open.add(fid);
      return inTurn(() => run(request, askedAtMs)).finally(() => open.delete(fid));
    },
  };
}

const BUSY: PreviewRefusal = { reason: "too many previews are running; try again", retryAfterSecs: 2 };
