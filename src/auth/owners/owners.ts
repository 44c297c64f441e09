import type { IndexDatabase } from "../../db/index/database.ts";
import { ApiError } from "../../http/errors.ts";
import { connectRpc } from "../../lib/port-rpc.ts";
import { type ChainPosition, isAfter, START } from "./chain-position.ts";
import {
  type CustodyOf,
  custodyFromIndex,
  isSameAddress,
  mayHaveOwned,
  neverStale,
  ownersKnownTo,
  type StaleReason,
} from "./custody.ts";
import type { Assignment, CustodyStore } from "./custody-store.ts";

/**
 * Whether a decision that waits for a confirmation is for someone who has signed something, or one that anybody can cause. The lanes do
 * not take places from each other.
 */
export type Lane = "signed" | "open";

/** What two nodes agree on about an fid, or why that is not known yet, as text for clients. */
export type Confirmed<T> =
  | { readonly isConfirmed: true; readonly value: T }
  | { readonly isConfirmed: false; readonly reason: string };

/** Compares with a second node what no block commits to. */
export interface ConfirmRpc {
  /** Returns the custody address of an fid and since when it is that, from what both nodes have. */
  confirmCustody(fid: number, lane: Lane): Promise<Confirmed<Assignment | undefined>>;
  /** Returns whether both nodes have the event that added a key. */
  confirmKey(fid: number, key: Uint8Array, lane: Lane): Promise<Confirmed<boolean>>;
}

/** A decision has to wait until a second node confirms what the first one said. */
export class UnconfirmedError extends ApiError {
  override name = "UnconfirmedError";

  constructor(reason: string) {
    super("unavailable", reason, { code: "unconfirmed" });
  }
}

/**
 * Returns the custody address that decisions rely on; undefined for an unregistered fid.
 *
 * @param claimant the address that acts as the owner, if any. If it never owned the fid, no second node is asked, and the result is the
 * newest known address.
 * @throws UnconfirmedError while a second node has not confirmed the address.
 */
export type ConfirmedCustodyOf = (
  fid: number,
  claimant?: Uint8Array,
) => Uint8Array | undefined | Promise<Uint8Array | undefined>;

/** The facts about the owners of fids that decisions rely on. */
export interface Owners {
  /** Returns the custody address in the index of this node, which may lag behind other nodes. Enough for checks that save work. */
  readonly inIndex: CustodyOf;
  /** Returns the newest custody address that this node or another one of the state knows of, without confirmation. */
  newest(fid: number): Promise<Uint8Array | undefined>;
  readonly custodyOf: ConfirmedCustodyOf;
  /**
   * Reports whether a custody address, such as the one that made a record, still owns the fid; undefined for an unregistered fid. A
   * transfer that only other nodes have applied counts once the new owner has acted at one of them.
   *
   * @throws ApiError `unavailable` if the address in the index is a different one, and the index lags or a second node has not confirmed it.
   */
  isOwner(fid: number, custody: Uint8Array): Promise<boolean | undefined>;
  /** Records for all nodes that the owner acts by a custody address. Returns false if a newer one has acted. */
  recordAct(fid: number, custody: Uint8Array): Promise<boolean>;
  /**
   * Reports whether a key in the index was really added to the fid.
   *
   * @throws UnconfirmedError while a second node has not confirmed it.
   */
  hasKey(fid: number, key: Uint8Array): boolean | Promise<boolean>;
}

export interface OwnersDeps {
  readonly db: IndexDatabase;
  /** What other nodes of the state know. Undefined for decisions that must not wait for the state. */
  readonly custodies?: CustodyStore | undefined;
  /** Undefined if one node is trusted or none is followed: then the index decides. */
  readonly confirm?: ConfirmRpc | undefined;
  /** Default: `signed`. */
  readonly lane?: Lane;
  /** Default: never stale. */
  readonly staleReason?: StaleReason | undefined;
}

