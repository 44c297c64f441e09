import type { Config } from "../config/schema.ts";
import type { Clock } from "./clock.ts";
import type { Metrics } from "./figures/metrics.ts";
import type { Logger } from "./log/logger.ts";
import type { Shutdown } from "./shutdown.ts";
import type { Spans } from "./trace/span.ts";

/** Services that all parts of the process share. The command creates them once and passes them down. */
export interface Common {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
  /** The spans of this thread; undefined while traces are off. */
  readonly spans?: Spans | undefined;
}
