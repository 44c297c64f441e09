import { type Static, Type } from "@sinclair/typebox";
import { missingScope } from "../../../http/caller.ts";
import { exchangeOf, keyCallerOf } from "../../../http/exchange.ts";
import { captureBody, jsonBodyDecoder, rawBody } from "../../../http/request/body.ts";
import { badRequest, cursor, fid, limit, optional, text } from "../../../http/request/params.ts";
import { requireKey } from "../../../http/route-terms.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { fromHex, type Hex, toHex } from "../../../protocol/validate/eth.ts";
import { PERMISSIONS, type Permission, permissionsOf, typesOf } from "../../../signers/permissions.ts";
import { NO_MASTER_KEY } from "../../../signers/refusal.ts";
import type { SignerActor } from "../../../signers/signer-keys.ts";
import type { SignerView } from "../../../signers/signer-views.ts";
import { Fid, object } from "../../dialects/fields.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { DEFAULT_EVENTS, listSigners, SignerEventPageResponse } from "../users/registry.ts";

const { op } = topic({ tag: "Signers and on-chain events", surface: "compat" });

const PublicKey = Type.String({ pattern: "^0x[0-9a-f]{64}$", description: "An Ed25519 public key" });

const PermissionName = Type.Union(PERMISSIONS.map((name) => Type.Literal(name)));

const CompatSigner = object(
  {
    object: Type.Literal("signer"),
    signer_uuid: Type.String({ format: "uuid" }),
    public_key: PublicKey,
    status: Type.Union(
      (["generated", "pending_approval", "approved", "revoked"] as const).map((status) =>
        Type.Literal(status),
      ),
    ),
    permissions: Type.Array(PermissionName),
    fid: Type.Optional(Fid),
    signer_approval_url: Type.Optional(
      Type.String({
        format: "uri",
        description: "Where a user approves the signer, while it waits for that",
      }),
    ),
    expires_at: Type.Optional(
      Type.String({ format: "date-time", description: "When a gasless key expires unless it is used" }),
    ),
  },
  { $id: "FarcasterSigner" },
);

const CompatSigners = object({ signers: Type.Array(CompatSigner) });

const LoginNonce = object({ nonce: Type.String({ pattern: "^[a-zA-Z0-9]{32}$" }) });

const CreateSignerRequest = Type.Object({
  permissions: Type.Optional(
    Type.Array(PermissionName, { maxItems: PERMISSIONS.length, description: "Default: all of them" }),
  ),
});

export const Signature = Type.String({ pattern: "^0x[0-9a-fA-F]{130}$" });

const RegisterSignedKeyRequest = Type.Object({
  signer_uuid: Type.String({ minLength: 1, maxLength: 64 }),
  app_fid: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  deadline: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "Unix seconds, at most 7 days ahead",
  }),
  signature: Type.Intersect([Signature], {
    description: "SignedKeyRequest by the custody address of `app_fid`, for the chain or for gasless keys",
  }),
  gasless_signature: Type.Optional(
    Type.Intersect([Signature], { description: "The same under the domain of gasless keys" }),
  ),
  redirect_url: Type.Optional(Type.String({ maxLength: 2048 })),
  sponsor: Type.Optional(Type.Unknown({ description: "Ignored: nothing here costs" })),
});

function presentSigner({ signer, state, approvalUrl }: SignerView): Static<typeof CompatSigner> {
  const { fid, status, expiresAt } = state;
  return {
    object: "signer",
    signer_uuid: signer.signerUuid,
    public_key: toHex(signer.publicKey),
    status,
    permissions: [...permissionsOf(signer.permissions)],
    ...(fid === null ? {} : { fid }),
    ...(approvalUrl === undefined ? {} : { signer_approval_url: approvalUrl }),
    ...(status !== "approved" || expiresAt === null ? {} : { expires_at: isoTime(expiresAt) }),
  };
}

const SIGNATURE = /^0x[0-9a-fA-F]{130}$/;

const BY_KEY = { security: "apiKey", access: requireKey("signers") } as const;
const EITHER = {
  security: "apiKey",
  access: { kind: "keyUnlessRead", scope: "signers", isRead: isEventList },
} as const;
const events = { fid: optional(fid()), limit: optional(limit(), DEFAULT_EVENTS), cursor: cursor() };
const readCreate = jsonBodyDecoder(CreateSignerRequest);

