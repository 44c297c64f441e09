import { createHash } from "node:crypto";
import { Store } from "../protocol/merge-rules.ts";
import type { MessageData } from "../protocol/wire/generated/message.ts";
import { OnChainEventType } from "../protocol/wire/generated/on-chain.ts";

/** How much of an fid the index keeps: all of it, what presents it where others mention it, or nothing. */
export type Share = "all" | "profile" | "nothing";

const PROFILE_STORES: ReadonlySet<Store> = new Set([Store.UserData, Store.Verifications]);
const PROFILE_EVENTS: ReadonlySet<OnChainEventType> = new Set([
  OnChainEventType.EVENT_TYPE_ID_REGISTER,
  OnChainEventType.EVENT_TYPE_SIGNER,
  OnChainEventType.EVENT_TYPE_TIER_PURCHASE,
]);

/** Of whom the index keeps what. */
export class Scope {
  readonly #followed: ReadonlySet<number> | undefined;
  readonly #mentioned: Set<number>;

  /**
   * @param followed the fids that are kept whole; undefined for everybody.
   * @param mentioned the fids whose profiles are kept by now.
   */
  constructor(followed: ReadonlySet<number> | undefined, mentioned: Iterable<number>) {
    this.#followed = followed;
    this.#mentioned = new Set(mentioned);
  }

  /** Tells sets of followed fids apart: 0 for everybody, else 48 bits of a digest. */
  get fingerprint(): number {
    if (!this.#followed) return 0;
    const text = [...this.#followed].sort((a, b) => a - b).join();
    return 1 + createHash("sha256").update(text).digest().readUIntBE(0, 6);
  }

  /** Whom the index keeps something of; undefined for everybody. */
  get kept(): readonly number[] | undefined {
    return this.#followed && [...this.#followed, ...this.#mentioned];
  }

  shareOf(fid: number): Share {
    if (!this.#followed || this.#followed.has(fid)) return "all";
    return this.#mentioned.has(fid) ? "profile" : "nothing";
  }

  keepsStore(fid: number, store: Store): boolean {
    const share = this.shareOf(fid);
    return share === "all" || (share === "profile" && PROFILE_STORES.has(store));
  }

  keepsEvent(fid: number, type: OnChainEventType): boolean {
    const share = this.shareOf(fid);
    return share === "all" || (share === "profile" && PROFILE_EVENTS.has(type));
  }

  keepsNames(fid: number): boolean {
    return this.shareOf(fid) !== "nothing";
  }

  /** Notes whom a message mentions that is kept; answers those of whom nothing has been kept so far. */
  mention(data: MessageData): number[] {
    if (!this.#followed) return [];
    const news = mentionedBy(data).filter((fid) => fid > 0 && this.shareOf(fid) === "nothing");
    for (const fid of news) this.#mentioned.add(fid);
    return [...new Set(news)];
  }
}

/** Whom a reader of the message is shown beside its author. */
function mentionedBy({ body }: MessageData): number[] {
  switch (body?.$case) {
    case "castAddBody": {
      const { mentions, parent, embeds } = body.value;
      const embedded = embeds.flatMap(({ embed }) => (embed?.$case === "castId" ? [embed.value.fid] : []));
      return [...mentions, ...embedded, ...(parent?.$case === "parentCastId" ? [parent.value.fid] : [])];
    }
    case "reactionBody":
      return body.value.target?.$case === "targetCastId" ? [body.value.target.value.fid] : [];
    case "linkBody":
      return [body.value.target?.value ?? 0];
    default:
      return [];
  }
}
