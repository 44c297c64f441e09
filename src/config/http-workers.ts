import { availableParallelism } from "node:os";
import type { Config } from "./schema.ts";

const MAX_DEFAULT_WORKERS = 4;

/**
 * Returns the default number of workers. One core is left to the writer and the other threads: on two cores, a second worker made reads
 * during writes slower (`bun run bench mixed`).
 */
export function defaultWorkers(cores: number): number {
  return Math.min(Math.max(cores - 1, 1), MAX_DEFAULT_WORKERS);
}

/** Returns the number of HTTP workers on this machine. */
export function httpWorkersOf(http: { readonly workers: number }): number {
  return http.workers || defaultWorkers(availableParallelism());
}

/** The number of PostgreSQL connections of each thread. */
interface StateConnections {
  readonly main: number;
  readonly ingest: number;
  readonly maintenance: number;
  readonly delivery: number;
  readonly fanOut: number;
  readonly writes: number;
  /** Per HTTP worker. */
  readonly http: number;
}

const FIXED = { main: 1, ingest: 1, maintenance: 1, delivery: 4, fanOut: 4, writes: 2 };
const FEWEST_PER_WORKER = 2;
/** The default setting leaves one connection unassigned. */
const SPARE = 1;

/** Returns the minimum number of connections that a node needs. */
export function fewestConnections(config: Pick<Config, "http">): number {
  const fixed = Object.values(FIXED).reduce((sum, count) => sum + count);
  return fixed + FEWEST_PER_WORKER * httpWorkersOf(config.http);
}

/** Divides the connections of a node among its threads. */
export function stateConnections(config: Pick<Config, "http" | "state">): StateConnections {
  const fewest = fewestConnections(config);
  const all = config.state.connections || fewest + SPARE;
  const spare = Math.floor((all - fewest) / httpWorkersOf(config.http));
  return { ...FIXED, http: FEWEST_PER_WORKER + spare };
}
