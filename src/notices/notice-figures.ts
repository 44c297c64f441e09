import { counters, figureOf } from "../runtime/figures/figures.ts";
import type { NoticeChannel } from "./store/queue-notices.ts";

type Ended = "sent" | "failed" | "retried";

/** Notices that this node has sent since it started. `failed`: given up, or rejected for good; `retried`: not accepted, and due again. */
export type NoticeCounts = Readonly<Record<NoticeChannel["kind"], Record<Ended, number>>>;
export type NoticeStats = Readonly<Record<NoticeChannel["kind"], Readonly<Record<Ended, number>>>>;

const figure = figureOf<NoticeStats>();

export const noticeFigures = [
  figure({
    read: (stats) =>
      Object.entries(stats).flatMap(([kind, ends]) =>
        Object.entries(ends).map(([result, count]) => [{ kind, result }, count] as const),
      ),
    metric: counters(
      "notices_total",
      "Notices of incidents by the kind of their channel and their outcome.",
      ["kind", "result"],
    ),
  }),
];
