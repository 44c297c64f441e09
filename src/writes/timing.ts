import type { IndexDatabase } from "../db/index/database.ts";
import type { StoredMessage } from "../db/index/project/stored-message.ts";
import { findStored } from "../ingest/merge/find-stored.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { Kind, type MessageSlot, Store, slotOf } from "../protocol/message/merge-rules.ts";
import { toFarcasterSecs } from "../protocol/time.ts";
import type { FarcasterNetwork, MessageData } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { WriteRefusal } from "./outcome.ts";
import { TOO_FAR_AHEAD } from "./refusals.ts";
import type { UnsignedBody } from "./rpc.ts";
import type { WriteStore } from "./store/write-store.ts";

/** The network refuses messages that are further ahead of its time. */
const MAX_AHEAD_SECS = 300;

/** The stores in which the later of two messages of one slot wins. */
const CLOCKED: ReadonlySet<Store> = new Set([
  Store.Reactions,
  Store.Links,
  Store.UserData,
  Store.Verifications,
]);

const NO_HASH = new Uint8Array();

export interface TimingDeps {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  readonly store: Pick<WriteStore, "takeTimes" | "signedAt">;
}

/** What to do for a body: sign data with a time, or nothing, because the network has it already. */
export type Timed =
  | { readonly kind: "data"; readonly data: MessageData }
  | { readonly kind: "unchanged"; readonly hash: Uint8Array };

/**
 * Gives messages of one fid their times: now, or one second after the message that their slot holds, or that was signed for it
 * and is under way, so that a fast sequence of like, unlike, like ends with a like. No part of a request sets a time.
 * `admit` is asked before with the number of messages that there will be.
 */
export function createTiming({ db, network, clock, store }: TimingDeps) {
  const dataOf = (fid: number, { type, body }: UnsignedBody, timestamp: number): MessageData => ({
    type,
    fid,
    timestamp,
    network,
    body,
  });

  return async (
    fid: number,
    bodies: readonly UnsignedBody[],
    admit: (messages: number) => Promise<Result<undefined, WriteRefusal>>,
  ): Promise<Result<readonly Timed[], WriteRefusal>> => {
    const now = toFarcasterSecs(nowSecs(clock));
    const planned = bodies.map((body) => {
      const data = dataOf(fid, body, now);
      const slot = slotOf({ data, hash: NO_HASH });
      const held =
        data.body?.$case === "castAddBody"
          ? undefined
          : findStored(db, network, { fid, store: slot.store, slot: slot.slot });
      return { body, data, slot, held, clockSlot: clockSlot(slot) };
    });
    const signedAt = await store.signedAt(
      fid,
      planned.map(({ clockSlot }) => clockSlot),
    );
    const changing = planned.filter(({ body, slot, held }, at) => {
      // A newer message is under way: what the index holds is not what the user sees at the end.
      const isUnderWay = CLOCKED.has(slot.store) && (signedAt[at] ?? -1) > (held?.timestamp ?? -1);
      return isUnderWay || !isReached(body, slot, held);
    });
    // A refused write takes no time, else repeating it would push its slot ahead.
    const admitted = await admit(changing.length);
    if (!admitted.ok) return admitted;
    const clocked = changing.filter(({ slot }) => CLOCKED.has(slot.store));
    const times =
      clocked.length === 0
        ? []
        : await store.takeTimes(
            fid,
            clocked.map(({ clockSlot: slot, held }) => ({ slot, heldAt: held?.timestamp ?? -1 })),
            now,
            MAX_AHEAD_SECS,
          );
    if (!times) return err(TOO_FAR_AHEAD);
    return ok(
      planned.map((plan): Timed => {
        if (!changing.includes(plan)) return { kind: "unchanged", hash: plan.held?.hash ?? NO_HASH };
        const time = times[clocked.indexOf(plan)] ?? now;
        return { kind: "data", data: dataOf(fid, plan.body, time) };
      }),
    );
  };
}

/** The key of a slot among the clocks of its fid. */
function clockSlot({ store, slot }: MessageSlot): Uint8Array {
  return Buffer.concat([Uint8Array.of(store), slot]);
}

/** Whether the network is as the body would make it. */
function isReached(
  { body }: UnsignedBody,
  { store, kind }: MessageSlot,
  held: StoredMessage | undefined,
): boolean {
  if (kind === Kind.Remove) return held === undefined ? store !== Store.Casts : held.kind === Kind.Remove;
  if (held?.kind !== Kind.Add) return false;
  switch (store) {
    case Store.Reactions:
    case Store.Links:
      return true;
    case Store.UserData: {
      const current = held.message.data.body;
      return (
        body.$case === "userDataBody" &&
        current?.$case === "userDataBody" &&
        current.value.value === body.value.value
      );
    }
    default:
      return false;
  }
}
