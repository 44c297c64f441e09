import { invalid, type Rejection } from "../../rejection.ts";
import { FarcasterNetwork } from "../../wire/generated/message.ts";
import {
  type ChannelRegisterEventBody,
  type IdRegisterEventBody,
  IdRegisterEventType,
  type OnChainEvent,
  OnChainEventType,
  type SignerEventBody,
  SignerEventType,
  type StorageRentEventBody,
  type TierPurchaseBody,
  TierType,
} from "../../wire/generated/on-chain.ts";
import { checkFid, MAX_CLOCK_SKEW_SECS, MAX_EVENT_UNIX_SECS, utf8Length } from "../fields.ts";
import { KEY_TYPE_AUTH_ADDRESS, KEY_TYPE_ED25519 } from "./gasless-key.ts";

const OPTIMISM_CHAIN_ID = 10;
const BASE_CHAIN_ID = 8453;

const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;

const ED25519_KEY_BYTES = 32;
/** Size limit for keys of other kinds, because the contract accepts any bytes. */
const MAX_KEY_BYTES = 1024;
const MAX_METADATA_BYTES = 4096;
const MAX_CHANNEL_KEY_BYTES = 4096;

/** A hundred years, so that sums of purchases stay exact integers. */
const MAX_TIER_DAYS = 36_500;

/**
 * Validates the structure of an on-chain event: its body belongs to its type, and the fields from which state is derived
 * have possible values. Does not check that the chain contains the event. Chain ids are fixed on mainnet.
 */
export function validateOnChainEvent(event: OnChainEvent, network: FarcasterNetwork): Rejection | undefined {
  return (
    checkSize(event.blockHash, HASH_BYTES, "block_hash") ??
    checkSize(event.transactionHash, HASH_BYTES, "transaction_hash") ??
    checkTime(event.blockTimestamp) ??
    checkChain(event, network) ??
    validateBody(event)
  );
}

/**
 * Checks that an event is not in the future. Storage and Pro tiers run from its time, and the latest registration decides
 * who has an fid.
 */
export function checkNotInFuture(
  { blockTimestamp }: Pick<OnChainEvent, "blockTimestamp">,
  nowUnixSecs: number,
): Rejection | undefined {
  return blockTimestamp <= nowUnixSecs + MAX_CLOCK_SKEW_SECS
    ? undefined
    : invalid(`block_timestamp is more than ${MAX_CLOCK_SKEW_SECS} seconds in the future`);
}

function validateBody({ type, fid, body }: OnChainEvent): Rejection | undefined {
  if (type === OnChainEventType.EVENT_TYPE_SIGNER_MIGRATED) {
    return body?.$case === "signerMigratedEventBody" ? undefined : wrongBody();
  }
  if (type === OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER) {
    // It belongs to no fid, and the registrar decides its contents: an unusual event is still an event.
    return body?.$case === "channelRegisterEventBody" ? validateChannelRegister(body.value) : wrongBody();
  }
  const rejection = checkFid(fid, "fid");
  if (rejection) return rejection;
  switch (type) {
    case OnChainEventType.EVENT_TYPE_SIGNER:
      return body?.$case === "signerEventBody" ? validateSigner(body.value) : wrongBody();
    case OnChainEventType.EVENT_TYPE_ID_REGISTER:
      return body?.$case === "idRegisterEventBody" ? validateIdRegister(body.value) : wrongBody();
    case OnChainEventType.EVENT_TYPE_STORAGE_RENT:
      return body?.$case === "storageRentEventBody" ? validateStorageRent(body.value) : wrongBody();
    case OnChainEventType.EVENT_TYPE_TIER_PURCHASE:
      return body?.$case === "tierPurchaseEventBody" ? validateTierPurchase(body.value) : wrongBody();
    default:
      return invalid("event type is unknown");
  }
}

/**
 * Validates a signer event. An auth address whose key is not an address is a valid event without effect (see
 * `auth-address.ts`). REMOVE and ADMIN_RESET have no key type, so their key may be of either type.
 */
