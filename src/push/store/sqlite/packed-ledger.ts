import type { CallWriter } from "../../../db/state/store-writes.ts";
import { createCallGroups } from "../../../lib/call-groups.ts";
import { type CampaignRun, RunLost } from "../campaign-store.ts";
import type {
  BatchResults,
  ClaimResult,
  NotificationLedger,
  TokenOutcome as Outcome,
  TokenResult,
} from "../notification-ledger.ts";
import type { TokenPosition } from "../token-store.ts";

/**
 * Calls of the ledger carry about a hundred tokens, and copying an object for each of them between threads costs more
 * than the call itself. So tokens are sent as numbers.
 */

/** Fid and client fid of each token, in turn. */
type PackedTokens = Float64Array;

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

/** Limit of batches in one write. */
const MAX_BATCHES = 10;

/** The ledger's writes as the state writer executes them; `lost` stands for `RunLost`. */
export interface PackedLedger {
  /** Returns for each token whether it is claimed (0), already counted (1) or conflicting (2). */
  claim(run: CampaignRun, tokens: PackedTokens, leaseSecs: number): Uint8Array | "lost";
  record(run: CampaignRun, host: string, results: PackedResults, keptSecs: number): "recorded" | "lost";
  setNotAttempted(
    run: CampaignRun,
    host: string,
    totals: Readonly<Record<string, number>>,
  ): "recorded" | "lost";
}

/** A batch that waits for its write. */
interface WaitingBatch {
  readonly run: CampaignRun;
  readonly host: string;
  readonly results: BatchResults;
  readonly keptSecs: number;
}

/** Returns a ledger that sends its writes to the state writer. */
export function ledgerClient(callWriter: CallWriter): NotificationLedger {
  async function call<Method extends keyof PackedLedger>(method: Method, ...args: readonly unknown[]) {
    const result = await callWriter({ store: "ledger", method, args });
    if (result === "lost") throw new RunLost("taken");
    return result as Exclude<ReturnType<PackedLedger[Method]>, "lost">;
  }

  const recordBatches = createCallGroups<WaitingBatch, undefined>({
    maxItems: MAX_BATCHES,
    async call(_, batches) {
      const [first] = batches;
      if (!first) return [];
      for (const packed of packResults(batches.map(({ results }) => results))) {
        await call("record", runOf(first.run), first.host, packed, first.keptSecs);
      }
      return [];
    },
  });

  return {
    async claim(run, tokens, leaseSecs) {
      const claims = await call("claim", runOf(run), packTokens(tokens), leaseSecs);
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

    record: (run, host, results, keptSecs) =>
      recordBatches(`${run.seq} ${run.epoch} ${keptSecs} ${host}`, { run, host, results, keptSecs }),

    async setNotAttempted(run, host, totals) {
      await call("setNotAttempted", runOf(run), host, totals);
    },
  };
}

/** Without the other fields of the work, which would be copied to the writer with each call. */
function runOf({ seq, epoch, ledgerKey }: CampaignRun): CampaignRun {
  return { seq, epoch, ledgerKey };
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

function packResults(batches: readonly BatchResults[]): PackedResults[] {
  const packs: PackedResults[] = [];
  let rest = batches.reduce((sum, { tokens }) => sum + tokens.length, 0);
  let packer = new ResultPacker(rest);
  for (const { tokens, outcomes } of batches) {
    for (let at = 0; at < tokens.length; at++) {
      const [token, outcome] = [tokens[at], outcomes[at]];
      if (!token || !outcome) throw new Error("a token has no outcome");
      if (!packer.add(token, outcome)) {
        packs.push(packer.packed());
        packer = new ResultPacker(rest);
        packer.add(token, outcome);
      }
      rest -= 1;
    }
  }
  packs.push(packer.packed());
  return packs;
}

/** Packs results with at most `MAX_OUTCOMES` different outcomes. */
class ResultPacker {
  readonly #tokens: PackedTokens;
  readonly #outcomeOf: Uint8Array;
  readonly #outcomes: Outcome[] = [];
  #count = 0;
  /** The outcome of the last token and its index: nearly all tokens of a batch share one. */
  #last: Outcome | undefined;
  #lastIndex = -1;

  constructor(maxTokens: number) {
    this.#tokens = new Float64Array(2 * maxTokens);
    this.#outcomeOf = new Uint8Array(maxTokens);
  }

  /** Returns false, and adds nothing, when there are too many different outcomes. */
  add({ fid, clientFid }: TokenPosition, outcome: Outcome): boolean {
    if (outcome !== this.#last) {
      const index = this.#indexOf(outcome);
      if (index === undefined) return false;
      this.#last = outcome;
      this.#lastIndex = index;
    }
    this.#tokens[2 * this.#count] = fid;
    this.#tokens[2 * this.#count + 1] = clientFid;
    this.#outcomeOf[this.#count] = this.#lastIndex;
    this.#count += 1;
    return true;
  }

  packed(): PackedResults {
    return {
      tokens: this.#tokens.slice(0, 2 * this.#count),
      outcomes: this.#outcomes,
      outcomeOf: this.#outcomeOf.slice(0, this.#count),
    };
  }

  #indexOf({ kind, reason, isRetryable }: Outcome): number | undefined {
    const known = this.#outcomes.findIndex(
      (other) => other.kind === kind && other.reason === reason && other.isRetryable === isRetryable,
    );
    if (known !== -1) return known;
    if (this.#outcomes.length === MAX_OUTCOMES) return undefined;
    return this.#outcomes.push({ kind, reason, isRetryable }) - 1;
  }
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
