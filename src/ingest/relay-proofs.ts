import { addUsernameProof, dropUsernameProof, nameOf } from "../db/index/project/profile.ts";
import { statement } from "../db/index/statement.ts";
import { UserNameProof, UserNameType } from "../protocol/wire/generated/message.ts";
import { fnameKey, type TrieKey } from "../trust/trie-key.ts";
import type { MergeContext } from "./merge/merge.ts";

interface ProofRow {
  readonly fid: number;
  readonly type: number;
  readonly owner: Uint8Array;
  readonly signature: Uint8Array;
  readonly timestamp: number;
}

const COLUMNS = "fid, type, owner, signature, timestamp";

const shownProof = statement<ProofRow, [name: string]>(
  "relay-proofs.shown",
  `SELECT ${COLUMNS} FROM username_proofs WHERE name = ?`,
);
const rivalsOf = statement<ProofRow, [name: string]>(
  "relay-proofs.rivals",
  `SELECT ${COLUMNS} FROM username_proof_rivals WHERE name = ?`,
);
const putRival = statement<
  unknown,
  [name: string, fid: number, type: number, owner: Uint8Array, signature: Uint8Array, timestamp: number]
>(
  "relay-proofs.put-rival",
  `INSERT INTO username_proof_rivals (name, fid, type, owner, signature, timestamp) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
   ON CONFLICT (name, fid) DO UPDATE SET type = ?3, owner = ?4, signature = ?5, timestamp = ?6`,
);
const deleteRival = statement<unknown, [name: string, fid: number]>(
  "relay-proofs.drop-rival",
  "DELETE FROM username_proof_rivals WHERE name = ? AND fid = ?",
);

/**
 * Adds a proof that is live on the upstream.
 *
 * The latest transfer in its registry decides who has an fname. ENS names and basenames are proved on the shard of each fid,
 * so several proofs of one name can be live: the latest is shown, the others are stored as rivals. An older proof of the
 * same fid changes nothing.
 *
 * @param onlyIfShown ignores the proof unless another proof of the name is shown.
 */
export function addRelayedProof(context: MergeContext, proof: UserNameProof, onlyIfShown: boolean): void {
  const shown = shownOf(context, proof);
  if (shown) context.keys.derived(keyOf(shown), true, false);
  if (!shown) {
    if (!onlyIfShown) show(context, proof);
  } else if (shown.fid === proof.fid || proof.type === UserNameType.USERNAME_TYPE_FNAME) {
    if (order(proof, shown) > 0) replaceShown(context, shown, proof);
  } else {
    contend(context, shown, proof);
  }
}

/** Shows the later of two fids' proofs. For one fid, only the latest proof counts. */
function contend(context: MergeContext, shown: UserNameProof, proof: UserNameProof): void {
  const rival = rivals(context, proof).find(({ fid }) => fid === proof.fid);
  const latest = rival && order(rival, proof) > 0 ? rival : proof;
  if (order(latest, shown) < 0) {
    storeRival(context, latest);
  } else {
    context.db.run(deleteRival, nameOf(latest), latest.fid);
    storeRival(context, shown);
    replaceShown(context, shown, latest);
  }
}

/** Removes a proof that is no longer live on the upstream. If it was shown, the latest rival replaces it. */
export function removeRelayedProof(context: MergeContext, proof: UserNameProof): void {
  const stored = rivals(context, proof);
  const same = stored.find((rival) => order(rival, proof) === 0);
  if (same) context.db.run(deleteRival, nameOf(same), same.fid);
  const shown = shownOf(context, proof);
  if (!shown || order(shown, proof) !== 0) return;
  drop(context, shown);
  context.changes.trackUserUpdated(shown.fid);
  const next = stored
    .filter((rival) => rival !== same)
    .sort(order)
    .at(-1);
  if (!next) return;
  context.db.run(deleteRival, nameOf(next), next.fid);
  show(context, next);
}

/** The shown proofs of an fid. */
export const proofsOfFid = statement<ProofRow & { name: string }, [fid: number]>(
  "relay-proofs.shown-of-fid",
  `SELECT name, ${COLUMNS} FROM username_proofs WHERE fid = ?`,
);
export const rivalsOfFid = statement<ProofRow & { name: string }, [fid: number]>(
  "relay-proofs.rivals-of-fid",
  `SELECT name, ${COLUMNS} FROM username_proof_rivals WHERE fid = ?`,
);

function replaceShown(context: MergeContext, shown: UserNameProof, proof: UserNameProof): void {
  drop(context, shown);
  if (shown.fid !== 0 && shown.fid !== proof.fid) context.changes.trackUserUpdated(shown.fid);
  show(context, proof);
}

function drop(context: MergeContext, shown: UserNameProof): void {
  dropUsernameProof(context.db, shown);
  context.keys.derived(keyOf(shown), false, true);
}

function keyOf(proof: UserNameProof): TrieKey | undefined {
  return fnameKey(UserNameProof.encode(proof).finish());
}

function show(context: MergeContext, proof: UserNameProof): void {
  addUsernameProof(context.db, proof, undefined);
  context.keys.derived(keyOf(proof), true, true);
  if (proof.fid !== 0) context.changes.trackUserUpdated(proof.fid);
}

function storeRival({ db }: MergeContext, proof: UserNameProof): void {
  db.run(putRival, nameOf(proof), proof.fid, proof.type, proof.owner, proof.signature, proof.timestamp);
}

function shownOf({ db }: MergeContext, { name }: UserNameProof): UserNameProof | undefined {
  const shown = db.get(shownProof, nameOf({ name }));
  return shown && { ...shown, name };
}

function rivals({ db }: MergeContext, { name }: UserNameProof): UserNameProof[] {
  return db.all(rivalsOf, nameOf({ name })).map((rival) => ({ ...rival, name }));
}

/** Orders two proofs of a name by time, and equally late ones by their bytes. */
function order(a: UserNameProof, b: UserNameProof): number {
  return (
    a.timestamp - b.timestamp ||
    Buffer.compare(UserNameProof.encode(a).finish(), UserNameProof.encode(b).finish())
  );
}
