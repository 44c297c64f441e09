import type { Confirmed, Lane } from "../../auth/owners/owners.ts";
import { type ConfirmedEvents, confirmedEventsOf } from "../../db/index/confirmed-events.ts";
import { shardCount } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { shardProof } from "../../db/index/trie/shard-proofs.ts";
import { shardOfFid } from "../../protocol/network/shard.ts";
import { OnChainEvent, type OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { Dispute } from "../chain/trust-tracker.ts";
import { type Timings, wait } from "../timings.ts";
import type { Endpoint } from "./endpoints/endpoint.ts";
import type { Endpoints } from "./endpoints/endpoints.ts";
import { createLanes, LANES, TOO_MANY_QUESTIONS } from "./lanes.ts";
import {
  fingerprintOf,
  identity,
  isSame,
  isSubset,
  StoredDigests,
  type StoredEvents,
  storedEvents,
} from "./stored-events.ts";

/** How long, in milliseconds, an agreement of two nodes counts. A later event of the index is compared at once. */
const CONFIRMED_MS = 600_000;
/** Without a second node, how long, in seconds, an earlier agreement of two nodes counts. */
const KEPT_SECS = 86_400;
/** Age, in seconds, at which a stored agreement is written again. */
const REWRITTEN_SECS = 3600;
const DISPUTED_MS = 60_000;
const MAX_REMEMBERED = 10_000;
const CALL_TIMEOUT_MS = 4000;
/** Allowance, in milliseconds, for blocks that a node may know before this one. */
const MAX_BEHIND_MS = 3000;
const VOTES = 2;
const MAX_TRIES = 3;
/** A node with more events than this beyond those of the index does not count as a witness: the following thread has to decode them. */
const MAX_MORE_EVENTS = 200;
/** Maximum number of disputes shown. Beyond it, the oldest is dropped. */
const MAX_DISPUTES = 100;

export interface ConfirmDeps {
  /** The index. */
  readonly db: IndexDatabase;
  readonly endpoints: Pick<Endpoints, "witnesses" | "isUpToDate" | "askHeads">;
  /** Returns the newest block of a shard that is in the index with all blocks before it. */
  readonly applied: (shard: number) => number;
  readonly timings: Pick<Timings, "pollMs" | "confirmMs">;
  readonly signal: AbortSignal;
  readonly onDispute: (dispute: Dispute) => void;
  /** Stores agreements of two nodes in the index. */
  readonly keep: (confirmed: readonly ConfirmedEvents[]) => Promise<void>;
  readonly clock: Clock;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/** Returns events of the index that two nodes also have, in the order of the chain. */
export type ConfirmEvents = ReturnType<typeof createConfirmEvents>;

type Outcome = Confirmed<readonly OnChainEvent[]>;

interface Answer {
  readonly endpoint: Endpoint;
  /** By `identity`. */
  readonly events: ReadonlySet<string>;
}

/**
 * Compares the on-chain events of an fid with what two nodes report now. No block binds their contents, and the index may
 * have them from any node that was followed before, so it does not count as a witness itself.
 *
 * An event counts once two nodes that have passed its block return the same bytes. If a node lacks an event, it is disputed,
 * and the state before it counts. While an event has not been compared, neither the previous state nor the new one counts;
 * otherwise the previous owner of a sold fid could act.
 */
export function createConfirmEvents(deps: ConfirmDeps) {
  const { db, endpoints, applied, timings, signal, onDispute, keep, clock } = deps;
  const nowMs = deps.nowMs ?? (() => performance.now());
  const callMs = timings.confirmMs ?? CALL_TIMEOUT_MS;
  const remembered = new Map<string, { readonly of: string; readonly outcome: Outcome; untilMs: number }>();
  const asking = new Map<string, Promise<Outcome>>();
  const disputes = new Map<string, Dispute>();
  /** Nodes that did not respond to their last question. They are asked last, so a slow node delays only one question. */
  const unwilling = new Set<Endpoint>();
  /** Disputes that are being examined while no decision waits for them. */
  const naming = new Set<string>();
  /** Agreements to be stored. They are written together, because each commit invalidates cached responses. */
  const unwritten = new Map<string, ConfirmedEvents>();
  let isWriting = false;
  const lanes = createLanes();

  const digests = new StoredDigests(db);
  const isCurrent = (fid: number, type: OnChainEventType, digest: string) => digests.of(type, fid) === digest;

  function remember(key: string, stored: StoredEvents, outcome: Outcome, ms: number): Outcome {
    remembered.delete(key);
    remembered.set(key, { of: stored.digest, outcome, untilMs: nowMs() + ms });
    dropOldest(remembered, MAX_REMEMBERED);
    return outcome;
  }

  /** Stores what two nodes agree on, for decisions without a second node. */
  function keepConfirmed(fid: number, type: OnChainEventType, stored: readonly OnChainEvent[]): void {
    const one = { fid, type, fingerprint: fingerprintOf(stored), confirmedAt: nowSecs(clock) };
    const kept = confirmedEventsOf(db, fid, type);
    const ageSecs = kept ? one.confirmedAt - kept.confirmedAt : REWRITTEN_SECS;
    const isKept = kept && Buffer.compare(kept.fingerprint, one.fingerprint) === 0;
    if (isKept && ageSecs >= 0 && ageSecs < REWRITTEN_SECS) return;
    unwritten.set(`${type}:${fid}`, one);
    dropOldest(unwritten, MAX_REMEMBERED);
    if (!isWriting) void writeKept();
  }

  async function writeKept(): Promise<void> {
    isWriting = true;
    while (unwritten.size > 0 && !signal.aborted) {
      await wait(timings.pollMs, signal);
      const confirmed = [...unwritten.values()];
      unwritten.clear();
      // An index that accepts nothing more has no room for it either.
      await keep(confirmed).catch(() => {});
    }
    isWriting = false;
  }

  /**
   * Reports whether two nodes agreed on these events within a given time, and the fid's shard has the signed state, in which
   * every event has a key.
   */
  function wereConfirmed(
    fid: number,
    type: OnChainEventType,
    stored: readonly OnChainEvent[],
    maxAgeSecs: number,
  ): boolean {
    const kept = confirmedEventsOf(db, fid, type);
    if (!kept || Buffer.compare(kept.fingerprint, fingerprintOf(stored)) !== 0) return false;
    const ageSecs = nowSecs(clock) - kept.confirmedAt;
    if (ageSecs < 0 || ageSecs > maxAgeSecs) return false;
    return shardProof(db, shardOfFid(fid, Math.max(1, shardCount(db)))).mismatchHeight === null;
  }

  /** Asks nodes until two of them have exactly the events of the index. */
  async function ask(fid: number, type: OnChainEventType, stored: readonly OnChainEvent[]) {
    const own = new Set(stored.map(identity));
    const answers: Answer[] = [];
    const witnesses = endpoints
      .witnesses()
      .toSorted((a, b) => Number(unwilling.has(a)) - Number(unwilling.has(b)));
    for (const endpoint of witnesses) {
      if (signal.aborted || areAgreed(answers, own)) break;
      try {
        const tooLate = wait(callMs, signal).then(() => false);
        if (!(await Promise.race([endpoints.isUpToDate(endpoint), tooLate]))) continue;
        const client = endpoint.client(signal, { callTimeoutMs: callMs, stallMs: callMs });
        const encoded = await client.onChainEvents(fid, type);
        if (encoded.length > stored.length + MAX_MORE_EVENTS) throw new Error("it lists too many events");
        const events = encoded.map((bytes) => identity(OnChainEvent.decode(bytes)));
        answers.push({ endpoint, events: new Set(events) });
        unwilling.delete(endpoint);
      } catch {
        unwilling.add(endpoint);
        // It is not a witness now. Following counts its failures.
      }
    }
    return answers;
  }

  /** Waits until the index has the blocks of a node. Returns whether it does. */
  async function catchesUp({ endpoint }: Answer): Promise<boolean> {
    const heads = await endpoints.askHeads(endpoint);
    const lateMs = nowMs() + MAX_BEHIND_MS;
    const isBehind = () => [...heads].some(([shard, head]) => applied(shard) < head);
    while (isBehind() && nowMs() < lateMs && !signal.aborted) await wait(timings.pollMs, signal);
    return heads.size > 0 && !isBehind();
  }

  async function compare(fid: number, type: OnChainEventType, isKept = true): Promise<Outcome> {
    const key = `${type}:${fid}`;
    for (let tries = 1; ; tries++) {
      const current = storedEvents(db, type, fid);
      const stored = current.events;
      const own = new Set(stored.map(identity));
      const answers = await ask(fid, type, stored);
      const pending = (why: string) => remember(key, current, waitsFor(why), timings.pollMs);
      if (answers.length < VOTES) {
        const isUndisputed = answers.every(({ events }) => isSame(events, own));
        if (isUndisputed && wereConfirmed(fid, type, stored, KEPT_SECS))
          return remember(key, current, { isConfirmed: true, value: stored }, DISPUTED_MS);
        return pending("a second upstream has not confirmed who owns the fid yet");
      }
      const others = answers.filter(({ events }) => !isSame(events, own));
      const dispute = { fid, type, upstreams: others.map(({ endpoint }) => endpoint.position) };
      // An event that a node has and the index lacks may be in a block that the index is about to receive.
      const ahead = others.filter(({ events }) => !isSubset(events, own));
      // Two nodes are enough. Otherwise a third one could lock out every owner with an event that it invents.
      if (areAgreed(answers, own) && isCurrent(fid, type, current.digest)) {
        if (others.length === 0) disputes.delete(key);
        else void nameLater(key, dispute, ahead);
        if (isKept) keepConfirmed(fid, type, stored);
        return remember(key, current, { isConfirmed: true, value: stored }, confirmedMs(others));
      }
      const caughtUp = await Promise.all(ahead.map((answer) => catchesUp(answer).catch(() => false)));
      if (!isCurrent(fid, type, current.digest)) {
        if (tries < MAX_TRIES) continue;
        return pending("the owner of the fid is changing");
      }
      if (caughtUp.includes(false)) return pending("an upstream has newer blocks of the fid than this node");

      if (others.length === 0) disputes.delete(key);
      else note(key, dispute);
      const votesFor = (one: string) => answers.filter(({ events }) => events.has(one)).length;
      const isWithheld = ahead.some(({ events }) =>
        [...events].some((one) => !own.has(one) && votesFor(one) >= VOTES),
      );
      if (isWithheld) return pending("two upstreams have an event of the fid that this node was not sent");
      // One of two nodes cannot withdraw what both once agreed on; otherwise, with two nodes, it could lock out every owner.
      const value = wereConfirmed(fid, type, stored, Number.POSITIVE_INFINITY)
        ? stored
        : stored.filter((event) => votesFor(identity(event)) >= VOTES);
      return remember(key, current, { isConfirmed: true, value }, confirmedMs(others));
    }
  }

  /** Names nodes that disagree with two others, unless they are only ahead. */
  async function nameLater(key: string, dispute: Dispute, ahead: readonly Answer[]): Promise<void> {
    if (naming.has(key) || naming.size >= LANES.signed.running) return;
    naming.add(key);
    const caughtUp = await Promise.all(ahead.map((answer) => catchesUp(answer).catch(() => false)));
    naming.delete(key);
    if (!signal.aborted && !caughtUp.includes(false)) note(key, dispute);
  }

  function note(key: string, dispute: Dispute): void {
    const isNew = !disputes.has(key);
    disputes.delete(key);
    disputes.set(key, dispute);
    dropOldest(disputes, MAX_DISPUTES);
    if (isNew) onDispute(dispute);
  }

  return {
    /** Returns the fids for which the last comparison found nodes that disagree. */
    disputes: (): readonly Dispute[] => [...disputes.values()],

    /** Compares the events of an fid that no decision waits for. Agreements are not stored. */
    async check(fid: number, type: OnChainEventType): Promise<void> {
      await compare(fid, type, false);
    },

    async of(fid: number, type: OnChainEventType, lane: Lane): Promise<Confirmed<readonly OnChainEvent[]>> {
      const key = `${type}:${fid}`;
      const known = remembered.get(key);
      if (known && known.untilMs > nowMs() && isCurrent(fid, type, known.of)) return known.outcome;
      const running = asking.get(key);
      if (running) return running;
      const slot = lanes[lane].take();
      if (!slot) return waitsFor(TOO_MANY_QUESTIONS);
      const asked = slot
        .then(() => compare(fid, type))
        .finally(() => {
          lanes[lane].release();
          asking.delete(key);
        });
      asking.set(key, asked);
      return asked;
    },
  };
}

/** Reports whether enough nodes have exactly the events of the index. */
function areAgreed(answers: readonly Answer[], own: ReadonlySet<string>): boolean {
  return answers.filter(({ events }) => isSame(events, own)).length >= VOTES;
}

const confirmedMs = (others: readonly Answer[]) => (others.length === 0 ? CONFIRMED_MS : DISPUTED_MS);

const waitsFor = (reason: string): Outcome => ({ isConfirmed: false, reason });

function dropOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
