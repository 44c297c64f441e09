import type { Admission } from "../../admission/admission.ts";
import { clientKeyOf, type Exchange } from "../exchange.ts";

type MaybePromise<T> = T | Promise<T>;

/** How late a refusal beyond the client's share is sent. Less than the `Retry-After` of every refusal. */
const DEFAULT_DELAY_MS = 1_000;

/**
 * Creates the function that sends refusals beyond a client's share later. A refusal costs the thread as much as a cheap read, and a client that
 * repeats at once what was refused would take the thread with nothing else; so it waits, with its connection. Without room for that
 * it is refused at once.
 */
export function createLateRefusals(
  { budgets, buckets, shares }: Pick<Admission, "budgets" | "buckets" | "shares">,
  delayMs = DEFAULT_DELAY_MS,
): (exchange: Exchange, response: Response) => MaybePromise<Response> {
  return (exchange, response) => {
    const client = clientKeyOf(exchange);
    if (buckets.refusals.take(client, 1, shares.refusals).isAdmitted) return response;
    const hold = budgets.lateRefusals.open(client);
    if (hold.grow(1) !== undefined) return response;
    const { request } = exchange;
    // Bun drops what arrives of a body meanwhile, and buffers none.
    if (!request.bodyUsed && !request.body?.locked) request.body?.cancel().catch(() => undefined);
    return Bun.sleep(delayMs).then(() => {
      hold.end();
      return response;
    });
  };
}
