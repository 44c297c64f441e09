import { type Static, Type } from "@sinclair/typebox";
import type { SignedRequest } from "../../../auth/signed-routes.ts";
import { jsonBodyDecoder } from "../../../http/request/body.ts";
import { cursor, fid, limit, optional, text } from "../../../http/request/params.ts";
import { fromHex, type Hex, toHex } from "../../../protocol/validate/eth.ts";
import { cursorCodec } from "../../../read/cursor.ts";
import { PERMISSIONS, permissionsOf, typesOf } from "../../../signers/permissions.ts";
import type { ExportedSigner, SignerActor } from "../../../signers/signer-keys.ts";
import type { SignerView } from "../../../signers/signer-views.ts";
import { closed, Fid, Hash, Next, nullable, UnixSecs } from "../../dialects/fields.ts";
import { decodeCursor, presentRecord, unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";
import { idToDelete } from "../account/records.ts";

const { signed, signedRead } = topic({ tag: "Managed signers", surface: "native" });

const Uuid = Type.String({ format: "uuid" });

const PublicKey = Type.String({ pattern: "^0x[0-9a-f]{64}$", description: "An Ed25519 public key" });

const ManagedSigner = Type.Object(
  {
    object: Type.Literal("managed_signer"),
    signer_uuid: Uuid,
    owner_fid: Fid,
    public_key: PublicKey,
    status: Type.Union(
      (["generated", "pending_approval", "approved", "revoked"] as const).map((status) =>
        Type.Literal(status),
      ),
    ),
    permissions: Type.Array(Type.Union(PERMISSIONS.map((name) => Type.Literal(name)))),
    fid: nullable(Fid),
    user_fid: nullable(
      Type.Integer({ ...Fid, description: "The only user who may approve it, while it waits; null for any" }),
    ),
    app_fid: nullable(Fid),
    approval_url: nullable(Type.String({ description: "Where a user approves it, while it waits for that" })),
    approved_at: nullable(UnixSecs("When its first approval was seen")),
    expires_at: nullable(UnixSecs("When a gasless key expires unless it is used")),
    created_at: UnixSecs("Creation"),
    updated_at: UnixSecs("Last change"),
  },
  { ...closed, $id: "ManagedSigner" },
);

const ManagedSignerResponse = Type.Object({ signer: ManagedSigner }, closed);

const ManagedSignersResponse = Type.Object({ signers: Type.Array(ManagedSigner), next: Next }, closed);

const DeletedSigner = Type.Object(
  {
    deleted: Type.Literal(true),
    removal: nullable(Hash),
  },
  { ...closed, description: "`removal` is the hash of the message by which a gasless key removed itself" },
);

const PrivateKey = Type.String({ pattern: "^0x[0-9a-fA-F]{64}$", description: "The Ed25519 seed" });

const ExportedSignerResponse = Type.Object(
  { signer_uuid: Uuid, fid: nullable(Fid), public_key: PublicKey, private_key: PrivateKey },
  closed,
);

const NewSignerRequest = Type.Object(
  {
    permissions: Type.Optional(
      Type.Array(Type.Union(PERMISSIONS.map((name) => Type.Literal(name))), {
        maxItems: PERMISSIONS.length,
        description: "Default: all of them. Those in channels need a key on chain and are refused",
      }),
    ),
    fid: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "The only user who may approve it. Default: any",
      }),
    ),
    deadline: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Unix seconds at which the link ends, at most 7 days ahead. Default: a day ahead",
      }),
    ),
  },
  closed,
);

const ImportSignerRequest = Type.Object({
  private_key: PrivateKey,
  fid: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});

const SignerIdRequest = Type.Object({ signer_uuid: Type.String({ minLength: 1, maxLength: 64 }) });

function presentManagedSigner({ signer, state, approvalUrl }: SignerView): Static<typeof ManagedSigner> {
  return presentRecord(ManagedSigner, signer, {
    object: "managed_signer",
    public_key: toHex(signer.publicKey),
    status: state.status,
    permissions: [...permissionsOf(signer.permissions)],
    fid: state.fid,
    user_fid: state.status === "pending_approval" ? (signer.submitted?.fid ?? null) : null,
    app_fid: signer.request?.appFid ?? null,
    approval_url: approvalUrl ?? null,
    approved_at: signer.approval?.at ?? null,
    expires_at: state.status === "approved" ? state.expiresAt : null,
  });
}

function presentExport({ signerUuid, fid, publicKey, seed }: ExportedSigner) {
  const exported = { signer_uuid: signerUuid, fid, public_key: toHex(publicKey), private_key: toHex(seed) };
  seed.fill(0);
  return exported;
}

const signersCursor = cursorCodec("managed-signers", ["int"]);

export const signerUuid = text({ maxChars: 64, description: "The signer's id" });

const readNew = jsonBodyDecoder(NewSignerRequest);
const readImport = jsonBodyDecoder(ImportSignerRequest);
const readId = jsonBodyDecoder(SignerIdRequest);

