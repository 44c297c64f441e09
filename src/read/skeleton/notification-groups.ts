import { NotificationKind } from "../../index/project/notifications.ts";
import { type Hash, hex } from "../hydrate/casts.ts";

/** One act that somebody is told of, as the index holds it. Unix seconds. */
export interface NotificationRow {
  readonly timestamp: number;
  readonly kind: NotificationKind;
  readonly actorFid: number;
  /** The hash of the cast that mentions, replies or was reacted to; empty for a follow. */
  readonly ref: Uint8Array;
}

/** One entry of the list: a single mention or reply, or the reactions or follows of one window. */
export interface NotificationEntry {
  readonly newest: NotificationRow;
  /** Undefined for follows. */
  readonly hash: Hash | undefined;
  /** The newest acts, newest first. */
  readonly acts: readonly NotificationRow[];
  /** The number of all acts. */
  readonly count: number;
}

/** What reactions to one cast, or all follows, share. */
export type GroupKey = Hash | "follows";

const MAX_LISTED = 10;

/** The group that an act may share with others; undefined for a mention or a reply. */
export function groupOf(row: NotificationRow): GroupKey | undefined {
  if (row.kind === NotificationKind.Follow) return "follows";
  return row.kind === NotificationKind.Like || row.kind === NotificationKind.Recast
    ? hex(row.ref)
    : undefined;
}

interface OpenEntry {
  readonly newest: NotificationRow;
  readonly hash: Hash | undefined;
  readonly acts: NotificationRow[];
  count: number;
}

/**
 * Makes a page of entries out of rows that come newest first. A window begins at the newest row that no window of its
 * group covers and reaches back over the times above `newest - windowSecs`: a row exactly that much older begins the
 * next window, so that windows lie side by side and each is `windowSecs` seconds long.
 */
export class NotificationGrouper {
  readonly #limit: number;
  readonly #windowSecs: number;
  /** Where the current window of a group ends: rows above this time are in it. */
  readonly #ends: (group: GroupKey) => number | undefined;
  readonly #begun = new Map<GroupKey, { readonly end: number; readonly entry: OpenEntry }>();
  readonly #entries: OpenEntry[] = [];
  #lowestEnd = Number.POSITIVE_INFINITY;
  #hasMore = false;

  /** @param shownEnds the ends of the windows that pages before this one have begun to show */
  constructor(options: {
    limit: number;
    windowSecs: number;
    shownEnds: (group: GroupKey) => number | undefined;
  }) {
    this.#limit = options.limit;
    this.#windowSecs = options.windowSecs;
    this.#ends = options.shownEnds;
  }

  /** Takes the next row; false when no later one can change the page. */
  take(row: NotificationRow): boolean {
    const group = groupOf(row);
    const begun = group && this.#begun.get(group);
    const end = begun ? begun.end : group && this.#ends(group);
    if (end !== undefined && row.timestamp > end) {
      if (begun) add(begun.entry, row);
      return true;
    }
    if (this.#entries.length === this.#limit) this.#hasMore = true;
    else this.#begin(row, group);
    return !this.#hasMore || row.timestamp > this.#lowestEnd;
  }

  #begin(row: NotificationRow, group: GroupKey | undefined): void {
    const hash = group === "follows" ? undefined : hex(row.ref);
    const entry = { newest: row, hash, acts: [row], count: 1 };
    this.#entries.push(entry);
    if (group === undefined) return;
    const end = row.timestamp - this.#windowSecs;
    this.#begun.set(group, { end, entry });
    this.#lowestEnd = Math.min(this.#lowestEnd, end);
  }

  get entries(): readonly NotificationEntry[] {
    return this.#entries;
  }

  /** Whether a row came that begins an entry behind the page. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** The ends of the windows that this page began, the last one of each group. */
  *begunEnds(): Iterable<readonly [group: GroupKey, end: number]> {
    for (const [group, { end }] of this.#begun) yield [group, end];
  }
}

function add(entry: OpenEntry, row: NotificationRow): void {
  entry.count += 1;
  if (entry.acts.length < MAX_LISTED) entry.acts.push(row);
}
