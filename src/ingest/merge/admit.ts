import type { IndexDatabase } from "../../db/index/database.ts";
import { hasVerification, isPro, isRegistered, lendsOf } from "../../db/index/project/on-chain.ts";
import { statement } from "../../db/index/statement.ts";
import type { SignedMessage } from "../../protocol/message/signed-message.ts";
import { invalid, type Rejection } from "../../protocol/rejection.ts";
import { mayLend, purchasedUnits } from "../../protocol/storage.ts";
import { needsPro } from "../../protocol/validate/requirements.ts";
import { requiredUsername, requiredVerifiedAddress } from "../../protocol/validate/user-data.ts";
import { FarcasterNetwork, type LendStorageBody } from "../../protocol/wire/generated/message.ts";
import {
  admitKeyAdd,
  admitKeyRemove,
  gaslessSigner,
  verifyKeyAddCustody,
  verifyKeyRemoveCustody,
} from "./keys/gasless-keys.ts";
import { isActiveOnChainKey, type SignerCache } from "./keys/signer-cache.ts";
import { rentsOf } from "./storage-limits.ts";

export interface AdmitContext {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly nowSecs: number;
  /** The writer's cache. */
  readonly signers?: SignerCache;
}

const proofOwner = statement<{ fid: number }, [name: string]>(
  "admit.proof-owner",
  "SELECT fid FROM username_proofs WHERE name = ?",
);

/**
 * Checks that the author may write at all: the fid is registered, and the signer is active or the key operation matches the
 * keys of the fid. It only does look-ups, so it precedes recovering a signature or calling a chain.
 */
export function admitAuthor(context: AdmitContext, message: SignedMessage): Rejection | undefined {
  const { db } = context;
  const { data, signer } = message;
  const isKeyOperation = data.body?.$case === "keyAddBody" || data.body?.$case === "keyRemoveBody";
  if (!isKeyOperation && context.signers?.isActive(data.fid, signer)) return undefined;
  if (!isRegistered(db, data.fid)) return invalid(`fid ${data.fid} is not registered`);
  if (data.body?.$case === "keyAddBody") return admitKeyAdd(context, message, data.body.value);
  if (data.body?.$case === "keyRemoveBody") return admitKeyRemove(context, message, data.body.value);
  if (isActiveOnChainKey(db, data.fid, signer)) {
    context.signers?.addActive(data.fid, signer);
    return undefined;
  }
  return gaslessSigner(context, message) ? undefined : invalid("signer is not an active key of the fid");
}

/**
 * Checks what a valid message requires from the network's state, in the reference node's order: a registered fid, an active
 * signer, then what its body refers to (custody of a key, the Pro tier, a live name, a verified address, units to lend). It
 * only reads.
 */
export function admit(context: AdmitContext, message: SignedMessage): Rejection | undefined {
  return admitByRegistry(context, message) ?? admitByMessages(context, message);
}

/** The checks of `admit` that only read on-chain events and keys. */
export function admitByRegistry(context: AdmitContext, message: SignedMessage): Rejection | undefined {
  const { db } = context;
  const { data } = message;
  const refusal = admitAuthor(context, message);
  if (refusal) return refusal;
  if (data.body?.$case === "keyAddBody") return verifyKeyAddCustody(db, data);
  if (data.body?.$case === "keyRemoveBody") return verifyKeyRemoveCustody(db, data, data.body.value);
  const proReason = needsPro(message);
  return proReason && !isPro(context.db, data.fid, context.nowSecs) ? invalid(proReason) : undefined;
}

/** The checks of `admit` that follow those of the registry and read names, verifications, rents and lends. */
export function admitByMessages(context: AdmitContext, { data }: SignedMessage): Rejection | undefined {
  const { db } = context;
  const name = requiredUsername(data);
  if (name !== undefined && db.get(proofOwner, name)?.fid !== data.fid)
    return invalid("username has no live proof of this fid");
  const address = requiredVerifiedAddress(data);
  if (address && !hasVerification(db, data.fid, address.address))
    return invalid("primary address is not verified by this fid");
  if (data.body?.$case === "lendStorageBody") return admitLend(context, data.fid, data.body.value);
  return undefined;
}

function admitLend(context: AdmitContext, fid: number, body: LendStorageBody): Rejection | undefined {
  const owned = purchasedUnits(rentsOf(context.db, fid), context.nowSecs)[body.unitType];
  let lent = body.numUnits;
  for (const lend of lendsOf(context.db, fid).lent) {
    if (lend.unitType === body.unitType && lend.toFid !== body.toFid) lent += lend.units;
  }
  const isMainnet = context.network === FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  if (body.numUnits > 0 && !mayLend(owned, lent, isMainnet))
    return invalid("not enough storage units to lend");
  return undefined;
}