export function createOwners(deps: OwnersDeps): Owners {
  const { db, custodies, confirm, lane = "signed", staleReason = neverStale } = deps;
  const inIndex = custodyFromIndex(db);

  /** Returns the custody address of an act, if it is newer than one that this node knows and the index may still lack it. */
  async function newerThan(
    fid: number,
    known: Uint8Array | undefined,
    confirmedAt?: ChainPosition,
  ): Promise<Uint8Array | undefined> {
    const act = await custodies?.find(fid, () => ownersKnownTo(db, fid));
    if (!act?.mayBeAhead || (known && isSameAddress(act.custody, known))) return undefined;
    return isAfter(act, confirmedAt ?? ownersKnownTo(db, fid)) ? act.custody : undefined;
  }

  async function newest(fid: number): Promise<Uint8Array | undefined> {
    const shown = inIndex(fid);
    return (await newerThan(fid, shown)) ?? shown;
  }

  const custodyOf: ConfirmedCustodyOf = async (fid, claimant) => {
    const shown = inIndex(fid);
    // The node where its owner has acted had it confirmed.
    const newer = await newerThan(fid, shown);
    if (newer || !shown || !confirm) return newer ?? shown;
    if (claimant && !isSameAddress(shown, claimant) && !mayHaveOwned(db, fid, claimant)) return shown;
    const confirmed = settled(await confirm.confirmCustody(fid, lane));
    return (await newerThan(fid, confirmed?.custody, confirmed)) ?? confirmed?.custody;
  };

  return {
    inIndex,
    newest,
    custodyOf,
    async isOwner(fid, custody) {
      const known = await newest(fid);
      if (!known) return undefined;
      if (isSameAddress(known, custody)) return true;
      const stale = await staleReason();
      if (stale !== undefined)
        throw new ApiError("unavailable", `it is not certain who owns the fid: ${stale}`);
      const confirmed = await custodyOf(fid);
      return confirmed && isSameAddress(confirmed, custody);
    },
    async recordAct(fid, custody) {
      if (!custodies) return true;
      const act = await custodies.find(fid);
      const isRecorded = (at: ChainPosition | undefined) =>
        act !== undefined && isSameAddress(act.custody, custody) && !isAfter(at, act);
      const recordAt = ({ blockNumber, logIndex }: ChainPosition) =>
        custodies.record({ fid, custody, blockNumber, logIndex }, ownersKnownTo(db, fid));
      const renew = () => (act?.mustBeRenewed ? recordAt(act) : true);
      const shown = inIndex(fid);
      const inIndexAt = shown && isSameAddress(shown, custody) ? ownersKnownTo(db, fid) : undefined;
      if (isRecorded(inIndexAt)) return renew();
      // A node can name any block in an event of its own. One in the future would refuse every later owner.
      const confirmed = confirm && settled(await confirm.confirmCustody(fid, lane));
      if (confirm && !(confirmed && isSameAddress(confirmed.custody, custody))) return false;
      const at = confirmed ?? inIndexAt ?? START;
      return isRecorded(at) ? renew() : recordAt(at);
    },
    hasKey: async (fid, key) => !confirm || settled(await confirm.confirmKey(fid, key, lane)),
  };
}

function settled<T>(confirmed: Confirmed<T>): T {
  if (!confirmed.isConfirmed) throw new UnconfirmedError(confirmed.reason);
  return confirmed.value;
}

/** Reports whether `isOwner` or `custodyOf` failed because they cannot tell yet. */
export function isUncertain(cause: unknown): boolean {
  return cause instanceof ApiError && cause.kind === "unavailable";
}

/** Longer than the calls of one comparison take unless nodes hang. */
const TIMEOUT_MS = 8000;

/** Connects to the thread that follows other nodes and asks a second one; undefined if one node is trusted. */
export function connectConfirm(port: MessagePort | undefined): ConfirmRpc | undefined {
  if (!port) return undefined;
  const client = connectRpc<ConfirmRpc>(port, {
    timeoutMs: TIMEOUT_MS,
    timeoutError: () => new UnconfirmedError("a second upstream has not responded in time"),
  });
  return {
    confirmCustody: (fid, lane) => client.confirmCustody(fid, lane),
    confirmKey: (fid, key, lane) => client.confirmKey(fid, key, lane),
  };
}
