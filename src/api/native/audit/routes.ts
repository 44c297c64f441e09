import { type Static, Type } from "@sinclair/typebox";
import type { AnyElysia } from "elysia";
import type { AuditStore, StoredAuditEntry } from "../../../audit/audit-store.ts";
import { createSignedRoutes } from "../../../auth/signed-routes.ts";
import { choice, cursor, limit, optional } from "../../../http/params.ts";
import { toHex } from "../../../protocol/validate/eth.ts";
import { cursorCodec } from "../../../read/cursor.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ManagementDeps } from "../../shared/management.ts";
import { closed, Fid, Hash, Next, nullable, UnixSecs } from "../../shared/schemas.ts";

const AuditEntry = Type.Object(
  {
    object: Type.Literal("audit_entry"),
    at: UnixSecs("When it happened"),
    action: Type.String({ description: "Such as `signer.create`" }),
    outcome: Type.String({ description: "`ok`, or the code of the refusal" }),
    fid: nullable(Fid),
    api_key_id: nullable(Type.String()),
    signer_uuid: nullable(Type.String()),
    hash: nullable(Hash),
    record_id: nullable(Type.String({ description: "The mini app or webhook that was changed" })),
    request_id: Type.String(),
    address: Type.String({ description: "The client's address" }),
  },
  { ...closed, $id: "AuditEntry" },
);
const AuditResponse = Type.Object({ entries: Type.Array(AuditEntry), next: Next }, closed);

const auditCursor = cursorCodec("audit", ["int", "int"]);

/** `/audit`: what was changed for an fid and what its keys, signers and writes have done, for that fid. */
export function auditRoutes({ auth }: Pick<ManagementDeps, "auth">, audit: AuditStore): AnyElysia {
  const routes = createSignedRoutes(auth, { name: "audit", tag: "Managed signers" });
  routes.add(
    "listAuditEntries",
    {
      summary: "The audit log of the signing fid",
      description:
        "Every change of its mini apps and webhooks, and every action of its API keys, managed signers, sessions and writes, of the last 400 days, newest first.",
      query: {
        of: optional(
          choice(["everything", "records"], { description: "`records`: mini apps and webhooks" }),
          "everything",
        ),
        limit: limit(25, 100),
        cursor: cursor(),
      },
      response: AuditResponse,
    },
    async ({ fid, query }) => {
      const [atMs, seq] = decodeCursor(auditCursor, query.cursor) ?? [];
      const before = atMs === undefined || seq === undefined ? undefined : { atMs, seq };
      const found = await audit.list(fid, {
        limit: query.limit + 1,
        before,
        ofRecords: query.of === "records",
      });
      const page = found.slice(0, query.limit);
      const last = found.length > query.limit ? page.at(-1) : undefined;
      return {
        entries: page.map(presentEntry),
        next: { cursor: last ? auditCursor.encode([last.atMs, last.seq]) : null },
      };
    },
  );
  return routes.plugin;
}

function presentEntry(entry: StoredAuditEntry): Static<typeof AuditEntry> {
  const { atMs, action, outcome, userFid, apiKeyId, signerUuid, hash, recordId, requestId, address } = entry;
  return {
    object: "audit_entry",
    at: Math.floor(atMs / 1000),
    action,
    outcome,
    fid: userFid,
    api_key_id: apiKeyId,
    signer_uuid: signerUuid,
    hash: hash && toHex(hash),
    record_id: recordId,
    request_id: requestId,
    address,
  };
}
