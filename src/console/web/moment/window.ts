/** A time of the history that a page shows, as in `?at=2026-11-23T02:48Z&until=2026-11-23T03:27Z&w=6h`. All in unix seconds. */
export interface TimeWindow {
  /** The whole of the scrubber. */
  readonly from: number;
  readonly to: number;
  /** The part that is looked at; undefined for live. */
  readonly selection: Selection | undefined;
}

export interface Selection {
  readonly from: number;
  readonly to: number;
}

/** The widths of the scrubber, as in the URL. */
export const WIDTHS = { "1h": 3600, "6h": 21_600, "24h": 86_400, "7d": 604_800, "30d": 2_592_000 } as const;
export type Width = keyof typeof WIDTHS;

const MINUTE = 60;
/** A moment without an end is this part of the scrubber. */
const MOMENT_PART = 24;

export function widthOf(query: Readonly<Record<string, string>>): Width {
  return query.w !== undefined && Object.hasOwn(WIDTHS, query.w) ? (query.w as Width) : "1h";
}

/** Reads the window of a URL. A live one ends at the next full minute, so that its calls differ once a minute only. */
export function windowOf(query: Readonly<Record<string, string>>, nowSecs: number): TimeWindow {
  const width = WIDTHS[widthOf(query)];
  const end = nowSecs - (nowSecs % MINUTE) + MINUTE;
  const at = secsOf(query.at);
  if (at === undefined || at >= end) return { from: end - width, to: end, selection: undefined };
  const until = secsOf(query.until);
  const to = Math.min(end, until !== undefined && until > at ? until : at + width / MOMENT_PART);
  const selection = { from: at, to };
  if (at >= end - width) return { from: end - width, to: end, selection };
  const middle = Math.floor((at + to) / 2 / MINUTE) * MINUTE;
  const last = Math.min(end, Math.max(to, middle + width / 2));
  return { from: Math.min(at, last - width), to: last, selection };
}

function secsOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}

/** Writes a time as in the URL, with seconds where it has some. */
export function timeParam(secs: number): string {
  const text = new Date(secs * 1000).toISOString();
  return `${secs % MINUTE === 0 ? text.slice(0, 16) : text.slice(0, 19)}Z`;
}

/** The parameters of a selection, and what the URL has beside them. */
export function withSelection(
  query: Readonly<Record<string, string>>,
  selection: Selection | undefined,
): Record<string, string> {
  const { at: _, until: __, ...others } = query;
  if (!selection) return others;
  return { ...others, at: timeParam(selection.from), until: timeParam(selection.to) };
}

const UNITS: Readonly<Record<string, number>> = { s: 1, min: 60, m: 60, h: 3600, d: 86_400 };

/**
 * Reads a time that a visitor types, in the zone of the browser: `03:12`, `yesterday 14:00`, `2 h ago`, `2026-11-23 03:12`.
 *
 * @returns unix seconds; undefined for anything else. A time of day is the last one that has passed.
 */
export function typedTime(text: string, nowMs: number): number | undefined {
  const words = text.trim().toLowerCase();
  const ago = /^(\d{1,4})\s*(s|min|m|h|d)(?:\s+ago)?$/.exec(words);
  if (ago) return Math.floor(nowMs / 1000) - Number(ago[1]) * (UNITS[ago[2] ?? ""] ?? 0);
  const clock = /^(?:(yesterday|today)\s+)?([01]?\d|2[0-3]):([0-5]\d)$/.exec(words);
  if (clock) {
    const day = new Date(nowMs);
    day.setHours(Number(clock[2]), Number(clock[3]), 0, 0);
    if (clock[1] === "yesterday" || (clock[1] === undefined && day.getTime() > nowMs))
      day.setDate(day.getDate() - 1);
    return Math.floor(day.getTime() / 1000);
  }
  const full = /^(\d{4})-(\d\d)-(\d\d)[ t](\d\d):(\d\d)(z?)$/.exec(words);
  if (!full) return undefined;
  const ms = Date.parse(`${full[1]}-${full[2]}-${full[3]}T${full[4]}:${full[5]}${full[6] ? "Z" : ""}`);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}
