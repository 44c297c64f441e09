import { Type } from "@sinclair/typebox";
import { perRows } from "../../../http/limits/prices.ts";
import { optional } from "../../../http/request/params.ts";
import type { HubEvent } from "../../../protocol/wire/generated/hub.ts";
import { OnChainEvent } from "../../../protocol/wire/generated/on-chain.ts";
import { startHeaders } from "../../../read/hub/event-reads.ts";
import { decodeHubEvent, type HubEventRow } from "../../../read/hub/hub-event.ts";
import { eventJson as onChainEventJson } from "./chain-json.ts";
import { messageJson, proofJson } from "./message-json.ts";
import { HUB_EVENT_TYPES, hex, nameOf, OWNER_CHANGE_CAUSES } from "./names.ts";
import { hubRead, jsonFormat, listReaderOf, pageStream, refusalResponse, show } from "./operation.ts";
import { eventIdParam, pageOf, pageParams, shardIndexParam } from "./params.ts";
import { closedObject, HubEventSchema, nextPageToken } from "./schemas.ts";

/** Returns a hub event as JSON, key by key like on the reference node, with the time of its block. */
function hubEventJson(row: HubEventRow): object {
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
    case "channelOwnerChangeHintBody": {
      const { channelKey, ownerAddress, cause } = body.value;
      const named = nameOf(OWNER_CHANGE_CAUSES, cause);
      return { channelOwnerChangeHintBody: { channelKey, ownerAddress: hex(ownerAddress), cause: named } };
    }
    case "blockConfirmedBody": {
      const { blockHash, eventCountsByType, ...rest } = body.value;
      return { blockConfirmedBody: { ...rest, blockHash: hex(blockHash), eventCountsByType } };
    }
    default:
      return {};
  }
}

const EVENTS = jsonFormat(hubEventJson);

export const eventOperations = [
  hubRead({
    id: "hubEvents",
    path: "/events",
    cache: undefined,
    price: perRows(5),
    summary: "Hub events by id; those of several shards one shard after the other",
    description:
      "`from_event_id` 0 is the oldest event. With an id before it, the response begins with the oldest and has the header `x-events-missing`. With one shard, `nextPageEventId` is where the next poll begins.",
    query: {
      fromEventId: optional(eventIdParam("from_event_id", "The first id"), 0),
      stopId: optional(eventIdParam("stop_id", "Ids from this one on are left out")),
      shardIndex: shardIndexParam,
      ...pageParams,
    },
    response: closedObject({
      nextPageEventId: Type.Optional(Type.Integer()),
      oldestEventId: Type.Optional(Type.Integer()),
      events: Type.Array(HubEventSchema),
      nextPageToken,
    }),
    run: async ({ reads }, { query, request, set }) => {
      const { fromEventId, stopId, shardIndex } = query;
      const isStrict = request.headers.get("x-strict-from-id") === "1";
      const start = reads.startEvents({ fromId: fromEventId, shardIndex, isStrict });
      if (!start.ok) return refusalResponse(start.error);
      Object.assign(set.headers, startHeaders(start.value));
      const page = { stopId, ...pageOf(query) };
      const found = await reads.events(start.value, page, EVENTS, listReaderOf(request));
      return show(found, (events) => {
        const { shards, ranges } = start.value;
        const [range] = ranges.values();
        if (shards.length > 1 || !range) return pageStream("events", events);
        const last = events.items.at(-1);
        // Clients of the retired hub continue reading from here.
        const next = last === undefined ? fromEventId : JSON.parse(last).id + 1;
        const fields = `"nextPageEventId":${next},"oldestEventId":${range.oldestId},`;
        return pageStream("events", events, fields);
      });
    },
  }),
  hubRead({
    id: "hubEventById",
    path: "/eventById",
    cache: undefined,
    summary: "A hub event",
    query: { eventId: eventIdParam("event_id", "Its id"), shardIndex: shardIndexParam },
    response: HubEventSchema,
    run: ({ reads }, { query }) =>
      show(reads.event({ id: query.eventId, shardIndex: query.shardIndex }), (row) => hubEventJson(row)),
  }),
];
