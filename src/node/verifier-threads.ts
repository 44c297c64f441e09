import { availableParallelism } from "node:os";
import type { Config } from "../config/schema.ts";
import { startVerifierPool, type VerifierPool } from "../ingest/bulk/verify/verifier-pool.ts";
import type { ValidationContext } from "../protocol/validate/envelope.ts";

/** Beyond this the bottleneck is the thread that receives messages, or the writer. */
const MAX_DEFAULT_THREADS = 16;

/**
 * Starts the configured number of verifier threads.
 *
 * @param url the URL of the threads' entry file.
 */
export function startVerifierThreads(
  { upstream }: Config,
  context: () => ValidationContext,
  url: string,
  onCrash: (reason: string) => void,
): VerifierPool {
  const threads = upstream.verify_threads || Math.min(availableParallelism(), MAX_DEFAULT_THREADS);
  return startVerifierPool({
    threads,
    openThread: () => new Worker(url, { name: "verifier" }),
    context,
    onCrash,
  });
}
