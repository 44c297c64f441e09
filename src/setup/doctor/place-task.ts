import { resolve } from "node:path";
import { ownProgram } from "../../runtime/own-program.ts";
import type { Place } from "./place.ts";

/** The hidden command that finds out about a directory. */
export const PLACE_TASK = "place-task";

/** A file system on the network whose server is gone does not answer at all. */
const ANSWER_MS = 5000;

/**
 * Finds out about a directory in a process of its own. What waits for a file system that is dead can often not even be killed, and
 * a process with such a thread does not end.
 *
 * @returns undefined if the file system has not answered by then.
 * @throws Error with the system's reason when the directory, or one above it, may not be read.
 */
export async function askPlace(dataDir: string): Promise<Place | undefined> {
  const child = Bun.spawn([...ownProgram(), PLACE_TASK, resolve(dataDir)], {
    cwd: "/",
    env: {},
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  child.unref();
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    late.resolve(undefined);
  }, ANSWER_MS);
  try {
    return await Promise.race([readPlace(child), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Bytes that this user may still write to the file system of a directory; undefined where that cannot be known. */
export async function freeBytesAt(dir: string): Promise<number | undefined> {
  return (await askPlace(dir).catch(() => undefined))?.freeBytes;
}

async function readPlace(child: Bun.Subprocess<"ignore", "pipe", "pipe">): Promise<Place> {
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0)
    throw new Error(errors.trim().replace(/^error: /, "") || `the check ended with ${exitCode}`);
  return JSON.parse(output) as Place;
}
