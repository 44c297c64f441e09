import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { captureBody, jsonBodyDecoder, rawBody } from "../../http/body.ts";
import { missingScope } from "../../http/caller.ts";
import { ApiError } from "../../http/errors.ts";
import { exchangeOf, keyCallerOf } from "../../http/exchange.ts";
import { operation } from "../../http/operation.ts";
import { address, badRequest, cursor, fid, limit, optional, text } from "../../http/params.ts";
import { requireKey } from "../../http/route-terms.ts";
import { fromHex, type Hex } from "../../protocol/validate/eth.ts";
import { authAddressOwner } from "../../read/queries/users/key-owner.ts";
import type { ReadSource } from "../../read/run-query.ts";
import { type Permission, typesOf } from "../../signers/permissions.ts";
import { NO_MASTER_KEY } from "../../signers/refusal.ts";
import type { SignerActor } from "../../signers/signer-keys.ts";
import type { SignerService } from "../../signers/signer-service.ts";
import { DEFAULT_EVENTS, listSigners } from "../native/signers/routes.ts";
import { SignerEventPageResponse } from "../native/signers/schemas.ts";
import { unwrapSigner } from "../shared/signers.ts";
import {
  AuthAddress,
  CompatSigner,
  CompatSigners,
  CreateSignerRequest,
  LoginNonce,
  presentSigner,
  RegisterSignedKeyRequest,
} from "./signer-schemas.ts";

const tags = ["Signers and on-chain events"];
const byKey = { tags, security: "apiKey", access: requireKey("signers") } as const;
export interface CompatSignerDeps {
  readonly signers: SignerService;
  readonly reads: ReadSource;
}

