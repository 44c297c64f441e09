import { assignmentsIn } from "../../auth/owners/custody.ts";
import type { Confirmed, ConfirmRpc } from "../../auth/owners/owners.ts";
import { canonicalKey } from "../../protocol/auth-address.ts";
import { OnChainEventType, SignerEventType } from "../../protocol/wire/generated/on-chain.ts";
import type { ConfirmEvents } from "./confirm-events.ts";

/** Decides ownership and keys by events that two nodes have. */
export function createConfirmOwners(events: Pick<ConfirmEvents, "of">): ConfirmRpc {
  return {
    async confirmCustody(fid, lane) {
      const confirmed = await events.of(fid, OnChainEventType.EVENT_TYPE_ID_REGISTER, lane);
      return mapConfirmed(confirmed, (all) => assignmentsIn(all).at(-1));
    },
    async confirmKey(fid, key, lane) {
      const wanted = canonicalKey(key);
      const confirmed = await events.of(fid, OnChainEventType.EVENT_TYPE_SIGNER, lane);
      return mapConfirmed(confirmed, (all) => {
        const last = all.findLast(
          ({ body }) =>
            body?.$case === "signerEventBody" && Buffer.compare(canonicalKey(body.value.key), wanted) === 0,
        );
        return (
          last?.body?.$case === "signerEventBody" &&
          last.body.value.eventType === SignerEventType.SIGNER_EVENT_TYPE_ADD
        );
      });
    },
  };
}

function mapConfirmed<A, B>(confirmed: Confirmed<A>, map: (value: A) => B): Confirmed<B> {
  return confirmed.isConfirmed ? { isConfirmed: true, value: map(confirmed.value) } : confirmed;
}
