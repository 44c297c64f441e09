import { Store } from "../../../src/protocol/message/merge-rules.ts";
import { toWire } from "../../../src/protocol/message/signed-message.ts";
import { type HubEvent, HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import {
  type Message,
  MessageData,
  type UserNameProof,
} from "../../../src/protocol/wire/generated/message.ts";
import type { Change, Outcome } from "./reference.ts";

/** Returns the data that a message's hash covers. */
export function dataOf(message: Message): MessageData {
  return MessageData.decode(message.dataBytes ?? new Uint8Array());
}

/**
 * Returns the events of a record's effect, as in section 2 of the protocol facts; the block assigns their ids. A refused
 * message has a failure event, a refused on-chain event or transfer has none.
 */
export function eventsOf(outcome: Outcome): HubEvent[] {
  const { record, refusal, changes } = outcome;
  switch (record.kind) {
    case "onChainEvent":
      return refusal ? [] : [hubEvent("mergeOnChainEventBody", { onChainEvent: record.event })];
    case "usernameProof":
      return refusal ? [] : [nameEvent(record.proof, outcome), ...changes.map(revoked)];
    case "message": {
      const message = toWire(record.message);
      const isKeyRemoval = record.message.data.body?.$case === "keyRemoveBody" && !refusal;
      const at = changes.findIndex(({ op }) => op === "put");
      if (at < 0 && !isKeyRemoval)
        return [
          hubEvent("mergeFailure", { message, code: refusal?.code ?? "", reason: refusal?.reason ?? "" }),
        ];
      const before = at < 0 ? changes : changes.slice(0, at);
      const after = at < 0 ? [] : changes.slice(at + 1);
      const store = changes[Math.max(0, at)]?.store ?? Store.GaslessKeys;
      const losers = before.filter((change) => change.store === store);
      const dependents = before.filter((change) => change.store !== store);
      return [mergeEvent(message, losers, store), ...after.map(pruned), ...dependents.map(revoked)];
    }
  }
}

function mergeEvent(message: Message, losers: readonly Change[], store: number): HubEvent {
  const deletedMessages = losers.map((change) => change.message);
  if (store !== Store.UsernameProofs) return hubEvent("mergeMessageBody", { message, deletedMessages });
  const [deleted] = deletedMessages;
  return hubEvent("mergeUsernameProofBody", {
    usernameProof: proofIn(message),
    usernameProofMessage: message,
    deletedUsernameProof: deleted && proofIn(deleted),
    deletedUsernameProofMessage: deleted,
  });
}

function nameEvent(usernameProof: UserNameProof, { displacedProof }: Outcome): HubEvent {
  return hubEvent("mergeUsernameProofBody", {
    usernameProof,
    deletedUsernameProof: displacedProof,
    usernameProofMessage: undefined,
    deletedUsernameProofMessage: undefined,
  });
}

/** A name proof is never reported as pruned, only as the deleted proof of an event. */
function pruned({ store, message }: Change): HubEvent {
  if (store !== Store.UsernameProofs) return hubEvent("pruneMessageBody", { message });
  return hubEvent("mergeUsernameProofBody", {
    usernameProof: undefined,
    deletedUsernameProof: proofIn(message),
    usernameProofMessage: undefined,
    deletedUsernameProofMessage: message,
  });
}

function revoked({ message }: Change): HubEvent {
  return hubEvent("revokeMessageBody", { message });
}

function proofIn(message: Message): UserNameProof | undefined {
  const { body } = dataOf(message);
  return body?.$case === "usernameProofBody" ? body.value : undefined;
}

type Body = NonNullable<HubEvent["body"]>;
type BodyValue<Case extends Body["$case"]> = Extract<Body, { $case: Case }>["value"];

const TYPE: Readonly<Partial<Record<Body["$case"], HubEventType>>> = {
  mergeMessageBody: HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE,
  pruneMessageBody: HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE,
  revokeMessageBody: HubEventType.HUB_EVENT_TYPE_REVOKE_MESSAGE,
  mergeUsernameProofBody: HubEventType.HUB_EVENT_TYPE_MERGE_USERNAME_PROOF,
  mergeOnChainEventBody: HubEventType.HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT,
  channelOwnerChangeHintBody: HubEventType.HUB_EVENT_TYPE_CHANNEL_OWNER_CHANGE_HINT,
  mergeFailure: HubEventType.HUB_EVENT_TYPE_MERGE_FAILURE,
};

export function hubEvent<Case extends Body["$case"]>($case: Case, value: BodyValue<Case>): HubEvent {
  const body = { $case, value } as Body;
  const type = TYPE[$case] ?? HubEventType.HUB_EVENT_TYPE_NONE;
  return { type, id: 0, body, blockNumber: 0, shardIndex: 0, timestamp: 0 };
}
