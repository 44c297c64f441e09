import type { AnyElysia } from "elysia";
import { createSignedRoutes, type SignedRequest } from "../../../auth/signed-routes.ts";
import { jsonBodyDecoder } from "../../../http/body.ts";
import { cursor, fid, limit, optional, text } from "../../../http/params.ts";
import { fromHex, type Hex, toHex } from "../../../protocol/validate/eth.ts";
import { cursorCodec } from "../../../read/cursor.ts";
import type { SignerActor } from "../../../signers/signer-keys.ts";
import type { SignerService } from "../../../signers/signer-service.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import { idToDelete, type ManagementDeps } from "../../shared/management.ts";
import { unwrapSigner } from "../../shared/signers.ts";
import {
  DeletedSigner,
  ExportedSignerResponse,
  ImportSignerRequest,
  ManagedSignerResponse,
  ManagedSignersResponse,
  presentExport,
  presentManagedSigner,
  SignerIdRequest,
} from "./schemas.ts";

const signersCursor = cursorCodec("managed-signers", ["int"]);

/** `/managed_signer`: signers that this service keeps, for their owner and for the user whose key each is. */
export function managedSignerOperations(
  { auth }: Pick<ManagementDeps, "auth">,
  signers: SignerService,
): AnyElysia {
  const routes = createSignedRoutes(auth, { name: "managed-signers", tag: "Managed signers" });
  const signerUuid = text({ maxChars: 64, description: "The signer's id" });
  const readImport = jsonBodyDecoder(ImportSignerRequest);
  const readId = jsonBodyDecoder(SignerIdRequest);

  routes.add(
    "getManagedSigner",
    {
      summary: "One managed signer",
      description: "Also for the user whose key it is.",
      query: { signer_uuid: signerUuid },
      response: ManagedSignerResponse,
      errors: ["notFound"],
    },
    async (request) => ({
      signer: presentManagedSigner(
        unwrapSigner(await signers.find(actorOf(request), request.query.signer_uuid)),
      ),
    }),
  );

  routes.add(
    "listManagedSigners",
    {
      summary: "Managed signers of the signing fid",
      description:
        "In the order of creation. With the own fid as `fid`: those of all owners that sign for this user. With another one: the own ones that sign for that user.",
      query: {
        fid: optional(fid({ description: "Only of this user" })),
        limit: limit(25, 100),
        cursor: cursor(),
      },
      response: ManagedSignersResponse,
    },
    async (request) => {
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
  );

  routes.add(
    "importManagedSigner",
    {
      summary: "Keep a key that is active for a user",
      body: ImportSignerRequest,
      response: ManagedSignerResponse,
      errors: ["conflict", "tooManyRequests"],
    },
    async (request) => {
      const { private_key, fid: user } = readImport(request.rawBody);
      const actor = actorOf(request);
      const seed = fromHex(private_key as Hex);
      const imported = unwrapSigner(await signers.keys.importSigner(actor, seed, user));
      seed.fill(0);
      return { signer: presentManagedSigner(unwrapSigner(await signers.find(actor, imported.signerUuid))) };
    },
  );

  routes.add(
    "exportManagedSigner",
    {
      summary: "The private key of a managed signer",
      description: "For its owner alone. 501 where the operator has turned exports off.",
      body: SignerIdRequest,
      response: ExportedSignerResponse,
      errors: ["notFound", "notImplemented"],
    },
    async (request) => {
      const { signer_uuid } = readId(request.rawBody);
      return presentExport(unwrapSigner(await signers.keys.exportSigner(actorOf(request), signer_uuid)));
    },
  );

  routes.add(
    "deleteManagedSigner",
    {
      summary: "Erase a managed signer",
      description:
        "For its owner, and for the user whose key it is. A gasless key also removes itself from the network; one on chain stays there until its user removes it. The id may also come as `signer_uuid` in a JSON body.",
      query: { signer_uuid: optional(signerUuid) },
      response: DeletedSigner,
      errors: ["notFound"],
    },
    async (request) => {
      const id = idToDelete("signer_uuid", request.query.signer_uuid, request.rawBody);
      const { removal } = unwrapSigner(await signers.keys.deleteSigner(actorOf(request), id));
      return { deleted: true, removal: removal && toHex(removal) };
    },
  );

  return routes.plugin;
}

/** The signing fid, for the audit log. */
function actorOf({
  fid: ownerFid,
  requestId,
  address,
}: Pick<SignedRequest<never>, "fid" | "requestId" | "address">): SignerActor {
  return { ownerFid, apiKeyId: null, requestId, address };
}
