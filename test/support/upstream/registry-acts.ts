import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import { MessageType, StorageUnitType } from "../../../src/protocol/wire/generated/message.ts";
import { IdRegisterEventType, OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import { proEvent, rentEvent, signedFnameProof, signerEvent, transferEvent } from "../events.ts";
import { gaslessKeyMessage, gaslessKeyRemoval, requestMetadata } from "../gasless-keys.ts";
import { makeSigner, makeWallet, signMessage } from "../messages.ts";
import { eventRecord, proofRecord } from "../node.ts";
import type { WeightedAct } from "./acts.ts";
import type { Action, Draft, Person } from "./script.ts";

/** On-chain events, fname transfers, and messages of shard 0. */

export const REGISTRY_ACTS: readonly WeightedAct[] = [
  [2, joinLate],
  [5, moveName],
  [1, releaseName],
  [2, moveFid],
  [1, changeRecovery],
  [2, addKey],
  [2, endKey],
  [1, buyPro],
  [1, rent],
  [4, lend],
  [3, addGaslessKey],
  [2, removeGaslessKey],
];

const MAX_PEOPLE = 14;
const APP_FID = 1;
const LENDER_FID = 1;
const GASLESS_TTL_SECS = 3600;

function joinLate(draft: Draft): Action[] | undefined {
  if (draft.people.length >= MAX_PEOPLE) return undefined;
  return draft.join(draft.people.length + 1, draft.random.below(3));
}

/** Transfers a name from one fid to another. */
function moveName(draft: Draft, who: Person): Action | undefined {
  const held = fnamesOf(draft);
  if (held.length === 0) return undefined;
  const [name, fromFid] = draft.random.pick(held);
  return transferName(draft, name, fromFid, who.fid, who.custody.address);
}

function releaseName(draft: Draft): Action | undefined {
  const held = fnamesOf(draft).filter(([, fid]) => fid !== 0);
  if (held.length === 0) return undefined;
  const [name, fromFid] = draft.random.pick(held);
  return transferName(draft, name, fromFid, 0, new Uint8Array(20));
}

function fnamesOf(draft: Draft): [name: string, fid: number][] {
  return [...draft.nameHolders].filter(([name]) => !name.endsWith(".eth"));
}

function transferName(
  draft: Draft,
  name: string,
  fromFid: number,
  toFid: number,
  owner: Uint8Array,
): Action | undefined {
  // One transfer of a name a second: transfers are ordered by time.
  const last = draft.lastTransfers.get(name);
  if (last === draft.nowSecs) return undefined;
  draft.lastTransfers.set(name, draft.nowSecs);
  draft.nameHolders.set(name, toFid);
  return { fid: toFid, fromFid, record: proofRecord(signedFnameProof(name, toFid, owner, draft.nowSecs)) };
}

function moveFid(draft: Draft, who: Person): Action {
  const to = makeWallet(`custody ${who.fid} since ${draft.nowSecs}`);
  const event = transferEvent(who.fid, who.custody.address, to.address, draft.place());
  // Never transferred, because its custody address signs requests for keys.
  if (who.fid === APP_FID) return changeRecovery(draft, who);
  who.custody = to;
  return onChain(event);
}

function changeRecovery(draft: Draft, { fid }: Person): Action {
  const event = transferEvent(fid, new Uint8Array(), new Uint8Array(), draft.place());
  const value = {
    to: new Uint8Array(),
    from: new Uint8Array(),
    recoveryAddress: makeWallet(`recovery ${draft.nowSecs}`).address,
    eventType: IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY,
  };
  return onChain(OnChainEvent.fromPartial({ ...event, body: { $case: "idRegisterEventBody", value } }));
}

function addKey(draft: Draft, who: Person): Action {
  const signer = makeSigner(`key of ${who.fid} since ${draft.random.below(3)}`);
  if (!who.keys.some(({ publicKey }) => Buffer.compare(publicKey, signer.publicKey) === 0))
    who.keys.push(signer);
  const event = signerEvent(who.fid, signer.publicKey, draft.place());
  if (event.body?.$case !== "signerEventBody") return onChain(event);
  const value = { ...event.body.value, metadata: requestMetadata(APP_FID, signer.publicKey) };
  return onChain(OnChainEvent.fromPartial({ ...event, body: { $case: "signerEventBody", value } }));
}

/** The first key is never removed, so that every fid can sign. A removed key still signs messages. */
function endKey(draft: Draft, who: Person): Action | undefined {
  const later = who.keys.slice(1);
  if (later.length === 0) return undefined;
  const kind = draft.random.chance(0.5) ? "remove" : "admin_reset";
  return onChain(signerEvent(who.fid, draft.random.pick(later).publicKey, draft.place(), kind));
}

function buyPro(draft: Draft, who: Person): Action {
  return onChain(proEvent(who.fid, 30, draft.place()));
}

function rent(draft: Draft, who: Person): Action {
  return onChain(rentEvent(who.fid, 1, draft.place()));
}

function onChain(event: OnChainEvent): Action {
  return { fid: event.fid, record: eventRecord(event) };
}

/** The fid with many units lends some, or ends a lend. */
function lend(draft: Draft, who: Person): Action | undefined {
  const lender = draft.people.find(({ fid }) => fid === LENDER_FID);
  const key = lender?.keys[0];
  if (!key || who.fid === LENDER_FID) return undefined;
  const unitType = StorageUnitType.UNIT_TYPE_2025;
  const value = { toFid: who.fid, numUnits: draft.random.below(3), unitType };
  const bytes = signMessage(
    {
      type: MessageType.MESSAGE_TYPE_LEND_STORAGE,
      fid: LENDER_FID,
      timestamp: draft.signedAt(),
      network: draft.network,
      body: { $case: "lendStorageBody", value },
    },
    key,
  );
  return { fid: LENDER_FID, record: { kind: "message", bytes } };
}

function addGaslessKey(draft: Draft, who: Person): Action {
  const again = draft.random.chance(0.3) ? who.gasless.at(-1) : undefined;
  const signer = again ?? makeSigner(`gasless ${who.fid} ${who.nonce}`);
  if (!again) who.gasless.push(signer);
  who.nonce += 1;
  const bytes = gaslessKeyMessage({
    fid: who.fid,
    signer,
    requestFid: APP_FID,
    ttlSecs: GASLESS_TTL_SECS,
    nonce: who.nonce,
    scopes: [MessageType.MESSAGE_TYPE_CAST_ADD, MessageType.MESSAGE_TYPE_REACTION_ADD],
    at: toFarcasterSecs(draft.nowSecs),
    custody: who.custody,
    network: draft.network,
  });
  return { fid: who.fid, record: { kind: "message", bytes } };
}

function removeGaslessKey(draft: Draft, who: Person): Action | undefined {
  const signer = who.gasless.pop();
  if (!signer) return undefined;
  const byItself = draft.random.chance(0.5);
  const nonce = byItself ? ++draft.appNonce : ++who.nonce;
  const bytes = gaslessKeyRemoval({
    fid: who.fid,
    signer,
    nonce,
    by: byItself ? "itself" : who.custody,
    at: toFarcasterSecs(draft.nowSecs),
    network: draft.network,
  });
  return { fid: who.fid, record: { kind: "message", bytes } };
}
