import type { IndexDatabase } from "../db/index/database.ts";
import { eventRange, eventsAfter, type StoredOutboxEvent } from "../db/index/log/outbox.ts";
import { embedsOf } from "../db/index/project/casts.ts";
import { decodeMessage } from "../protocol/message/signed-message.ts";
import { toUnixSecs } from "../protocol/time.ts";
import { loadUsers, type ScorePolicy } from "../read/hydrate/users.ts";
import { type Clock, nowSecs, type SetTimer } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log/logger.ts";
import type { Share } from "./catalog/catalog-store.ts";
import { previewUrlOf } from "./preview-url.ts";

const POLL_MS = 2_000;
const PAGE = 500;
const MAX_AGE_SECS = 86_400;
const MIN_SCORE = 0.3;
/** Required instead of a score if there are none. */
const MIN_FOLLOWERS = 5;
const MAX_URLS_OF_AUTHOR = 20;
const MAX_AUTHORS = 100_000;

export interface LiveEmbedsDeps {
  readonly db: IndexDatabase;
  /** Undefined if scores are off. */
  readonly scores: ScorePolicy | undefined;
  readonly clock: Clock;
  readonly setTimer: SetTimer;
  readonly log: Pick<Logger, "error">;
  /** Receives the URLs of new casts to fetch. Undefined if only reads decide what is fetched. */
  readonly want: ((urls: readonly string[]) => void) | undefined;
  /** Receives who shared a host. Undefined without a catalog. */
  readonly noteShares: ((shares: readonly Share[]) => void) | undefined;
}

/**
 * Finds the URLs of new casts in the event log, which contains no casts of a backfill or an import. Uses casts of authors with a score or
 * followers, and a few URLs per author and day.
 */
export function startLiveEmbeds(deps: LiveEmbedsDeps): { readonly stop: () => void } {
  const { db, scores, clock, setTimer, log, want, noteShares } = deps;
  let seq = eventRange(db).headSeq;
  let day = 0;
  let urlsOf = new Map<number, number>();
  let cancel: (() => void) | undefined;

  function allowed(fid: number, count: number): number {
    const today = Math.floor(nowSecs(clock) / 86_400);
    if (day !== today || urlsOf.size > MAX_AUTHORS) {
      day = today;
      urlsOf = new Map();
    }
    const used = urlsOf.get(fid) ?? 0;
    const more = Math.min(count, MAX_URLS_OF_AUTHOR - used);
    urlsOf.set(fid, used + more);
    return more;
  }

  function poll(): void {
    try {
      for (let turn = 0; turn < 4; turn++) {
        const events = db.snapshot(() => eventsAfter(db, seq, PAGE));
        const last = events.at(-1);
        if (!last) break;
        seq = last.seq;
        const found = events.flatMap((event) => urlsIn(event, nowSecs(clock) - MAX_AGE_SECS));
        if (found.length === 0) continue;
        noteShares?.(found.flatMap(sharesIn));
        if (!want) continue;
        const users = db.snapshot(() =>
          loadUsers(
            db,
            found.map(({ fid }) => fid),
            scores,
          ),
        );
        for (const { fid, urls } of found) {
          const { followers = 0, score } = users.get(fid) ?? {};
          const isKnown = scores ? (score ?? 0) >= MIN_SCORE : followers >= MIN_FOLLOWERS;
          if (isKnown) want(urls.slice(0, allowed(fid, urls.length)));
        }
      }
    } catch (cause) {
      log.error({ err: cause }, "New casts could not be read for their previews");
    }
    cancel = setTimer(POLL_MS, poll);
  }

  poll();
  return { stop: () => cancel?.() };
}

function sharesIn({ fid, at, urls }: NewUrls): Share[] {
  return urls.flatMap((url) => {
    const target = previewUrlOf(url);
    return target ? [{ host: target.host, fid, at }] : [];
  });
}

interface NewUrls {
  readonly fid: number;
  /** Unix seconds. */
  readonly at: number;
  readonly urls: readonly string[];
}

function urlsIn({ kind, fid, subject }: StoredOutboxEvent, sinceSecs: number): NewUrls[] {
  if (kind !== "cast.created" || subject === null) return [];
  const message = decodeMessage(subject);
  if (!message.ok) return [];
  const { body, timestamp } = message.value.data;
  if (body?.$case !== "castAddBody" || toUnixSecs(timestamp) < sinceSecs) return [];
  const urls = embedsOf(body.value).flatMap((embed) => ("url" in embed ? [embed.url] : []));
  return urls.length === 0 ? [] : [{ fid, at: toUnixSecs(timestamp), urls }];
}
