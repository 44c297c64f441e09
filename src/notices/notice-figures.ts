import { counters, figureOf } from "../runtime/figures/figures.ts";
import type { NoticeChannel } from "./store/queue-notices.ts";

type Ended = "sent" | "failed" | "retried";

/** What this node has sent since its start. `failed`: given up, or refused for good; `retried`: not taken, and due again. */
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
