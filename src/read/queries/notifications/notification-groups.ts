import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { cursorCodec, type Key } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";

/** The position of a row. `hash` is that of its cast, or `0x` for a follow. */
export interface RowPosition {
  readonly timestamp: number;
  readonly kind: NotificationKind;
  readonly actorFid: number;
  readonly hash: Hash;
}

/**
 * The state of a client that pages through notifications. Besides the position, it contains the windows of shown entries
 * that extend past the position, so that later writes above the position do not change the pages below it.
 */
export interface PagingState {
  /** Time of the newest row of the first page. Newer rows are not part of the following pages. */
  readonly anchor: number;
  /** The newest row of the last entry shown. */
  readonly last: RowPosition;
  /** The ends of the windows of shown entries that are below `last`, keyed by the first bytes of the cast's hash. */
  readonly ends: ReadonlyMap<string, number>;
  /** False if there were more such windows than fit into a cursor. */
  readonly isComplete: boolean;
}

const SHAPE = ["int", "int", "int", "int", "word", "int", "int", "word"] as const;
type Shape = typeof SHAPE;

const codec = cursorCodec("notifications", SHAPE);

const NO_WINDOW = -1;
const PREFIX_BYTES = 5;
/** A window is at most 7 days long, which is less than 2^24 seconds. */
const OFFSET_BYTES = 3;
const WINDOW_BYTES = PREFIX_BYTES + OFFSET_BYTES;
/** Maximum number of windows that fit into a cursor of 512 characters together with the other parts. */
const MAX_CARRIED_WINDOWS = 24;

/** Returns the key in `ends` of the group of a row whose cast has this hash. */
export function windowKey(grouping: Grouping, row: NotificationRow, hash: Hash): string {
  return row.kind === NotificationKind.Follow ? "follows" : grouping.windowKeyOf(row, hash);
}

/** Encodes the cursor after `last`. It contains only the window ends below `last`. */
export function encodePagingState(state: PagingState): string {
  const { anchor, last } = state;
  const reaching = [...state.ends].filter(([, end]) => end < last.timestamp);
  const follows = reaching.find(([key]) => key === "follows")?.[1] ?? NO_WINDOW;
  const casts = reaching.filter(([key]) => key !== "follows").sort(([, a], [, b]) => a - b);
  const carried = casts.slice(0, MAX_CARRIED_WINDOWS);
  const isComplete = state.isComplete && carried.length === casts.length;
  return codec.encode([
    anchor,
    last.timestamp,
    last.kind,
    last.actorFid,
    last.hash.slice(2),
    follows,
    isComplete ? 1 : 0,
    packWindows(carried, last.timestamp),
  ]);
}

/** The codec of the cursors, as `decodeCursor` requires it. */
export const notificationsCursor = codec;

export function decodePagingState(key: Key<Shape>): PagingState {
  const [anchor, timestamp, kind, actorFid, ref, follows, isComplete, packed] = key;
  const ends = new Map(unpackWindows(packed, timestamp));
  if (follows !== NO_WINDOW) ends.set("follows", follows);
  return {
    anchor,
    last: { timestamp, kind: kind as NotificationKind, actorFid, hash: `0x${ref}` },
    ends,
    isComplete: isComplete === 1,
  };
}

function packWindows(windows: readonly (readonly [key: string, end: number])[], from: number): string {
  const bytes = Buffer.alloc(windows.length * WINDOW_BYTES);
  windows.forEach(([key, end], at) => {
    bytes.write(key, at * WINDOW_BYTES, PREFIX_BYTES, "hex");
    bytes.writeUIntBE(from - end, at * WINDOW_BYTES + PREFIX_BYTES, OFFSET_BYTES);
  });
  return bytes.toString("base64url");
}

function* unpackWindows(packed: string, from: number): Iterable<[key: string, end: number]> {
  const bytes = Buffer.from(packed, "base64url");
  for (let at = 0; at + WINDOW_BYTES <= bytes.length; at += WINDOW_BYTES) {
    const key = bytes.toString("hex", at, at + PREFIX_BYTES);
    yield [key, from - bytes.readUIntBE(at + PREFIX_BYTES, OFFSET_BYTES)];
  }
}

/** An act that notifies a user, as the index stores it. Times are in Unix seconds. */
export interface NotificationRow {
  readonly timestamp: number;
  readonly kind: NotificationKind;
  readonly actorFid: number;
  /** The id of the cast that mentions, replies or was reacted to; 0 for a follow. */
  readonly ref: number;
}

/**
 * Returns the cast that is the act itself; undefined for a reaction, whose cast is the notified user's, and for a follow.
 */
export function castOfAct({ kind, ref }: NotificationRow): number | undefined {
  return kind === NotificationKind.Mention || kind === NotificationKind.Reply ? ref : undefined;
}

/** One entry of the list: a single mention or reply, or the reactions or follows of one window. */
export interface NotificationEntry {
  readonly newest: NotificationRow;
  /** Undefined for follows. */
  readonly castId: number | undefined;
  /** The newest acts, newest first. */
  readonly acts: readonly NotificationRow[];
  /** Number of all acts. */
  readonly count: number;
}

