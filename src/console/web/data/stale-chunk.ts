import { signal } from "@preact/signals";
import { callNode, RESPONSE_LIMIT_MS } from "./request.ts";

const POLL_MS = 2000;

/**
 * Why the chunk of a page could not be loaded: the node was updated, so the chunks of an open tab no longer exist, or it does not
 * respond.
 */
export const chunkFailure = signal<"updated" | "down" | undefined>(undefined);

/**
 * Loads a page. If its chunk cannot be loaded, it sets the reason and never resolves: the document stays unchanged, because a browser
 * never retries a module that failed. If the node was down, it waits for the node and then reloads the address.
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await withinLimit(load());
  } catch {
    void explain();
    return await new Promise<T>(() => undefined);
  }
}

async function explain(): Promise<void> {
  if (chunkFailure.peek() !== undefined) return;
  if (await answers()) {
    chunkFailure.value = "updated";
    return;
  }
  chunkFailure.value = "down";
  do await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  while (!(await answers()));
  location.reload();
}

const answers = () =>
  callNode("/console", { method: "HEAD", cache: "no-store" }, () => true).catch(() => false);

/** Waits for a script as long as for a response. The browser's request cannot be cancelled, so a script that loads later is ignored. */
export function withinLimit<T>(loading: Promise<T>): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(new Error("the script takes too long")), RESPONSE_LIMIT_MS);
  return Promise.race([loading, limit.promise]).finally(() => clearTimeout(timer));
}
