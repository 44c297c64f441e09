import type { Admission } from "../../admission/admission.ts";
import { clientKeyOf, type Exchange } from "../exchange.ts";

type MaybePromise<T> = T | Promise<T>;

/** The minimum delay of a refusal beyond the client's share. Less than the `Retry-After` of every refusal. */
const DEFAULT_DELAY_MS = 1_000;
/** How many refusals a thread sends to one client per delay. They take less than 30 ms of it. */
const SENT_IN_A_DELAY = 512;

/**
 * Returns how many delays a refusal waits, given the number of the client's refusals that wait on this thread. Refusals of the same
 * moment are spread out: otherwise all their connections would be back in the same turn of the event loop, and everyone else would wait
 * for it.
 */
function delaysOf(before: number): number {
  return 1 + before / SENT_IN_A_DELAY;
}

/**
 * Creates the function that delays refusals beyond a client's share. A refusal costs the thread as much as a cheap read, so a client that
 * immediately repeats refused requests could fully occupy the thread. The refusal therefore waits, with its connection, and longer the
 * more connections of the client wait, because otherwise only their number would limit the rate. If there is no room for that, it is sent
 * at once.
 */
export function createLateRefusals(
  { budgets, buckets, shares }: Pick<Admission, "budgets" | "buckets" | "shares">,
  delayMs = DEFAULT_DELAY_MS,
): (exchange: Exchange, response: Response) => MaybePromise<Response> {
  const waiting = new Map<string, number>();
  return (exchange, response) => {
    const client = clientKeyOf(exchange);
    if (buckets.refusals.take(client, 1, shares.refusals).isAdmitted) return response;
    const hold = budgets.lateRefusals.open(client);
    if (hold.grow(1) !== undefined) return response;
    const { request } = exchange;
    // Bun drops the rest of a body meanwhile, and buffers nothing.
    if (!request.bodyUsed && !request.body?.locked) request.body?.cancel().catch(() => undefined);
    const before = waiting.get(client) ?? 0;
    waiting.set(client, before + 1);
    return Bun.sleep(delayMs * delaysOf(before)).then(() => {
      hold.end();
      const left = (waiting.get(client) ?? 1) - 1;
      if (left > 0) waiting.set(client, left);
      else waiting.delete(client);
      return response;
    });
  };
}
