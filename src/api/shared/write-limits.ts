import { ApiError, type ErrorName, errorKinds } from "../../http/errors.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { ChargeKey } from "../../writes/limits/write-limits.ts";
import type { WriteRefusal } from "../../writes/outcome.ts";
import type { WriteLimit } from "../../writes/rpc.ts";

const FURTHER_MESSAGE_UNITS = 2;

/**
 * Charges a write for the messages behind its first one, for which the edge has charged.
 *
 * @throws ApiError `tooManyRequests`
 */
export function chargeFurtherMessages(exchange: Exchange, messages: number): void {
  exchange.charge(FURTHER_MESSAGE_UNITS * Math.max(0, messages - 1));
}

/**
 * Charges the limit of messages of an API key; a request without one has none.
 *
 * @throws ApiError `tooManyRequests`
 */
export async function chargeMessages(
  exchange: Exchange,
  messages: number,
  chargeKey: ChargeKey,
): Promise<void> {
  const { caller } = exchange;
  if (caller.kind === "anonymous" || messages === 0) return;
  const { limits, admitted } = await chargeKey(caller, messages);
  showWriteLimits(exchange, limits);
  if (!admitted.ok) throw errorOfWrite(admitted.error);
}

/** Adds the limits of messages to the fields that show what the caller has left. */
export function showWriteLimits(exchange: Exchange, limits: readonly WriteLimit[]): void {
  for (const { name, quota, windowSecs, left, fullInSecs } of limits) {
    const { policy, state } = exchange.limitHeaders ?? { policy: "", state: "" };
    const policyItem = `"${name}";q=${quota};w=${windowSecs}`;
    exchange.limitHeaders = {
      // The edge shows the policy of keys that may write.
      policy: policy.includes(policyItem) ? policy : joined(policy, policyItem),
      state: joined(state, `"${name}";r=${left};t=${fullInSecs}`),
    };
  }
}

const joined = (items: string, item: string) => (items === "" ? item : `${items}, ${item}`);

const NAME_BY_STATUS = new Map(
  Object.entries(errorKinds).map(([name, { status }]): [number, ErrorName] => [status, name as ErrorName]),
);

/** Returns the error of a refusal. */
export function errorOfWrite({ status, code, message, retryAfterSecs }: WriteRefusal): ApiError {
  return new ApiError(NAME_BY_STATUS.get(status) ?? "internal", message, {
    code,
    ...(retryAfterSecs === undefined ? {} : { retryAfterSecs }),
  });
}
