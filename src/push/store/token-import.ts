import type { TokenDetails, TokenKey } from "./token-store.ts";

/** A token that is imported from another service. Times are unix seconds. */
export interface ImportedToken extends TokenKey {
  readonly details: TokenDetails;
  readonly isEnabled: boolean;
  /** Undefined when the list has no time. */
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
}

/**
 * - `added`: there was no row;
 * - `updated`: the row was older than the token's last change;
 * - `unchanged`: the row is equal;
 * - `newer_here`: the row differs and is not older, or its client has reported another host itself;
 * - `place_taken`: the list has no client fids, and the row for an unknown client has a token of another host.
 */
export type ImportOutcome = "added" | "updated" | "unchanged" | "newer_here" | "place_taken";

/** An open import. */
export interface TokenImport extends Disposable {
  /**
   * Imports tokens of one app in few transactions, each token independently; returns the outcome of each. Idempotent.
   */
  put(tokens: readonly ImportedToken[], nowSecs: number): Promise<ImportOutcome[]>;
}
