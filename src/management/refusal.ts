import type { StoreRefusal } from "../db/state/stores.ts";

export type RefusalKind = "badRequest" | "unauthorized" | "notFound" | "forbidden" | "tooManyRequests";

/** The reason why a request is refused, as text for the client. Nothing was changed. */
export class Refusal {
  constructor(
    readonly kind: RefusalKind,
    readonly message: string,
    /** When a retry may succeed, if known. */
    readonly retryAfterSecs?: number,
  ) {}
}

export function badField(message: string): Refusal {
  return new Refusal("badRequest", message);
}

export interface RefusalWords {
  /** Name of the kind of record, such as `app`. */
  readonly noun: string;
  readonly cap: number;
}

/** Converts a store's refusal to one with text. */
export function refusalOf(refusal: StoreRefusal, { noun, cap }: RefusalWords): Refusal {
  switch (refusal) {
    case "not-found":
      return new Refusal("notFound", `no such ${noun}`);
    case "not-owner":
      return new Refusal("forbidden", `the ${noun} belongs to another fid`);
    case "cap-reached":
      return new Refusal("tooManyRequests", `an fid may own at most ${cap} ${noun}s`);
    case "too-many-secrets":
      return new Refusal("tooManyRequests", `the ${noun} has too many unexpired secrets`);
  }
}
