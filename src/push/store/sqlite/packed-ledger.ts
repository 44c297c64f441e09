import type { CallWriter } from "../../../db/state/store-writes.ts";
import type { CampaignWork } from "../campaign-store.ts";
import type { ClaimResult, NotificationLedger, TokenResult } from "../notification-ledger.ts";
import type { TokenPosition } from "../token-store.ts";

/**
 * Calls of the ledger carry about a hundred tokens, and copying an object for each of them between threads costs more
 * than the call itself. So tokens are sent as numbers.
 */

/** Fid and client fid of each token, in turn. */
type PackedTokens = Float64Array;

/** A result without its token. */
type Outcome = Omit<TokenResult, keyof TokenPosition>;

/** Results of tokens: for each token the index of its outcome. */
export interface PackedResults {
  readonly tokens: PackedTokens;
  readonly outcomes: readonly Outcome[];
  readonly outcomeOf: Uint8Array;
}

const CLAIMED = 0;
const ALREADY_COUNTED = 1;
const CONFLICTING = 2;

/** More distinct outcomes than a byte can index are sent in several calls. */
const MAX_OUTCOMES = 256;

type CampaignKey = Pick<CampaignWork, "seq" | "ledgerKey">;

/** The ledger's writes as the state writer executes them. */
export interface PackedLedger {
  /** Returns for each token whether it is claimed (0), already counted (1) or conflicting (2). */
  claim(campaign: CampaignKey, tokens: PackedTokens, leaseSecs: number): Uint8Array;
  record(campaign: CampaignKey, host: string, results: PackedResults, keptSecs: number): void;
  countNotAttempted(
    campaign: Pick<CampaignWork, "seq">,
    host: string,
    reasons: Readonly<Record<string, number>>,
  ): void;
}

/** Returns a ledger that sends its writes to the state writer. */
export function ledgerClient(callWriter: CallWriter): NotificationLedger {
  const call = (method: keyof PackedLedger, ...args: readonly unknown[]) =>
    callWriter({ store: "ledger", method, args });
  return {
    async claim(campaign, tokens, leaseSecs) {
      const { seq, ledgerKey } = campaign;
      const claims = (await call("claim", { seq, ledgerKey }, packTokens(tokens), leaseSecs)) as Uint8Array;
      // The usual case, without another pass over the tokens.
      if (claims.every((claim) => claim === CLAIMED)) {
        return { claimed: tokens, alreadyCounted: [], conflicting: [] };
      }
      const those = (claim: number) => tokens.filter((_, at) => claims[at] === claim);
      return {
        claimed: those(CLAIMED),
        alreadyCounted: those(ALREADY_COUNTED),
        conflicting: those(CONFLICTING),
      };
    },

    async record(campaign, host, results, keptSecs) {
      const { seq, ledgerKey } = campaign;
      for (const packed of packResults(results)) {
        await call("record", { seq, ledgerKey }, host, packed, keptSecs);
      }
    },

    async countNotAttempted({ seq }, host, reasons) {
      await call("countNotAttempted", { seq }, host, reasons);
    },
  };
}

function packTokens(tokens: readonly TokenPosition[]): PackedTokens {
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
  for (let at = 0; at < packed.length; at += 2) {
    tokens.push({ fid: packed[at] ?? 0, clientFid: packed[at + 1] ?? 0 });
  }
  return tokens;
}

function packResults(results: readonly TokenResult[]): PackedResults[] {
  const outcomes: Outcome[] = [];
  const outcomeOf = new Uint8Array(results.length);
  let at = 0;
  let index = 0;
  for (const result of results) {
    // Nearly all tokens of a batch have the outcome of the one before.
    if (!isSameOutcome(outcomes[index], result)) {
      index = outcomes.findIndex((outcome) => isSameOutcome(outcome, result));
    }
    if (index === -1) {
      if (outcomes.length === MAX_OUTCOMES) {
        return [...packResults(results.slice(0, at)), ...packResults(results.slice(at))];
      }
      const { kind, reason, isRetryable } = result;
      index = outcomes.push({ kind, reason, isRetryable }) - 1;
    }
    outcomeOf[at++] = index;
  }
  return [{ tokens: packTokens(results), outcomes, outcomeOf }];
}

function isSameOutcome(a: Outcome | undefined, b: Outcome): boolean {
  return a?.kind === b.kind && a.reason === b.reason && a.isRetryable === b.isRetryable;
}

export function unpackResults({ tokens, outcomes, outcomeOf }: PackedResults): TokenResult[] {
  return unpackTokens(tokens).map(({ fid, clientFid }, at) => {
    const outcome = outcomes[outcomeOf[at] ?? -1];
    if (!outcome) throw new Error("a result has no outcome");
    const { kind, reason, isRetryable } = outcome;
    return { fid, clientFid, kind, reason, isRetryable };
  });
}

/** Encodes the result of a claim for each token. */
export function packClaims(
  tokens: readonly TokenPosition[],
  claimed: ClaimResult<TokenPosition>,
): Uint8Array {
  if (claimed.claimed.length === tokens.length) return new Uint8Array(tokens.length).fill(CLAIMED);
  const refused = new Set(claimed.conflicting);
  const counted = new Set(claimed.alreadyCounted);
  return Uint8Array.from(tokens, (token) =>
    refused.has(token) ? CONFLICTING : counted.has(token) ? ALREADY_COUNTED : CLAIMED,
  );
}
