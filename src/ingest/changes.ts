import type { ThreadRoot } from "../db/index/project/casts.ts";
import { positionOf } from "../protocol/merge-rules.ts";
import type { SignedMessage } from "../protocol/signed-message.ts";

/** A message that entered or left a slot, with the bytes that the node stores. */
export interface ChangedMessage {
  readonly message: SignedMessage;
  readonly bytes: Uint8Array;
  /** For a cast that left: the thread that it stood in, which nothing remembers once it is gone. */
  readonly root: ThreadRoot | undefined;
}

/** What holds a slot before and after an operation. */
export interface SlotChange {
  readonly before: ChangedMessage | undefined;
  readonly after: ChangedMessage | undefined;
}

interface Step extends ChangedMessage {
  readonly entered: boolean;
}

/**
 * What one operation of the writer does to the network's state, noted while it does it. An operation may take a message
 * that it put a moment before, so what has changed is known at its end alone. Nothing is noted of history.
 */
export class Changes {
  readonly #steps: Step[] = [];
  readonly #createdUsers = new Set<number>();
  readonly #updatedUsers = new Set<number>();
  #isNoting = false;

  /** Forgets the operation before; notes the coming one unless it `isHistory`. */
  begin(isHistory: boolean): void {
    this.#isNoting = !isHistory;
    this.#steps.length = 0;
    this.#createdUsers.clear();
    this.#updatedUsers.clear();
  }

  get isNoting(): boolean {
    return this.#isNoting;
  }

  noteEntered(message: SignedMessage, bytes: Uint8Array): void {
    if (this.#isNoting) this.#steps.push({ message, bytes, root: undefined, entered: true });
  }

  noteLeft(message: SignedMessage, bytes: Uint8Array, root: ThreadRoot | undefined): void {
    if (this.#isNoting) this.#steps.push({ message, bytes, root, entered: false });
  }

  /** An fid was registered. */
  noteUserCreated(fid: number): void {
    if (this.#isNoting) this.#createdUsers.add(fid);
  }

  /** Something that no message holds changed about an fid: its custody, its tier, its fname. */
  noteUserUpdated(fid: number): void {
    if (this.#isNoting) this.#updatedUsers.add(fid);
  }

  get createdUsers(): ReadonlySet<number> {
    return this.#createdUsers;
  }

  get updatedUsers(): ReadonlySet<number> {
    return this.#updatedUsers;
  }

  /** The slots that hold another message than before, in the order in which they were first touched. */
  slots(): SlotChange[] {
    const [first, ...others] = this.#steps;
    if (first && others.length === 0) return [first.entered ? entry(first) : exit(first)];
    const slots = new Map<string, SlotChange>();
    for (const step of this.#steps) {
      const key = slotKey(step.message);
      const known = slots.get(key);
      const change = step.entered ? entry(step) : exit(step);
      slots.set(key, known ? { before: known.before, after: change.after } : change);
    }
    return [...slots.values()].filter(({ before, after }) => !isSame(before, after));
  }
}

const entry = (after: ChangedMessage): SlotChange => ({ before: undefined, after });
const exit = (before: ChangedMessage): SlotChange => ({ before, after: undefined });

function slotKey(message: SignedMessage): string {
  const { store, slot } = positionOf(message);
  return `${message.data.fid} ${store} ${slot.toHex()}`;
}

function isSame(before: ChangedMessage | undefined, after: ChangedMessage | undefined): boolean {
  if (!before || !after) return before === after;
  return Buffer.compare(before.message.hash, after.message.hash) === 0;
}
