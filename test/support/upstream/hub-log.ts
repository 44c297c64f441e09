import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { hubLogRange } from "../../../src/db/index/log/hub-log.ts";
import { blockOfEvent, firstEventId } from "../../../src/protocol/hub-event-id.ts";
import { HubEvent, HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import { heightAt } from "./blocks.ts";
import type { Chain } from "./chain.ts";
import { delivered } from "./responses.ts";
import { DATA_SHARDS } from "./shards.ts";

const CONFIRMED = HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED;
const LOGGED_TYPES: ReadonlySet<HubEventType> = new Set([
  HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE,
  HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE,
  HubEventType.HUB_EVENT_TYPE_REVOKE_MESSAGE,
  HubEventType.HUB_EVENT_TYPE_MERGE_USERNAME_PROOF,
  HubEventType.HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT,
]);

/**
 * Returns how the log of hub events differs from the events of the chain: from the start of the log on, every block, and every
 * event with an id, under the ids of the chain.
 */
export function hubLogDifferences(db: IndexDatabase, chain: Chain): string[] {
  return DATA_SHARDS.flatMap((shard) => {
    const range = hubLogRange(db, shard);
    if (!range) return [`shard ${shard} has no log`];
    const first = blockOfEvent(range.oldestId);
    const expected = chain.ticks
      .flatMap(({ data }) => data)
      .filter((block) => block.shard === shard && block.height >= first)
      .flatMap((block) => {
        const events = block.events.filter(({ id, type }) => id > 0 && LOGGED_TYPES.has(type));
        const { timestamp, chunk } = block;
        const counts: Record<number, number> = { [CONFIRMED]: 1 };
        for (const { type } of events) counts[type] = (counts[type] ?? 0) + 1;
        const confirmed = [
          timestamp,
          events.length + 1,
          JSON.stringify(counts),
          Buffer.from(chunk.hash).toString("hex"),
        ].join();
        return [
          `${firstEventId(block.height)} ${CONFIRMED} ${confirmed}`,
          ...events.map((event) => `${event.id} ${event.type} ${bodyHex(event)}`),
        ];
      });
    const logged = db.sqlite
      .query<{ id: number; type: number; body: Uint8Array | null }, [number, number]>(
        "SELECT id, type, body FROM hub_events WHERE shard = ? AND id >= ? ORDER BY id",
      )
      .all(shard, range.oldestId)
      .map(({ id, type, body }) => `${id} ${type} ${body ? body.toHex() : confirmation(db, shard, id)}`);
    const missing = expected
      .filter((one, at) => one !== logged[at])
      .map((one) => `missing ${shard} ${one}, has ${logged[expected.indexOf(one)]}`);
    const isShort = blockOfEvent(range.headId) !== heightAt(shard, chain.ticks.length - 1);
    return [
      ...missing,
      ...(logged.length === expected.length ? [] : [`${logged.length} instead of ${expected.length} events`]),
      ...(isShort ? [`shard ${shard} ends at ${range.headId}`] : []),
    ];
  });
}

function confirmation(db: IndexDatabase, shard: number, id: number): string {
  const row = db.sqlite
    .query<{ at: number; events: number; counts: string; hash: Uint8Array }, [number, number]>(
      "SELECT at, events, counts, hash FROM hub_blocks WHERE shard = ? AND height = ?",
    )
    .get(shard, blockOfEvent(id));
  return row ? [row.at, row.events, row.counts, row.hash.toHex()].join() : "without a block";
}

/** Only the oneof of an event, as the node delivers it; the messages of the chain have no `data`. */
function bodyHex(event: HubEvent): string {
  const { body } = delivered(event);
  return HubEvent.encode(HubEvent.fromPartial({ body })).finish().toHex();
}
