import type { ThreadRoot } from "../../db/index/project/casts.ts";
import type { ChannelChange } from "../../protocol/channels/change.ts";
import { slotOf } from "../../protocol/message/merge-rules.ts";
import type { SignedMessage } from "../../protocol/message/signed-message.ts";

/** A message that was added to or removed from a slot, with its stored bytes. */
export interface ChangedMessage {
  readonly message: SignedMessage;
  readonly bytes: Uint8Array;
  /** The thread of a removed cast. It cannot be determined after the removal. */
  readonly root: ThreadRoot | undefined;
}

/** The messages in a slot before and after an operation. */
export interface SlotChange {
  readonly before: ChangedMessage | undefined;
  readonly after: ChangedMessage | undefined;
}

/** A change of a channel, with what identifies it on every node that applies the same decisions. */
export interface TrackedChange {
  readonly change: ChannelChange;
  readonly reference: string;
}

interface Step extends ChangedMessage {
  readonly isAdded: boolean;
}

/**
 * Tracks what one operation of the writer changes in the network's state. An operation may remove a message that it added
 * itself, so the changes are known only at its end. Operations that are history are not tracked.
 */
export class ChangeTracker {
  readonly #steps: Step[] = [];
  readonly #createdUsers = new Set<number>();
  readonly #updatedUsers = new Set<number>();
  readonly #channels: TrackedChange[] = [];
  #isTracking = false;

  /** Starts a new operation and discards the previous one. Changes are tracked unless it `isHistory`. */
  start(isHistory: boolean): void {
    this.#isTracking = !isHistory;
    this.#steps.length = 0;
    // Clearing an empty set is not free, and this runs for every message.
    if (this.#createdUsers.size > 0) this.#createdUsers.clear();
    if (this.#updatedUsers.size > 0) this.#updatedUsers.clear();
    this.#channels.length = 0;
  }

  get isTracking(): boolean {
    return this.#isTracking;
  }

  trackAdded(message: SignedMessage, bytes: Uint8Array): void {
    if (this.#isTracking) this.#steps.push({ message, bytes, root: undefined, isAdded: true });
  }

  trackRemoved(message: SignedMessage, bytes: Uint8Array, root: ThreadRoot | undefined): void {
    if (this.#isTracking) this.#steps.push({ message, bytes, root, isAdded: false });
  }

  /** Tracks that the fid was registered. */
  trackUserCreated(fid: number): void {
    if (this.#isTracking) this.#createdUsers.add(fid);
  }

  /** Tracks a change of an fid's property that is not in a message: its custody, its tier or its fname. */
  trackUserUpdated(fid: number): void {
    if (this.#isTracking) this.#updatedUsers.add(fid);
  }

  /** Tracks a change of a registered channel. */
  trackChannel(change: TrackedChange): void {
    if (this.#isTracking) this.#channels.push(change);
  }

  get channels(): readonly TrackedChange[] {
    return this.#channels;
  }

  get createdUsers(): ReadonlySet<number> {
    return this.#createdUsers;
  }

  get updatedUsers(): ReadonlySet<number> {
    return this.#updatedUsers;
  }

  /** Returns the slots whose message changed, in the order in which the operation first changed them. */
  slots(): SlotChange[] {
    const slots = new Map<string, SlotChange>();
    for (const step of this.#steps) {
      const key = slotKey(step.message);
      const known = slots.get(key);
      const change = changeOf(step);
      slots.set(key, known ? { before: known.before, after: change.after } : change);
    }
    return [...slots.values()].filter(({ before, after }) => !isSame(before, after));
  }
}

function changeOf(step: Step): SlotChange {
  return step.isAdded ? { before: undefined, after: step } : { before: step, after: undefined };
}

function slotKey(message: SignedMessage): string {
  const { store, slot } = slotOf(message);
  return `${message.data.fid} ${store} ${slot.toHex()}`;
}

function isSame(before: ChangedMessage | undefined, after: ChangedMessage | undefined): boolean {
  if (!before || !after) return before === after;
  return Buffer.compare(before.message.hash, after.message.hash) === 0;
}
