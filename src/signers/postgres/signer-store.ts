import { addAuditEntry } from "../../audit/audit-store.ts";
import type { PgPool } from "../../db/postgres/pool.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import {
  blocksText,
  NEW_SIGNER_COLUMNS,
  type NewSignerValues,
  newSignerValues,
  SIGNER_COLUMNS,
  type SignerRow,
  toSigner,
} from "../signer-row.ts";
import type { KeyUse, SignerPage, SignerStore } from "../signer-store.ts";

const select = `SELECT ${SIGNER_COLUMNS} FROM managed_signers`;
const byUuid = pgStatement<SignerRow, [uuid: string]>("signers.find", `${select} WHERE signer_uuid = $1`);
const byKey = pgStatement<SignerRow, [publicKey: Uint8Array]>(
  "signers.by-key",
  `${select} WHERE public_key = $1`,
);
const byToken = pgStatement<SignerRow, [tokenDigest: Uint8Array]>(
  "signers.by-token",
  `${select} WHERE token_digest = $1`,
);
const byOwner = pgStatement<SignerRow, [ownerFid: number, after: number, limit: number]>(
  "signers.by-owner",
  `${select} WHERE owner_fid = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
);
const byFid = pgStatement<SignerRow, [fid: number, after: number, limit: number]>(
  "signers.by-fid",
  `${select} WHERE fid = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
);
const byOwnerAndFid = pgStatement<SignerRow, [fid: number, ownerFid: number, after: number, limit: number]>(
  "signers.by-owner-and-fid",
  `${select} WHERE fid = $1 AND owner_fid = $2 AND seq > $3 ORDER BY seq LIMIT $4`,
);
const byKeyId = pgStatement<SignerRow, [keyId: string, after: number, limit: number]>(
  "signers.by-key-id",
  `${select} WHERE key_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
);
const nextKeyId = pgStatement<{ key_id: string | null }, [after: string]>(
  "signers.next-key-id",
  "SELECT min(key_id) AS key_id FROM managed_signers WHERE key_id > $1",
);
const countByKeyId = pgStatement<{ count: number }, [keyId: string]>(
  "signers.count-by-key-id",
  "SELECT count(*) AS count FROM managed_signers WHERE key_id = $1",
);
const atCap = pgStatement<{ one: number }, [ownerFid: number, offset: number]>(
  "signers.at-cap",
  "SELECT 1 AS one FROM managed_signers WHERE owner_fid = $1 ORDER BY seq LIMIT 1 OFFSET $2",
);
const insert = pgStatement<unknown, NewSignerValues>(
  "signers.insert",
  `INSERT INTO managed_signers (${NEW_SIGNER_COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`,
);
const setRequest = pgStatement<
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
  `UPDATE managed_signers SET app_fid = $1, request_deadline = $2, request_signature = $3, gasless_signature = $4,
     redirect_url = $5, request_id = $6, token_digest = $7, request_used_at = NULL, submitted_fid = NULL, submitted_request_fid = NULL,
     updated_at = $8
   WHERE signer_uuid = $9 AND owner_fid = $10`,
);
const setSubmitted = pgStatement<
  unknown,
  [fid: number, requestFid: number, signerUuid: string, tokenDigest: Uint8Array]
>(
  "signers.submitting",
  `UPDATE managed_signers SET submitted_fid = $1, submitted_request_fid = $2
   WHERE signer_uuid = $3 AND token_digest = $4 AND (submitted_fid IS NULL OR submitted_fid = $1)`,
);
const setApproval = pgStatement<
  unknown,
  [fid: number, at: number, by: string, blocks: string | null, nowSecs: number, signerUuid: string]
>(
  "signers.approve",
  `UPDATE managed_signers SET fid = $1, approved_at = $2, approved_by = $3, approved_blocks = $4, updated_at = $5
   WHERE signer_uuid = $6 AND fid IS NULL`,
);
const endRequest = pgStatement<unknown, [usedAt: number, signerUuid: string, tokenDigest: Uint8Array]>(
  "signers.end-request",
  "UPDATE managed_signers SET request_used_at = $1 WHERE signer_uuid = $2 AND token_digest = $3",
);
const erase = pgStatement<unknown, [signerUuid: string]>(
  "signers.delete",
  "DELETE FROM managed_signers WHERE signer_uuid = $1",
);
const setSealed = pgStatement<
  unknown,
  [sealed: Uint8Array, keyId: string, signerUuid: string, before: Uint8Array]
>(
  "signers.reseal",
  "UPDATE managed_signers SET sealed = $1, key_id = $2 WHERE signer_uuid = $3 AND sealed = $4",
);

/** Creates the managed signers of all nodes. */
export function createPostgresSigners(pool: PgPool): SignerStore {
  const one = async (row: Promise<SignerRow | undefined>) => {
    const found = await row;
    return found && toSigner(found);
  };
  const page = async (rows: Promise<SignerRow[]>) => (await rows).map(toSigner);
  const at = ({ after, limit }: SignerPage): [number, number] => [after, limit];

  return {
    create: (signer, cap, audit) =>
      pool.transaction(async (tx) => {
        await tx.lock("owner", `signer:${signer.ownerFid}`);
        // An earlier run may have been committed without an answer.
        if (await tx.get(byUuid, signer.signerUuid)) return "created";
        if (await tx.get(atCap, signer.ownerFid, cap - 1)) return "cap-reached";
        if ((await tx.run(insert, ...newSignerValues(signer))) === 0) return "key-exists";
        await addAuditEntry(tx, audit);
        return "created";
      }),

    find: (signerUuid) => one(pool.get(byUuid, signerUuid)),
    findByKey: (publicKey) => one(pool.get(byKey, publicKey)),
    findByToken: (tokenDigest) => one(pool.get(byToken, tokenDigest)),
    listByOwner: (ownerFid, bounds) => page(pool.all(byOwner, ownerFid, ...at(bounds))),
    listByFid: (fid, bounds) => page(pool.all(byFid, fid, ...at(bounds))),
    listByOwnerAndFid: (ownerFid, fid, bounds) => page(pool.all(byOwnerAndFid, fid, ownerFid, ...at(bounds))),

    request: ({ signerUuid, ownerFid }, request, nowSecs, audit) =>
      pool.transaction(async (tx) => {
        const { appFid, deadline, signature, gaslessSignature, redirectUrl, requestId, tokenDigest } =
          request;
        const changed = await tx.run(
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
        );
        if (changed === 1) await addAuditEntry(tx, audit);
        return changed === 1;
      }),

    submitting: async (signerUuid, tokenDigest, { fid, requestFid }) =>
      (await pool.run(setSubmitted, fid, requestFid, signerUuid, tokenDigest)) === 1,

    approve: ({ signerUuid, tokenDigest }, approval, audit) =>
      pool.transaction(async (tx) => {
        const { fid, at: approvedAt, by } = approval;
        if (tokenDigest) await tx.run(endRequest, approvedAt, signerUuid, tokenDigest);
        const blocks = blocksText(approval);
        const changed = await tx.run(setApproval, fid, approvedAt, by, blocks, approvedAt, signerUuid);
        if (changed === 1) await addAuditEntry(tx, audit);
        return changed === 1;
      }),

    delete(signerUuid, audit) {
      // A repetition of a run that was committed without an answer finds nothing.
      let wasErased = false;
      return pool.transaction(async (tx) => {
        const isErased = (await tx.run(erase, signerUuid)) === 1;
        if (isErased) for (const entry of audit) await addAuditEntry(tx, entry);
        wasErased ||= isErased;
        return wasErased;
      });
    },

    async keyUses() {
      const uses: KeyUse[] = [];
      const next = async (after: string) => (await pool.get(nextKeyId, after))?.key_id ?? null;
      for (let keyId = await next(""); keyId !== null; keyId = await next(keyId))
        uses.push({ keyId, count: (await pool.get(countByKeyId, keyId))?.count ?? 0 });
      return uses;
    },
    listByKeyId: (keyId, bounds) => page(pool.all(byKeyId, keyId, ...at(bounds))),

    reseal: (reseals) =>
      pool.transaction(async (tx) => {
        let count = 0;
        for (const { signerUuid, before, after } of reseals)
          count += await tx.run(setSealed, after.sealed, after.keyId, signerUuid, before);
        return count;
      }),
  };
}
