import type { Admission } from "../../admission/admission.ts";
import type { BucketLimit, BucketState } from "../../admission/bucket-table.ts";
import { ApiError } from "../errors.ts";
import { clientKeyOf, type Exchange } from "../exchange.ts";

/** More unknown keys of one address are refused. */
const UNKNOWN_KEYS: BucketLimit = { perMinute: 20, burst: 20 };
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
  /** @throws ApiError `tooManyRequests` for a client that has tried too many keys */
  countUnknownKey(exchange: Exchange): void;
}

export function createRequestLimits(
  { buckets: { keys, addresses, unknownKeys } }: Pick<Admission, "buckets">,
  settings: LimitSettings,
): RequestLimits {
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

    countUnknownKey(exchange) {
      const state = unknownKeys.take(exchange.client().bucket, 1, UNKNOWN_KEYS);
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
