import { err, mapOk, type Result } from "../../lib/result.ts";
import { type EventReads, type EventsQuery, rangeHeaders } from "../../read/hub/event-reads.ts";
import { encodeHubEvent, type HubEventRow } from "../../read/hub/hub-event.ts";
import type { Page, RowFormat } from "../../read/hub/page.ts";
import type { Refusal } from "../../read/hub/refusal.ts";
import { encodeList, listedBytes } from "../../read/hub/wire-bytes.ts";
import type { RawCall, RawMethod } from "../raw-service.ts";
import { bytes, flag, readRequest, u32, u64 } from "../reads/request.ts";

const EVENT = { id: u64(1), shardIndex: u32(5) };
const EVENTS = {
  startId: u64(1),
  shardIndex: u32(2),
  stopId: u64(3),
  pageSize: u32(4),
  pageToken: bytes(5),
  reverse: flag(6),
};

const HUB_EVENTS: RowFormat<HubEventRow, Uint8Array> = { show: encodeHubEvent, bytesOf: listedBytes };

/** The unary methods of HubService over the log of hub events. */
export function eventMethods(reads: EventReads): Readonly<Record<string, RawMethod>> {
  return {
    async GetEvent(encoded) {
      const request = readRequest(encoded, EVENT);
      if (!request.ok) return err(request.error);
      const { id = 0, shardIndex } = request.value;
      return mapOk(reads.event({ id, shardIndex }), encodeHubEvent);
    },
    async GetEvents(encoded, call) {
      const request = readRequest(encoded, EVENTS);
      if (!request.ok) return err(request.error);
      const query = { ...request.value, isStrict: call.metadata("x-strict-from-id") === "1" };
      return mapOk(await readEvents(reads, query, call), ({ items, nextToken }) => {
        call.countRows(items.length);
        return encodeList(items, { field: 1, tokenField: 2, token: nextToken });
      });
    },
  };
}

async function readEvents(
  reads: EventReads,
  query: EventsQuery,
  call: RawCall,
): Promise<Result<Page<Uint8Array>, Refusal>> {
  const { startId = 0, shardIndex, isStrict = false } = query;
  const shards = reads.eventShards(shardIndex);
  if (!shards.ok) return shards;
  const start = reads.checkEventStart({ fromId: startId, shards: shards.value, isStrict });
  if (!start.ok) return start;
  call.sendMetadata({
    ...rangeHeaders(reads.eventRanges(shards.value)),
    ...(start.value && { "x-events-missing": "1" }),
  });
  return reads.events(query, HUB_EVENTS, call.signal);
}
