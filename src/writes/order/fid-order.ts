import type { WriteCall } from "../rpc.ts";
import type { CallKey } from "../store/write-store.ts";

/**
 * The line in which a write of a user waits. Messages that are signed already wait in one of their sender: anybody can forge them, or
 * send those that the user has published, and must not hold up the user's writes with that. Their time does not depend on the order.
 */
export function lineOf({ content, owner }: WriteCall, fid: number): string {
  return content !== "stored" && "signed" in content ? `${fid} from ${owner.fid}` : `${fid}`;
}

export function keyOf({ owner, signerUuid, route, idem }: WriteCall): CallKey | undefined {
  return idem ? { ownerFid: owner.fid, signerUuid: signerUuid ?? "", route, idem: idem.key } : undefined;
}

export function nameOf({ ownerFid, signerUuid, route, idem }: CallKey): string {
  return JSON.stringify([ownerFid, signerUuid, route, idem]);
}

/** Waiting writes of one line. */
const MAX_WAITING = 64;

/** Runs the writes of each line, such as that of a user, one after the other. Those of different lines do not wait for each other. */
export class FidOrder {
  readonly #tails = new Map<string, { readonly done: Promise<unknown>; waiting: number }>();

  /**
   * Runs a task after the earlier ones of its line.
   *
   * @returns undefined, without having run it, when too many wait or the wait takes longer than `maxWaitMs`.
   */
  async run<T>(line: string, maxWaitMs: number, task: () => Promise<T>): Promise<T | undefined> {
    const before = this.#tails.get(line);
    if (before && before.waiting >= MAX_WAITING) return undefined;
    const done = Promise.withResolvers<void>();
    const tail = { done: done.promise, waiting: (before?.waiting ?? 0) + 1 };
    this.#tails.set(line, tail);
    try {
      // A task that gives up still waits before those behind it start.
      if (before && !(await isWithin(before.done, maxWaitMs))) {
        void before.done.finally(done.resolve);
        return undefined;
      }
      const result = await task();
      done.resolve();
      return result;
    } catch (cause) {
      done.resolve();
      throw cause;
    } finally {
      void done.promise.then(() => {
        const last = this.#tails.get(line);
        if (last === tail) this.#tails.delete(line);
        else if (last) last.waiting -= 1;
      });
    }
  }
}

async function isWithin(done: Promise<unknown>, maxWaitMs: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), maxWaitMs);
  try {
    return await Promise.race([done.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
