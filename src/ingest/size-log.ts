import type { Logger } from "../runtime/logger.ts";
import type { IndexSize, SizeLevel } from "./size-bound.ts";

/** Logs that the index comes close to its bound, reaches it, and has room again. */
export function logSizeLevel(log: Logger, level: SizeLevel, before: SizeLevel, size: IndexSize): void {
  const { bytes, maxBytes } = size;
  if (level === "full")
    log.error({ bytes, maxBytes }, "The index has reached index.max_bytes: nothing more is merged");
  else if (before === "full") log.info({ bytes, maxBytes }, "The index has room again: merging goes on");
  else if (level === "near") log.warn({ bytes, maxBytes }, "The index comes close to index.max_bytes");
}
