import type { TokenPosition } from "../tokens/token-store.ts";
import type { ClaimResult, TokenResult } from "./notification-ledger.ts";

/** Number of fids in one row of the ledger. */
export const BLOCK_FIDS = 4096;
const START_BYTES = 2;
/** A stored form of the empty set. */
export const EMPTY_BLOCK = new Uint8Array(START_BYTES);

export function blockOf(fid: number): number {
  return Math.floor(fid / BLOCK_FIDS);
}

/**
 * A set of fids of one block, as a bitmap. The fids of an app's users are close together, so a batch of tokens takes one or two rows; a
 * row per token would cost more than sending to it. The stored form starts with the index of the first non-zero byte and omits the zeros
 * at both ends, so a single fid takes three bytes.
 */
export class FidBlock {
  readonly #bits = new Uint8Array(BLOCK_FIDS / 8);

  constructor(stored?: Uint8Array) {
    if (stored) this.#bits.set(stored.subarray(START_BYTES), ((stored[0] ?? 0) << 8) | (stored[1] ?? 0));
  }

  has(fid: number): boolean {
    const at = fid % BLOCK_FIDS;
    return ((this.#bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
  }

  add(fid: number): void {
    const at = fid % BLOCK_FIDS;
    this.#bits[at >> 3] = (this.#bits[at >> 3] ?? 0) | (1 << (at & 7));
  }

  delete(fid: number): void {
    const at = fid % BLOCK_FIDS;
    this.#bits[at >> 3] = (this.#bits[at >> 3] ?? 0) & ~(1 << (at & 7));
  }

  /** Returns the stored form; undefined for the empty set. */
  toStored(): Uint8Array | undefined {
    const bits = this.#bits;
    let start = 0;
    while (bits[start] === 0) start += 1;
    if (start === bits.length) return undefined;
    let end = bits.length;
    while (bits[end - 1] === 0) end -= 1;
    const stored = new Uint8Array(START_BYTES + end - start);
    stored[0] = start >> 8;
    stored[1] = start & 0xff;
    stored.set(bits.subarray(start, end), START_BYTES);
    return stored;
  }
}

/** Tokens of one client in one block of fids. */
export interface BlockTokens<Token extends TokenPosition> {
  readonly clientFid: number;
  readonly block: number;
  readonly tokens: Token[];
}

/** A stored row of the ledger: the fids of a block that a campaign has claimed, or sent to. */
export interface LedgerRow {
  readonly campaign: number;
  readonly isSent: boolean;
  /** A stored `FidBlock`. */
  readonly fids: Uint8Array;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** A change of a row; without `fids` it is deleted. */
export interface LedgerRowChange extends Omit<LedgerRow, "fids"> {
  readonly fids: Uint8Array | undefined;
}

interface HeldRow {
  readonly campaign: number;
  readonly isSent: boolean;
  readonly fids: FidBlock;
  expiresAt: number;
  readonly isStored: boolean;
  isChanged: boolean;
}

/** Groups tokens by their row of the ledger. */
export function groupByBlock<Token extends TokenPosition>(tokens: readonly Token[]): BlockTokens<Token>[] {
  const parts: BlockTokens<Token>[] = [];
  let last: BlockTokens<Token> | undefined;
  for (const token of tokens) {
    const { clientFid } = token;
    const block = blockOf(token.fid);
    // Tokens are ordered by fid, so it is nearly always the last group.
    if (last?.block !== block || last.clientFid !== clientFid) {
      last = parts.find((part) => part.block === block && part.clientFid === clientFid);
      if (!last) {
        last = { clientFid, block, tokens: [] };
        parts.push(last);
      }
    }
    last.tokens.push(token);
  }
  return parts;
}

/** Returns the tokens of a group that stored `FidBlock`s contain. */
export function tokensIn<Token extends TokenPosition>(
  { tokens }: BlockTokens<Token>,
  stored: readonly Uint8Array[],
): Token[] {
  const blocks = stored.map((fids) => new FidBlock(fids));
  return tokens.filter(({ fid }) => blocks.some((block) => block.has(fid)));
}

/** The ledger of one block, for one campaign. It makes decisions in memory; the store reads the rows and writes the changes. */
export class LedgerBlock {
  readonly #campaign: number;
  readonly #rows: HeldRow[];
  readonly #failures: FidBlock;
  #failuresChanged = false;

  /** @param failures the stored `FidBlock` of the fids that failed in the campaign */
  constructor(campaign: number, rows: readonly LedgerRow[], failures: Uint8Array | undefined) {
    this.#campaign = campaign;
    this.#rows = rows.map((row) => ({
      campaign: row.campaign,
      isSent: row.isSent,
      fids: new FidBlock(row.fids),
      expiresAt: row.expiresAt,
      isStored: true,
      isChanged: false,
    }));
    this.#failures = new FidBlock(failures);
  }

