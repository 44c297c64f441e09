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
      const claims = await call("claim", { seq, ledgerKey }, packTokens(tokens), leaseSecs);
      const those = (claim: number) => tokens.filter((_, at) => (claims as Uint8Array)[at] === claim);
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
  for (const [at, { fid, clientFid }] of tokens.entries()) {
    packed[2 * at] = fid;
    packed[2 * at + 1] = clientFid;
  }
  return packed;
}

export function unpackTokens(packed: PackedTokens): TokenPosition[] {
  return Array.from({ length: packed.length / 2 }, (_, at) => ({
    fid: packed[2 * at] ?? 0,
    clientFid: packed[2 * at + 1] ?? 0,
  }));
}

function packResults(results: readonly TokenResult[]): PackedResults[] {
  const outcomes: Outcome[] = [];
  const outcomeOf = new Uint8Array(results.length);
  for (const [at, { kind, reason, isRetryable }] of results.entries()) {
    const isSame = (other: Outcome) =>
      other.kind === kind && other.reason === reason && other.isRetryable === isRetryable;
    let index = outcomes.findIndex(isSame);
    if (index === -1) {
      if (outcomes.length === MAX_OUTCOMES) {
        return [...packResults(results.slice(0, at)), ...packResults(results.slice(at))];
      }
      index = outcomes.push({ kind, reason, isRetryable }) - 1;
    }
    outcomeOf[at] = index;
  }
  return [{ tokens: packTokens(results), outcomes, outcomeOf }];
}

export function unpackResults({ tokens, outcomes, outcomeOf }: PackedResults): TokenResult[] {
  return unpackTokens(tokens).map((token, at) => {
    const outcome = outcomes[outcomeOf[at] ?? -1];
    if (!outcome) throw new Error("a result has no outcome");
    return { ...token, ...outcome };
  });
}

/** Encodes the result of a claim for each token. */
export function packClaims(
  tokens: readonly TokenPosition[],
  claimed: ClaimResult<TokenPosition>,
): Uint8Array {
  const refused = new Set(claimed.conflicting);
  const counted = new Set(claimed.alreadyCounted);
  return Uint8Array.from(tokens, (token) =>
    refused.has(token) ? CONFLICTING : counted.has(token) ? ALREADY_COUNTED : CLAIMED,
  );
}
