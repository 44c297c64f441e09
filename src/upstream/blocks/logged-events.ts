import type { HubLogBlock, HubLogEvent } from "../../db/index/log/hub-log.ts";
import { encodeHubBody, type HubEventBody } from "../../ingest/hub-log/operation-events.ts";
import { firstEventId, MAX_EVENTS_OF_BLOCK } from "../../protocol/hub-event-id.ts";
import { decodeMessage, encodeMessage, type SignedMessage } from "../../protocol/message/signed-message.ts";
import { HubEventType } from "../../protocol/wire/generated/hub.ts";
import type { FollowedEvent } from "../../protocol/wire/generated/upstream.ts";
import type { ShardBlock } from "../calls/decode/block-assembler.ts";

/**
 * Collects what the hub event log stores of a block of the followed node: its events with their ids, as far as this node
 * stores their records.
 */
export class LoggedEvents {
  readonly #shard: number;
  readonly #block: ShardBlock;
  readonly #events: HubLogEvent[] = [];
  /** Removals without an event on the followed node. They get free ids at the end of the block. */
  readonly #revoked: SignedMessage[] = [];

  constructor(shard: number, block: ShardBlock) {
    this.#shard = shard;
    this.#block = block;
  }

  /** Adds an event other than a merge. Messages in it are stored without `data`, which `data_bytes` replaces. */
  add({ id, type, body }: FollowedEvent, fid: number): void {
    if (body) this.#events.push({ id, type, fid, body: encodeHubBody(withoutData(body)) });
  }

  /** @param encoded the message without `data`. */
  addMerge(
    id: number,
    {
      fid,
      encoded,
      deletedMessages,
    }: {
      readonly fid: number;
      readonly encoded: Uint8Array;
      readonly deletedMessages: readonly Uint8Array[];
    },
  ): void {
    const value = { message: encoded, deletedMessages: deletedMessages.map(messageWithoutData) };
    const body = encodeHubBody({ $case: "merge", value });
    this.#events.push({ id, type: HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE, fid, body });
  }

  /** Adds a merge whose message this node refuses. Only its removals count. */
  addRemovals(id: number, removed: readonly SignedMessage[]): void {
    const [first, ...others] = removed;
    if (!first) return;
    this.#events.push(revokeOf(id, first));
    this.#revoked.push(...others);
  }

  block(): HubLogBlock {
    const { number, timestamp, hash, seqnum, events } = this.#block;
    let id = Math.max(firstEventId(number), ...events.map((event) => event.id));
    const last = firstEventId(number) + MAX_EVENTS_OF_BLOCK;
    const revoked = this.#revoked.flatMap((one) => (id < last ? [revokeOf(++id, one)] : []));
    return {
      shard: this.#shard,
      height: number,
      at: timestamp,
      hash,
      seqnum,
      events: [...this.#events, ...revoked],
    };
  }
}

function revokeOf(id: number, message: SignedMessage): HubLogEvent {
  const body = encodeHubBody({ $case: "revoke", value: { message: encodeMessage(message) } });
  return { id, type: HubEventType.HUB_EVENT_TYPE_REVOKE_MESSAGE, fid: message.data.fid, body };
}

function withoutData(body: HubEventBody): HubEventBody {
  switch (body.$case) {
    case "prune":
    case "revoke":
      return { $case: body.$case, value: { message: messageWithoutData(body.value.message) } };
    case "proofs": {
      const { proofMessage, deletedProofMessage } = body.value;
      return {
        $case: "proofs",
        value: {
          ...body.value,
          proofMessage: proofMessage && messageWithoutData(proofMessage),
          deletedProofMessage: deletedProofMessage && messageWithoutData(deletedProofMessage),
        },
      };
    }
    default:
      return body;
  }
}

/** Returns a message without `data`. A message that cannot be decoded is returned unchanged. */
function messageWithoutData(message: Uint8Array): Uint8Array {
  const decoded = decodeMessage(message);
  return decoded.ok ? encodeMessage(decoded.value) : message;
}
