import { err, ok, type Result } from "../../lib/result.ts";
import type { WriteRefusal } from "../outcome.ts";
import { refusal } from "../refusals.ts";
import type { WriteCall, WriteLimit } from "../rpc.ts";
import type { BucketCharge, BucketStore } from "./bucket-store.ts";

const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;
/** The fraction of its hourly messages that a user may write at once, as a divisor. */
const FID_BURST_SHARE = 4;

/** What is left of a write's limits, and why it is refused. */
export interface Charged {
  readonly limits: readonly WriteLimit[];
  readonly admitted: Result<undefined, WriteRefusal>;
}

/** Charges a write of a user for its messages, before they are signed. */
export type ChargeWrite = (call: WriteCall, fid: number, messages: number) => Promise<Charged>;

/** Charges an API key for messages that are not signed by this service, before they are submitted. */
export type ChargeKey = (
  key: { readonly apiKeyId: string; readonly writesPerMinute: number },
  messages: number,
) => Promise<Charged>;

export function createKeyLimit(buckets: BucketStore): ChargeKey {
  return async (key, messages) => {
    const [state] = await buckets.take([keyCharge(key, messages)]);
    if (!state) throw new Error("the bucket was not charged");
    const limits: WriteLimit[] = [
      { name: "writes", quota: key.writesPerMinute, windowSecs: 60, ...shown(state) },
    ];
    const retrySecs = Math.ceil(state.retryInMs / 1000);
    return { limits, admitted: retrySecs === 0 ? ok(undefined) : err(tooMany("of this key", retrySecs)) };
  };
}

/** @param perHourNow `writes.fid_messages_per_hour` */
export function createWriteLimits(buckets: BucketStore, perHourNow: () => number): ChargeWrite {
  return async ({ owner, signerUuid }, fid, messages) => {
    const { apiKeyId, writesPerMinute } = owner;
    const fidMessagesPerHour = perHourNow();
    if (messages === 0 || writesPerMinute === null) return { limits: [], admitted: ok(undefined) };
    // Anybody can put any fid into a message, so messages that arrive signed are counted for the fid only within one owner.
    const fidBucket = signerUuid === null ? `fid:${fid}:${owner.fid}` : `fid:${fid}`;
    const charges: BucketCharge[] = [
      keyCharge({ apiKeyId, writesPerMinute }, messages),
      {
        name: fidBucket,
        tokens: messages,
        burst: Math.max(1, Math.floor(fidMessagesPerHour / FID_BURST_SHARE)),
        msPerToken: MS_PER_HOUR / fidMessagesPerHour,
      },
    ];
    const states = await buckets.take(charges);
    const ofKey = states[0];
    const ofFid = states[1];
    if (!ofKey || !ofFid) throw new Error("a bucket was not charged");
    const limits: WriteLimit[] = [
      { name: "writes", quota: writesPerMinute, windowSecs: 60, ...shown(ofKey) },
      { name: "fid", quota: fidMessagesPerHour, windowSecs: 3600, ...shown(ofFid) },
    ];
    const retrySecs = Math.ceil(Math.max(ofKey.retryInMs, ofFid.retryInMs) / 1000);
    if (retrySecs === 0) return { limits, admitted: ok(undefined) };
    const whose = ofKey.retryInMs > 0 ? "of this key" : "of this user";
    return { limits, admitted: err(tooMany(whose, retrySecs)) };
  };
}

function keyCharge({ apiKeyId, writesPerMinute }: Parameters<ChargeKey>[0], messages: number): BucketCharge {
  return {
    name: `key:${apiKeyId}`,
    tokens: messages,
    burst: writesPerMinute,
    msPerToken: MS_PER_MINUTE / writesPerMinute,
  };
}

function tooMany(whose: string, retrySecs: number): WriteRefusal {
  return refusal(429, "rate_limited", `too many writes ${whose}; try again in ${retrySecs} s`, retrySecs);
}

function shown({ left, fullInMs }: { readonly left: number; readonly fullInMs: number }) {
  return { left, fullInSecs: Math.ceil(fullInMs / 1000) };
}