/** The key of a group: the id of a cast for reactions to it, its negative id for only its recasts, or all follows. */
export type GroupKey = number | "follows";

const MAX_LISTED = 10;

/** The rule that decides which acts share an entry. */
export interface Grouping {
  /** Returns the group of an act; undefined for a mention or a reply. */
  readonly groupOf: (row: NotificationRow) => GroupKey | undefined;
  /** Returns which kinds of reactions share the group of a reaction, as bits: 1 for likes, 2 for recasts. */
  readonly typesWith: (row: NotificationRow) => number;
  /** Returns the part of the cast's hash that identifies the group of a reaction in a cursor. */
  readonly windowKeyOf: (row: NotificationRow, hash: Hash) => string;
}

const LIKES = 1;
const RECASTS = 2;

function groupByCast(row: NotificationRow): GroupKey | undefined {
  if (row.kind === NotificationKind.Follow) return "follows";
  return row.kind === NotificationKind.Like || row.kind === NotificationKind.Recast ? row.ref : undefined;
}

/** Number of hash digits that a cursor contains. */
const KEY_DIGITS = 10;
const FIRST_DIGIT = "0x".length;

/** Groups likes and recasts of one cast together. */
export const byCast: Grouping = {
  groupOf: groupByCast,
  typesWith: () => LIKES + RECASTS,
  windowKeyOf: (_, hash) => hash.slice(FIRST_DIGIT, FIRST_DIGIT + KEY_DIGITS),
};

/**
 * Groups likes and recasts of one cast separately. A cursor contains the first digits of the hash for likes, and the next
 * digits for recasts.
 */
export const byKind: Grouping = {
  groupOf(row) {
    return row.kind === NotificationKind.Recast ? -row.ref : groupByCast(row);
  },
  typesWith: ({ kind }) => (kind === NotificationKind.Like ? LIKES : RECASTS),
  windowKeyOf({ kind }, hash) {
    const start = FIRST_DIGIT + (kind === NotificationKind.Recast ? KEY_DIGITS : 0);
    return hash.slice(start, start + KEY_DIGITS);
  },
};

interface OpenEntry {
  readonly newest: NotificationRow;
  readonly castId: number | undefined;
  readonly acts: NotificationRow[];
  count: number;
}

/**
 * Groups rows, added newest first, into a page of entries. A window starts at the newest row that no window of its group
 * covers, and covers the times after `newest - windowSecs`. A row exactly `windowSecs` older starts the next window, so
 * windows do not overlap and each is `windowSecs` seconds long.
 */
export class NotificationGrouper {
  readonly #limit: number;
  readonly #windowSecs: number;
  readonly #groupOf: Grouping["groupOf"];
  /** Returns the end of the current window of the group of a row: newer rows are in the window. */
  readonly #ends: (row: NotificationRow) => number | undefined;
  readonly #openWindows = new Map<GroupKey, { readonly end: number; readonly entry: OpenEntry }>();
  readonly #entries: OpenEntry[] = [];
  #lowestEnd = Number.POSITIVE_INFINITY;
  #hasMore = false;

  /** @param shownEnds returns the ends of the windows that earlier pages opened. */
  constructor(options: {
    limit: number;
    windowSecs: number;
    grouping: Grouping;
    shownEnds: (row: NotificationRow) => number | undefined;
  }) {
    this.#limit = options.limit;
    this.#windowSecs = options.windowSecs;
    this.#groupOf = options.grouping.groupOf;
    this.#ends = options.shownEnds;
  }

  /** Adds the next row. Returns false once no later row can change the page. */
  add(row: NotificationRow): boolean {
    const group = this.#groupOf(row);
    const open = group && this.#openWindows.get(group);
    const end = open ? open.end : group && this.#ends(row);
    if (end !== undefined && row.timestamp > end) {
      if (open) addAct(open.entry, row);
      return true;
    }
    if (this.#entries.length === this.#limit) this.#hasMore = true;
    else this.#openEntry(row, group);
    return !this.#hasMore || row.timestamp > this.#lowestEnd;
  }

  #openEntry(row: NotificationRow, group: GroupKey | undefined): void {
    const castId = group === "follows" ? undefined : row.ref;
    const entry = { newest: row, castId, acts: [row], count: 1 };
    this.#entries.push(entry);
    if (group === undefined) return;
    const end = row.timestamp - this.#windowSecs;
    this.#openWindows.set(group, { end, entry });
    this.#lowestEnd = Math.min(this.#lowestEnd, end);
  }

  get entries(): readonly NotificationEntry[] {
    return this.#entries;
  }

  /** Whether a row was added that starts an entry of the next page. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Yields the end of the last window of each group that this page opened, with a row of the group. */
  *openedWindowEnds(): Iterable<readonly [row: NotificationRow, end: number]> {
    for (const { end, entry } of this.#openWindows.values()) yield [entry.newest, end];
  }
}

function addAct(entry: OpenEntry, row: NotificationRow): void {
  entry.count += 1;
  if (entry.acts.length < MAX_LISTED) entry.acts.push(row);
}
