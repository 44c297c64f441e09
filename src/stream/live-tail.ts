import type { IndexDatabase } from "../db/index/database.ts";
import type { BlockRef } from "../db/index/log/outbox.ts";
import { type BannedAmong, type Excluder, withoutExcluded } from "../webhooks/match/exclusions.ts";
import type { SubscriptionRefusal } from "../webhooks/match/match-service.ts";
import { type MatchClient, matchFacts } from "../webhooks/match/rpc.ts";
import type { Subscription } from "../webhooks/subscription.ts";
import type { EventFrames, Frame } from "./frame.ts";
import { type LoggedEvent, type LogPage, type LogPageDeps, readLogPage } from "./log-page.ts";
import type { ShardBlocks, StreamPosition } from "./position.ts";

/** The tail's view of a stream. */
export interface TailReader {
  readonly id: string;
  /** Owner of the budget to which matching is charged. */
  readonly ownerId: string;
  subscription: Subscription;
  /** Excludes accounts whose events its subscription leaves out. */
  excluder: Excluder | undefined;
  position: StreamPosition;
  /** The tail has matched the events after this number for the stream. */
  joinedSeq: number;
  /** Events of these blocks and of earlier ones are left out, because the client saw them at another node. */
  readonly seenBlocks: ShardBlocks;
  /** Whether it has taken everything up to the end of the tail and is waiting for more. */
  isWaiting: boolean;
  /** Called when an event has matched while it was waiting. */
  wake(): void;
  /** Called when its subscription is no longer evaluated, before it misses an event. */
  refuse(reason: string): void;
}

interface TailEntry {
  readonly seq: number;
  /** Undefined if no stream matched. */
  readonly match:
    | { readonly frame: Frame; readonly block: BlockRef | null; readonly readers: ReadonlySet<TailReader> }
    | undefined;
}

export interface LiveTailDeps extends LogPageDeps {
  readonly db: IndexDatabase;
  /** A client for the tail only. */
  readonly matching: MatchClient;
  readonly bannedAmong: BannedAmong;
  readonly frames: EventFrames;
  /** Resolves once the log has an event after a number, however long that takes. */
  readonly awaitEvents: (afterSeq: number) => Promise<void>;
  readonly onFault: (cause: unknown) => void;
  readonly limits?: Partial<TailLimits>;
}

export interface TailLimits {
  /** Number of newest events kept for streams that have not taken them yet. */
  readonly events: number;
  /** Number of characters in their frames. */
  readonly chars: number;
  /** Number of streams that they matched, counted per event. */
  readonly matches: number;
}

const LIMITS: TailLimits = { events: 4096, chars: 8 * 1024 * 1024, matches: 200_000 };
const EVENTS_PER_PAGE = 100;
const RETRY_AFTER_MS = 1000;

/**
 * The end of the log, which all streams of a thread share: each event is read, matched and encoded once for all of them. The
 * newest events are kept, so that a stream that takes them late does not have to read the log again.
 */
export type LiveTail = ReturnType<typeof createLiveTail>;

/** Reports whether the client saw the events of a block at another node. */
export function hasSeen({ seenBlocks }: TailReader, block: BlockRef | null): boolean {
  return block !== null && block.number <= (seenBlocks.get(block.shard) ?? -1);
}

