import type { IndexDatabase } from "../db/index/database.ts";
import { onChainEventsOf } from "../db/index/project/on-chain.ts";
import { ApiError } from "../http/errors.ts";
import { connectRpc } from "../lib/port-rpc.ts";
import { OnChainEventType } from "../protocol/wire/generated/on-chain.ts";
import { custodyFromIndex } from "./custody.ts";

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
  /** Returns the custody address of an fid, from the events that both nodes have. */
  confirmCustody(fid: number, lane: Lane): Promise<Confirmed<Uint8Array | undefined>>;
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
 * address in the index.
 * @throws UnconfirmedError while a second node has not confirmed the address.
 */
export type ConfirmedCustodyOf = (
  fid: number,
  claimant?: Uint8Array,
) => Uint8Array | undefined | Promise<Uint8Array | undefined>;

/** The facts about the owners of fids that decisions rely on. */
export interface Owners {
  readonly custodyOf: ConfirmedCustodyOf;
  /**
   * Reports whether a key in the index was really added to the fid.
   *
   * @throws UnconfirmedError while a second node has not confirmed it.
   */
  hasKey(fid: number, key: Uint8Array): boolean | Promise<boolean>;
}

/** @param confirm undefined if one node is trusted or none is followed: then the index decides. */
export function createOwners(
  db: IndexDatabase,
  confirm: ConfirmRpc | undefined,
  lane: Lane = "signed",
): Owners {
  const custodyOf = custodyFromIndex(db);
  if (!confirm) return { custodyOf, hasKey: () => true };
  return {
    async custodyOf(fid, claimant) {
      const shown = custodyOf(fid);
      if (!shown) return undefined;
      if (claimant && !equal(shown, claimant) && !hasOwned(db, fid, claimant)) return shown;
      return settled(await confirm.confirmCustody(fid, lane));
    },
    hasKey: async (fid, key) => settled(await confirm.confirmKey(fid, key, lane)),
  };
}

function settled<T>(confirmed: Confirmed<T>): T {
  if (!confirmed.isConfirmed) throw new UnconfirmedError(confirmed.reason);
  return confirmed.value;
}

function hasOwned(db: IndexDatabase, fid: number, address: Uint8Array): boolean {
  return onChainEventsOf(db, OnChainEventType.EVENT_TYPE_ID_REGISTER, fid).some(
    ({ body }) => body?.$case === "idRegisterEventBody" && equal(body.value.to, address),
  );
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
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
