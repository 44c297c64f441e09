import { itemsOf } from "../../lib/list-text.ts";

/** The users that a node serves. */
export type Choice =
  | { readonly kind: "demo" }
  | { readonly kind: "all" }
  | { readonly kind: "fids"; readonly fids: readonly number[] }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "channel"; readonly channel: string }
  | { readonly kind: "followers"; readonly fid: number };

/** What an operator wants, from flags or answers. */
export interface Wanted {
  readonly choice: Choice;
  /** Empty with the demo network. */
  readonly upstreamUrl: string;
  /** The settings file to write. */
  readonly output: string;
  readonly dataDir: string;
  /** Whether other machines can reach the node. */
  readonly isPublic: boolean;
  /** Further settings, as `section.key=value`. */
  readonly set: readonly string[];
}

/** A positive integer; undefined for any other text. */
export function parseFid(text: string): number | undefined {
  const fid = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(fid) ? fid : undefined;
}

/** Fids that are separated by commas or spaces, in brackets or not; undefined when one is none, or there are none. */
export function parseFids(text: string): number[] | undefined {
  const fids = itemsOf(text).map(parseFid);
  return fids.length > 0 && fids.every((fid) => fid !== undefined) ? [...new Set(fids)] : undefined;
}
