import type { HubEvent } from "../../protocol/wire/generated/hub.ts";
import { OnChainEvent } from "../../protocol/wire/generated/on-chain.ts";
import { decodeHubEvent, type HubEventRow } from "../../read/hub/hub-event.ts";
import { eventJson as onChainEventJson } from "./chain-json.ts";
import { hex, messageJson, proofJson } from "./message-json.ts";
import { HUB_EVENT_TYPES, nameOf } from "./names.ts";

/** Returns a hub event as JSON, key by key as the reference node writes it, with the time of its block. */
export function hubEventJson(row: HubEventRow): object {
  const { type, id, body, blockNumber, shardIndex, timestamp } = decodeHubEvent(row);
  return { type: nameOf(HUB_EVENT_TYPES, type), id, ...bodyJson(body), blockNumber, shardIndex, timestamp };
}

function bodyJson(body: HubEvent["body"]): object {
  switch (body?.$case) {
    case "mergeMessageBody": {
      const { message, deletedMessages } = body.value;
      return {
        mergeMessageBody: {
          message: message ? messageJson(message) : null,
          deletedMessages: deletedMessages.map((one) => messageJson(one)),
        },
      };
    }
    case "pruneMessageBody":
    case "revokeMessageBody":
      return { [body.$case]: { message: body.value.message ? messageJson(body.value.message) : null } };
    case "mergeUsernameProofBody": {
      const { usernameProof, deletedUsernameProof, usernameProofMessage, deletedUsernameProofMessage } =
        body.value;
      return {
        mergeUsernameProofBody: {
          usernameProof: usernameProof && proofJson(usernameProof),
          deletedUsernameProof: deletedUsernameProof && proofJson(deletedUsernameProof),
          usernameProofMessage: usernameProofMessage && messageJson(usernameProofMessage),
          deletedUsernameProofMessage:
            deletedUsernameProofMessage && messageJson(deletedUsernameProofMessage),
        },
      };
    }
    case "mergeOnChainEventBody": {
      const { onChainEvent } = body.value;
      const event = onChainEvent && onChainEventJson(OnChainEvent.encode(onChainEvent).finish());
      return { mergeOnChainEventBody: { onChainEvent: event ?? null } };
    }
    case "blockConfirmedBody": {
      const { blockHash, eventCountsByType, ...rest } = body.value;
      return { blockConfirmedBody: { ...rest, blockHash: hex(blockHash), eventCountsByType } };
    }
    default:
      return {};
  }
}
