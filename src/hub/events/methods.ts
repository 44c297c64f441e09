import { err, mapOk } from "../../lib/result.ts";
import { type EventReads, startHeaders } from "../../read/hub/event-reads.ts";
import { encodeHubEvent, type HubEventRow } from "../../read/hub/hub-event.ts";
import type { RowFormat } from "../../read/hub/page.ts";
import { encodeList, listedBytes } from "../../read/hub/wire-bytes.ts";
import type { RawMethod } from "../raw-service.ts";
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
      const { startId = 0, shardIndex, ...query } = request.value;
      const isStrict = call.metadata("x-strict-from-id") === "1";
      const start = reads.startEvents({ fromId: startId, shardIndex, isStrict });
      if (!start.ok) return start;
      call.sendMetadata(startHeaders(start.value));
      const found = await reads.events(start.value, query, HUB_EVENTS, call);
      return mapOk(found, ({ items, nextToken }) => {
        call.countRows(items.length);
        return encodeList(items, { field: 1, tokenField: 2, token: nextToken });
      });
    },
  };
}
