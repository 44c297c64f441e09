import type { TokenDetails, TokenKey } from "../../db/state/records.ts";

/** Tokens that another service held, taken over into an app. Times are unix seconds. */
export interface ImportedToken extends TokenKey {
  readonly details: TokenDetails;
  readonly isEnabled: boolean;
  /** Undefined where the list does not say. */
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
}

/**
 * - `added`: there was no such row;
 * - `updated`: the row was older than the token's last change;
 * - `unchanged`: the row says the same;
 * - `newer_here`: the row says something else, and is not older, or its client has told of another host by itself;
 * - `place_taken`: the list does not name clients, and the place for an unknown one holds a token of another host.
 */
export type ImportOutcome = "added" | "updated" | "unchanged" | "newer_here" | "place_taken";

/** An import under way. */
export interface TokenImport extends Disposable {
  /** Takes tokens in one transaction, each as if it came alone; answers what became of each. */
  put(tokens: readonly ImportedToken[], nowSecs: number): ImportOutcome[];
}
