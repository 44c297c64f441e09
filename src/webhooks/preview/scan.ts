import { setImmediate } from "node:timers/promises";
import type { IndexDatabase } from "../../db/index/database.ts";
import {
  eventRange,
  eventsAfter,
  firstEventFrom,
  type StoredOutboxEvent,
} from "../../db/index/log/outbox.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { EventKind } from "../../protocol/event-kind.ts";
import { loadUsers, type ScoreSource } from "../../read/hydrate/users.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { type NodeEvent, readEvent } from "../event.ts";
import { REGEX_FIELDS } from "../match/event-keys.ts";
import { type BannedAmong, excluderOf, withoutExcluded } from "../match/exclusions.ts";
import type { EventFacts } from "../match/facts.ts";
import { loadFacts } from "../match/facts-of.ts";
import type { SubscriptionRefusal } from "../match/match-service.ts";
import { type MatchClient, matchFacts } from "../match/rpc.ts";
import { buildBodies } from "../publish/payload.ts";
import type { Subscription } from "../subscription.ts";
import { eventKinds } from "../subscription-schema.ts";

/** How many events are read and matched at a time, so that deliveries get their turn in between. */
const EVENTS_PER_SLICE = 50;
const MAX_SAMPLES = 10;

/** What a subscription would have delivered of the log's newest events. Times are unix seconds, null without events. */
export interface PreviewOutcome {
  readonly scanned: number;
  /** When the node applied the oldest and the newest event. */
  readonly fromSecs: number | null;
  readonly toSecs: number | null;
  readonly matched: number;
  readonly byKind: Readonly<Partial<Record<EventKind, { scanned: number; matched: number }>>>;
  /** The number of events that did not match, by the field that excluded them (`Probes.fellTo`). */
  readonly fellTo: Readonly<Record<string, number>>;
  /** Bodies of the newest matching events, as JSON texts. */
  readonly samples: readonly string[];
}

export interface ScanDeps {
  readonly index: IndexDatabase;
  /** A client that only one scan at a time uses. */
  readonly matching: MatchClient;
  /** Finds the actors that webhooks with `exclude.bans` leave out. */
  readonly bannedAmong: BannedAmong;
  /** Undefined if `minimum_author_score` has no effect. */
  readonly scores?: ScoreSource | undefined;
  readonly clock: Clock;
}

export interface ScanRequest {
  /** Whose matching budget is charged. */
  readonly ownerId: string;
  /** Whose bans apply. */
  readonly ownerFid: number;
  readonly subscription: Subscription;
  readonly events: number;
  /** Bounds (inclusive) of the time at which the node applied the events, in unix seconds. Default: the whole log. */
  readonly fromSecs?: number | undefined;
  readonly toSecs?: number | undefined;
  /** Reports whether the time is up. The outcome then covers the events scanned so far. */
  readonly isOver: () => boolean;
}

export interface ScannedEvent {
  readonly event: NodeEvent;
  readonly facts: EventFacts;
}

/**
 * Matches the events of the log, or of a time range, against a subscription, newest first, with the matcher of deliveries. The error is
 * the reason why the matcher stopped.
 */
export async function scanEvents(
  { index, matching, bannedAmong, scores, clock }: ScanDeps,
  { ownerId, ownerFid, subscription, events, fromSecs, toSecs, isOver }: ScanRequest,
): Promise<Result<PreviewOutcome, string>> {
  const probes = probesOf(subscription);
  const excluder = excluderOf(subscription, ownerFid);
  const tally = new Tally();
  // The size of a subscription is bounded, and the owner's webhooks have already been charged for their expressions.
  const set = probes.subscriptions.map((probe) => ({ ...probe, ownerId, isSecond: true, isPreview: true }));
  await matching.update({ set, removed: [] });
  try {
    for (let { oldestSeq, headSeq: end } = rangeOf(index, fromSecs, toSecs); end >= oldestSeq; ) {
      const size = Math.min(EVENTS_PER_SLICE, events - tally.scanned);
      if (size === 0 || isOver()) break;
      const after = Math.max(end - size, oldestSeq - 1);
      const slice = readSlice(index, { after, end, scores });
      end = after;
      // Otherwise the matcher's response already yields to other tasks of the thread.
      if (slice.length === 0) await setImmediate();
      for (let from = 0; from < slice.length && !isOver(); ) {
        const facts = slice.slice(from).map((one) => one.facts);
        const { matches, refused } = await matchFacts(matching, facts);
        const [refusal]: readonly (SubscriptionRefusal | undefined)[] = refused;
        if (refusal) return err(refusal.reason);
        const matched = matches.map((ids, at) => probes.fellTo(facts[at]?.kind, new Set(ids)));
        const kept = await withoutExcluded(
          matched.map((field) => (field === undefined ? [subscription] : [])),
          facts,
          () => excluder,
          bannedAmong,
        );
        for (const [at, field] of matched.entries()) {
          const one = slice[from + at];
          const isExcluded = field === undefined && kept[at]?.length === 0;
          if (one) tally.add(one.event, isExcluded ? "exclude" : field);
        }
        from += matches.length;
      }
    }
  } finally {
    await matching.update({ set: [], removed: set.map(({ id }) => id) });
  }
  const bodies = index.snapshot(() => buildBodies(index, tally.samples, nowSecs(clock)));
  return ok(tally.outcome([...bodies.values()]));
}

/** Returns the numbers of the first and the last event of a time range. */
export function rangeOf(index: IndexDatabase, fromSecs: number | undefined, toSecs: number | undefined) {
  return index.snapshot(() => {
    const { oldestSeq, headSeq } = eventRange(index);
    const first = fromSecs === undefined ? oldestSeq : (firstEventFrom(index, fromSecs) ?? headSeq + 1);
    const next = toSecs === undefined ? undefined : firstEventFrom(index, toSecs + 1);
    return { oldestSeq: first, headSeq: next === undefined ? headSeq : next - 1 };
  });
}

