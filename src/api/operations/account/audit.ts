import { type Static, Type } from "@sinclair/typebox";
import type { StoredAuditEntry } from "../../../audit/audit-store.ts";
import { choice, cursor, limit, optional } from "../../../http/request/params.ts";
import { toHex } from "../../../protocol/validate/eth.ts";
import { cursorCodec } from "../../../read/cursor.ts";
import { Fid, Hash, Next, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { decodeCursor, presentRecord } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { signedRead } = topic({ tag: "Managed signers", surface: "native" });

const AuditEntry = object(
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
  { $id: "AuditEntry" },
);

const AuditResponse = object({ entries: Type.Array(AuditEntry), next: Next });

const auditCursor = cursorCodec("audit", ["int", "int"]);

export const auditOperations = [
  signedRead({
    id: "listAuditEntries",
    path: "/audit",
    op: "audit.read",
    command: {
      usage: "audit",
      help: "list what was changed and signed for the fid in the last 400 days, newest first",
      flags: {
        of: {
          type: "boolean",
          flag: "records",
          value: "records",
          help: "only changes of mini apps and webhooks",
        },
      },
    },
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
    run: async ({ audit }, { fid, query }) => {
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
  }),
];

function presentEntry(entry: StoredAuditEntry): Static<typeof AuditEntry> {
  return presentRecord(AuditEntry, entry, {
    object: "audit_entry",
    at: Math.floor(entry.atMs / 1000),
    fid: entry.userFid,
    hash: entry.hash && toHex(entry.hash),
  });
}
