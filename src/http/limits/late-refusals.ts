import type { Admission } from "../../admission/admission.ts";
import { clientKeyOf, type Exchange } from "../exchange.ts";

type MaybePromise<T> = T | Promise<T>;

/** How late a refusal beyond the client's share is sent, at least. Less than the `Retry-After` of every refusal. */
const DEFAULT_DELAY_MS = 1_000;
/** A thread sends fewer to one client in a delay. They take less than 30 ms of it. */
const SENT_IN_A_DELAY = 512;

/**
 * How many delays a refusal waits, by the number of its client that wait on its thread before it. Those of one moment are sent one after another:
 * else all of their connections would be back in one turn of the event loop, which everyone else waits for.
 */
function delaysOf(before: number): number {
  return 1 + before / SENT_IN_A_DELAY;
}

/**
 * Creates the function that sends refusals beyond a client's share later. A refusal costs the thread as much as a cheap read, and a client that
 * repeats at once what was refused would take the thread with nothing else; so it waits, with its connection: the longer the more of
 * its connections wait, because only their number would bound what it is sent. Without room for that it is refused at once.
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
    // Bun drops what arrives of a body meanwhile, and buffers none.
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
