import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { cursorCodec, type Key } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import type { Grouping, NotificationRow } from "./notification-groups.ts";

/** The position of a row. `hash` is that of its cast, `0x` for a follow. */
export interface RowPosition {
  readonly timestamp: number;
  readonly kind: NotificationKind;
  readonly actorFid: number;
  readonly hash: Hash;
}

/**
 * The state of a client that pages through notifications. Beside the position it has the windows of shown entries that
 * extend past the position, so that later writes above the position do not change the pages below it.
 */
export interface PagingState {
  /** The time of the newest row of the first page. Newer rows are not part of the following pages. */
  readonly anchor: number;
  /** The newest row of the last entry shown. */
  readonly last: RowPosition;
  /** The ends of the windows of shown entries that are below `last`. Casts are keyed by the first bytes of their hash. */
  readonly ends: ReadonlyMap<string, number>;
  /** False when there were more such windows than a cursor holds. */
  readonly isComplete: boolean;
}

const SHAPE = ["int", "int", "int", "int", "text", "int", "int", "text"] as const;
type Shape = typeof SHAPE;

const codec = cursorCodec("notifications", SHAPE);

const NO_WINDOW = -1;
const PREFIX_BYTES = 5;
/** A window is at most 7 days long, which is below 2^24 seconds. */
const OFFSET_BYTES = 3;
const WINDOW_BYTES = PREFIX_BYTES + OFFSET_BYTES;
/** The most windows that fit into a cursor of 512 characters with the other parts. */
export const MAX_CARRIED_WINDOWS = 24;

/** Returns the key in `ends` of the group of a row whose cast has the hash. */
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
