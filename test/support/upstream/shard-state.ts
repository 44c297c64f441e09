import type { HubEvent } from "../../../src/protocol/wire/generated/hub.ts";
import type { Message, MessageType, UserNameProof } from "../../../src/protocol/wire/generated/message.ts";
import type { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import type { DataBlock } from "./blocks.ts";
import type { ZeroBlock } from "./chain.ts";
import { dataOf } from "./hub-events.ts";
import { ListedNames } from "./listed-names.ts";
import type { GaslessKeys } from "./reference.ts";

/** A live message with the fields that requests select by. */
export interface LiveMessage {
  readonly message: Message;
  readonly fid: number;
  readonly type: MessageType;
  /** Farcaster seconds. */
  readonly timestamp: number;
  /** Timestamp and hash, the order of lists. */
  readonly order: string;
}

/** The contents of one shard after its blocks, derived from its own events. */
export class ShardState {
  readonly #messages = new Map<number, Map<string, LiveMessage>>();
  readonly #fnames = new Map<string, UserNameProof>();
  readonly #listed = new ListedNames();
  readonly #onChain: OnChainEvent[] = [];
  readonly #gaslessKeys = new Map<number, GaslessKeys>();
  #appNonces: ReadonlyMap<number, number> = new Map();

  takeData(block: DataBlock): void {
    for (const event of block.events) this.#take(event);
    for (const keys of block.gaslessKeys) this.#gaslessKeys.set(keys.fid, keys);
    this.#appNonces = block.appNonces;
  }

  /** Shard 0 stores the lends and every on-chain event, which the shard of its fid also stores. */
  takeZero({ block, events }: ZeroBlock): void {
    for (const event of events) this.#take(event);
    for (const { systemMessages } of block.transactions)
      for (const { onChainEvent } of systemMessages) if (onChainEvent) this.#onChain.push(onChainEvent);
  }

  messagesOf(fid: number): LiveMessage[] {
    return [...(this.#messages.get(fid)?.values() ?? [])].sort((a, b) => (a.order < b.order ? -1 : 1));
  }

  allMessages(): LiveMessage[] {
    return [...this.#messages.values()].flatMap((own) => [...own.values()]);
  }

  allFnames(): UserNameProof[] {
    return [...this.#fnames.values()];
  }

  get numMessages(): number {
    let count = 0;
    for (const messages of this.#messages.values()) count += messages.size;
    return count;
  }

  fname(name: string): UserNameProof | undefined {
    return this.#fnames.get(name);
  }

  /** The fnames that the node lists for an fid: see `ListedNames`. */
  fnamesOf(fid: number): UserNameProof[] {
    const proof = this.#fnames.get(this.#listed.nameOf(fid) ?? "");
    return proof ? [proof] : [];
  }

  /** In the order of the store: by fid, block and log index. */
  onChainEvents(): OnChainEvent[] {
    return this.#onChain.toSorted(
      (a, b) => a.fid - b.fid || a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
    );
  }

  gaslessKeysOf(fid: number): GaslessKeys | undefined {
    return this.#gaslessKeys.get(fid);
  }

  appNonce(requestFid: number): number {
    return this.#appNonces.get(requestFid) ?? 0;
  }

  #take({ body }: HubEvent): void {
    switch (body?.$case) {
      case "mergeMessageBody":
        for (const deleted of body.value.deletedMessages) this.#drop(deleted);
        this.#put(body.value.message);
        return;
      case "pruneMessageBody":
      case "revokeMessageBody":
        this.#drop(body.value.message);
        return;
      case "mergeUsernameProofBody": {
        const { usernameProof, usernameProofMessage, deletedUsernameProofMessage } = body.value;
        this.#drop(deletedUsernameProofMessage);
        this.#put(usernameProofMessage);
        if (usernameProof && !usernameProofMessage) {
          this.#listed.take(usernameProof);
          this.#fnames.set(Buffer.from(usernameProof.name).toString(), usernameProof);
        }
        return;
      }
      case "mergeOnChainEventBody":
        if (body.value.onChainEvent) this.#onChain.push(body.value.onChainEvent);
    }
  }

  #put(message: Message | undefined): void {
    if (!message) return;
    const { fid, type, timestamp } = dataOf(message);
    const hash = message.hash.toHex();
    const order = `${timestamp.toString(16).padStart(8, "0")}${hash}`;
    const own = this.#messages.get(fid) ?? new Map<string, LiveMessage>();
    this.#messages.set(fid, own.set(hash, { message, fid, type, timestamp, order }));
  }

  #drop(message: Message | undefined): void {
    if (message) this.#messages.get(dataOf(message).fid)?.delete(message.hash.toHex());
  }
}