export const managedSignerOperations = [
  signedRead({
    id: "getManagedSigner",
    path: "/managed_signer",
    op: "signer.read",
    command: { usage: "signer get <signer_uuid>", help: "show one managed signer" },
    summary: "One managed signer",
    description: "Also for the user whose key it is.",
    query: { signer_uuid: signerUuid },
    response: ManagedSignerResponse,
    errors: ["notFound"],
    run: async ({ signers }, request) => ({
      signer: presentManagedSigner(
        unwrapOrThrow(await signers.find(actorOf(request), request.query.signer_uuid)),
      ),
    }),
  }),
  signedRead({
    id: "listManagedSigners",
    path: "/managed_signer/list",
    op: "signer.read",
    command: {
      usage: "signer list",
      help: "list the managed signers of the fid",
      flags: {
        fid: {
          type: "fid",
          flag: "user",
          help: "only those of this user; with the own fid those of all owners",
        },
        limit: false,
        cursor: false,
      },
    },
    summary: "Managed signers of the signing fid",
    description:
      "In the order of creation. With the own fid as `fid`: those of all owners that sign for this user. With another one: the own ones that sign for that user.",
    query: {
      fid: optional(fid({ description: "Only of this user" })),
      limit: limit(25, 100),
      cursor: cursor(),
    },
    response: ManagedSignersResponse,
    run: async ({ signers }, request) => {
      const { limit: size, fid: user, cursor: position } = request.query;
      const [after = 0] = decodeCursor(signersCursor, position) ?? [];
      const found = await signers.list(actorOf(request), { fid: user, after, limit: size + 1 });
      const page = found.slice(0, size);
      const last = found.length > size ? page.at(-1) : undefined;
      return {
        signers: page.map(presentManagedSigner),
        next: { cursor: last ? signersCursor.encode([last.signer.seq]) : null },
      };
    },
  }),
  signed({
    id: "createManagedSigner",
    method: "POST",
    path: "/managed_signer",
    op: "signer.create",
    maxBodyBytes: ID_ONLY_BYTES,
    command: {
      usage: "signer create",
      help: "create a managed signer and the link on which its user approves it",
      flags: {
        permissions: { type: "texts", help: "what it may sign; default: everything" },
        fid: { type: "fid", flag: "user", help: "the only user who may approve it; default: any" },
        deadline: { type: "time", help: "when the link ends, within 7 days; default: in a day" },
      },
    },
    summary: "Create a managed signer that a user approves by a link",
    description:
      "`approval_url` of the response is the link. The user requests the key themselves, so no app has to sign. 501 without `signers.encryption_key`, or where the URL of links is not known.",
    body: NewSignerRequest,
    response: ManagedSignerResponse,
    errors: ["notFound", "notImplemented"],
    run: async ({ signers }, request) => {
      const { permissions = [], fid: userFid, deadline } = readNew(request.rawBody);
      const wanted = { permissions: typesOf(permissions), userFid, deadline };
      return {
        signer: presentManagedSigner(
          unwrapOrThrow(await signers.createForApproval(actorOf(request), wanted)),
        ),
      };
    },
  }),
  signed({
    id: "importManagedSigner",
    method: "POST",
    path: "/managed_signer/import",
    op: "signer.import",
    maxBodyBytes: ID_ONLY_BYTES,
    summary: "Keep a key that is active for a user",
    body: ImportSignerRequest,
    response: ManagedSignerResponse,
    errors: ["conflict", "tooManyRequests"],
    run: async ({ signers }, request) => {
      const { private_key, fid: user } = readImport(request.rawBody);
      const actor = actorOf(request);
      const seed = fromHex(private_key as Hex);
      const imported = unwrapOrThrow(await signers.keys.importSigner(actor, seed, user));
      seed.fill(0);
      return { signer: presentManagedSigner(unwrapOrThrow(await signers.find(actor, imported.signerUuid))) };
    },
  }),
  signed({
    id: "exportManagedSigner",
    method: "POST",
    path: "/managed_signer/export",
    op: "signer.export",
    maxBodyBytes: ID_ONLY_BYTES,
    command: {
      usage: "signer export <signer_uuid>",
      help: "print the private key of a managed signer; the rest goes to standard error",
    },
    summary: "The private key of a managed signer",
    description: "For its owner alone. 501 where the operator has turned exports off.",
    body: SignerIdRequest,
    response: ExportedSignerResponse,
    errors: ["notFound", "notImplemented"],
    run: async ({ signers }, request) => {
      const { signer_uuid } = readId(request.rawBody);
      return presentExport(unwrapOrThrow(await signers.keys.exportSigner(actorOf(request), signer_uuid)));
    },
  }),
  signed({
    id: "deleteManagedSigner",
    method: "DELETE",
    path: "/managed_signer",
    op: "signer.delete",
    maxBodyBytes: ID_ONLY_BYTES,
    command: {
      usage: "signer delete [signer_uuid]",
      help: "erase a managed signer; a gasless key also removes itself from the network",
    },
    summary: "Erase a managed signer",
    description:
      "For its owner, and for the user whose key it is. A gasless key also removes itself from the network; one on chain stays there until its user removes it. The id may also come as `signer_uuid` in a JSON body.",
    query: { signer_uuid: optional(signerUuid) },
    response: DeletedSigner,
    errors: ["notFound"],
    run: async ({ signers }, request) => {
      const id = idToDelete("signer_uuid", request.query.signer_uuid, request.rawBody);
      const { removal } = unwrapOrThrow(await signers.keys.deleteSigner(actorOf(request), id));
      return { deleted: true, removal: removal && toHex(removal) };
    },
  }),
];

/** The signing fid, for the audit log. */
function actorOf({
  fid: ownerFid,
  requestId,
  address,
}: Pick<SignedRequest, "fid" | "requestId" | "address">): SignerActor {
  return { ownerFid, apiKeyId: null, requestId, address };
}
