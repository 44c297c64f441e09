import type { Pulse } from "../../pulse/pulse.ts";
import { type Query, useQuery } from "./query.ts";

export type { Pulse };

const EVERY_MS = 5000;

/** The state of the node, asked for every 5 seconds while the tab is shown. */
export const usePulse = (): Query<Pulse> =>
  useQuery<Pulse>({ method: "GET", path: "/console/api/pulse" }, { everyMs: EVERY_MS });
