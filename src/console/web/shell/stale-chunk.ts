import { signal } from "@preact/signals";

const POLL_MS = 2000;

/** Why the chunk of a page could not be loaded: the node was updated, so those of an open tab are gone; or it does not answer. */
export const chunkFailure = signal<"updated" | "down" | undefined>(undefined);

/**
 * Loads a page. When its chunk cannot be loaded it says why and never ends: the document stays as it is, because a browser does not
 * load a module again that failed. A node that was down is waited for, then the address is loaded again.
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
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
  const timer = setInterval(async () => {
    if (!(await answers())) return;
    clearInterval(timer);
    location.reload();
  }, POLL_MS);
}

const answers = () =>
  fetch("/console", { method: "HEAD", cache: "no-store" }).then(
    () => true,
    () => false,
  );
