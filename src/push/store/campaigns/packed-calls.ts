import type { TokenPosition } from "../tokens/token-store.ts";
import type { BatchResults, ClaimResult, TokenOutcome, TokenResult } from "./notification-ledger.ts";

/**
 * Ledger calls carry about a hundred tokens. They are packed into numbers, because copying an object per token to the thread that writes
 * state.db costs more than the call itself.
 */

/** The fid and client fid of each token, alternating. */
export type PackedTokens = Float64Array;

/** A ledger call that waits for the next transaction of its run. */
export type PackedCall =
  | { readonly kind: "claim"; readonly tokens: PackedTokens; readonly leaseSecs: number }
  | {
      readonly kind: "record";
      readonly host: string;
      readonly tokens: PackedTokens;
      readonly outcomes: readonly TokenOutcome[];
      /** The index of the outcome of each token. */
      readonly outcomeOf: Uint32Array;
      readonly retentionSecs: number;
    }
  | {
      readonly kind: "not-attempted";
      readonly host: string;
      readonly totals: Readonly<Record<string, number>>;
    };

/** The result of each token of a claim: claimed, already counted or conflicting. */
export type PackedClaims = Uint8Array;

const CLAIMED = 0;
const ALREADY_COUNTED = 1;
const CONFLICTING = 2;

export function packTokens(tokens: readonly TokenPosition[]): PackedTokens {
  const packed = new Float64Array(2 * tokens.length);
  let at = 0;
  for (const { fid, clientFid } of tokens) {
    packed[at++] = fid;
    packed[at++] = clientFid;
  }
  return packed;
}

export function unpackTokens(packed: PackedTokens): TokenPosition[] {
  const tokens: TokenPosition[] = [];
  for (let at = 0; at < packed.length; at += 2)
    tokens.push({ fid: packed[at] ?? 0, clientFid: packed[at + 1] ?? 0 });
  return tokens;
}

export function packResults(
  host: string,
  { tokens, outcomes }: BatchResults,
  retentionSecs: number,
): PackedCall {
  const indexes = new Map<TokenOutcome, number>();
  const outcomeOf = new Uint32Array(tokens.length);
  for (let at = 0; at < tokens.length; at++) {
    const outcome = outcomes[at];
    if (!outcome) throw new Error("a token has no outcome");
    let index = indexes.get(outcome);
    if (index === undefined) {
      index = indexes.size;
      indexes.set(outcome, index);
    }
    outcomeOf[at] = index;
  }
  return {
    kind: "record",
    host,
    tokens: packTokens(tokens),
    outcomes: [...indexes.keys()].map(({ kind, reason, isRetryable }) => ({ kind, reason, isRetryable })),
    outcomeOf,
    retentionSecs,
  };
}

export function unpackResults({
  tokens,
  outcomes,
  outcomeOf,
}: Extract<PackedCall, { readonly kind: "record" }>): TokenResult[] {
  return unpackTokens(tokens).map(({ fid, clientFid }, at) => {
    const outcome = outcomes[outcomeOf[at] ?? -1];
    if (!outcome) throw new Error("a result has no outcome");
    const { kind, reason, isRetryable } = outcome;
    return { fid, clientFid, kind, reason, isRetryable };
  });
}

export function packClaims(
  tokens: readonly TokenPosition[],
  { alreadyCounted, conflicting }: Omit<ClaimResult<TokenPosition>, "claimed">,
): PackedClaims {
  const refused = new Set(conflicting);
  const counted = new Set(alreadyCounted);
  return Uint8Array.from(tokens, (token) =>
    refused.has(token) ? CONFLICTING : counted.has(token) ? ALREADY_COUNTED : CLAIMED,
  );
}

/** Groups the tokens of a claim by result. The objects are those that were passed in. */
export function unpackClaims<Token extends TokenPosition>(
  tokens: readonly Token[],
  claims: PackedClaims,
): ClaimResult<Token> {
  const those = (claim: number) => tokens.filter((_, at) => claims[at] === claim);
  return {
    claimed: those(CLAIMED),
    alreadyCounted: those(ALREADY_COUNTED),
    conflicting: those(CONFLICTING),
  };
}