  /** Claims tokens for the campaign until `endsAt`. Times are unix seconds of the state's clock. */
  claim<Token extends TokenPosition>(
    tokens: readonly Token[],
    { nowSecs, endsAt }: { readonly nowSecs: number; readonly endsAt: number },
  ): ClaimResult<Token> {
    const claimed = this.#own(false);
    const sent = this.#own(true);
    const others = this.#rows.filter((row) => row.campaign !== this.#campaign);
    const inForce = others.filter(({ expiresAt }) => expiresAt > nowSecs);
    const result = { claimed: [] as Token[], alreadyCounted: [] as Token[], conflicting: [] as Token[] };
    for (const token of tokens) {
      const { fid } = token;
      if (sent.fids.has(fid) || this.#failures.has(fid)) result.alreadyCounted.push(token);
      else if (claimed.fids.has(fid) || !inForce.some(({ fids }) => fids.has(fid)))
        result.claimed.push(token);
      else result.conflicting.push(token);
    }
    if (result.claimed.length === 0) return result;
    for (const { fid } of result.claimed) {
      claimed.fids.add(fid);
      // Other campaigns' rows that still contain these fids have expired. Each keeps its successes, which it has counted.
      for (const row of others) {
        if (row.isSent || !row.fids.has(fid)) continue;
        row.fids.delete(fid);
        row.isChanged = true;
      }
    }
    prolong(claimed, endsAt);
    return result;
  }

  /**
   * Records results of the campaign; a success is stored until `keptUntil`.
   *
   * @returns the results that the campaign had not counted yet
   */
  record(results: readonly TokenResult[], keptUntil: number): TokenResult[] {
    const claimed = this.#own(false);
    const sent = this.#own(true);
    const fresh = results.filter(({ fid }) => !sent.fids.has(fid) && !this.#failures.has(fid));
    for (const { fid, kind } of results) {
      claimed.fids.delete(fid);
      if (kind === "success") {
        sent.fids.add(fid);
        continue;
      }
      this.#failures.add(fid);
      this.#failuresChanged = true;
    }
    prolong(claimed, 0);
    prolong(sent, keptUntil);
    return fresh;
  }

  /** Returns the rows to write, except those that are neither stored nor contain fids. */
  changedRows(): LedgerRowChange[] {
    const changes: LedgerRowChange[] = [];
    for (const { campaign, isSent, fids, expiresAt, isStored, isChanged } of this.#rows) {
      if (!isChanged) continue;
      const stored = fids.toStored();
      if (stored || isStored) changes.push({ campaign, isSent, fids: stored, expiresAt });
    }
    return changes;
  }

  /** Returns the stored `FidBlock` of the failures to write; undefined if they have not changed. */
  changedFailures(): Uint8Array | undefined {
    return this.#failuresChanged ? this.#failures.toStored() : undefined;
  }

  #own(isSent: boolean): HeldRow {
    let own = this.#rows.find((row) => row.campaign === this.#campaign && row.isSent === isSent);
    if (!own) {
      const campaign = this.#campaign;
      own = { campaign, isSent, fids: new FidBlock(), expiresAt: 0, isStored: false, isChanged: false };
      this.#rows.push(own);
    }
    return own;
  }
}

/** Marks a row as changed; its expiry never moves back. */
function prolong(row: HeldRow, expiresAt: number): void {
  row.expiresAt = Math.max(row.expiresAt, expiresAt);
  row.isChanged = true;
}
