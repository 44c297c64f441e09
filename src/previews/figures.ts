import { counters, figureOf, gauge } from "../runtime/figures/figures.ts";
import type { PreviewStats } from "./preview-service.ts";

const figure = figureOf<PreviewStats>();

/** None of them while `previews.mode` is off. */
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
