import type { WriteCall } from "../rpc.ts";
import type { CallKey } from "../store/write-store.ts";

/**
 * Returns the line in which a user's write waits. Messages that are already signed wait in a line of their sender: anybody can forge
 * them, or send messages that the user has published, and must not delay the user's own writes that way. Their times do not depend on the
 * order.
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

/** Maximum number of waiting writes per line. */
const MAX_WAITING = 64;

/** Runs the writes of each line, such as that of a user, one after the other. Different lines do not wait for each other. */
export class FidOrder {
  readonly #tails = new Map<string, { readonly done: Promise<unknown>; waiting: number }>();

  /**
   * Runs a task after the earlier ones of its line.
   *
   * @returns undefined, without having run it, if too many wait or the wait takes longer than `maxWaitMs`.
   */
  async run<T>(line: string, maxWaitMs: number, task: () => Promise<T>): Promise<T | undefined> {
    const before = this.#tails.get(line);
    if (before && before.waiting >= MAX_WAITING) return undefined;
    const done = Promise.withResolvers<void>();
    const tail = { done: done.promise, waiting: (before?.waiting ?? 0) + 1 };
    this.#tails.set(line, tail);
    try {
      // After a task gives up, later ones still wait for those before it.
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
