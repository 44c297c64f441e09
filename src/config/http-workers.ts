import { availableParallelism } from "node:os";

const MAX_DEFAULT_WORKERS = 4;

/**
 * Returns the number of workers where none is configured. One core is left to the writer and the other threads: on two
 * cores a second worker made reads beside writes slower (`bun run bench mixed`).
 */
export function defaultWorkers(cores: number): number {
  return Math.min(Math.max(cores - 1, 1), MAX_DEFAULT_WORKERS);
}

/** The number of HTTP workers of this machine. */
export function httpWorkersOf(http: { readonly workers: number }): number {
  return http.workers || defaultWorkers(availableParallelism());
}
