import { blockOfEvent } from "../../../src/protocol/hub-event-id.ts";
import { HubEvent } from "../../../src/protocol/wire/generated/hub.ts";
import type { Recording } from "./recorded.ts";

/** A recording with other events in one block of a shard, whose count is announced as it should be. */
export function withEvents(
  recording: Recording,
  shard: number,
  height: number,
  change: (events: readonly HubEvent[]) => readonly HubEvent[],
): Recording {
  const all = recording.events.get(shard) ?? [];
  const own = all.filter(({ id }) => blockOfEvent(id) === height).map(({ bytes }) => HubEvent.decode(bytes));
  const changed = change(own);
  const counts: Record<number, number> = {};
  for (const { type } of changed) counts[type] = (counts[type] ?? 0) + 1;
  for (const { body } of changed) {
    if (body?.$case !== "blockConfirmedBody") continue;
    body.value.totalEvents = changed.length;
    body.value.eventCountsByType = counts;
  }
  const rest = all.filter(({ id }) => blockOfEvent(id) !== height);
  const encoded = changed.map((event) => ({ id: event.id, bytes: HubEvent.encode(event).finish() }));
  const events = [...rest, ...encoded].sort((a, b) => a.id - b.id);
  return { ...recording, events: new Map(recording.events).set(shard, events) };
}
