/** The times that the plots show, as in the URL. */
export const RANGES = [
  { id: "1h", label: "1 hour", title: "Last hour", secs: 3600, step: 5 },
  { id: "6h", label: "6 hours", title: "Last 6 hours", secs: 6 * 3600, step: 60 },
  { id: "24h", label: "24 hours", title: "Last 24 hours", secs: 24 * 3600, step: 60 },
] as const;

export type Range = (typeof RANGES)[number];

/** The range that a query names; an hour without one. */
export function rangeOf(query: Readonly<Record<string, string>>): Range {
  return RANGES.find(({ id }) => id === query.range) ?? RANGES[0];
}
