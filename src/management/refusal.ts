import { type Err, err } from "../lib/result.ts";
import type { StoreRefusal } from "./owned-store.ts";

export type RefusalKind =
  | "badRequest"
  | "unauthorized"
  | "notFound"
  | "forbidden"
  | "tooManyRequests"
  | "notImplemented";

/** Reason why a request is refused, as text for the client. Nothing was changed. */
export interface Refusal {
  readonly kind: RefusalKind;
  readonly message: string;
  /** Stable identifier of the cause, sent as `x-error-code`. */
  readonly code?: string;
  /** When a retry may succeed, if known. */
  readonly retryAfterSecs?: number;
}

export function refused(kind: RefusalKind, message: string, retryAfterSecs?: number): Err<Refusal> {
  return err(retryAfterSecs === undefined ? { kind, message } : { kind, message, retryAfterSecs });
}

export function badField(message: string): Err<Refusal> {
  return refused("badRequest", message);
}

export interface RefusalWords {
  /** Name of the kind of record, such as `app`. */
  readonly noun: string;
  readonly cap: number;
}

/** Converts a store's refusal to one with text. */
export function refusalOf(refusal: StoreRefusal, { noun, cap }: RefusalWords): Err<Refusal> {
  switch (refusal) {
    case "not-found":
      return refused("notFound", `no such ${noun}`);
    case "not-owner":
      return refused("forbidden", `the ${noun} belongs to another fid`);
    case "cap-reached":
      return refused("tooManyRequests", `an fid may own at most ${cap} ${noun}s`);
    case "taken":
      return refused("badRequest", `the id is that of another ${noun}`);
    case "too-many-secrets":
      return refused("tooManyRequests", `the ${noun} has too many unexpired secrets`);
  }
}
