import type { IndexDatabase } from "../index/database.ts";
import { lendsOf } from "../index/project/lends.ts";
import { statement } from "../index/statement.ts";
import { invalid, type Rejection } from "../protocol/rejection.ts";
import type { SignedMessage } from "../protocol/signed-message.ts";
import { mayLend, purchasedUnits } from "../protocol/storage.ts";
import { needsPro } from "../protocol/validate/requirements.ts";
import { requiredUsername, requiredVerifiedAddress } from "../protocol/validate/user-data.ts";
import { FarcasterNetwork, type LendStorageBody } from "../protocol/wire/generated/message.ts";
import { SignerEventType } from "../protocol/wire/generated/on-chain.ts";
import { admitKeyAdd, admitKeyRemove, gaslessSigner } from "./gasless-keys.ts";
import { rentsOf } from "./storage-limits.ts";

export interface AdmitContext {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly nowSecs: number;
}

const fidExists = statement<{ one: number }, [fid: number]>(
  "admit.fid-exists",
  "SELECT 1 AS one FROM fids WHERE fid = ?",
);
const signerOf = statement<
  { state: number; keyType: number; addedAt: number },
  [fid: number, key: Uint8Array]
>(
  "admit.signer-of",
  "SELECT state, key_type AS keyType, added_at AS addedAt FROM signers WHERE fid = ? AND key = ?",
);
const proUntil = statement<{ expiresAt: number }, [fid: number]>(
  "admit.pro-until",
  "SELECT expires_at AS expiresAt FROM pro_tiers WHERE fid = ?",
);
const proofOwner = statement<{ fid: number }, [name: string]>(
  "admit.proof-owner",
  "SELECT fid FROM username_proofs WHERE name = ?",
);
const hasVerification = statement<{ one: number }, [fid: number, address: Uint8Array]>(
  "admit.has-verification",
  "SELECT 1 AS one FROM verifications WHERE fid = ? AND address = ?",
);

/**
 * Decides what a valid message needs of the network's state, in the reference node's order: a registered fid, an
 * active signer, then what its body refers to (the Pro tier, a live name, a verified address, units to lend, custody
 * of a key). Reads only.
 */
export function admit(context: AdmitContext, message: SignedMessage): Rejection | undefined {
  const { db } = context;
  const { data } = message;
  if (!db.get(fidExists, data.fid)) return invalid(`fid ${data.fid} is not registered`);
  if (data.body?.$case === "keyAddBody") return admitKeyAdd(context, data, data.body.value);
  if (data.body?.$case === "keyRemoveBody") return admitKeyRemove(context, message, data.body.value);
  if (!hasActiveSigner(context, message)) return invalid("signer is not an active key of the fid");
  const proReason = needsPro(message);
  if (proReason && !isPro(context, data.fid)) return invalid(proReason);
  const name = requiredUsername(data);
  if (name !== undefined && db.get(proofOwner, name)?.fid !== data.fid)
    return invalid("username has no live proof of this fid");
  const address = requiredVerifiedAddress(data);
  if (address && !db.get(hasVerification, data.fid, address.address))
    return invalid("primary address is not verified by this fid");
  if (data.body?.$case === "lendStorageBody") return admitLend(context, data.fid, data.body.value);
  return undefined;
}

/**
 * An on-chain key counts while its latest event is an add. After an admin reset the reference node finds the key's
 * add again, so that key signs messages as before; a removed one does not.
 */
function hasActiveSigner(context: AdmitContext, message: SignedMessage): boolean {
  const onChain = context.db.get(signerOf, message.data.fid, message.signer);
  if (onChain && onChain.keyType === 1) {
    if (onChain.state === SignerEventType.SIGNER_EVENT_TYPE_ADD) return true;
    if (onChain.state === SignerEventType.SIGNER_EVENT_TYPE_ADMIN_RESET && onChain.addedAt > 0) return true;
  }
  return gaslessSigner(context, message) !== undefined;
}

function isPro(context: AdmitContext, fid: number): boolean {
  return (context.db.get(proUntil, fid)?.expiresAt ?? 0) > context.nowSecs;
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
