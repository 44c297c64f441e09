import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { CampaignWork } from "../campaign-store.ts";
import { blockOf, FidBlock } from "../fid-block.ts";
import type { TokenPosition } from "../token-store.ts";

type Campaign = Pick<CampaignWork, "seq" | "ledgerKey">;

/** Tokens of one client in one block of fids. */
export interface BlockTokens<Token extends TokenPosition> {
  readonly clientFid: number;
  readonly block: number;
  readonly tokens: Token[];
}

interface LedgerRow {
  readonly campaign: number;
  readonly sent: number;
  readonly fids: Uint8Array;
  readonly expires_at: number;
}

type BlockKey = [key: number, clientFid: number, block: number];

const rowsOfBlock = statement<LedgerRow, BlockKey>(
  "dedupe.of-block",
  "SELECT campaign, sent, fids, expires_at FROM dedupe WHERE key = ? AND client_fid = ? AND block = ?",
);
const putRow = statement<
  unknown,
  [...BlockKey, campaign: number, sent: number, fids: Uint8Array, expiresAt: number]
>(
  "dedupe.put",
  `INSERT INTO dedupe (key, client_fid, block, campaign, sent, fids, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
   ON CONFLICT (key, client_fid, block, campaign, sent) DO UPDATE SET fids = ?6, expires_at = ?7`,
);
const deleteRow = statement<unknown, [...BlockKey, campaign: number, sent: number]>(
  "dedupe.delete",
  "DELETE FROM dedupe WHERE key = ? AND client_fid = ? AND block = ? AND campaign = ? AND sent = ?",
);
const failuresOfBlock = statement<
  Pick<LedgerRow, "fids">,
  [campaign: number, clientFid: number, block: number]
>(
  "campaign-failures.of-block",
  "SELECT fids FROM campaign_failures WHERE campaign = ? AND client_fid = ? AND block = ?",
);
const putFailures = statement<
  unknown,
  [campaign: number, clientFid: number, block: number, fids: Uint8Array]
>(
  "campaign-failures.put",
  `INSERT INTO campaign_failures (campaign, client_fid, block, fids) VALUES (?1, ?2, ?3, ?4)
   ON CONFLICT (campaign, client_fid, block) DO UPDATE SET fids = ?4`,
);

/** Groups tokens by their row of the ledger. */
export function groupByBlock<Token extends TokenPosition>(tokens: readonly Token[]): BlockTokens<Token>[] {
  const parts: BlockTokens<Token>[] = [];
  let last: BlockTokens<Token> | undefined;
  for (const token of tokens) {
    const { clientFid } = token;
    const block = blockOf(token.fid);
    // Tokens are ordered by fid, so it is nearly always the last one.
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

/** The ledger's rows of one block, for one campaign, within the caller's transaction. */
export class LedgerBlock {
  readonly #db: StateDatabase;
  readonly #campaign: Campaign;
  readonly #of: Omit<BlockTokens<TokenPosition>, "tokens">;
  readonly #rows: { readonly row: LedgerRow; readonly fids: FidBlock }[];

  constructor(db: StateDatabase, campaign: Campaign, of: Omit<BlockTokens<TokenPosition>, "tokens">) {
    this.#db = db;
    this.#campaign = campaign;
    this.#of = of;
    this.#rows = db
      .all(rowsOfBlock, campaign.ledgerKey, of.clientFid, of.block)
      .map((row) => ({ row, fids: new FidBlock(row.fids) }));
  }

  /** Returns the fids that the campaign has claimed (0) or sent to (1). */
  own(sent: 0 | 1): FidBlock {
    return (
      this.#rows.find(({ row }) => row.campaign === this.#campaign.seq && row.sent === sent)?.fids ??
      new FidBlock()
    );
  }

  /** Returns the fids that failed in the campaign. */
  failures(): FidBlock {
    const { clientFid, block } = this.#of;
    return new FidBlock(this.#db.get(failuresOfBlock, this.#campaign.seq, clientFid, block)?.fids);
  }

  /** Returns the fids that other campaigns have claimed or sent to, without expired ones. */
  claimedByOthers(nowSecs: number): readonly FidBlock[] {
    return this.#others()
      .filter(({ row }) => row.expires_at > nowSecs)
      .map(({ fids }) => fids);
  }

  /** Removes fids from the rows of other campaigns, which have expired for them. */
  removeFromOthers(fids: readonly number[]): void {
    for (const { row, fids: theirs } of this.#others()) {
      if (!fids.some((fid) => theirs.has(fid))) continue;
      for (const fid of fids) theirs.delete(fid);
      this.#put(row.campaign, row.sent, theirs, row.expires_at);
    }
  }

  /** Stores a set that `own` returned; the expiry of a row never moves back. */
  putOwn(sent: 0 | 1, fids: FidBlock, expiresAt: number): void {
    const { seq } = this.#campaign;
    const before = this.#rows.find(({ row }) => row.campaign === seq && row.sent === sent);
    this.#put(seq, sent, fids, Math.max(expiresAt, before?.row.expires_at ?? 0));
  }

  putFailures(fids: FidBlock): void {
    const { clientFid, block } = this.#of;
    const stored = fids.toStored();
    if (stored) this.#db.run(putFailures, this.#campaign.seq, clientFid, block, stored);
  }

  #others() {
    return this.#rows.filter(({ row }) => row.campaign !== this.#campaign.seq);
  }

  #put(campaign: number, sent: number, fids: FidBlock, expiresAt: number): void {
    const { clientFid, block } = this.#of;
    const { ledgerKey } = this.#campaign;
    const stored = fids.toStored();
    if (stored) this.#db.run(putRow, ledgerKey, clientFid, block, campaign, sent, stored, expiresAt);
    else this.#db.run(deleteRow, ledgerKey, clientFid, block, campaign, sent);
  }
}
