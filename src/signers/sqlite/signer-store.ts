import { insertAuditEntry } from "../../audit/audit-store.ts";
import type { StateDatabase } from "../../db/state/database.ts";
import { statement } from "../../db/state/statement.ts";
import type { StoreWrites } from "../../db/state/store-writes.ts";
import {
  blocksText,
  NEW_SIGNER_COLUMNS,
  type NewSignerValues,
  newSignerValues,
  SIGNER_COLUMNS,
  type SignerRow,
  toSigner,
} from "../signer-row.ts";
import type { KeyUse, SignerStore } from "../signer-store.ts";

const select = `SELECT ${SIGNER_COLUMNS} FROM managed_signers`;
const byUuid = statement<SignerRow, [uuid: string]>("signers.find", `${select} WHERE signer_uuid = ?`);
const byKey = statement<SignerRow, [publicKey: Uint8Array]>(
  "signers.by-key",
  `${select} WHERE public_key = ?`,
);
const byToken = statement<SignerRow, [tokenDigest: Uint8Array]>(
  "signers.by-token",
  `${select} WHERE token_digest = ?`,
);
const byOwner = statement<SignerRow, [ownerFid: number, after: number, limit: number]>(
  "signers.by-owner",
  `${select} WHERE owner_fid = ? AND seq > ? ORDER BY seq LIMIT ?`,
);
const byFid = statement<SignerRow, [fid: number, after: number, limit: number]>(
  "signers.by-fid",
  `${select} WHERE fid = ? AND seq > ? ORDER BY seq LIMIT ?`,
);
const byOwnerAndFid = statement<SignerRow, [fid: number, ownerFid: number, after: number, limit: number]>(
  "signers.by-owner-and-fid",
  `${select} WHERE fid = ? AND owner_fid = ? AND seq > ? ORDER BY seq LIMIT ?`,
);
const byKeyId = statement<SignerRow, [keyId: string, after: number, limit: number]>(
  "signers.by-key-id",
  `${select} WHERE key_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
);
const nextKeyId = statement<{ keyId: string | null }, [after: string]>(
  "signers.next-key-id",
  "SELECT min(key_id) AS keyId FROM managed_signers WHERE key_id > ?",
);
const countByKeyId = statement<{ count: number }, [keyId: string]>(
  "signers.count-by-key-id",
  "SELECT count(*) AS count FROM managed_signers WHERE key_id = ?",
);
const atCap = statement<{ one: number }, [ownerFid: number, offset: number]>(
  "signers.at-cap",
  "SELECT 1 AS one FROM managed_signers WHERE owner_fid = ? ORDER BY seq LIMIT 1 OFFSET ?",
);
const insert = statement<unknown, NewSignerValues>(
  "signers.insert",
  `INSERT INTO managed_signers (${NEW_SIGNER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (public_key) DO NOTHING`,
);
const setRequest = statement<
  unknown,
  [
    appFid: number,
    deadline: number,
    signature: Uint8Array,
    gaslessSignature: Uint8Array | null,
    redirectUrl: string | null,
    requestId: Uint8Array,
    tokenDigest: Uint8Array,
    nowSecs: number,
    signerUuid: string,
    ownerFid: number,
  ]
>(
  "signers.request",
  `UPDATE managed_signers SET app_fid = ?, request_deadline = ?, request_signature = ?, gasless_signature = ?,
     redirect_url = ?, request_id = ?, token_digest = ?, request_used_at = NULL, submitted_fid = NULL, submitted_request_fid = NULL,
     updated_at = ?
   WHERE signer_uuid = ? AND owner_fid = ?`,
);
const setSubmitted = statement<
  unknown,
  [fid: number, requestFid: number, signerUuid: string, tokenDigest: Uint8Array]
>(
  "signers.submitting",
  `UPDATE managed_signers SET submitted_fid = ?1, submitted_request_fid = ?2
   WHERE signer_uuid = ?3 AND token_digest = ?4 AND (submitted_fid IS NULL OR submitted_fid = ?1)`,
);
const setApproval = statement<
  unknown,
  [fid: number, at: number, by: string, blocks: string | null, nowSecs: number, signerUuid: string]
>(
  "signers.approve",
  `UPDATE managed_signers SET fid = ?, approved_at = ?, approved_by = ?, approved_blocks = ?, updated_at = ?
   WHERE signer_uuid = ? AND fid IS NULL`,
);
const endRequest = statement<unknown, [usedAt: number, signerUuid: string, tokenDigest: Uint8Array]>(
  "signers.end-request",
  "UPDATE managed_signers SET request_used_at = ? WHERE signer_uuid = ? AND token_digest = ?",
);
const erase = statement<unknown, [signerUuid: string]>(
  "signers.delete",
  "DELETE FROM managed_signers WHERE signer_uuid = ?",
);
const setSealed = statement<
  unknown,
  [sealed: Uint8Array, keyId: string, signerUuid: string, before: Uint8Array]
>("signers.reseal", "UPDATE managed_signers SET sealed = ?, key_id = ? WHERE signer_uuid = ? AND sealed = ?");

const written = ["create", "request", "submitting", "approve", "delete", "reseal"] as const;
type Written = (typeof written)[number];

export function signerReads(db: StateDatabase): Omit<SignerStore, Written> {
  const next = (after: string) => db.get(nextKeyId, after)?.keyId ?? null;
  const one = (row: SignerRow | undefined | null) => (row ? toSigner(row) : undefined);
  return {
    find: async (signerUuid) => one(db.get(byUuid, signerUuid)),
    findByKey: async (publicKey) => one(db.get(byKey, publicKey)),
    findByToken: async (tokenDigest) => one(db.get(byToken, tokenDigest)),
    listByOwner: async (ownerFid, { after, limit }) => db.all(byOwner, ownerFid, after, limit).map(toSigner),
    listByFid: async (fid, { after, limit }) => db.all(byFid, fid, after, limit).map(toSigner),
    listByOwnerAndFid: async (ownerFid, fid, { after, limit }) =>
      db.all(byOwnerAndFid, fid, ownerFid, after, limit).map(toSigner),
    keyUses: async () => {
      const uses: KeyUse[] = [];
      for (let keyId = next(""); keyId !== null; keyId = next(keyId))
        uses.push({ keyId, count: db.get(countByKeyId, keyId)?.count ?? 0 });
      return uses;
    },
    listByKeyId: async (keyId, { after, limit }) => db.all(byKeyId, keyId, after, limit).map(toSigner),
  };
}

export function signerWrites(db: StateDatabase): StoreWrites<SignerStore, Written> {
  return {
    create(signer, cap, audit) {
      if (db.get(atCap, signer.ownerFid, cap - 1)) return "cap-reached";
      if (db.run(insert, ...newSignerValues(signer)) === 0) return "key-exists";
      insertAuditEntry(db, audit);
      return "created";
    },

    request({ signerUuid, ownerFid }, request, nowSecs, audit) {
      const { appFid, deadline, signature, gaslessSignature, redirectUrl, requestId, tokenDigest } = request;
      const isSet =
        db.run(
          setRequest,
          appFid,
          deadline,
          signature,
          gaslessSignature,
          redirectUrl,
          requestId,
          tokenDigest,
          nowSecs,
          signerUuid,
          ownerFid,
        ) === 1;
      if (isSet) insertAuditEntry(db, audit);
      return isSet;
    },

    submitting: (signerUuid, tokenDigest, { fid, requestFid }) =>
      db.run(setSubmitted, fid, requestFid, signerUuid, tokenDigest) === 1,

    approve({ signerUuid, tokenDigest }, approval, audit) {
      const { fid, at, by } = approval;
      if (tokenDigest) db.run(endRequest, at, signerUuid, tokenDigest);
      const isSet = db.run(setApproval, fid, at, by, blocksText(approval), at, signerUuid) === 1;
      if (isSet) insertAuditEntry(db, audit);
      return isSet;
    },

    delete(signerUuid, audit) {
      const isErased = db.run(erase, signerUuid) === 1;
      if (isErased) for (const entry of audit) insertAuditEntry(db, entry);
      return isErased;
    },

    reseal: (reseals) =>
      reseals.reduce(
        (count, { signerUuid, before, after }) =>
          count + db.run(setSealed, after.sealed, after.keyId, signerUuid, before),
        0,
      ),
  };
}
