import { findSlot, type StoredSlot } from "../../db/index/channels/slots.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type { StoredMessage } from "../../db/index/project/stored-message.ts";
import { findStored } from "../../ingest/merge/find-stored.ts";
import { decodeStored } from "../../ingest/merge/message-store.ts";
import { presenceOf } from "../../ingest/merge/presence.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import {
  type ChannelSlot,
  ChannelSlotKind,
  channelSlotOf,
  SlotState,
} from "../../protocol/channels/slots.ts";
import { Kind, type MessageSlot, Store, slotOf } from "../../protocol/message/merge-rules.ts";
import { decodeMessage } from "../../protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../../protocol/time.ts";
import type { FarcasterNetwork, MessageData } from "../../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { WriteRefusal } from "../outcome.ts";
import { SETTINGS_CHANGED, TOO_FAR_AHEAD } from "../refusals.ts";
import type { UnsignedBody } from "../rpc.ts";
import type { WriteStore } from "../store/write-store.ts";

/** The network refuses messages that are further ahead of its time. */
const MAX_AHEAD_SECS = 300;

/** The stores in which the later of two messages in the same slot wins. */
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
  readonly store: Pick<WriteStore, "takeTimes" | "signedAt" | "queuedOf">;
}

/** What to do for a body: sign data with a time, or nothing, because the network already has it. */
export type Timed =
  | { readonly kind: "data"; readonly data: MessageData }
  | { readonly kind: "unchanged"; readonly hash: Uint8Array };

/** A message before it has its time. */
interface Plan {
  readonly body: UnsignedBody;
  /** See `clockSlot`. */
  readonly clockSlot: Uint8Array;
  /** Whether its time must be later than those of its slot. */
  readonly isClocked: boolean;
  /** The time of the current message in its slot, Farcaster seconds; -1 if there is none. */
  readonly heldAt: number;
  /** Whether the network is already in the state that the message would produce. */
  readonly isReached: boolean;
  readonly heldHash: () => Uint8Array;
}

/**
 * Assigns times to the messages of one fid: now, or one second after the message that is in their slot or was signed for it and is still
 * pending, so that a fast sequence of like, unlike, like ends with a like. No part of a request sets a time. `admit` is called before
 * with the number of messages.
 */
export function createTiming({ db, network, clock, store }: TimingDeps) {
  const dataOf = (fid: number, { type, body }: UnsignedBody, timestamp: number): MessageData => ({
    type,
    fid,
    timestamp,
    network,
    body,
  });

  function planOf(fid: number, body: UnsignedBody, now: number): Plan {
    const data = dataOf(fid, body, now);
    const channelSlot = channelSlotOf(data);
    if (channelSlot) {
      const held = { slot: channelSlot, stored: findSlot(db, channelSlot) };
      // Shard 0 does not compare times. Those of this user increase, so that no two of their messages are identical.
      const heldAt = held.stored?.authorFid === fid ? held.stored.timestamp : -1;
      const clockSlot = clockSlotOf(channelSlot);
      const isReached = isChannelAs(held);
      return {
        body,
        clockSlot,
        isClocked: true,
        heldAt,
        isReached,
        heldHash: () => hashOfHeld(held),
      };
    }
    const slot = slotOf({ data, hash: NO_HASH });
    const held =
      data.body?.$case === "castAddBody"
        ? undefined
        : findStored(db, network, { fid, store: slot.store, slot: slot.slot });
    return {
      body,
      clockSlot: clockSlot(slot),
      isClocked: CLOCKED.has(slot.store),
      heldAt: held?.timestamp ?? -1,
      isReached: isReached(body, slot, held),
      heldHash: () => held?.hash ?? NO_HASH,
    };
  }

  /** Reports whether settings of channels were composed from the current ones. */
  async function areCurrent(fid: number, bodies: readonly UnsignedBody[]): Promise<boolean> {
    const settings = bodies.filter(({ basis }) => basis !== undefined);
    if (settings.length === 0) return true;
    const queued = await store.queuedOf(fid, ChannelSlotKind.Settings);
    return settings.every((body) => isBasisCurrent(db, network, body, queued));
  }

  return async (
    fid: number,
    bodies: readonly UnsignedBody[],
    admit: (messages: number) => Promise<Result<undefined, WriteRefusal>>,
  ): Promise<Result<readonly Timed[], WriteRefusal>> => {
    const now = toFarcasterSecs(nowSecs(clock));
    if (!(await areCurrent(fid, bodies))) return err(SETTINGS_CHANGED);
    const planned = bodies.map((body) => planOf(fid, body, now));
    const signedAt = await store.signedAt(
      fid,
      planned.map(({ clockSlot }) => clockSlot),
    );
    const changing = planned.filter(({ isClocked, isReached, heldAt }, at) => {
      // A newer message is pending, so the content of the index is not what the user will finally see.
      const isUnderWay = isClocked && (signedAt[at] ?? -1) > heldAt;
      return isUnderWay || !isReached;
    });
    // A refused write takes no time; otherwise repeating it would push its slot ahead.
    const admitted = await admit(changing.length);
    if (!admitted.ok) return admitted;
    const clocked = changing.filter(({ isClocked }) => isClocked);
    const times =
      clocked.length === 0
        ? []
        : await store.takeTimes(
            fid,
            clocked.map(({ clockSlot: slot, heldAt }) => ({ slot, heldAt })),
            now,
            MAX_AHEAD_SECS,
          );
    if (!times) return err(TOO_FAR_AHEAD);
    return ok(
      planned.map((plan): Timed => {
        if (!changing.includes(plan)) return { kind: "unchanged", hash: plan.heldHash() };
        const time = times[clocked.indexOf(plan)] ?? now;
        return { kind: "data", data: dataOf(fid, plan.body, time) };
      }),
    );
  };
}

