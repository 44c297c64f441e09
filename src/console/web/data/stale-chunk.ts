import { signal } from "@preact/signals";
import { callNode, RESPONSE_LIMIT_MS } from "./request.ts";

const POLL_MS = 2000;

/** Why the chunk of a page could not be loaded: the node was updated, so those of an open tab no longer exist; or it does not respond. */
export const chunkFailure = signal<"updated" | "down" | undefined>(undefined);

/**
 * Loads a page. When its chunk cannot be loaded it says why and never ends: the document stays as it is, because a browser does not
 * load a module again that failed. A node that was down is waited for, then the address is loaded again.
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

/** Waits for a script as long as for a response. The browser does not call off its request: one that loads later is not used. */
export function withinLimit<T>(loading: Promise<T>): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(new Error("the script takes too long")), RESPONSE_LIMIT_MS);
  return Promise.race([loading, limit.promise]).finally(() => clearTimeout(timer));
}