export function createLiveTail(deps: LiveTailDeps, head: () => StreamPosition) {
  const { matching, bannedAmong, frames, onFault } = deps;
  const limits = { ...LIMITS, ...deps.limits };
  const readers = new Map<string, TailReader>();
  let entries: TailEntry[] = [];
  let keptChars = 0;
  let keptMatches = 0;
  /** The kept events are all those after this number. */
  let startSeq = 0;
  let end: StreamPosition = { logId: "", seq: 0, blocks: new Map() };
  /** The last event of the page being matched. It is matched without streams that join now. */
  let matchingUpTo = 0;
  let isRunning = false;
  let isStopped = false;

  async function run(): Promise<void> {
    while (readers.size > 0 && !isStopped) {
      try {
        const page = readLogPage(deps, end, EVENTS_PER_PAGE);
        if (page.isOvertaken) fallBehind();
        else if (page.end.seq === end.seq) await deps.awaitEvents(end.seq);
        else await advance(page);
      } catch (cause) {
        onFault(cause);
        await Bun.sleep(RETRY_AFTER_MS);
      }
    }
    isRunning = false;
  }

  function begin(): void {
    end = head();
    startSeq = matchingUpTo = end.seq;
    entries = [];
    keptChars = keptMatches = 0;
  }

  /** Restarts at the head. Streams that have not seen the deleted events notice when they continue from their positions. */
  function fallBehind(): void {
    for (const reader of readers.values()) {
      if (!reader.isWaiting) continue;
      if (end.seq > reader.position.seq) reader.position = end;
      reader.isWaiting = false;
      reader.wake();
    }
    begin();
  }

  /** Matches a page, as much of it as fits into one turn of the matching thread. */
  async function advance({ events, end: pageEnd }: LogPage): Promise<void> {
    if (events.length === 0) {
      move(pageEnd);
      return;
    }
    const facts = events.map((event) => event.facts);
    matchingUpTo = pageEnd.seq;
    const { matches, refused } = await matchFacts(matching, facts);
    refuse(refused);
    const covered = matches.length;
    const matched = matches.map((ids) => ids.flatMap((id) => readers.get(id) ?? []));
    const wantedBy = await withoutExcluded(matched, facts, ({ excluder }) => excluder, bannedAmong);
    const found = wantedBy.map((some) => new Set(some));
    const wanted = events.slice(0, covered).filter((_, at) => (found[at]?.size ?? 0) > 0);
    const built = frames.of(wanted);
    let before = end;
    for (const [at, event] of events.slice(0, covered).entries()) {
      add(event, { frame: built.get(event), matched: found[at] ?? new Set(), before });
      before = event.position;
    }
    const last = events[covered - 1]?.position;
    if (covered === events.length) move(pageEnd);
    else if (last) move(last);
  }

  function add(
    { position: { seq }, block }: LoggedEvent,
    found: { frame: Frame | undefined; matched: ReadonlySet<TailReader>; before: StreamPosition },
  ): void {
    const { frame, matched, before } = found;
    const match = frame && matched.size > 0 ? { frame, block, readers: matched } : undefined;
    entries.push({ seq, match });
    if (!match) return;
    keptChars += match.frame.size;
    keptMatches += matched.size;
    for (const reader of matched) {
      if (!reader.isWaiting || seq <= reader.joinedSeq || seq <= reader.position.seq) continue;
      // It has seen all events before this one.
      if (before.seq > reader.position.seq) reader.position = before;
      reader.isWaiting = false;
      reader.wake();
    }
  }

  function move(to: StreamPosition): void {
    end = to;
    let dropped = 0;
    while (
      dropped < entries.length &&
      (entries.length - dropped > limits.events || keptChars > limits.chars || keptMatches > limits.matches)
    ) {
      const entry = entries[dropped++];
      keptChars -= entry?.match?.frame.size ?? 0;
      keptMatches -= entry?.match?.readers.size ?? 0;
      startSeq = entry?.seq ?? startSeq;
    }
    if (dropped > 0) entries = entries.slice(dropped);
  }

  function refuse(refused: readonly SubscriptionRefusal[]): void {
    for (const { id, reason } of refused) readers.get(id)?.refuse(reason);
  }

  /** Returns the index of the first kept event after a number. */
  function firstAfter(seq: number): number {
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((entries[middle]?.seq ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  return {
    /** The position up to which events are matched. */
    get end(): StreamPosition {
      return end;
    },

    /** Adds a stream, or changes its subscription. It applies to the events after `joinedSeq`, which this sets. */
    join(reader: TailReader): void {
      if (!isRunning) begin();
      readers.set(reader.id, reader);
      reader.joinedSeq = Math.max(matchingUpTo, end.seq);
      const { id, ownerId, subscription } = reader;
      // Calls run in order, so later events are matched with it.
      matching
        .update({ set: [{ id, ownerId, subscription }], removed: [] })
        .then(refuse)
        .catch(onFault);
      if (isRunning) return;
      isRunning = true;
      void run();
    },

    leave({ id }: TailReader): void {
      if (readers.delete(id)) matching.update({ set: [], removed: [id] }).catch(onFault);
    },

    /** Reports whether the tail has everything after the position of a stream. */
    covers: ({ position, joinedSeq }: TailReader): boolean =>
      position.seq >= startSeq && position.seq >= joinedSeq,

    /** Takes the next frames of a stream, about `maxSize` at most, and moves its position. Returns none at the end. */
    take(reader: TailReader, maxSize: number): Frame[] {
      const taken: Frame[] = [];
      let size = 0;
      for (let at = firstAfter(reader.position.seq); at < entries.length; at++) {
        const match = entries[at]?.match;
        if (!match?.readers.has(reader) || hasSeen(reader, match.block)) continue;
        const { frame } = match;
        if (taken.length > 0 && size + frame.size > maxSize) return taken;
        taken.push(frame);
        size += frame.size;
        if (frame.position) reader.position = frame.position;
      }
      if (end.seq > reader.position.seq) reader.position = end;
      return taken;
    },

    /** Returns the first position for a stream that starts now. */
    startLive(from: StreamPosition): StreamPosition {
      if (!isRunning) return from;
      return from.seq >= matchingUpTo && from.seq >= end.seq ? from : { ...from, seq: matchingUpTo };
    },

    stop(): void {
      isStopped = true;
    },
  };
}