/** Returns the key of a slot among the clocks of its fid. */
function clockSlot({ store, slot }: MessageSlot): Uint8Array {
  return Buffer.concat([Uint8Array.of(store), slot]);
}

/** Reports whether the network is already in the state that the body would produce. */
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

/** The channel slot that a write takes, and its current content. */
interface HeldChannelSlot {
  readonly slot: ChannelSlot;
  readonly stored: StoredSlot | undefined;
}

/** Returns the key of a slot among a user's clocks: kinds of slots are greater than the numbers of stores. */
function clockSlotOf({ kind, channelId, target }: ChannelSlot): Uint8Array {
  return Buffer.concat([Uint8Array.of(kind), channelId, target]);
}

/**
 * Reports whether a channel is already in the state that a write would produce, so that it needs no message. Changes of members are
 * always left to the network.
 */
function isChannelAs({ slot, stored }: HeldChannelSlot): boolean {
  switch (slot.kind) {
    case ChannelSlotKind.Member:
      return false;
    case ChannelSlotKind.Moderation:
      return (stored?.state ?? SlotState.Off) === slot.state;
    case ChannelSlotKind.Pin:
      return (stored?.state ?? SlotState.Off) === slot.state && hasDetail(stored, slot);
    case ChannelSlotKind.Settings:
      return stored !== undefined && hasDetail(stored, slot);
  }
}

function hasDetail(stored: StoredSlot | undefined, { detail }: ChannelSlot): boolean {
  return Buffer.compare(stored?.detail ?? NONE, detail ?? NONE) === 0;
}

const NONE = new Uint8Array();

/** Returns the hash of the message in a slot; empty if there is none, or its message is unknown. */
function hashOfHeld({ stored }: HeldChannelSlot): Uint8Array {
  return stored?.message ? decodeStored(stored.message).hash : NONE;
}

/** Reports whether the settings from which a body was composed are those of the index, and no other change of this user is pending. */
function isBasisCurrent(
  db: IndexDatabase,
  network: FarcasterNetwork,
  { body, basis }: UnsignedBody,
  queued: readonly Uint8Array[],
): boolean {
  const slot = channelSlotOf({ body });
  if (!slot || basis === undefined) return true;
  if ((findSlot(db, slot)?.seqnum ?? null) !== basis) return false;
  return !queued.some((bytes) => {
    const message = decodeMessage(bytes);
    if (!message.ok) return false;
    const other = channelSlotOf(message.value.data);
    const isSame = other !== undefined && Buffer.compare(other.channelId, slot.channelId) === 0;
    return isSame && presenceOf(db, network, message.value) === "absent";
  });
}
