import { createHash } from "node:crypto";
import type { Confirmed, Lane } from "../../auth/confirmed-owners.ts";
import { type ConfirmedEvents, confirmedEventsOf } from "../../db/index/confirmed-events.ts";
import { shardCount } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { onChainEventsOf } from "../../db/index/project/on-chain.ts";
import { shardProof } from "../../db/index/trie/shard-proofs.ts";
import { shardOfFid } from "../../protocol/network/shard.ts";
import { OnChainEvent, type OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { Dispute } from "../chain/trust-tracker.ts";
import { type Timings, wait } from "../timings.ts";
import type { Endpoint } from "./endpoints/endpoint.ts";
import type { Endpoints } from "./endpoints/endpoints.ts";
import { createLanes, LANES, TOO_MANY_QUESTIONS } from "./lanes.ts";

/** What two nodes say counts for so long. A later event of the index is compared at once. */
const CONFIRMED_MS = 600_000;
/** Without a second node, what two nodes said before counts for so long. */
const KEPT_SECS = 86_400;
/** What is kept is written again after so long. */
const REWRITTEN_SECS = 3600;
const DISPUTED_MS = 60_000;
const MAX_REMEMBERED = 10_000;
const CALL_TIMEOUT_MS = 4000;
/** For the blocks that a node may know before this one. */
const MAX_BEHIND_MS = 3000;
const VOTES = 2;
const MAX_TRIES = 3;
/** A node that lists more than this beyond what the index has is not a witness. The thread that follows decodes them. */
const MAX_MORE_EVENTS = 200;
/** Disputes that are shown. The oldest makes room. */
const MAX_DISPUTES = 100;

export interface ConfirmDeps {
  /** The index. */
  readonly db: IndexDatabase;
  readonly endpoints: Pick<Endpoints, "witnesses" | "isUpToDate" | "askHeads">;
  /** The newest block of a shard that, with all before it, is in the index. */
  readonly applied: (shard: number) => number;
  readonly timings: Pick<Timings, "pollMs" | "confirmMs">;
  readonly signal: AbortSignal;
  readonly onDispute: (dispute: Dispute) => void;
  /** Keeps what two nodes have said, in the index. */
  readonly keep: (confirmed: readonly ConfirmedEvents[]) => Promise<void>;
  readonly clock: Clock;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/** Events of the index that two nodes have, too, in the order of the chain. */
export type ConfirmEvents = ReturnType<typeof createConfirmEvents>;

type Outcome = Confirmed<readonly OnChainEvent[]>;

interface Answer {
  readonly endpoint: Endpoint;
  /** By `identity`. */
  readonly events: ReadonlySet<string>;
}

/**
 * Compares the on-chain events of an fid with what two nodes say now. No block binds their contents, and the index may have them from
 * any node that was followed before, so it is not a witness itself.
 *
 * An event counts once two nodes that have passed its block return the same bytes. One that a node lacks is disputed, and what held
 * before it counts. While an event is not compared, neither the previous state nor the new one counts: the previous owner of a sold fid
 * could act, otherwise.
 */
export function createConfirmEvents(deps: ConfirmDeps) {
  const { db, endpoints, applied, timings, signal, onDispute, keep, clock } = deps;
  const nowMs = deps.nowMs ?? (() => performance.now());
  const callMs = timings.confirmMs ?? CALL_TIMEOUT_MS;
  const remembered = new Map<string, { readonly of: string; readonly outcome: Outcome; untilMs: number }>();
  const asking = new Map<string, Promise<Outcome>>();
  const disputes = new Map<string, Dispute>();
  /** Nodes whose last response to a question was none. They are asked last: a node that delays its responses delays one. */
  const unwilling = new Set<Endpoint>();
  /** Disputes that are looked into, of decisions that do not wait for it. */
  const naming = new Set<string>();
  /** What is to be kept. It is written together, because each commit ends cached responses. */
  const unwritten = new Map<string, ConfirmedEvents>();
  let isWriting = false;
  const lanes = createLanes();

  function remember(key: string, stored: readonly OnChainEvent[], outcome: Outcome, ms: number): Outcome {
    remembered.delete(key);
    remembered.set(key, { of: fingerprint(stored), outcome, untilMs: nowMs() + ms });
    dropOldest(remembered, MAX_REMEMBERED);
    return outcome;
  }

  /** Keeps what two nodes have alike, for decisions without a second node. */
  function keepConfirmed(fid: number, type: OnChainEventType, stored: readonly OnChainEvent[]): void {
    const one = { fid, type, fingerprint: digest(stored), confirmedAt: nowSecs(clock) };
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
      // An index that takes nothing more has no room for it either.
      await keep(confirmed).catch(() => {});
    }
    isWriting = false;
  }

  /** Whether two nodes had these events, at most some time ago, and the fid's shard has the signed state, in which every event has a key. */
  function wereConfirmed(
    fid: number,
    type: OnChainEventType,
    stored: readonly OnChainEvent[],
    maxAgeSecs: number,
  ): boolean {
    const kept = confirmedEventsOf(db, fid, type);
    if (!kept || Buffer.compare(kept.fingerprint, digest(stored)) !== 0) return false;
    const ageSecs = nowSecs(clock) - kept.confirmedAt;
    if (ageSecs < 0 || ageSecs > maxAgeSecs) return false;
    return shardProof(db, shardOfFid(fid, Math.max(1, shardCount(db)))).mismatchHeight === null;
  }

  /** Asks nodes until two have all events of the index, and no others. */
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

  /** Waits until the index has the blocks that a node has. Returns whether it has. */
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
      const stored = onChainEventsOf(db, type, fid);
      const own = new Set(stored.map(identity));
      const answers = await ask(fid, type, stored);
      const pending = (why: string) => remember(key, stored, waitsFor(why), timings.pollMs);
      if (answers.length < VOTES) {
        const isUndisputed = answers.every(({ events }) => isSame(events, own));
        if (isUndisputed && wereConfirmed(fid, type, stored, KEPT_SECS))
          return remember(key, stored, { isConfirmed: true, value: stored }, DISPUTED_MS);
        return pending("a second upstream has not confirmed who owns the fid yet");
      }
      const others = answers.filter(({ events }) => !isSame(events, own));
      const dispute = { fid, type, upstreams: others.map(({ endpoint }) => endpoint.position) };
      // What a node has that the index lacks may be in a block that the index is about to have.
      const ahead = others.filter(({ events }) => !isSubset(events, own));
      // Two are enough. Otherwise a third one could keep every owner out with an event that it invents.
      if (areAgreed(answers, own) && fingerprint(onChainEventsOf(db, type, fid)) === fingerprint(stored)) {
        if (others.length === 0) disputes.delete(key);
        else void nameLater(key, dispute, ahead);
        if (isKept) keepConfirmed(fid, type, stored);
        return remember(key, stored, { isConfirmed: true, value: stored }, confirmedMs(others));
      }
      const caughtUp = await Promise.all(ahead.map((answer) => catchesUp(answer).catch(() => false)));
      if (fingerprint(onChainEventsOf(db, type, fid)) !== fingerprint(stored)) {
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
      // What two nodes had alike once, one of them cannot take back: with two nodes it could keep every owner out.
      const value = wereConfirmed(fid, type, stored, Number.POSITIVE_INFINITY)
        ? stored
        : stored.filter((event) => votesFor(identity(event)) >= VOTES);
      return remember(key, stored, { isConfirmed: true, value }, confirmedMs(others));
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
    /** Where the last comparison found nodes that disagree. */
    disputes: (): readonly Dispute[] => [...disputes.values()],

    /** Compares the events of an fid that no decision waits for. What two nodes have alike is not kept. */
    async check(fid: number, type: OnChainEventType): Promise<void> {
      await compare(fid, type, false);
    },

    async of(fid: number, type: OnChainEventType, lane: Lane): Promise<Confirmed<readonly OnChainEvent[]>> {
      const key = `${type}:${fid}`;
      const known = remembered.get(key);
      if (known && known.untilMs > nowMs() && known.of === fingerprint(onChainEventsOf(db, type, fid)))
        return known.outcome;
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

/** Whether as many nodes as have to have the events of the index, and no others. */
function areAgreed(answers: readonly Answer[], own: ReadonlySet<string>): boolean {
  return answers.filter(({ events }) => isSame(events, own)).length >= VOTES;
}

const confirmedMs = (others: readonly Answer[]) => (others.length === 0 ? CONFIRMED_MS : DISPUTED_MS);

const waitsFor = (reason: string): Outcome => ({ isConfirmed: false, reason });

/** The same for events that were encoded in different ways. */
function identity(event: OnChainEvent): string {
  return Buffer.from(OnChainEvent.encode(event).finish()).toString("base64");
}

function fingerprint(events: readonly OnChainEvent[]): string {
  return digest(events).toString("base64");
}

function digest(events: readonly OnChainEvent[]): Buffer {
  const hash = createHash("sha256");
  for (const event of events) hash.update(identity(event)).update(";");
  return hash.digest();
}

function isSubset(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].every((one) => b.has(one));
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && isSubset(a, b);
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
