import { createHash } from "node:crypto";
import type { FollowedFids } from "../db/index/identity.ts";
import { Store } from "../protocol/message/merge-rules.ts";
import { OnChainEventType } from "../protocol/wire/generated/on-chain.ts";

/**
 * The part of an fid's state that the index stores: all of it, its profile because other fids mention it, or nothing.
 */
export type Share = "all" | "profile" | "nothing";

const PROFILE_STORES: ReadonlySet<Store> = new Set([Store.UserData, Store.Verifications]);
const PROFILE_EVENTS: ReadonlySet<OnChainEventType> = new Set([
  OnChainEventType.EVENT_TYPE_ID_REGISTER,
  OnChainEventType.EVENT_TYPE_SIGNER,
  OnChainEventType.EVENT_TYPE_TIER_PURCHASE,
]);

/** Decides which parts of which fids the index stores. */
export class Scope {
  readonly #followed: ReadonlySet<number> | undefined;
  readonly #mentioned: Set<number>;

  /**
   * @param followed the fids whose complete state is stored; undefined for all.
   * @param mentioned the fids whose profiles are stored so far.
   */
  constructor(followed: ReadonlySet<number> | undefined, mentioned: Iterable<number>) {
    this.#followed = followed;
    this.#mentioned = new Set(mentioned);
  }

  /** Identifies the set of followed fids: 0 for all, otherwise 48 bits of a digest. */
  get fingerprint(): number {
    if (!this.#followed) return 0;
    const text = [...this.#followed].sort((a, b) => a - b).join();
    return 1 + createHash("sha256").update(text).digest().readUIntBE(0, 6);
  }

  /** The fids whose complete state is stored. */
  get followed(): FollowedFids {
    return this.#followed ?? "all";
  }

  /** The fids for which anything is stored; undefined for all. */
  get fids(): readonly number[] | undefined {
    return this.#followed && [...this.#followed, ...this.#mentioned];
  }

  shareOf(fid: number): Share {
    if (!this.#followed || this.#followed.has(fid)) return "all";
    return this.#mentioned.has(fid) ? "profile" : "nothing";
  }

  includesStore(fid: number, store: Store): boolean {
    const share = this.shareOf(fid);
    return share === "all" || (share === "profile" && PROFILE_STORES.has(store));
  }

  includesEvent(fid: number, type: OnChainEventType): boolean {
    const share = this.shareOf(fid);
    return share === "all" || (share === "profile" && PROFILE_EVENTS.has(type));
  }

  includesNames(fid: number): boolean {
    return this.shareOf(fid) !== "nothing";
  }

  /** Adds the fids that stored messages mention. Returns those for which nothing was stored so far. */
  addMentioned(fids: readonly number[]): number[] {
    if (!this.#followed) return [];
    const added = fids.filter((fid) => fid > 0 && this.shareOf(fid) === "nothing");
    for (const fid of added) this.#mentioned.add(fid);
    return [...new Set(added)];
  }
}