/** Signers that this service keeps for the owners of API keys, in the shape of the hosted API. */
export function managedSignerRoutes({ signers, reads }: CompatSignerDeps): AnyElysia {
  const readCreate = jsonBodyDecoder(CreateSignerRequest);
  const events = { fid: optional(fid()), limit: optional(limit(), DEFAULT_EVENTS), cursor: cursor() };
  interface EventsQuery {
    readonly fid: number | undefined;
    readonly limit: number;
    readonly cursor: string | undefined;
  }
  const either = {
    tags,
    security: "apiKey",
    access: { kind: "keyUnlessRead", scope: "signers", isRead: isEventList },
  } as const;

  return new Elysia({ name: "farcaster-signers" })
    .post(
      "/signer",
      async ({ request }) => {
        const permissions = permissionsOf(request, readCreate);
        return presentSigner(unwrapSigner(await signers.create(actorOf(request), typesOf(permissions))));
      },
      {
        ...operation({
          ...byKey,
          operationId: "createSigner",
          summary: "Create a signer, whose private key this service keeps",
          description: "A body is optional. With `permissions` the signer may sign less than everything.",
          response: CompatSigner,
          errors: ["badRequest", "forbidden", "tooManyRequests", "payloadTooLarge", "unavailable"],
          notImplemented: { when: "Without `signers.encryption_key`.", message: NO_MASTER_KEY },
        }),
        parse: captureBody,
      },
    )
    .get(
      "/signer",
      async ({
        query,
        request,
      }: {
        readonly query: EventsQuery & { readonly signer_uuid: string | undefined };
        readonly request: Request;
      }) => {
        if (query.signer_uuid !== undefined)
          return presentSigner(unwrapSigner(await signers.lookup(actorOf(request), query.signer_uuid)));
        if (query.fid === undefined) throw badRequest("missing query parameter signer_uuid");
        return listSigners(reads, { ...query, fid: query.fid });
      },
      operation({
        ...either,
        operationId: "lookupSigner",
        summary: "A signer of the owner of the key; with `fid` every event of an fid's on-chain keys",
        query: { ...events, signer_uuid: optional(text({ maxChars: 64 })) },
        response: Type.Union([CompatSigner, SignerEventPageResponse]),
        errors: ["forbidden", "notFound", "unavailable"],
      }),
    )
    .get(
      "/signer/list",
      async ({
        query,
        request,
      }: {
        readonly query: EventsQuery & {
          readonly message: string | undefined;
          readonly signature: string | undefined;
        };
        readonly request: Request;
      }) => {
        const { message, signature } = query;
        if (query.fid !== undefined && message === undefined)
          return listSigners(reads, { ...query, fid: query.fid });
        if (message === undefined) throw badRequest("missing query parameter message");
        if (signature === undefined || !SIGNATURE.test(signature))
          throw badRequest("signature must be 0x and 130 hex digits");
        const signIn = { message, signature: fromHex(signature as Hex) };
        const listed = unwrapSigner(await signers.listOfSignIn(actorOf(request), signIn));
        return { signers: listed.map(presentSigner) };
      },
      operation({
        ...either,
        operationId: "fetchSigners",
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
      }),
    )
    .get(
      "/login/nonce",
      async () => ({ nonce: await signers.issueNonce() }),
      operation({
        ...byKey,
        operationId: "fetchNonce",
        summary: "A nonce for a sign-in message; it counts once, within ten minutes",
        response: LoginNonce,
        errors: ["forbidden", "unavailable"],
      }),
    )
    .post(
      "/signer/signed_key",
      async ({ body, request }) => {
        const { signer_uuid, app_fid, deadline, signature, gasless_signature, redirect_url } = body;
        return presentSigner(
          unwrapSigner(
            await signers.register(actorOf(request), {
              signerUuid: signer_uuid,
              appFid: app_fid,
              deadline,
              signature: fromHex(signature as Hex),
              gaslessSignature:
                gasless_signature === undefined ? undefined : fromHex(gasless_signature as Hex),
              redirectUrl: redirect_url,
            }),
          ),
        );
      },
      operation({
        ...byKey,
        operationId: "registerSignedKey",
        summary: "Ask a user to approve a signer for an app",
        description: "Responds with the link on which a user approves. An earlier link of the signer ends.",
        body: RegisterSignedKeyRequest,
        response: CompatSigner,
        errors: ["forbidden", "notFound", "conflict", "unavailable"],
        notImplemented: {
          when: "Without `signers.encryption_key`, or where the URL of links is not known.",
          message: NO_MASTER_KEY,
        },
      }),
    )
    .get(
      "/auth_address/developer_managed",
      ({ query }) => {
        const owner = authAddressOwner(reads.db, fromHex(query.address));
        if (!owner) throw new ApiError("notFound", "no fid ever had this auth address");
        return { address: query.address, status: owner.isActive ? "approved" : "revoked", fid: owner.fid };
      },
      operation({
        operationId: "lookupDeveloperManagedAuthAddress",
        summary: "The fid of an auth address, and whether it is still active",
        tags,
        query: { address: address() },
        response: AuthAddress,
        errors: ["notFound"],
      }),
    );
}

/** With an fid and none of a signer's parameters a request is for the events of the fid's keys. */
function isEventList(query: URLSearchParams): boolean {
  return query.has("fid") && !["signer_uuid", "message", "signature"].some((name) => query.has(name));
}

const SIGNATURE = /^0x[0-9a-fA-F]{130}$/;

/** Clients of the hosted API send an empty form. */
function permissionsOf(
  request: Request,
  read: (bytes: Uint8Array) => { readonly permissions?: Permission[] },
) {
  const bytes = rawBody(request);
  return bytes.byteLength === 0 ? [] : (read(bytes).permissions ?? []);
}

/** The owner of the key of a request, for the audit log. */
function actorOf(request: Request): SignerActor {
  const { ownerFid, apiKeyId, scopes } = keyCallerOf(request);
  // A key that may only read must not get here, whatever the query looks like.
  if (!scopes.includes("signers")) throw missingScope("signers");
  const { requestId, client } = exchangeOf(request);
  return { ownerFid, apiKeyId, requestId, address: client().address };
}