/** Signers that this service stores for the owners of API keys, in the shape of the hosted API. */
export const signerByKeyOperations = [
  op({
    ...BY_KEY,
    id: "createSigner",
    method: "POST",
    path: "/signer",
    summary: "Create a signer, whose private key this service keeps",
    description: "A body is optional. With `permissions` the signer may sign less than everything.",
    response: CompatSigner,
    errors: ["badRequest", "forbidden", "tooManyRequests", "payloadTooLarge", "unavailable"],
    notImplemented: { when: "Without `signers.encryption_key`.", message: NO_MASTER_KEY },
    parse: () => captureBody,
    run: async ({ signers }, { request }) =>
      presentSigner(
        unwrapOrThrow(await signers.create(actorOf(request), typesOf(requestedPermissions(request)))),
      ),
  }),
  op({
    ...EITHER,
    id: "lookupSigner",
    path: "/signer",
    summary: "A signer of the owner of the key; with `fid` every event of an fid's on-chain keys",
    query: { ...events, signer_uuid: optional(text({ maxChars: 64 })) },
    response: Type.Union([CompatSigner, SignerEventPageResponse]),
    errors: ["forbidden", "notFound", "unavailable"],
    run: async ({ reads, signers }, { query, request }) => {
      if (query.signer_uuid !== undefined)
        return presentSigner(unwrapOrThrow(await signers.lookup(actorOf(request), query.signer_uuid)));
      if (query.fid === undefined) throw badRequest("missing query parameter signer_uuid");
      return listSigners(reads, { ...query, fid: query.fid });
    },
  }),
  op({
    ...EITHER,
    id: "fetchSigners",
    path: "/signer/list",
    summary:
      "The signers, for the owner of the key, of the user who signs in; with `fid` every event of an fid's on-chain keys",
    description:
      "`message` is a sign-in message (EIP-4361) with a nonce of `/login/nonce`, signed by a custody address.",
    query: {
      ...events,
      message: optional(text({ maxChars: 4096 })),
      signature: optional(text({ maxChars: 132 })),
    },
    response: Type.Union([CompatSigners, SignerEventPageResponse]),
    errors: ["forbidden", "unavailable"],
    run: async ({ reads, signers }, { query, request }) => {
      const { message, signature } = query;
      if (query.fid !== undefined && message === undefined)
        return listSigners(reads, { ...query, fid: query.fid });
      if (message === undefined) throw badRequest("missing query parameter message");
      if (signature === undefined || !SIGNATURE.test(signature))
        throw badRequest("signature must be 0x and 130 hex digits");
      const signIn = { message, signature: fromHex(signature as Hex) };
      const listed = unwrapOrThrow(await signers.listOfSignIn(actorOf(request), signIn));
      return { signers: listed.map(presentSigner) };
    },
  }),
  op({
    ...BY_KEY,
    id: "fetchNonce",
    path: "/login/nonce",
    summary: "A nonce for a sign-in message; it counts once, within ten minutes",
    response: LoginNonce,
    errors: ["forbidden", "unavailable"],
    run: async ({ signers }) => ({ nonce: await signers.issueNonce() }),
  }),
  op({
    ...BY_KEY,
    id: "registerSignedKey",
    method: "POST",
    path: "/signer/signed_key",
    summary: "Ask a user to approve a signer for an app",
    description: "Responds with the link on which a user approves. An earlier link of the signer ends.",
    body: RegisterSignedKeyRequest,
    response: CompatSigner,
    errors: ["forbidden", "notFound", "conflict", "unavailable"],
    notImplemented: {
      when: "Without `signers.encryption_key`, or where the URL of links is not known.",
      message: NO_MASTER_KEY,
    },
    run: async ({ signers }, { body, request }) => {
      const { signer_uuid, app_fid, deadline, signature, gasless_signature, redirect_url } = body;
      return presentSigner(
        unwrapOrThrow(
          await signers.register(actorOf(request), {
            signerUuid: signer_uuid,
            appFid: app_fid,
            deadline,
            signature: fromHex(signature as Hex),
            gaslessSignature: gasless_signature === undefined ? undefined : fromHex(gasless_signature as Hex),
            redirectUrl: redirect_url,
          }),
        ),
      );
    },
  }),
];

/** A request with an fid and none of a signer's parameters asks for the events of the fid's keys. */
function isEventList(query: URLSearchParams): boolean {
  return query.has("fid") && !["signer_uuid", "message", "signature"].some((name) => query.has(name));
}

/** Clients of the hosted API send an empty form. */
function requestedPermissions(request: Request): Permission[] {
  const bytes = rawBody(request);
  return bytes.byteLength === 0 ? [] : (readCreate(bytes).permissions ?? []);
}

/** Returns the owner of the request's key, for the audit log. */
export function actorOf(request: Request): SignerActor {
  const { ownerFid, apiKeyId, scopes } = keyCallerOf(request);
  // A read-only key must not get here, whatever the query looks like.
  if (!scopes.includes("signers")) throw missingScope("signers");
  const { requestId, client } = exchangeOf(request);
  return { ownerFid, apiKeyId, requestId, address: client().address };
}
