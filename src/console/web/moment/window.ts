/** The time range that a page shows, as in `?at=2026-11-23T02:48Z&until=2026-11-23T03:27Z&w=6h`. All in unix seconds. */
export interface TimeWindow {
  /** The whole scrubber. */
  readonly from: number;
  readonly to: number;
  /** The selected part; undefined if live. */
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
/** A moment without an end selects this part of the scrubber. */
const MOMENT_PART = 24;

export function widthOf(query: Readonly<Record<string, string>>): Width {
  return query.w !== undefined && Object.hasOwn(WIDTHS, query.w) ? (query.w as Width) : "1h";
}

/** Reads the window from a URL. A live one ends at the next full minute, so that its calls change only once a minute. */
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

/** Formats a time for the URL, with seconds if it has any. */
export function timeParam(secs: number): string {
  const text = new Date(secs * 1000).toISOString();
  return `${secs % MINUTE === 0 ? text.slice(0, 16) : text.slice(0, 19)}Z`;
}

const TIME = /^(?:at|until|w)=/;
const SELECTION = /^(?:at|until)=/;
const pairsOf = (search: string): string[] =>
  search
    .replace(/^\?/, "")
    .split("&")
    .filter((pair) => pair !== "");

/** Returns the parameters of a query that select the time of a page. */
export const timePairs = (search: string): string[] => pairsOf(search).filter((pair) => TIME.test(pair));

/**
 * Returns a query with a selection, or without one. Everything else stays as written: a comma within a value must not become a separator.
 */
export function withSelection(search: string, selection: Selection | undefined): string {
  const others = pairsOf(search).filter((pair) => !SELECTION.test(pair));
  if (selection) others.push(`at=${timeParam(selection.from)}`, `until=${timeParam(selection.to)}`);
  return others.join("&");
}
