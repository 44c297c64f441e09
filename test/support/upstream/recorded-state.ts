import { blockOfEvent } from "../../../src/protocol/hub-event-id.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { SignedChunk } from "../../../src/protocol/wire/generated/certificate.ts";
import { type LinkBody, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import type { SnapshotEntry } from "../../../src/protocol/wire/generated/snapshot.ts";
import { FollowedEvent } from "../../../src/protocol/wire/generated/upstream.ts";
import {
  changesOfEvent,
  changesOfKeys,
  type StateBefore,
  type TrieChange,
} from "../../../src/trust/trie-changes.ts";
import {
  fnameKey,
  type KeyedMessage,
  keysOfSigned,
  onChainKey,
  type TrieKey,
} from "../../../src/trust/trie-key.ts";
import type { Recording } from "./recorded.ts";

const SHARDS = 2;

interface Link extends KeyedMessage {
  readonly body: LinkBody;
  readonly timestamp: number;
  readonly height: number;
}

/** The state of a data shard that the reference node has by the blocks of a recorded network: each key with its record. */
export class RecordedState {
  readonly shard: number;
  readonly #records = new Map<string, SnapshotEntry>();
  readonly #links = new Map<string, Link>();
  readonly #keyAdds = new Map<string, Uint8Array>();
  readonly #sparesOwnBlock: boolean;
  #entries = new Map<string, SnapshotEntry>();
  #height = 0;
  onChange: (change: TrieChange) => void = () => {};

  /** @param sparesOwnBlock whether a compact state leaves the links of its own block, as it does since V19. */
  constructor(shard: number, sparesOwnBlock = true) {
    this.shard = shard;
    this.#sparesOwnBlock = sparesOwnBlock;
  }

  /** Returns the state of a shard after a block. */
  static at({ chunks, events }: Recording, shard: number, height: number): RecordedState {
    const state = new RecordedState(shard);
    const byBlock = Map.groupBy(events.get(shard) ?? [], ({ id }) => blockOfEvent(id));
    for (const { number, bytes } of chunks.get(shard) ?? [])
      if (number <= height) {
        const decoded = (byBlock.get(number) ?? []).map((event) => FollowedEvent.decode(event.bytes));
        state.apply(number, decoded, SignedChunk.decode(bytes));
      }
    return state;
  }

  entries(): readonly SnapshotEntry[] {
    return [...this.#entries.values()];
  }

  apply(height: number, events: readonly FollowedEvent[], chunk: SignedChunk): void {
    this.#height = height;
    for (const event of events) {
      this.#remember(event);
      for (const change of changesOfEvent(event, this.#before)) this.#change(change);
    }
    this.#rememberKeys(chunk);
    const place = { shard: this.shard, shards: SHARDS };
    for (const change of changesOfKeys(chunk.transactions, place, this.#before)) this.#change(change);
    this.#rememberKeyAdds(chunk);
  }

  readonly #before: StateBefore = {
    compactedLinks: (fid, { type, targetFids }, timestamp) =>
      [...this.#links.values()].filter(
        (link) =>
          link.fid === fid &&
          link.body.type === type &&
          link.timestamp <= timestamp &&
          (!this.#sparesOwnBlock || link.height < this.#height) &&
          (link.type === MessageType.MESSAGE_TYPE_LINK_REMOVE ||
            !targetFids.includes(link.body.target?.value ?? 0)),
      ),
    keyAddOf: (fid, key) => this.#keyAdds.get(`${fid} ${key.toHex()}`),
  };

  #change(change: TrieChange): void {
    const name = change.key.toHex();
    const record = this.#records.get(name);
    if (change.kind === "delete") this.#entries.delete(name);
    else if (record) this.#entries.set(name, record);
    this.onChange(change);
  }

  #record(key: TrieKey | undefined, record: Partial<SnapshotEntry>): void {
    const nothing = { message: undefined, onChainEvent: undefined, fnameTransfer: undefined };
    if (key) this.#records.set(key.toHex(), { ...nothing, ...record, key });
  }

  #recordMessage(bytes: Uint8Array): void {
    const message = decodeMessage(bytes);
    if (!message.ok) return;
    for (const key of keysOfSigned(message.value)) this.#record(key, { message: bytes });
    const { data, hash } = message.value;
    if (data.body?.$case !== "linkBody") return;
    const { fid, type, timestamp } = data;
    const link = { fid, type, hash, timestamp, body: data.body.value, height: this.#height };
    this.#links.set(hash.toHex(), link);
  }

  #remember({ body }: FollowedEvent): void {
    switch (body?.$case) {
      case "merge":
        this.#recordMessage(body.value.message);
        break;
      case "proofs": {
        const { proof, proofMessage } = body.value;
        if (proofMessage) this.#recordMessage(proofMessage);
        else if (proof) this.#record(fnameKey(proof), { fnameTransfer: { proof } });
        break;
      }
      case "onChainEvent":
        this.#record(onChainKey(body.value.event), { onChainEvent: body.value.event });
    }
  }

  #rememberKeys(chunk: SignedChunk): void {
    for (const bytes of blockMessages(chunk)) this.#recordMessage(bytes);
  }

  #rememberKeyAdds(chunk: SignedChunk): void {
    for (const bytes of blockMessages(chunk)) {
      const message = decodeMessage(bytes);
      if (!message.ok || message.value.data.body?.$case !== "keyAddBody") continue;
      const { fid, body } = message.value.data;
      this.#keyAdds.set(`${fid} ${body.value.key.toHex()}`, message.value.hash);
    }
  }
}

/** The messages of shard 0 that a chunk repeats. */
function* blockMessages({ transactions }: SignedChunk): Generator<Uint8Array> {
  for (const { systemMessages } of transactions)
    for (const { blockEvent } of systemMessages) {
      const body = blockEvent?.data?.body;
      if (body?.$case === "merged") yield body.value.message;
    }
}
