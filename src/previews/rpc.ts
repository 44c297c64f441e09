import type { PreviewMetadata } from "../read/hydrate/previews.ts";
import { counters, figureOf, gauge } from "../runtime/figures/figures.ts";
import type { PreviewStats } from "./preview-service.ts";

/** Calls from other threads to the one that fetches previews. */
export interface PreviewsRpc {
  /** Receives URLs that a read showed without a fresh preview, and those that it showed with one. */
  note(wanted: readonly string[], shown: readonly string[]): void;
  /**
   * Undefined while the URL is being fetched.
   *
   * @param client the client that waits for it.
   */
  crawl(href: string, client: string): Promise<PreviewMetadata | undefined>;
  stats(): PreviewStats;
}

const figure = figureOf<PreviewStats>();

/** None of them is reported while `previews.mode` is off. */
export const previewFigures = [
  figure({
    read: ({ waiting }) => waiting,
    metric: gauge("previews_waiting", "URLs that wait to be fetched."),
    status: "previews.waiting",
  }),
  figure({ read: ({ running }) => running, status: "previews.running" }),
  figure({
    read: ({ dropped }) => dropped,
    status: "previews.dropped",
  }),
  figure({
    read: ({ bytes }) => bytes,
    metric: gauge("previews_bytes", "Size of the stored previews in bytes."),
    status: "previews.bytes",
  }),
  figure({
    read: ({ outcomes }) => outcomes,
    metric: {
      ...counters("previews_fetched_total", "Fetches of URLs by how they ended.", ["outcome"]),
      samples: (outcomes: PreviewStats["outcomes"]) =>
        Object.entries(outcomes).map(([outcome, count]) => [{ outcome }, count] as const),
    },
    status: "previews.fetched",
  }),
  figure({ read: ({ fault }) => fault, status: "previews.fault" }),
];
