import type { Admission } from "../../admission/admission.ts";
import type { BucketLimit, BucketState } from "../../admission/bucket-table.ts";
import type { ShareName } from "../../admission/budgets.ts";
import { ApiError } from "../errors.ts";
import { clientKeyOf, type Exchange } from "../exchange.ts";

const ANONYMOUS_BURST_SHARE = 10;

export interface LimitSettings {
  /** `api_keys.burst_units`. */
  readonly keyBurst: number;
  /** `http.anonymous_units_per_minute`; 0 for no limit. */
  readonly anonymousPerMinute: number;
  /** `http.anonymous_burst_units`; 0 for a tenth of the rate. */
  readonly anonymousBurst: number;
}

/** The limits of requests, the same for all HTTP workers of a process. */
export interface RequestLimits {
  /**
   * Charges the caller of an exchange, whose response then shows what is left.
   *
   * @throws ApiError `tooManyRequests`
   */
  charge(exchange: Exchange, units: number): void;
  /** Whether requests of the caller of an exchange are counted. */
  isLimited(exchange: Exchange): boolean;
  /** Counts a request of a client by its address. @throws ApiError `tooManyRequests` beyond its share */
  count(exchange: Exchange, share: ShareName): void;
}

export function createRequestLimits(
  { buckets, shares }: Pick<Admission, "buckets" | "shares">,
  settings: LimitSettings,
): RequestLimits {
  const { keys, addresses } = buckets;
  const { keyBurst, anonymousPerMinute, anonymousBurst } = settings;
  const anonymous: BucketLimit = {
    perMinute: anonymousPerMinute,
    burst: anonymousBurst || Math.max(1, Math.floor(anonymousPerMinute / ANONYMOUS_BURST_SHARE)),
  };

  function take(exchange: Exchange, units: number): BucketState {
    const { caller } = exchange;
    const client = clientKeyOf(exchange);
    if (caller.kind === "anonymous") return addresses.take(client, units, anonymous);
    const perMinute = caller.unitsPerMinute;
    return keys.take(client, units, { perMinute, burst: Math.min(keyBurst, perMinute) });
  }

  const isLimited = ({ caller }: Exchange) => caller.kind !== "anonymous" || anonymousPerMinute > 0;

  return {
    isLimited,

    charge(exchange, units) {
      if (units <= 0 || !isLimited(exchange)) return;
      const state = take(exchange, units);
      if (state.isAdmitted) exchange.charged += units;
      exchange.limitHeaders = headersOf(exchange, state, anonymousPerMinute);
      if (!state.isAdmitted) throw limited(state);
    },

    count({ client }, share) {
      const state = buckets[share].take(client().bucket, 1, shares[share]);
      if (!state.isAdmitted) throw limited(state);
    },
  };
}

function limited({ retryInSecs }: BucketState): ApiError {
  return new ApiError("tooManyRequests", `too many requests; try again in ${retryInSecs} s`, {
    retryAfterSecs: retryInSecs,
    code: "rate_limited",
  });
}

/** The fields of draft-ietf-httpapi-ratelimit-headers, revision 08 and later. */
function headersOf(
  { caller }: Exchange,
  { left, fullInSecs }: BucketState,
  anonymousPerMinute: number,
): Exchange["limitHeaders"] {
  if (caller.kind === "anonymous") {
    return {
      policy: `"anonymous";q=${anonymousPerMinute};w=60`,
      state: `"anonymous";r=${left};t=${fullInSecs}`,
    };
  }
  const writes = caller.scopes.includes("write") ? `, "writes";q=${caller.writesPerMinute};w=60` : "";
  return {
    policy: `"key";q=${caller.unitsPerMinute};w=60${writes}`,
    state: `"key";r=${left};t=${fullInSecs}`,
  };
}
