import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";

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

/** Which acts share an entry. */
export interface Grouping {
  /** The group that an act may share with others; undefined for a mention or a reply. */
  readonly groupOf: (row: NotificationRow) => GroupKey | undefined;
  /** The kinds of reactions in the group of a reaction: 1 for likes, 2 for recasts, added up. */
  readonly typesWith: (row: NotificationRow) => number;
}

const LIKES = 1;
const RECASTS = 2;

function groupByCast(row: NotificationRow): GroupKey | undefined {
  if (row.kind === NotificationKind.Follow) return "follows";
  return row.kind === NotificationKind.Like || row.kind === NotificationKind.Recast
    ? hex(row.ref)
    : undefined;
}

/** Likes and recasts of one cast are one group. */
export const byCast: Grouping = { groupOf: groupByCast, typesWith: () => LIKES + RECASTS };

/** Digits that the key of a group is known by in a cursor (see `windowKey`). */
const KEY_DIGITS = 10;

/** Likes of one cast are a group, its recasts another, whose key is the hash with its first digits at the end. */
export const byKind: Grouping = {
  groupOf(row) {
    const group = groupByCast(row);
    if (group === undefined || group === "follows" || row.kind === NotificationKind.Like) return group;
    const digits = group.slice(2);
    return `0x${digits.slice(KEY_DIGITS)}${digits.slice(0, KEY_DIGITS)}`;
  },
  typesWith: ({ kind }) => (kind === NotificationKind.Like ? LIKES : RECASTS),
};

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
  readonly #groupOf: Grouping["groupOf"];
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
    grouping: Grouping;
    shownEnds: (group: GroupKey) => number | undefined;
  }) {
    this.#limit = options.limit;
    this.#windowSecs = options.windowSecs;
    this.#groupOf = options.grouping.groupOf;
    this.#ends = options.shownEnds;
  }

  /** Takes the next row; false when no later one can change the page. */
  add(row: NotificationRow): boolean {
    const group = this.#groupOf(row);
    const begun = group && this.#begun.get(group);
    const end = begun ? begun.end : group && this.#ends(group);
    if (end !== undefined && row.timestamp > end) {
      if (begun) addAct(begun.entry, row);
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
  *openedWindowEnds(): Iterable<readonly [group: GroupKey, end: number]> {
    for (const [group, { end }] of this.#begun) yield [group, end];
  }
}

function addAct(entry: OpenEntry, row: NotificationRow): void {
  entry.count += 1;
  if (entry.acts.length < MAX_LISTED) entry.acts.push(row);
}
