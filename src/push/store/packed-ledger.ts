import type { CallWriter } from "../../db/state/store-writes.ts";
import type { TokenPosition } from "../../db/state/stores.ts";
import type { CampaignWork, Claimed, DeliveryLedger, Settlement } from "./campaigns.ts";

/**
 * The ledger's calls name a hundred tokens at a time, and an object for each of them costs more on its way between two
 * threads than the call itself. So tokens travel as numbers.
 */

/** Fid and client's fid of each token in turn. */
type PackedTokens = Float64Array;

/** What a settlement says beside its token. */
type Outcome = Omit<Settlement, keyof TokenPosition>;

/** What became of tokens: for each of them the index of its outcome. */
export interface PackedSettlements {
  readonly tokens: PackedTokens;
  readonly outcomes: readonly Outcome[];
  readonly outcomeOf: Uint8Array;
}

const TAKEN = 0;
const COUNTED = 1;
const REFUSED = 2;

/** More different outcomes than a byte can number go as several calls. */
const MAX_OUTCOMES = 256;

type CampaignKey = Pick<CampaignWork, "seq" | "ledgerKey">;

/** The writes of the ledger as the writer carries them out. */
export interface PackedLedger {
  /** Answers for each token whether it is taken (0), was counted (1) or is refused (2). */
  claim(campaign: CampaignKey, tokens: PackedTokens, leaseSecs: number): Uint8Array;
  settle(campaign: CampaignKey, host: string, settlements: PackedSettlements, keptSecs: number): void;
  countNotAttempted(
    campaign: Pick<CampaignWork, "seq">,
    host: string,
    reasons: Readonly<Record<string, number>>,
  ): void;
}

/** The ledger over the way to the writer. */
export function ledgerOver(callWriter: CallWriter): DeliveryLedger {
  const call = (method: keyof PackedLedger, ...args: readonly unknown[]) =>
    callWriter({ store: "ledger", method, args });
  return {
    async claim(campaign, tokens, leaseSecs) {
      const { seq, ledgerKey } = campaign;
      const verdicts = await call("claim", { seq, ledgerKey }, packTokens(tokens), leaseSecs);
      const those = (verdict: number) => tokens.filter((_, at) => (verdicts as Uint8Array)[at] === verdict);
      return { taken: those(TAKEN), counted: those(COUNTED), refused: those(REFUSED) };
    },

    async settle(campaign, host, settlements, keptSecs) {
      const { seq, ledgerKey } = campaign;
      for (const packed of packSettlements(settlements)) {
        await call("settle", { seq, ledgerKey }, host, packed, keptSecs);
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

function packSettlements(settlements: readonly Settlement[]): PackedSettlements[] {
  const outcomes: Outcome[] = [];
  const outcomeOf = new Uint8Array(settlements.length);
  for (const [at, { kind, reason, isRetryable }] of settlements.entries()) {
    const isSame = (other: Outcome) =>
      other.kind === kind && other.reason === reason && other.isRetryable === isRetryable;
    let index = outcomes.findIndex(isSame);
    if (index === -1) {
      if (outcomes.length === MAX_OUTCOMES) {
        return [...packSettlements(settlements.slice(0, at)), ...packSettlements(settlements.slice(at))];
      }
      index = outcomes.push({ kind, reason, isRetryable }) - 1;
    }
    outcomeOf[at] = index;
  }
  return [{ tokens: packTokens(settlements), outcomes, outcomeOf }];
}

export function unpackSettlements({ tokens, outcomes, outcomeOf }: PackedSettlements): Settlement[] {
  return unpackTokens(tokens).map((token, at) => {
    const outcome = outcomes[outcomeOf[at] ?? -1];
    if (!outcome) throw new Error("a settlement has no outcome");
    return { ...token, ...outcome };
  });
}

/** Whether each token is taken, was counted, or is refused. */
export function packVerdicts(tokens: readonly TokenPosition[], claimed: Claimed<TokenPosition>): Uint8Array {
  const refused = new Set(claimed.refused);
  const counted = new Set(claimed.counted);
  return Uint8Array.from(tokens, (token) =>
    refused.has(token) ? REFUSED : counted.has(token) ? COUNTED : TAKEN,
  );
}
