import { HubEventType } from "./wire/generated/hub.ts";
import { FollowedEvent } from "./wire/generated/upstream.ts";

/** The oneof of a hub event, with its messages, proofs and on-chain events as bytes. */
export type HubEventBody = NonNullable<FollowedEvent["body"]>;

/** Encodes the oneof of a `HubEvent` without the other fields: the wire omits those that have their default value. */
export function encodeHubBody(body: HubEventBody): Uint8Array {
  return FollowedEvent.encode({ type: HubEventType.HUB_EVENT_TYPE_NONE, id: 0, body }).finish();
}
