import { canonicalKey } from "../protocol/auth-address.ts";
import {
  IdRegisterEventType,
  type OnChainEvent,
  OnChainEventType,
  SignerEventType,
  TierType,
} from "../protocol/wire/generated/on-chain.ts";
import { signedKeyRequestMetadata } from "./claims.ts";
import { type Keyring, secret } from "./keys.ts";
import {
  AUTH_ADDRESS_FIDS,
  clientFidsOf,
  demoFids,
  isPro,
  PRO_PURCHASED_AT_SECS,
  RECOVERY_CHANGE_FID,
  REMOVED_SIGNER_FID,
  registeredAtSecs,
  SECOND_CLIENT_FID,
  transferredAtSecs,
} from "./roster.ts";

const DAY_SECS = 86_400;
const YEAR_SECS = 365 * DAY_SECS;
/** A chain: its id, and the unix time of a known block, from which blocks of two seconds are counted. */
const OPTIMISM = { id: 10, knownBlock: 105_235_063, knownBlockSecs: 1_686_068_903 } as const;
const BASE = { id: 8453, knownBlock: 0, knownBlockSecs: 1_686_789_347 } as const;
const BLOCK_SECS = 2;

const MESSAGE_KEY_TYPE = 1;
const AUTH_ADDRESS_KEY_TYPE = 2;
const SIGNED_KEY_REQUEST_TYPE = 1;
/** Longer than any demo data directory lives: Pro never expires, so a User object never changes. */
const PRO_DAYS = 3650;
/** Storage rented in the last weeks. It is sufficient for all messages of an fid. */
const RECENT_RENT_DAYS = 20;

interface ChainEvent {
  readonly chain: typeof OPTIMISM | typeof BASE;
  readonly atSecs: number;
  readonly fid: number;
  readonly type: OnChainEventType;
  readonly body: NonNullable<OnChainEvent["body"]>;
}

/**
 * Yields the on-chain events of all fids in block order: registrations, storage rents, signer keys, transfers, a recovery change, Pro
 * purchases. Only the last storage rent of each fid depends on `anchorUnixSecs`.
 */
export function onChainEvents(
  keyring: Keyring,
  anchorUnixSecs: number,
  unitsOf: (fid: number) => number,
): OnChainEvent[] {
  const events = demoFids().flatMap((fid) => [
    ...identityEvents(keyring, fid),
    ...signerEvents(keyring, fid),
    storageRent(keyring, fid, registeredAtSecs(fid), 1),
    storageRent(keyring, fid, anchorUnixSecs - (RECENT_RENT_DAYS + (fid % 20)) * DAY_SECS, unitsOf(fid)),
    ...(isPro(fid) ? [proPurchase(keyring, fid)] : []),
  ]);
  return inBlocks(events.sort((a, b) => a.atSecs - b.atSecs || a.chain.id - b.chain.id));
}

function identityEvents(keyring: Keyring, fid: number): ChainEvent[] {
  const event = (
    atSecs: number,
    eventType: IdRegisterEventType,
    parts: { to?: Uint8Array; from?: Uint8Array; recoveryAddress?: Uint8Array },
  ): ChainEvent => ({
    chain: OPTIMISM,
    atSecs,
    fid,
    type: OnChainEventType.EVENT_TYPE_ID_REGISTER,
    body: {
      $case: "idRegisterEventBody",
      value: { to: NO_BYTES, from: NO_BYTES, recoveryAddress: NO_BYTES, ...parts, eventType },
    },
  });
  const firstClient = clientFidsOf(fid)[0] ?? fid;
  const to = keyring.firstCustody(fid).address;
  const events = [
    event(registeredAtSecs(fid), IdRegisterEventType.ID_REGISTER_EVENT_TYPE_REGISTER, {
      to,
      recoveryAddress: keyring.firstCustody(firstClient).address,
    }),
  ];
  const movedAtSecs = transferredAtSecs(fid);
  if (movedAtSecs !== undefined) {
    events.push(
      event(movedAtSecs, IdRegisterEventType.ID_REGISTER_EVENT_TYPE_TRANSFER, {
        to: keyring.custody(fid).address,
        from: to,
      }),
    );
  }
  if (fid === RECOVERY_CHANGE_FID) {
    events.push(
      event(
        registeredAtSecs(fid) + 90 * DAY_SECS,
        IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY,
        {
          recoveryAddress: keyring.recovery(fid).address,
        },
      ),
    );
  }
  return events;
}

