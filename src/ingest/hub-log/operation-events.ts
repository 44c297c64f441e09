import type { HubLogEvent } from "../../db/index/log/hub-log.ts";
import { encodeMessage, type SignedMessage } from "../../protocol/message/signed-message.ts";
import { HubEventType } from "../../protocol/wire/generated/hub.ts";
import { UserNameProof } from "../../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../protocol/wire/generated/on-chain.ts";
import { FollowedEvent } from "../../protocol/wire/generated/upstream.ts";

/**
 * Why a message is no longer live: another message took its place, a compact state does not list it, something it depended
 * on was removed, or its store is full.
 */
export type RemovalReason = "displaced" | "compacted" | "revoked" | "pruned";

/** A hub event without its id. */
export type NewHubEvent = Omit<HubLogEvent, "id">;

interface Removed {
  readonly reason: RemovalReason;
  readonly message: SignedMessage;
}

/** An fname transfer: the live proof, and the previous one. */
interface Transfer {
  readonly proof: UserNameProof;
  readonly deleted: UserNameProof | undefined;
}

/**
 * Collects the hub events of the operations in one transaction. An operation merges one record. What it removes is reported
 * while it runs; at its end, its events are put in the order of the protocol: the merge, then revokes, then prunes.
 */
export class OperationEvents {
  #merged: SignedMessage | undefined;
  #transfer: Transfer | undefined;
  #chainEvent: OnChainEvent | undefined;
  readonly #removed: Removed[] = [];
  readonly #events: NewHubEvent[] = [];
  /** The hashes of the links that the transaction has merged. */
  readonly #links = new Set<string>();
  #isOn = false;

  /** Starts a transaction. Nothing is collected unless `isOn`. */
  startTransaction(isOn: boolean): void {
    this.#isOn = isOn;
    this.#events.length = 0;
    this.#links.clear();
    this.#clear();
  }

  /** Whether events are collected. */
  get isOn(): boolean {
    return this.#isOn;
  }

  merged(message: SignedMessage): void {
    if (!this.#isOn) return;
    this.#merged = message;
    if (message.data.body?.$case === "linkBody") this.#links.add(message.hash.toHex());
  }

  /**
   * Reports a removed message. Readers apply a compact state to the links of earlier blocks themselves, but keep a link of
   * the same block, so the removal of such a link is reported.
   */
  removed(reason: RemovalReason, message: SignedMessage): void {
    if (!this.#isOn) return;
    if (reason !== "compacted") this.#removed.push({ reason, message });
    else if (this.#links.has(message.hash.toHex())) this.#removed.push({ reason: "revoked", message });
  }

  transferred(proof: UserNameProof, deleted: UserNameProof | undefined): void {
    if (this.#isOn) this.#transfer = { proof, deleted };
  }

  happenedOnChain(event: OnChainEvent): void {
    if (this.#isOn) this.#chainEvent = event;
  }

  endOperation(): void {
    const displaced = this.#removedBy("displaced");
    if (this.#chainEvent) this.#events.push(chainEventOf(this.#chainEvent));
    if (this.#transfer) this.#events.push(transferOf(this.#transfer));
    if (this.#merged) this.#events.push(mergeOf(this.#merged, displaced));
    for (const message of this.#removedBy("revoked")) this.#events.push(removalOf("revoke", message));
    for (const message of this.#removedBy("pruned")) this.#events.push(removalOf("prune", message));
    this.#clear();
  }

  /** Returns the events of the transaction. */
  take(): readonly NewHubEvent[] {
    return [...this.#events];
  }

  #removedBy(reason: RemovalReason): SignedMessage[] {
    return this.#removed.filter((one) => one.reason === reason).map(({ message }) => message);
  }

  #clear(): void {
    this.#merged = undefined;
    this.#transfer = undefined;
    this.#chainEvent = undefined;
    this.#removed.length = 0;
  }
}

/** A proof in a message is reported only as a proof, never as a message. */
function mergeOf(message: SignedMessage, displaced: readonly SignedMessage[]): NewHubEvent {
  if (proofIn(message)) return proofEvent(message, displaced[0]);
  const body = {
    $case: "merge" as const,
    value: { message: encodeMessage(message), deletedMessages: displaced.map(encodeMessage) },
  };
  return newEvent(HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE, message.data.fid, body);
}

function removalOf(kind: "prune" | "revoke", message: SignedMessage): NewHubEvent {
  if (proofIn(message)) return proofEvent(undefined, message);
  const type =
    kind === "prune" ? HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE : HubEventType.HUB_EVENT_TYPE_REVOKE_MESSAGE;
  return newEvent(type, message.data.fid, { $case: kind, value: { message: encodeMessage(message) } });
}

function proofEvent(added: SignedMessage | undefined, removed: SignedMessage | undefined): NewHubEvent {
  const proof = added && proofIn(added);
  const deleted = removed && proofIn(removed);
  return newEvent(HubEventType.HUB_EVENT_TYPE_MERGE_USERNAME_PROOF, (proof ?? deleted)?.fid ?? 0, {
    $case: "proofs",
    value: {
      proof: proof && UserNameProof.encode(proof).finish(),
      deletedProof: deleted && UserNameProof.encode(deleted).finish(),
      proofMessage: added && encodeMessage(added),
      deletedProofMessage: removed && encodeMessage(removed),
    },
  });
}

function transferOf({ proof, deleted }: Transfer): NewHubEvent {
  return newEvent(HubEventType.HUB_EVENT_TYPE_MERGE_USERNAME_PROOF, proof.fid, {
    $case: "proofs",
    value: {
      proof: UserNameProof.encode(proof).finish(),
      deletedProof: deleted && UserNameProof.encode(deleted).finish(),
      proofMessage: undefined,
      deletedProofMessage: undefined,
    },
  });
}

function chainEventOf(event: OnChainEvent): NewHubEvent {
  return newEvent(HubEventType.HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT, event.fid, {
    $case: "onChainEvent",
    value: { event: OnChainEvent.encode(event).finish() },
  });
}

function newEvent(type: HubEventType, fid: number, body: HubEventBody): NewHubEvent {
  return { type, fid, body: encodeHubBody(body) };
}

function proofIn({ data }: SignedMessage): UserNameProof | undefined {
  return data.body?.$case === "usernameProofBody" ? data.body.value : undefined;
}

/** The oneof of a hub event, with its messages, proofs and on-chain events as bytes. */
export type HubEventBody = NonNullable<FollowedEvent["body"]>;

/**
 * Encodes the oneof of a `HubEvent` without the other fields, which the wire omits because they have their default values.
 */
export function encodeHubBody(body: HubEventBody): Uint8Array {
  return FollowedEvent.encode({ type: HubEventType.HUB_EVENT_TYPE_NONE, id: 0, body }).finish();
}
