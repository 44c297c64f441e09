import type { GetInfoResponse } from "../../../protocol/wire/generated/hub.ts";
import { OnChainEvent } from "../../../protocol/wire/generated/on-chain.ts";
import type { StorageLimitsResponse } from "../../../protocol/wire/generated/reads.ts";
import { Signer } from "../../../protocol/wire/generated/state.ts";
import {
  base64,
  CHANNEL_REGISTER_EVENT_TYPES,
  hex,
  ID_REGISTER_EVENT_TYPES,
  MESSAGE_TYPES,
  nameOf,
  ON_CHAIN_EVENT_TYPES,
  SIGNER_EVENT_TYPES,
  SIGNER_SOURCES,
  STORE_TYPES,
  TIER_TYPES,
  UNIT_TYPES,
} from "./names.ts";

/** The JSON of on-chain events, keys and limits, key by key like on the reference node. */

/** Returns an encoded on-chain event as JSON. */
export function eventJson(encoded: Uint8Array): object {
  return decodedEventJson(OnChainEvent.decode(encoded));
}

function decodedEventJson(event: OnChainEvent): object {
  const { type, blockHash, transactionHash, body, ...rest } = event;
  return {
    type: nameOf(ON_CHAIN_EVENT_TYPES, type),
    ...rest,
    blockHash: hex(blockHash),
    transactionHash: hex(transactionHash),
    // The reference node has this key in every event.
    tier_purchase_event_body: null,
    ...bodyJson(body),
  };
}

function bodyJson(body: OnChainEvent["body"]): object {
  switch (body?.$case) {
    case "signerEventBody": {
      const { key, keyType, eventType, metadata, metadataType } = body.value;
      return {
        signerEventBody: {
          key: hex(key),
          keyType,
          eventType: nameOf(SIGNER_EVENT_TYPES, eventType),
          metadata: base64(metadata),
          metadataType,
        },
      };
    }
    case "signerMigratedEventBody":
      return { signerMigratedEventBody: body.value };
    case "idRegisterEventBody": {
      const { to, eventType, from, recoveryAddress } = body.value;
      return {
        idRegisterEventBody: {
          to: hex(to),
          eventType: nameOf(ID_REGISTER_EVENT_TYPES, eventType),
          from: hex(from),
          recoveryAddress: hex(recoveryAddress),
        },
      };
    }
    case "storageRentEventBody": {
      const { payer, units, expiry } = body.value;
      return { storageRentEventBody: { payer: hex(payer), units, expiry } };
    }
    case "tierPurchaseEventBody": {
      const { tierType, forDays, payer } = body.value;
      return {
        tier_purchase_event_body: {
          tier_type: nameOf(TIER_TYPES, tierType),
          for_days: forDays,
          payer: hex(payer),
        },
      };
    }
    case "channelRegisterEventBody": {
      const { channelKey, expiry, ownerAddress, eventType, label } = body.value;
      return {
        channelRegisterEventBody: {
          channelKey,
          expiry,
          ownerAddress: hex(ownerAddress),
          eventType: nameOf(CHANNEL_REGISTER_EVENT_TYPES, eventType),
          label: hex(label),
        },
      };
    }
    default:
      return {};
  }
}

/** Returns an encoded `Signer` as JSON. Missing fields have no key. */
export function signerJson(encoded: Uint8Array): object {
  const { source, key, scopes, onchainEvent, ...rest } = Signer.decode(encoded);
  const event = onchainEvent && decodedEventJson(onchainEvent);
  return {
    source: nameOf(SIGNER_SOURCES, source),
    key: hex(key),
    ...rest,
    ...(scopes.length === 0 ? {} : { scopes: scopes.map((scope) => nameOf(MESSAGE_TYPES, scope)) }),
    // The reference node's spelling, and that of the protocol.
    ...(event === undefined ? {} : { onChainEvent: event, onchainEvent: event }),
  };
}

export function limitsJson({ limits, units, unitDetails, tierSubscriptions }: StorageLimitsResponse): object {
  return {
    limits: limits.map(({ storeType, name, limit, used }) => ({
      storeType: nameOf(STORE_TYPES, storeType),
      name,
      limit,
      used,
      earliestTimestamp: 0,
      earliestHash: [],
    })),
    units,
    unitDetails: unitDetails.map(({ unitType, ...sizes }) => ({
      unitType: nameOf(UNIT_TYPES, unitType),
      ...sizes,
    })),
    tier_subscriptions: tierSubscriptions.map(({ tierType, expiresAt }) => ({
      tier_type: nameOf(TIER_TYPES, tierType),
      expires_at: expiresAt,
    })),
  };
}

/** @param isSyncing whether the index is being filled for the first time. */
export function infoJson({ peerId, ...info }: GetInfoResponse, isSyncing: boolean): object {
  // The keys of snapchain, followed by those that only clients of Hubble read.
  return { ...info, peer_id: peerId, isSyncing, peerId, nickname: "", rootHash: "", hubOperatorFid: 0 };
}
