import { figureOf } from "../../runtime/figures/figures.ts";
import type { MatchThreadStats } from "./rpc.ts";

const figure = figureOf<MatchThreadStats>();

export const matchFigures = [
  figure({ read: ({ events }) => events, status: "webhooks.matching.events" }),
  figure({ read: ({ busyMs }) => Math.round(busyMs) / 1000, status: "webhooks.matching.busy_secs" }),
  figure({ read: ({ overBudget }) => overBudget, status: "webhooks.matching.over_budget" }),
];
