import { blockOfEvent } from "../../../src/protocol/hub-event-id.ts";
import { HubEvent, HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import type { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import type { Recording } from "./recorded.ts";

/** The recorded network with one more on-chain event in a block of a shard: no header and no certificate changes. */
export function withOnChainEvent(
  recording: Recording,
  place: { readonly shard: number; readonly height: number },
  onChainEvent: OnChainEvent,
): Recording {
  const type = HubEventType.HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT;
  const of = recording.events.get(place.shard) ?? [];
  const isInBlock = ({ id }: { readonly id: number }) => blockOfEvent(id) === place.height;
  const changed = of.map((one) => {
    const event = HubEvent.decode(one.bytes);
    if (!isInBlock(one) || event.body?.$case !== "blockConfirmedBody") return one;
    const counts = event.body.value.eventCountsByType;
    counts[type] = (counts[type] ?? 0) + 1;
    event.body.value.totalEvents += 1;
    return { id: one.id, bytes: HubEvent.encode(event).finish() };
  });
  const last = changed.findLastIndex(isInBlock);
  const { id = 0 } = changed[last] ?? {};
  const added = HubEvent.fromPartial({
    id: id + 1,
    type,
    body: { $case: "mergeOnChainEventBody", value: { onChainEvent } },
    blockNumber: place.height,
    shardIndex: place.shard,
  });
  changed.splice(last + 1, 0, { id: id + 1, bytes: HubEvent.encode(added).finish() });
  return { ...recording, events: new Map([...recording.events, [place.shard, changed]]) };
}