/** Reads the events after `after` up to `end`, newest first, without those that deliveries skip. */
export function readSlice(
  index: IndexDatabase,
  { after, end, scores }: { after: number; end: number; scores: ScoreSource | undefined },
): ScannedEvent[] {
  return index.snapshot(() => {
    const rows = eventsAfter(index, after, end - after).filter(({ seq }) => seq <= end);
    const events = rows.toReversed().flatMap(readable);
    const users = loadUsers(index, events.flatMap(subjectFidsOf));
    // An event about an unregistered fid has no body.
    const known = events.filter((event) => subjectFidsOf(event).every((fid) => users.has(fid)));
    const facts = loadFacts(index, known, scores);
    return known.flatMap((event, at) => (facts[at] ? [{ event, facts: facts[at] }] : []));
  });
}

/** Skips rows that this version of the node cannot read; the publisher logs them. */
function readable(row: StoredOutboxEvent): NodeEvent[] {
  try {
    return [readEvent(row)];
  } catch {
    return [];
  }
}

/** Returns the fids without which an event has no body. */
function subjectFidsOf(event: NodeEvent): number[] {
  if ("change" in event) return [];
  return ["cast" in event ? event.cast.fid : event.fid];
}

/** Counts the events of a scan. */
class Tally {
  scanned = 0;
  readonly samples: NodeEvent[] = [];
  #matched = 0;
  #fromSecs: number | null = null;
  #toSecs: number | null = null;
  readonly #byKind: Partial<Record<EventKind, { scanned: number; matched: number }>> = {};
  readonly #fellTo: Record<string, number> = {};

  /** @param fellTo the field that excluded the event; undefined if it matches. */
  add(event: NodeEvent, fellTo: string | undefined): void {
    this.scanned += 1;
    this.#fromSecs = Math.min(this.#fromSecs ?? event.appliedAt, event.appliedAt);
    this.#toSecs = Math.max(this.#toSecs ?? event.appliedAt, event.appliedAt);
    this.#byKind[event.kind] ??= { scanned: 0, matched: 0 };
    const ofKind = this.#byKind[event.kind];
    if (ofKind) ofKind.scanned += 1;
    if (fellTo !== undefined) {
      this.#fellTo[fellTo] = (this.#fellTo[fellTo] ?? 0) + 1;
      return;
    }
    this.#matched += 1;
    if (ofKind) ofKind.matched += 1;
    if (this.samples.length < MAX_SAMPLES) this.samples.push(event);
  }

  outcome(samples: readonly string[]): PreviewOutcome {
    return {
      scanned: this.scanned,
      fromSecs: this.#fromSecs,
      toSecs: this.#toSecs,
      matched: this.#matched,
      byKind: this.#byKind,
      fellTo: this.#fellTo,
      samples,
    };
  }
}

type Filter = Readonly<Record<string, unknown>>;

interface Step {
  readonly field: string;
  readonly id: string;
}

const WHOLE = "whole";
/** Fields that must match in both modes of `match`. */
const ALWAYS: ReadonlySet<string> = new Set(["exclude_author_fids", "minimum_author_score"]);

/** Returns subscriptions that show, with the matcher of deliveries, why an event does not match a subscription. */
export function probesOf(subscription: Subscription) {
  const subscriptions: { id: string; subscription: Subscription }[] = [{ id: WHOLE, subscription }];
  const stepsOf = new Map<EventKind, { readonly steps: readonly Step[]; readonly last: string }>();
  for (const { kind, filters } of eventKinds) {
    const filter = (subscription as Readonly<Partial<Record<EventKind, Filter>>>)[kind];
    if (filter === undefined) continue;
    const given = filters.filter((field) => field !== "match" && filter[field] !== undefined);
    const isAny = filter.match === "any";
    const probed = isAny ? given.filter((field) => ALWAYS.has(field)) : given;
    const lists = probed.filter((field) => !isExpression(field));
    const expressions = REGEX_FIELDS.filter((field) => probed.includes(field));
    const last = isAny ? "match" : (expressions.at(-1) ?? lists.at(-1) ?? "match");
    const steps: Step[] = [];
    const probe = (field: string, fields: readonly string[]) => {
      const id = `${kind} ${field}`;
      const part = Object.fromEntries(fields.map((name) => [name, filter[name]]));
      subscriptions.push({ id, subscription: { [kind]: part } });
      steps.push({ field, id });
    };
    for (const field of lists) if (field !== last) probe(field, [field]);
    // An expression is only matched if everything before it matches, as in the subscription itself.
    for (const field of expressions) if (field !== last) probe(field, [...lists, field]);
    stepsOf.set(kind, { steps, last });
  }
  return {
    /** The subscription itself and parts of its filters, under ids of this object. */
    subscriptions,
    /**
     * Returns the field that excluded an event; undefined for an event that matches. If all fields must match, it is the first that does
     * not, expressions last. It is `type` for a kind without a subscription, and `match` if any field may match but none does.
     *
     * @param matched ids of the matching subscriptions.
     */
    fellTo(kind: EventKind | undefined, matched: ReadonlySet<string>): string | undefined {
      if (matched.has(WHOLE)) return undefined;
      const found = kind && stepsOf.get(kind);
      if (!found) return "type";
      return found.steps.find(({ id }) => !matched.has(id))?.field ?? found.last;
    },
  };
}

const isExpression = (field: string): boolean => (REGEX_FIELDS as readonly string[]).includes(field);
