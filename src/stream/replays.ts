import { eventsAfter } from "../db/index/log/outbox.ts";
import { readEvent } from "../webhooks/event.ts";
import { type BannedAmong, withoutExcluded } from "../webhooks/match/exclusions.ts";
import { type MatchClient, matchFacts } from "../webhooks/match/rpc.ts";
import type { EventFrames, Frame } from "./frame.ts";
import { hasSeen, type TailReader } from "./live-tail.ts";
import { type LogPageDeps, readLogPage } from "./log-page.ts";
import type { StreamPosition } from "./position.ts";

const EVENTS_PER_PAGE = 250;
const EVENTS_PER_SEC = 2000;
/** Number of matched events whose bodies are built together. */
const EVENTS_PER_BUILD = 16;

/** A stream that reads the log from a position after which the tail has not matched for it. */
export interface ReplayReader extends TailReader {
  /** Events that were matched but not taken yet. */
  replay: ReplayedPage | undefined;
  readonly hasEnded: boolean;
  /** Number of the last event that it reads. */
  readonly lastSeq: number;
}

export interface ReplayedPage {
  /** The positions of the events that matched. */
  readonly matched: StreamPosition[];
  readonly end: StreamPosition;
}

export type ReplayOutcome = readonly Frame[] | "overtaken";

export type Replays = ReturnType<typeof createReplays>;

export interface ReplaysDeps extends LogPageDeps {
  /** A client for replays only. */
  readonly matching: MatchClient;
  readonly bannedAmong: BannedAmong;
  readonly frames: EventFrames;
  readonly sleep?: (ms: number) => Promise<void>;
}

/**
 * Reads the log for streams that are behind the tail. One page is read and matched at a time, in the order in which the
 * streams ask, and each stream examines a limited number of events per second, so replays take little from live streams.
 * Matches of a page are kept as numbers, and their bodies are built as the client takes them.
 */
export function createReplays(deps: ReplaysDeps) {
  const { db, matching, bannedAmong, frames, sleep = Bun.sleep } = deps;
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function nextPage(reader: ReplayReader): Promise<ReplayedPage | "overtaken" | undefined> {
    if (reader.hasEnded) return undefined;
    const limit = Math.min(EVENTS_PER_PAGE, reader.lastSeq - reader.position.seq);
    const page = readLogPage(deps, reader.position, limit);
    if (page.isOvertaken) return "overtaken";
    const matched: StreamPosition[] = [];
    const { id, ownerId, subscription } = reader;
    const isSecond = true;
    await matching.update({ set: [{ id, ownerId, subscription, isSecond }], removed: [] });
    try {
      for (let from = 0; from < page.events.length; ) {
        const slice = page.events.slice(from);
        const facts = slice.map((event) => event.facts);
        const { matches, refused } = await matchFacts(matching, facts);
        const refusal = refused.find((one) => one.id === id);
        if (refusal) {
          reader.refuse(refusal.reason);
          return undefined;
        }
        const wanted = await withoutExcluded(matches, facts, () => reader.excluder, bannedAmong);
        for (const [at, ids] of wanted.entries()) {
          const event = slice[at];
          if (event && ids.length > 0 && !hasSeen(reader, event.block)) matched.push(event.position);
        }
        from += matches.length;
      }
    } finally {
      await matching.update({ set: [], removed: [id] });
    }
    return { matched, end: page.end };
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    waiting++;
    try {
      return await mine;
    } finally {
      waiting--;
    }
  }

  async function takeMatched(
    reader: ReplayReader,
    page: ReplayedPage,
    maxSize: number,
  ): Promise<ReplayOutcome> {
    const taken: Frame[] = [];
    let size = 0;
    while (page.matched.length > 0 && size < maxSize) {
      const next = page.matched.slice(0, EVENTS_PER_BUILD);
      const events = db.snapshot(() => {
        const rows = next.map(({ seq }) => eventsAfter(db, seq - 1, 1)[0]);
        return next.flatMap((position, at) => {
          const row = rows[at];
          return row?.seq === position.seq ? [{ event: readEvent(row), position }] : [];
        });
      });
      if (events.length < next.length) return taken.length > 0 ? taken : "overtaken";
      const built = frames.of(events);
      for (const event of events) {
        const frame = built.get(event);
        if (frame && taken.length > 0 && size + frame.size > maxSize) return taken;
        page.matched.shift();
        reader.position = event.position;
        if (!frame) continue;
        taken.push(frame);
        size += frame.size;
      }
    }
    return taken;
  }

  return {
    /** Number of streams that are waiting for a page or reading it. */
    get waiting(): number {
      return waiting;
    },

    /**
     * Takes the next frames of a stream, about `maxSize` at most, and moves its position. Returns none after a page without
     * a match, and at the end of the log.
     */
    async take(reader: ReplayReader, maxSize: number): Promise<ReplayOutcome> {
      if (reader.replay === undefined) {
        const startedMs = performance.now();
        const { subscription } = reader;
        const page = await inTurn(() => nextPage(reader));
        if (page === undefined || page === "overtaken") return page ?? [];
        // The page is read again with the new subscription.
        if (reader.subscription !== subscription) return [];
        const looked = page.end.seq - reader.position.seq;
        reader.replay = page;
        // At the end of the log, a stream joins the others without a pause.
        if (looked === EVENTS_PER_PAGE) {
          const restMs = (looked * 1000) / EVENTS_PER_SEC - (performance.now() - startedMs);
          if (restMs > 0) await sleep(restMs);
        }
      }
      const page = reader.replay;
      if (page === undefined) return [];
      const taken = await takeMatched(reader, page, maxSize);
      if (taken === "overtaken") return taken;
      if (page.matched.length === 0) {
        reader.position = page.end;
        reader.replay = undefined;
      }
      return taken;
    },
  };
}
