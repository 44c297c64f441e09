import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { optional } from "../../http/params.ts";
import { startHeaders } from "../../read/hub/event-reads.ts";
import type { HubReads } from "../../read/hub/hub-reads.ts";
import { hubEventJson } from "./event-json.ts";
import { hubRead } from "./hub-operation.ts";
import { eventIdParam, pageOf, pageParams, shardIndexParam } from "./params.ts";
import { jsonFormat, listReaderOf, pageStream, refusalResponse, type Shown, show } from "./responses.ts";
import { closedObject, HubEventSchema, nextPageToken } from "./schemas.ts";

const EVENTS = jsonFormat(hubEventJson);

/** The routes of hub events. */
export function eventRoutes(reads: HubReads) {
  return new Elysia({ name: "hub-events" })
    .get(
      "/events",
      async ({ query, request, set }): Promise<Shown> => {
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
          // Clients of the retired hub read on from here.
          const next = last === undefined ? fromEventId : JSON.parse(last).id + 1;
          const fields = `"nextPageEventId":${next},"oldestEventId":${range.oldestId},`;
          return pageStream("events", events, fields);
        });
      },
      hubRead({
        id: "Events",
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
        cache: undefined,
      }),
    )
    .get(
      "/eventById",
      ({ query }) =>
        show(reads.event({ id: query.eventId, shardIndex: query.shardIndex }), (row) => hubEventJson(row)),
      hubRead({
        id: "EventById",
        summary: "A hub event",
        query: { eventId: eventIdParam("event_id", "Its id"), shardIndex: shardIndexParam },
        response: HubEventSchema,
        cache: undefined,
      }),
    );
}
