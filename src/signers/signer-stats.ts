import { valueWithin } from "../lib/promises.ts";
import { figureOf, gaugeBy } from "../runtime/figures/figures.ts";
import type { SignerStore } from "./store/signer-store.ts";

/** Shorter than `/status` waits for one of its parts. */
const USES_TIMEOUT_MS = 250;

/** Number of stored signers by the master key that their seeds are sealed under. */
export interface SignerStats {
  /** Id of the current master key. Null without one. */
  readonly keyId: string | null;
  /** Null if the state does not respond. */
  readonly countsByKeyId: Readonly<Record<string, number>> | null;
  /**
   * Number of seeds under previous master keys, which are needed until it is 0. Null without a current key, or if the state does not
   * respond.
   */
  readonly toReseal: number | null;
}

/** What the thread that signs reports to `/status` and `/metrics`. */
export interface SignerStatsRpc {
  signerStats(): Promise<SignerStats>;
}

/** Counts the stored signers. `keyId` is the id of the current master key. */
export async function readSignerStats(
  store: Pick<SignerStore, "keyUses">,
  keyId: string | null,
): Promise<SignerStats> {
  const uses = await valueWithin(store.keyUses(), USES_TIMEOUT_MS);
  if (!uses) return { keyId, countsByKeyId: null, toReseal: null };
  const former = uses.filter((use) => use.keyId !== keyId);
  return {
    keyId,
    countsByKeyId: Object.fromEntries(uses.map((use) => [use.keyId, use.count])),
    toReseal: keyId === null ? null : former.reduce((sum, { count }) => sum + count, 0),
  };
}

/** Returns the stats of a node that stores no signers. */
export function signerStatsAtRest(keyId: string | null): SignerStats {
  return { keyId, countsByKeyId: {}, toReseal: keyId === null ? null : 0 };
}

const figure = figureOf<SignerStats>();

export const signerFigures = [
  figure({ read: ({ keyId }) => keyId, status: "signers.key_id" }),
  figure({
    read: ({ countsByKeyId }) => countsByKeyId,
    metric: gaugeBy(
      "key_id",
      "managed_signers",
      "Managed signers by the id of the master key that they are sealed under.",
    ),
    status: "signers.count_by_key_id",
  }),
  figure({ read: ({ toReseal }) => toReseal, status: "signers.to_reseal" }),
];
