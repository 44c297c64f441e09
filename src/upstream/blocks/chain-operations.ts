import type { UnknownRecord } from "../../db/index/unknown-records.ts";
import type { Decision } from "../../ingest/merge/channels.ts";
import { decodeStored } from "../../ingest/merge/message-store.ts";
import type { RelayedBlocks, RelayedOp } from "../../ingest/relayed-op.ts";
import { isChannelMessage } from "../../protocol/channels/slots.ts";
import { Store, slotOf } from "../../protocol/message/merge-rules.ts";
import { encodeMessage, type SignedMessage } from "../../protocol/message/signed-message.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import { MessageType } from "../../protocol/wire/generated/message.ts";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import type { FollowedBlock, FollowedBlockEvent } from "../../protocol/wire/generated/upstream.ts";
import { unknownMessage, unknownOnChainEvent } from "../calls/decode/unknown-records.ts";
import { BLOCK_SHARD } from "../positions.ts";
import type { Relayed } from "./block-operations.ts";
import { numberOf, seqnumOf } from "./chain-blocks.ts";
import { keyOp, mergeOp } from "./record-operations.ts";
import { type RelayRules, validatedEvent, validateRelayed } from "./validate-relayed.ts";

/**
 * Returns the operations of blocks of shard 0: lends of storage, additions and removals of keys and, from engine version 21
 * on, verifications and everything about channels. Shard 0 is the only source of channels, because what data shards repeat
 * of it has no order.
 */
export function relayedChainBlocks(
  rules: RelayRules,
  blocks: readonly FollowedBlock[],
  { isJournal }: { readonly isJournal: boolean },
): Relayed {
  const ops: RelayedOp[] = [];
  const unknown: UnknownRecord[] = [];
  const parts: RelayedBlocks["parts"][number][] = [];
  for (const block of blocks) {
    const before = ops.length;
    for (const event of block.events) {
      const read = operationsOf(rules, block, event);
      ops.push(...read.ops);
      unknown.push(...read.unknown);
    }
    parts.push({ number: numberOf(block), time: timeOf(block), ops: ops.length - before });
  }
  const [first = 0, last = first] = [parts[0]?.number, parts.at(-1)?.number];
  const run = { shard: BLOCK_SHARD, first, last, parts, isJournal };
  return { ops, mentioned: [], usernames: [], hubBlocks: [], blocks: run, unknown };
}

/**
 * Returns what blocks of shard 0 say about channels, including records that this program does not know, for an index that
 * already has the rest of those blocks. The verifications that are live now are those of their authors' shards, unless these
 * have not repeated a later decision.
 *
 * @param isReplayed whether the shard of an fid has repeated an event of shard 0.
 */
export function channelOperations(
  rules: RelayRules,
  blocks: readonly FollowedBlock[],
  isReplayed: (fid: number, seqnum: number) => boolean,
): ReadEvent {
  const read = blocks.flatMap((block) => block.events.map((event) => operationsOf(rules, block, event)));
  const ops = read.flatMap((one) =>
    one.ops.flatMap((op): RelayedOp[] => {
      if (op.kind === "registration" || op.kind === "channel") return [{ ...op, happenedAt: 0 }];
      if (op.kind !== "claim") return [];
      const isForced = op.isForced && !isReplayed(decodeStored(op.message).data.fid, op.decision.seqnum);
      return [{ ...op, isForced, happenedAt: 0 }];
    }),
  );
  return { ops, unknown: read.flatMap(({ unknown }) => unknown) };
}

interface ReadEvent {
  readonly ops: readonly RelayedOp[];
  /** Records of kinds that this program does not know. */
  readonly unknown: readonly UnknownRecord[];
}

const NOTHING: ReadEvent = { ops: [], unknown: [] };

function operationsOf(rules: RelayRules, block: FollowedBlock, event: FollowedBlockEvent): ReadEvent {
  const body = event.data?.body;
  const place = { shard: BLOCK_SHARD, block: numberOf(block), position: seqnumOf(event) };
  const decision = { seqnum: seqnumOf(event), decidedAt: timeOf(block) };
  switch (body?.$case) {
    case "merged": {
      const unknown = unknownMessage(body.value.message, place);
      if (unknown) return { ops: [], unknown: [unknown] };
      const message = validateRelayed(rules, body.value.message, (one) => isDecidedHere(rules, one));
      const op = message && operationOf(rules, message, decision);
      return op ? { ops: [op], unknown: [] } : NOTHING;
    }
    case "onChainEvent": {
      const unknown = unknownOnChainEvent(body.value.event, place);
      if (unknown) return { ops: [], unknown: [unknown] };
      const onChain = validatedEvent(rules, body.value.event);
      if (onChain?.type !== OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER) return NOTHING;
      const event = body.value.event.slice();
      return {
        ops: [{ kind: "registration", event, decision, happenedAt: decision.decidedAt }],
        unknown: [],
      };
    }
    default:
      return NOTHING;
  }
}

/**
 * Reports whether a message is stored for all fids because it decides owners or channels: without it, the owner of a channel
 * would be wrong.
 */
function isDecidedHere({ scope }: RelayRules, { data }: SignedMessage): boolean {
  return isVerification(data.type) || isChannelMessage(data) || scope.shareOf(data.fid) === "all";
}

function operationOf(rules: RelayRules, message: SignedMessage, decision: Decision): RelayedOp | undefined {
  const { data } = message;
  // The time of the block decides what counts as history, because a message may have been signed long before.
  const happenedAt = decision.decidedAt;
  if (isChannelMessage(data))
    return { kind: "channel", message: encodeMessage(message), decision, happenedAt };
  if (isVerification(data.type)) {
    const isForced = rules.scope.includesStore(data.fid, Store.Verifications);
    return { kind: "claim", message: encodeMessage(message), decision, isForced, happenedAt };
  }
  const isLend = data.body !== undefined && slotOf(message).store === Store.StorageLends;
  return keyOp(message) ?? (isLend ? mergeOp(message, []) : undefined);
}

function isVerification(type: MessageType): boolean {
  return (
    type === MessageType.MESSAGE_TYPE_VERIFICATION_ADD ||
    type === MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE
  );
}

function timeOf({ header }: FollowedBlock): number {
  return toUnixSecs(header?.timestamp ?? 0);
}
