import { signal } from "@preact/signals";

/** Set once a chunk of a page could not be loaded: after an upgrade of the node, those of an open tab are gone. */
export const isOutdated = signal(false);

/** Loads a page. When its chunk is gone it says so and never ends; the document stays as it is. */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    isOutdated.value = true;
    return await new Promise<T>(() => undefined);
  }
}
