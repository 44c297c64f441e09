import { decodeRecord, validateRecord } from "../../ingest/record.ts";
import {
  type DecodeMessage,
  decodeMessage,
  type SignedMessage,
} from "../../protocol/message/signed-message.ts";
import type { Rejection } from "../../protocol/rejection.ts";
import { checkNotInFuture } from "../../protocol/validate/chain/on-chain-event.ts";
import { validateMessage } from "../../protocol/validate/message.ts";
import { validateLiveProof } from "../../protocol/validate/username-proof.ts";
import type { FarcasterNetwork, UserNameProof } from "../../protocol/wire/generated/message.ts";
import type { OnChainEvent } from "../../protocol/wire/generated/on-chain.ts";
import type { Scope } from "../scope.ts";

/** The rules by which records of the upstream are checked. */
export interface RelayRules {
  readonly network: FarcasterNetwork;
  /** The address that signs fnames; undefined if they need no signature. */
  readonly nameServer: Uint8Array | undefined;
  readonly nowUnixSecs: number;
  readonly scope: Scope;
  /** Number of data shards. */
  readonly shards: number;
  /** See `Peer`. */
  readonly hasBlockShard: boolean;
  /** Whether the events of blocks are written to the log of hub events. */
  readonly logsHubEvents: boolean;
  /** Called for a record that breaks the protocol's rules. It is skipped. */
  readonly onRefused: (rejection: Rejection) => void;
}

/**
 * Decodes a message and applies every rule that depends only on it, including its signature: the upstream is trusted for the
 * effect of a message on the network's state, but not for who signed it. Returns undefined for a message that breaks a rule,
 * and for one that `isRequested` rejects, which is not validated.
 */
export function validateRelayed(
  { network, nowUnixSecs, onRefused }: RelayRules,
  bytes: Uint8Array,
  isRequested: (message: SignedMessage) => boolean,
  decode: DecodeMessage = decodeMessage,
): SignedMessage | undefined {
  const decoded = decode(bytes);
  if (!decoded.ok) {
    onRefused(decoded.error);
    return undefined;
  }
  const message = decoded.value;
  if (!isRequested(message)) return undefined;
  const refusal = validateMessage(message, { network, nowUnixSecs, isHistory: true });
  if (refusal) onRefused(refusal);
  return refusal ? undefined : message;
}

/** Returns the on-chain event in `bytes`, or undefined if it breaks a rule. No chain is asked whether it has the event. */
export function validatedEvent(rules: RelayRules, bytes: Uint8Array): OnChainEvent | undefined {
  const record = decodeRecord({ kind: "onChainEvent", bytes });
  const event = record.ok && record.value.kind === "onChainEvent" ? record.value.event : undefined;
  const refusal = record.ok
    ? (validateRecord(record.value, rules) ?? (event && checkNotInFuture(event, rules.nowUnixSecs)))
    : record.error;
  if (refusal) rules.onRefused(refusal);
  return refusal ? undefined : event;
}

/** Returns the username proof in `bytes`, of any type, or undefined if it breaks a rule. An fname must have been signed. */
export function validatedProof(rules: RelayRules, bytes: Uint8Array): UserNameProof | undefined {
  const record = decodeRecord({ kind: "usernameProof", bytes });
  if (!record.ok) rules.onRefused(record.error);
  if (!record.ok || record.value.kind !== "usernameProof") return undefined;
  const { proof } = record.value;
  const refusal = validateLiveProof(proof, rules.nameServer);
  if (refusal) rules.onRefused(refusal);
  return refusal ? undefined : proof;
}