function validateSigner(body: SignerEventBody): Rejection | undefined {
  if (body.metadata.length > MAX_METADATA_BYTES) {
    return invalid(`metadata is larger than ${MAX_METADATA_BYTES} bytes`);
  }
  switch (body.eventType) {
    case SignerEventType.SIGNER_EVENT_TYPE_ADD:
      if (body.keyType === KEY_TYPE_ED25519) return checkSize(body.key, ED25519_KEY_BYTES, "key");
      return body.keyType === KEY_TYPE_AUTH_ADDRESS
        ? checkKeyBounds(body.key)
        : invalid("key_type is unknown");
    case SignerEventType.SIGNER_EVENT_TYPE_REMOVE:
    case SignerEventType.SIGNER_EVENT_TYPE_ADMIN_RESET:
      return checkKeyBounds(body.key);
    default:
      return invalid("signer event type is unknown");
  }
}

function checkKeyBounds({ length }: Uint8Array): Rejection | undefined {
  return length >= 1 && length <= MAX_KEY_BYTES
    ? undefined
    : invalid(`key must be 1 to ${MAX_KEY_BYTES} bytes`);
}

function validateIdRegister(body: IdRegisterEventBody): Rejection | undefined {
  switch (body.eventType) {
    case IdRegisterEventType.ID_REGISTER_EVENT_TYPE_REGISTER:
    case IdRegisterEventType.ID_REGISTER_EVENT_TYPE_TRANSFER:
      return (
        checkSize(body.to, ADDRESS_BYTES, "to") ??
        checkOptionalAddress(body.from, "from") ??
        checkOptionalAddress(body.recoveryAddress, "recovery_address")
      );
    case IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY:
      return checkSize(body.recoveryAddress, ADDRESS_BYTES, "recovery_address");
    default:
      return invalid("id register event type is unknown");
  }
}

function validateStorageRent(body: StorageRentEventBody): Rejection | undefined {
  return body.units >= 1 ? checkOptionalAddress(body.payer, "payer") : invalid("units must be at least 1");
}

function validateTierPurchase(body: TierPurchaseBody): Rejection | undefined {
  if (body.tierType !== TierType.TIER_TYPE_PRO) return invalid("tier type is unknown");
  return body.forDays >= 1 && body.forDays <= MAX_TIER_DAYS
    ? checkOptionalAddress(body.payer, "payer")
    : invalid(`for_days must be 1 to ${MAX_TIER_DAYS}`);
}

/** Validates a channel registration. Only sizes are limited. */
function validateChannelRegister({
  channelKey,
  ownerAddress,
  label,
}: ChannelRegisterEventBody): Rejection | undefined {
  if (utf8Length(channelKey) > MAX_CHANNEL_KEY_BYTES)
    return invalid(`channel_key is longer than ${MAX_CHANNEL_KEY_BYTES} bytes`);
  if (ownerAddress.length > MAX_KEY_BYTES || label.length > MAX_KEY_BYTES)
    return invalid(`owner_address and label must have at most ${MAX_KEY_BYTES} bytes`);
  return undefined;
}

function checkChain(event: OnChainEvent, network: FarcasterNetwork): Rejection | undefined {
  if (network !== FarcasterNetwork.FARCASTER_NETWORK_MAINNET) return undefined;
  // The chain of the registrar is not fixed yet.
  if (event.type === OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER) return undefined;
  const chainId =
    event.type === OnChainEventType.EVENT_TYPE_TIER_PURCHASE ? BASE_CHAIN_ID : OPTIMISM_CHAIN_ID;
  return event.chainId === chainId ? undefined : invalid(`chain_id must be ${chainId} for this event`);
}

function checkTime(unixSecs: number): Rejection | undefined {
  return unixSecs >= 1 && unixSecs <= MAX_EVENT_UNIX_SECS
    ? undefined
    : invalid("block_timestamp is not a time");
}

function checkSize(bytes: Uint8Array, size: number, field: string): Rejection | undefined {
  return bytes.length === size ? undefined : invalid(`${field} must be ${size} bytes`);
}

function checkOptionalAddress(bytes: Uint8Array, field: string): Rejection | undefined {
  return bytes.length === 0 ? undefined : checkSize(bytes, ADDRESS_BYTES, field);
}

function wrongBody(): Rejection {
  return invalid("body does not belong to the event type");
}
