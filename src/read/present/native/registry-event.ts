import {
  IdRegisterEventType,
  type OnChainEvent,
  SignerEventType,
} from "../../../protocol/wire/generated/on-chain.ts";
import { hex } from "../../hydrate/casts.ts";

/** Presents a Signer event; undefined for an event of another kind. A removal has neither key type nor metadata. */
export function presentSignerEvent({ fid, blockNumber, blockTimestamp, body }: OnChainEvent) {
  if (body?.$case !== "signerEventBody") return undefined;
  return {
    object: "signer" as const,
    fid,
    event_type: signerEventType(body.value.eventType),
    block_number: blockNumber,
    block_timestamp: blockTimestamp,
    signer_key: hex(body.value.key),
    key_type: body.value.keyType,
    metadata_type: body.value.metadataType,
  };
}

export type SignerEvent = NonNullable<ReturnType<typeof presentSignerEvent>>;

/** Presents an id-registry event; undefined for an event of another kind. Absent addresses are null. */
export function presentIdRegistryEvent({ fid, blockNumber, blockTimestamp, body }: OnChainEvent) {
  if (body?.$case !== "idRegisterEventBody") return undefined;
  return {
    object: "id_registry_event" as const,
    fid,
    event_type: idRegisterEventType(body.value.eventType),
    block_number: blockNumber,
    block_timestamp: blockTimestamp,
    from: addressOrNull(body.value.from),
    to: addressOrNull(body.value.to),
    recovery_address: addressOrNull(body.value.recoveryAddress),
  };
}

export type IdRegistryEvent = NonNullable<ReturnType<typeof presentIdRegistryEvent>>;

const SNAKE_CASE = { Register: "register", Transfer: "transfer", ChangeRecovery: "change_recovery" } as const;

/** Presents an id-registry event for the batch reads. */
export function presentIdRegistration(event: OnChainEvent) {
  const presented = presentIdRegistryEvent(event);
  if (!presented) return undefined;
  return {
    from: presented.from,
    to: presented.to,
    timestamp: presented.block_timestamp,
    event_type: SNAKE_CASE[presented.event_type],
  };
}

export type IdRegistration = NonNullable<ReturnType<typeof presentIdRegistration>>;

function addressOrNull(bytes: Uint8Array): `0x${string}` | null {
  return bytes.length === 0 ? null : hex(bytes);
}

function signerEventType(type: SignerEventType): "add" | "remove" | "admin_reset" {
  switch (type) {
    case SignerEventType.SIGNER_EVENT_TYPE_REMOVE:
      return "remove";
    case SignerEventType.SIGNER_EVENT_TYPE_ADMIN_RESET:
      return "admin_reset";
    default:
      return "add";
  }
}

function idRegisterEventType(type: IdRegisterEventType): keyof typeof SNAKE_CASE {
  switch (type) {
    case IdRegisterEventType.ID_REGISTER_EVENT_TYPE_TRANSFER:
      return "Transfer";
    case IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY:
      return "ChangeRecovery";
    default:
      return "Register";
  }
}
