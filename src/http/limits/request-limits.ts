import type { Admission } from "../../admission/admission.ts";
import type { BucketLimit, BucketState, BucketTable } from "../../admission/bucket-table.ts";
import type { ShareName } from "../../admission/budgets.ts";
import type { ApiKeyCaller } from "../caller.ts";
import { ApiError } from "../errors.ts";
import { clientKeyOf, type Exchange } from "../exchange.ts";

const ANONYMOUS_BURST_SHARE = 10;
/** CPU time per unit, microseconds. */
const US_PER_UNIT = 50;
/**
 * How much CPU time a client may use beyond what it has paid for before it is charged, and the maximum that it may have paid in advance.
 * The system counts CPU time in ticks of up to 10 ms, each of which is attributed to one of many responses.
 */
const MAX_UNPAID_US = 50_000;
/** If a client has paid this far in advance, its CPU time is not measured, because reading it takes longer than many responses. */
const FAR_AHEAD_US = MAX_UNPAID_US / 2;
/** Beyond this number, the sums start over. */
const MAX_UNPAID_CLIENTS = 4_096;
/** The first responses of a route take longer and are not measured. */
const WARM_UP_RESPONSES = 16;

export interface LimitSettings {
  /** `api_keys.burst_units`. */
  readonly keyBurst: number;
  /** `http.anonymous_units_per_minute`; 0 for no limit. */
  readonly anonymousPerMinute: number;
  /** `http.anonymous_burst_units`; 0 for a tenth of the rate. */
  readonly anonymousBurst: number;
}

/** The limits of requests, shared by all HTTP workers of a process. */
export type RequestLimits = ReturnType<typeof createRequestLimits>;

export function createRequestLimits(
  { buckets, shares }: Pick<Admission, "buckets" | "shares">,
  settings: LimitSettings,
) {
  const { keys, addresses } = buckets;
  const anonymous: BucketLimit = {
    get perMinute() {
      return settings.anonymousPerMinute;
    },
    get burst() {
      const { anonymousPerMinute, anonymousBurst } = settings;
      return anonymousBurst || Math.max(1, Math.floor(anonymousPerMinute / ANONYMOUS_BURST_SHARE));
    },
  };

  const warmUps = new Map<string, number>();
  const unpaidUs = new Map<string, number>();

  /** Returns the buckets in which a caller is counted, and its limit. */
  function bucketOf({ caller }: Exchange): readonly [BucketTable, BucketLimit] {
    if (caller.kind === "anonymous") return [addresses, anonymous];
    const perMinute = caller.unitsPerMinute;
    return [keys, { perMinute, burst: Math.min(settings.keyBurst, perMinute) }];
  }

  /** Reports whether the engine has compiled the code of a route. */
  function isWarm(route: string): boolean {
    const responses = (warmUps.get(route) ?? 0) + 1;
    if (responses <= WARM_UP_RESPONSES) warmUps.set(route, responses);
    return responses > WARM_UP_RESPONSES;
  }

  const isFarAhead = (client: string) => (unpaidUs.get(client) ?? 0) <= -FAR_AHEAD_US;

  const isLimited = ({ caller }: Exchange) => caller.kind !== "anonymous" || anonymous.perMinute > 0;

  return {
    /** Reports whether the requests of the exchange's caller are counted. */
    isLimited,

    /**
     * Charges the caller of an exchange, whose response then shows what is left.
     *
     * @throws ApiError `tooManyRequests`
     */
    charge(exchange: Exchange, units: number): void {
      if (units <= 0 || !isLimited(exchange)) return;
      const [buckets, limit] = bucketOf(exchange);
      const state = buckets.take(clientKeyOf(exchange), units, limit);
      if (state.isAdmitted) exchange.charged += units;
      exchange.limitHeaders = headersOf(exchange, state, anonymous.perMinute);
      if (!state.isAdmitted) throw limited(state);
    },

    /** Reports whether the CPU time of the response must be measured, because its caller could be charged for it. */
    needsCpuTime: (exchange: Exchange): boolean => !isFarAhead(clientKeyOf(exchange)),

    /**
     * Charges the caller afterwards for CPU time of its responses beyond what they paid for. Small amounts are summed up first. If CPU
     * time was not measured, the elapsed time, which is an upper bound, is used: it only uses up what the client has paid in advance.
     */
    settle(exchange: Exchange): void {
      const { cpuUs, isCpuMeasured, charged, route } = exchange;
      if (charged <= 0 || route === undefined || !isWarm(route)) return;
      const client = clientKeyOf(exchange);
      const sumUs = (unpaidUs.get(client) ?? 0) + cpuUs - charged * US_PER_UNIT;
      const us = Math.max(isCpuMeasured ? sumUs : Math.min(sumUs, 0), -MAX_UNPAID_US);
      if (us < MAX_UNPAID_US) {
        if (unpaidUs.size >= MAX_UNPAID_CLIENTS) unpaidUs.clear();
        unpaidUs.set(client, us);
        return;
      }
      unpaidUs.delete(client);
      const units = Math.ceil(us / US_PER_UNIT);
      const [buckets, limit] = bucketOf(exchange);
      buckets.charge(client, units, limit);
      exchange.charged += units;
    },

    /** Counts a request by its client's address. @throws ApiError `tooManyRequests` beyond its share */
    count({ client }: Exchange, share: ShareName): void {
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

const policies = new WeakMap<ApiKeyCaller, string>();

/** Returns the policy of a key. Its lookup returns the same object for a while, so the text is cached. */
function policyOf(caller: ApiKeyCaller): string {
  const known = policies.get(caller);
  if (known !== undefined) return known;
  const writes = caller.scopes.includes("write") ? `, "writes";q=${caller.writesPerMinute};w=60` : "";
  const policy = `"key";q=${caller.unitsPerMinute};w=60${writes}`;
  policies.set(caller, policy);
  return policy;
}

/** Returns the fields of draft-ietf-httpapi-ratelimit-headers, revision 08 and later. */
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
  return {
    policy: policyOf(caller),
    state: `"key";r=${left};t=${fullInSecs}`,
  };
}
