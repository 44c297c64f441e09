import type { CampaignRun } from "../campaign-store.ts";

/**
 * The numbers of transactions of the ledger that the runs of this node have made. The ledger and the campaigns of a node share
 * them: a run may only end when all of its writes are still there.
 */
export class LedgerWrites {
  readonly #numbers = new Map<string, number>();

  of(run: CampaignRun): number {
    return this.#numbers.get(keyOf(run)) ?? 0;
  }

  add(run: CampaignRun): void {
    this.#numbers.set(keyOf(run), this.of(run) + 1);
  }

  /** Forgets a run that is over. */
  delete(run: CampaignRun): void {
    this.#numbers.delete(keyOf(run));
  }
}

function keyOf({ seq, epoch }: CampaignRun): string {
  return `${seq} ${epoch}`;
}