function signerEvents(keyring: Keyring, fid: number): ChainEvent[] {
  const registeredAt = registeredAtSecs(fid);
  const events = clientFidsOf(fid).map((clientFid, index) => {
    const key = keyring.signer(fid, clientFid).publicKey;
    return signerAdd(keyring, fid, registeredAt + index * 12 * DAY_SECS, clientFid, key, MESSAGE_KEY_TYPE);
  });
  if (AUTH_ADDRESS_FIDS.includes(fid)) {
    const key = canonicalKey(keyring.authAddress(fid).address);
    const clientFid = clientFidsOf(fid)[0] ?? fid;
    events.push(signerAdd(keyring, fid, registeredAt + 30 * DAY_SECS, clientFid, key, AUTH_ADDRESS_KEY_TYPE));
  }
  if (fid === REMOVED_SIGNER_FID) {
    const key = keyring.signer(fid, SECOND_CLIENT_FID).publicKey;
    const addedAt = registeredAt + 5 * DAY_SECS;
    events.push(
      signerAdd(keyring, fid, addedAt, SECOND_CLIENT_FID, key, MESSAGE_KEY_TYPE),
      signerEvent(fid, addedAt + 40 * DAY_SECS, {
        key,
        keyType: 0,
        eventType: SignerEventType.SIGNER_EVENT_TYPE_REMOVE,
        metadata: NO_BYTES,
        metadataType: 0,
      }),
    );
  }
  return events;
}

function signerAdd(
  keyring: Keyring,
  fid: number,
  atSecs: number,
  clientFid: number,
  key: Uint8Array,
  keyType: number,
): ChainEvent {
  return signerEvent(fid, atSecs, {
    key,
    keyType,
    eventType: SignerEventType.SIGNER_EVENT_TYPE_ADD,
    metadata: signedKeyRequestMetadata({
      requestFid: clientFid,
      requestWallet: keyring.custody(clientFid),
      key,
      deadlineSecs: atSecs + DAY_SECS,
    }),
    metadataType: SIGNED_KEY_REQUEST_TYPE,
  });
}

function signerEvent(
  fid: number,
  atSecs: number,
  value: Extract<ChainEvent["body"], { $case: "signerEventBody" }>["value"],
): ChainEvent {
  return {
    chain: OPTIMISM,
    atSecs,
    fid,
    type: OnChainEventType.EVENT_TYPE_SIGNER,
    body: { $case: "signerEventBody", value },
  };
}

function storageRent(keyring: Keyring, fid: number, atSecs: number, units: number): ChainEvent {
  return {
    chain: OPTIMISM,
    atSecs,
    fid,
    type: OnChainEventType.EVENT_TYPE_STORAGE_RENT,
    body: {
      $case: "storageRentEventBody",
      value: { payer: keyring.custody(fid).address, units, expiry: atSecs + YEAR_SECS },
    },
  };
}

function proPurchase(keyring: Keyring, fid: number): ChainEvent {
  return {
    chain: BASE,
    atSecs: PRO_PURCHASED_AT_SECS + fid * 600,
    fid,
    type: OnChainEventType.EVENT_TYPE_TIER_PURCHASE,
    body: {
      $case: "tierPurchaseEventBody",
      value: { tierType: TierType.TIER_TYPE_PRO, forDays: PRO_DAYS, payer: keyring.custody(fid).address },
    },
  };
}

const NO_BYTES = new Uint8Array(0);

/** Assigns positions on the chain to sorted events: block, transaction (one per fid and block) and log. */
function inBlocks(events: readonly ChainEvent[]): OnChainEvent[] {
  const logsInBlock = new Map<string, number>();
  return events.map(({ chain, atSecs, fid, type, body }) => {
    const blockNumber = chain.knownBlock + Math.floor((atSecs - chain.knownBlockSecs) / BLOCK_SECS);
    const block = `block ${blockNumber} of chain ${chain.id}`;
    const logIndex = logsInBlock.get(block) ?? 0;
    logsInBlock.set(block, logIndex + 1);
    return {
      type,
      chainId: chain.id,
      blockNumber,
      blockHash: secret(block),
      blockTimestamp: atSecs,
      transactionHash: secret(`transaction of fid ${fid} in ${block}`),
      logIndex,
      fid,
      body,
      txIndex: 0,
      version: 0,
    };
  });
}
