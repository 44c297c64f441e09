/**
 * Returns the URL of a worker's entry file, `workers/<entry>.worker.ts`; build.ts compiles all of these. This file must stay in the
 * folder that build.ts names as the root of the entry points: a compiled binary resolves these paths against its entry point, not against
 * this module.
 */
export function workerUrl(entry: string): string {
  return new URL(`./workers/${entry}.worker.ts`, import.meta.url).href;
}
