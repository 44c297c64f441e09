import { addAuditEntry } from "../../audit/audit-store.ts";
import { sql } from "../../db/state/sql.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import { blocksText, type NewValues, newValues, type SignerRow, toSigner } from "./signer-row.ts";
import type { KeyUse, SignerPage, SignerStore } from "./signer-store.ts";

/** Columns of a new signer, in the order of its values. */
const NEW_COLUMNS = `signer_uuid, owner_fid, public_key, sealed, key_id, permissions, created_at, updated_at,
  fid, approved_at, approved_by, approved_blocks`;

const COLUMNS = `seq, ${NEW_COLUMNS}, app_fid, request_deadline, request_signature,
  gasless_signature, redirect_url, request_id, token_digest, request_used_at, submitted_fid, submitted_request_fid`;

const select = `SELECT ${COLUMNS} FROM managed_signers`;
const byUuid = sql<SignerRow, [uuid: string]>("signers.find", `${select} WHERE signer_uuid = $1`);
const byKey = sql<SignerRow, [publicKey: Uint8Array]>("signers.by-key", `${select} WHERE public_key = $1`);
const byToken = sql<SignerRow, [tokenDigest: Uint8Array]>(
  "signers.by-token",
  `${select} WHERE token_digest = $1`,
);
const byOwner = sql<SignerRow, [ownerFid: number, after: number, limit: number]>(
  "signers.by-owner",
  `${select} WHERE owner_fid = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
);
const byFid = sql<SignerRow, [fid: number, after: number, limit: number]>(
  "signers.by-fid",
  `${select} WHERE fid = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
);
const byOwnerAndFid = sql<SignerRow, [fid: number, ownerFid: number, after: number, limit: number]>(
  "signers.by-owner-and-fid",
  `${select} WHERE fid = $1 AND owner_fid = $2 AND seq > $3 ORDER BY seq LIMIT $4`,
);
const byKeyId = sql<SignerRow, [keyId: string, after: number, limit: number]>(
  "signers.by-key-id",
  `${select} WHERE key_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
);
const nextKeyId = sql<{ key_id: string | null }, [after: string]>(
  "signers.next-key-id",
  "SELECT min(key_id) AS key_id FROM managed_signers WHERE key_id > $1",
);
const countByKeyId = sql<{ count: number }, [keyId: string]>(
  "signers.count-by-key-id",
  "SELECT count(*) AS count FROM managed_signers WHERE key_id = $1",
);
const atCap = sql<{ one: number }, [ownerFid: number, offset: number]>(
  "signers.at-cap",
  "SELECT 1 AS one FROM managed_signers WHERE owner_fid = $1 ORDER BY seq LIMIT 1 OFFSET $2",
);
const insert = sql<unknown, NewValues>(
  "signers.insert",
  `INSERT INTO managed_signers (${NEW_COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`,
);
const setRequest = sql<
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
const setSubmitted = sql<
  unknown,
  [fid: number, requestFid: number, signerUuid: string, tokenDigest: Uint8Array]
>(
  "signers.submitting",
  `UPDATE managed_signers SET submitted_fid = $1, submitted_request_fid = $2
   WHERE signer_uuid = $3 AND token_digest = $4 AND (submitted_fid IS NULL OR submitted_fid = $1)`,
);
const setApproval = sql<
  unknown,
  [fid: number, at: number, by: string, blocks: string | null, nowSecs: number, signerUuid: string]
>(
  "signers.approve",
  `UPDATE managed_signers SET fid = $1, approved_at = $2, approved_by = $3, approved_blocks = $4, updated_at = $5
   WHERE signer_uuid = $6 AND fid IS NULL`,
);
const endRequest = sql<unknown, [usedAt: number, signerUuid: string, tokenDigest: Uint8Array]>(
  "signers.end-request",
  "UPDATE managed_signers SET request_used_at = $1 WHERE signer_uuid = $2 AND token_digest = $3",
);
const erase = sql<unknown, [signerUuid: string]>(
  "signers.delete",
  "DELETE FROM managed_signers WHERE signer_uuid = $1",
);
const setSealed = sql<unknown, [sealed: Uint8Array, keyId: string, signerUuid: string, before: Uint8Array]>(
  "signers.reseal",
  "UPDATE managed_signers SET sealed = $1, key_id = $2 WHERE signer_uuid = $3 AND sealed = $4",
);

export function createSigners(db: StateDb): SignerStore {
  const one = async (row: Promise<SignerRow | undefined>) => {
    const found = await row;
    return found && toSigner(found);
  };
  const page = async (rows: Promise<SignerRow[]>) => (await rows).map(toSigner);
  const at = ({ after, limit }: SignerPage): [number, number] => [after, limit];

  return {
    create: db.decision<Parameters<SignerStore["create"]>, "created" | "cap-reached" | "key-exists">(
      "signers.create",
      async (tx, signer, cap, audit) => {
        await tx.lock("owner", `signer:${signer.ownerFid}`);
        if (await tx.get(atCap, signer.ownerFid, cap - 1)) return "cap-reached";
        if ((await tx.run(insert, ...newValues(signer))) === 0) return "key-exists";
        await addAuditEntry(tx, audit);
        return "created";
      },
    ),

    find: (signerUuid) => one(db.get(byUuid, signerUuid)),
    findByKey: (publicKey) => one(db.get(byKey, publicKey)),
    findByToken: (tokenDigest) => one(db.get(byToken, tokenDigest)),
    listByOwner: (ownerFid, bounds) => page(db.all(byOwner, ownerFid, ...at(bounds))),
    listByFid: (fid, bounds) => page(db.all(byFid, fid, ...at(bounds))),
    listByOwnerAndFid: (ownerFid, fid, bounds) => page(db.all(byOwnerAndFid, fid, ownerFid, ...at(bounds))),

    request: db.decision<Parameters<SignerStore["request"]>, boolean>(
      "signers.request",
      async (tx, { signerUuid, ownerFid }, request, nowSecs, audit) => {
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
      },
    ),

    submitting: db.decision<Parameters<SignerStore["submitting"]>, boolean>(
      "signers.submitting",
      async (tx, signerUuid, tokenDigest, { fid, requestFid }) =>
        (await tx.run(setSubmitted, fid, requestFid, signerUuid, tokenDigest)) === 1,
      { isOneStatement: true },
    ),

    approve: db.decision<Parameters<SignerStore["approve"]>, boolean>(
      "signers.approve",
      async (tx, { signerUuid, tokenDigest }, approval, audit) => {
        const { fid, at: approvedAt, by } = approval;
        if (tokenDigest) await tx.run(endRequest, approvedAt, signerUuid, tokenDigest);
        const blocks = blocksText(approval);
        const changed = await tx.run(setApproval, fid, approvedAt, by, blocks, approvedAt, signerUuid);
        if (changed === 1) await addAuditEntry(tx, audit);
        return changed === 1;
      },
    ),

    delete: db.decision<Parameters<SignerStore["delete"]>, boolean>(
      "signers.delete",
      async (tx, signerUuid, audit) => {
        const isErased = (await tx.run(erase, signerUuid)) === 1;
        if (isErased) for (const entry of audit) await addAuditEntry(tx, entry);
        return isErased;
      },
    ),

    async keyUses() {
      const uses: KeyUse[] = [];
      const next = async (after: string) => (await db.get(nextKeyId, after))?.key_id ?? null;
      for (let keyId = await next(""); keyId !== null; keyId = await next(keyId))
        uses.push({ keyId, count: (await db.get(countByKeyId, keyId))?.count ?? 0 });
      return uses;
    },
    listByKeyId: (keyId, bounds) => page(db.all(byKeyId, keyId, ...at(bounds))),

    reseal: db.decision<Parameters<SignerStore["reseal"]>, number>("signers.reseal", async (tx, reseals) => {
      let count = 0;
      for (const { signerUuid, before, after } of reseals)
        count += await tx.run(setSealed, after.sealed, after.keyId, signerUuid, before);
      return count;
    }),
  };
}
