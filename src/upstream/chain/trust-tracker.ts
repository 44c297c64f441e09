import type { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import type { RefusalCode } from "../../trust/certificate.ts";
import type { PageRefusal } from "../../trust/snapshot-page.ts";
import type { Fork } from "./forks.ts";
import type { Healed, ShardState } from "./proofs.ts";
import type { ValidatorOrigin } from "./validator-source.ts";

/**
 * How far a followed network is verified. `node`: not at all. `blocks`: the chain of blocks that its validators sign.
 * `roots`: also the state that these blocks sign.
 */
export type TrustLevel = "node" | "blocks" | "roots";

export interface TrustProgress {
  readonly level: TrustLevel;
  /** Why the level is `node`, for operators; undefined at other levels. */
  readonly reason: string | undefined;
  /** Source of the known validators; undefined at level `node`. */
  readonly validators: ValidatorOrigin | undefined;
  readonly shards: readonly ShardTrust[];
  /** Heights for which validators signed two blocks, at which the shard has stopped. */
  readonly forks: readonly Fork[];
  /** Fids for which the nodes disagree about owners or keys. */
  readonly disputes: readonly Dispute[];
  /** How the index compares with the signed state; empty below level `roots`. */
  readonly states: readonly ShardState[];
  readonly healing: Healed;
  /** Refused blocks and snapshot pages since the start of the process, by the rule that they break. */
  readonly refused: Readonly<Partial<Record<RefusalCode | PageRefusal, number>>>;
}

/** A disagreement between nodes about the on-chain events of an fid. */
export interface Dispute {
  readonly fid: number;
  readonly type: OnChainEventType;
  /** The nodes from the settings that disagree with the index. */
  readonly upstreams: readonly number[];
}

/** Returns the text for the log. */
export function disputeText({ fid, upstreams }: Dispute): string {
  const where = upstreams.length > 0 ? `at upstream ${upstreams.join(" and ")}` : "on the chain";
  return `of fid ${fid}, other events than here are ${where}`;
}

export interface ShardTrust {
  /** 0 is the shard of the block chain. */
  readonly shard: number;
  /** The newest block whose certificate was verified; undefined before the first. */
  readonly verifiedHeight: number | undefined;
  /** Whether the newest block is signed by validators that are not known. */
  readonly isSetUnknown: boolean;
  /** Signatures of the newest block; undefined before the first. */
  readonly quorum: Quorum | undefined;
}

/** How many of a shard's validators signed a block. */
export interface Quorum {
  readonly signers: number;
  readonly validators: number;
}

/** Tracks how much of the followed chain is verified, across all stages and connections. */
export class TrustTracker {
  #level: TrustLevel = "node";
  #reason: string | undefined = "the upstream has not been reached yet";
  #validators: ValidatorOrigin | undefined;
  readonly #shards = new Map<number, Omit<ShardTrust, "shard">>();
  readonly #refused: Partial<Record<RefusalCode | PageRefusal, number>> = {};

  verifies(origin: ValidatorOrigin, level: "blocks" | "roots"): void {
    this.#level = level;
    this.#reason = undefined;
    this.#validators = origin;
  }

  /** @param reason why nothing is verified. */
  trustsNode(reason: string): void {
    this.#level = "node";
    this.#reason = reason;
    this.#validators = undefined;
    this.#shards.clear();
  }

  verified(shard: number, height: number, quorum: Quorum): void {
    this.#shards.set(shard, { verifiedHeight: height, isSetUnknown: false, quorum });
  }

  unknownValidators(shard: number): void {
    const { verifiedHeight, quorum } = this.#shards.get(shard) ?? {};
    this.#shards.set(shard, { verifiedHeight, isSetUnknown: true, quorum });
  }

  refused(code: RefusalCode | PageRefusal): void {
    this.#refused[code] = (this.#refused[code] ?? 0) + 1;
  }

  get level(): TrustLevel {
    return this.#level;
  }

  /** Returns the progress, except for what is stored elsewhere: the states are in the index, and the forks are files. */
  progress(): Omit<TrustProgress, "forks" | "disputes" | "states" | "healing"> {
    return {
      level: this.#level,
      reason: this.#reason,
      validators: this.#validators,
      shards: [...this.#shards].sort(([a], [b]) => a - b).map(([shard, known]) => ({ shard, ...known })),
      refused: { ...this.#refused },
    };
  }
}
