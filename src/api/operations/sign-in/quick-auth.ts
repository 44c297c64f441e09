import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { clientKeyOf, exchangeOf } from "../../../http/exchange.ts";
import { text } from "../../../http/request/params.ts";
import { parseQueryString } from "../../../http/request/query-string.ts";
import type { TaggedBody } from "../../../http/response/content-coding.ts";
import { tagBody } from "../../../http/response/representation.ts";
import { OPEN, OPEN_READ } from "../../../http/route-terms.ts";
import { fromHex, type Hex } from "../../../protocol/validate/eth.ts";
import { MAX_SIGNATURE_BYTES } from "../../../sign-in/contract-signature.ts";
import { NO_ISSUER, NO_TOKEN_KEY, type QuickAuth } from "../../../sign-in/quick-auth.ts";
import { signInError } from "../../../sign-in/sign-in-error.ts";
import type { PublicJwk } from "../../../sign-in/tokens/key-store.ts";
import type { SignInReason } from "../../../sign-in/verify-message.ts";
import { Fid, object } from "../../dialects/fields.ts";
import { operationsOf } from "../../op.ts";

/** The dependencies of the operations under `/quick-auth`. */
export interface QuickAuthDeps {
  readonly dialect?: undefined;
  readonly quickAuth: QuickAuth;
}

const QuickAuthError = object({
  error: Type.String({ description: "`invalid_params`, `invalid_token` or the kind of another error" }),
  error_message: Type.String(),
  message: Type.String(),
  reason: Type.Optional(Type.String({ description: "A stable name of the cause" })),
});

const { op } = operationsOf<QuickAuthDeps>({
  surface: "quickAuth",
  tag: "Quick Auth",
  errorResponse: QuickAuthError,
});

const REASONS: readonly SignInReason[] = [
  "invalid_nonce",
  "expired",
  "not_yet_valid",
  "domain_mismatch",
  "invalid_statement",
  "wrong_chain",
  "no_fid",
  "several_fids",
  "invalid_signature",
  "not_authorized",
  "contract_wallet",
  "unknown_fid",
  "malformed",
];

const VerifySiwfRequest = Type.Object({
  message: Type.String({ maxLength: 16_384, description: "The sign-in message (EIP-4361)" }),
  signature: Type.String({ pattern: "^0x([0-9a-fA-F]{2})*$", maxLength: 2 + 2 * MAX_SIGNATURE_BYTES }),
  domain: Type.String({ minLength: 1, maxLength: 255, description: "The domain of the app" }),
  acceptAuthAddress: Type.Optional(
    Type.Boolean({ description: "Whether an auth address of the fid may sign; default: true" }),
  ),
});

const VerifySiwfResponse = Type.Union([
  object({ valid: Type.Literal(true), token: Type.String() }),
  object({
    valid: Type.Literal(false),
    reason: Type.Union(REASONS.map((reason) => Type.Literal(reason))),
    message: Type.String(),
  }),
]);

const Claims = object({
  iss: Type.String({ description: "The URL of this server" }),
  sub: Fid,
  aud: Type.String({ description: "The domain of the app" }),
  iat: Type.Integer(),
  exp: Type.Integer(),
  auth_method: Type.Union([Type.Literal("custody"), Type.Literal("authAddress")]),
  jti: Type.String(),
});

const Jwks = object({ keys: Type.Array(Type.Record(Type.String(), Type.String())) });

const notImplemented = {
  when: "Without `signers.encryption_key`, or where the URL of this server is not known.",
  message: NO_TOKEN_KEY,
};
const shared = { access: OPEN, notImplemented } as const;

/** Quick Auth in the form of the official server; its client can be directed here with `origin`. */
export const quickAuthOperations = [
  op({
    ...shared,
    id: "quickAuthNonce",
    method: "POST",
    path: "/nonce",
    summary: "A nonce for a sign-in message; it counts once, within ten minutes",
    share: "signIns",
    response: object({ nonce: Type.String({ pattern: "^[a-zA-Z0-9]{32}$" }) }),
    errors: ["tooManyRequests", "unavailable"],
    run: async ({ quickAuth }) => {
      requireIssuer(quickAuth);
      return { nonce: await quickAuth.issueNonce() };
    },
  }),
  op({
    ...shared,
    id: "quickAuthVerifySiwf",
    method: "POST",
    path: "/verify-siwf",
    summary: "Exchanges a signed Sign In With Farcaster message for a token",
    description:
      "A refusal of the message is 200 with `valid: false` and its reason. The nonce is spent by every message that is well-formed.",
    share: "signIns",
    body: VerifySiwfRequest,
    response: VerifySiwfResponse,
    errors: ["tooManyRequests", "unavailable"],
    run: async ({ quickAuth }, { body, request }) => {
      const { message, signature, domain, acceptAuthAddress = true } = body;
      const signedIn = await quickAuth.signIn(requireIssuer(quickAuth), {
        text: message,
        signature: fromHex(signature as Hex),
        domain,
        acceptsAuthAddress: acceptAuthAddress,
        client: clientKeyOf(exchangeOf(request)),
      });
      if (signedIn.ok) return { valid: true, token: signedIn.value.token };
      if (signedIn.error.reason === "locked") throw new ApiError("notImplemented", NO_TOKEN_KEY);
      const { reason, message: why, cause } = signedIn.error;
      if (cause !== undefined) throw signInError(signedIn.error, "badRequest");
      return { valid: false, reason, message: why };
    },
  }),
  op({
    ...shared,
    id: "quickAuthVerifyJwt",
    path: "/verify-jwt",
    summary: "The claims of a token of this server",
    query: { token: text({ maxChars: 4096 }), domain: text({ maxChars: 255 }) },
    access: OPEN_READ,
    response: Claims,
    errors: ["badRequest"],
    ready:
      ({ quickAuth: { ready } }) =>
      (url) => {
        const { token = [], domain = [] } = parseQueryString(url);
        if (token.length !== 1 || domain.length !== 1) return undefined;
        const claims = ready.claims({ token: token[0] ?? "", domain: domain[0] ?? "" });
        return claims && bytesOf(claims);
      },
    run: async ({ quickAuth }, { query }) => {
      const claims = await quickAuth.verifyToken(requireIssuer(quickAuth), query);
      if (claims.ok) return claims.value;
      throw new ApiError("badRequest", claims.error.message, { code: claims.error.reason });
    },
  }),
  op({
    ...shared,
    id: "quickAuthKeys",
    path: "/.well-known/jwks.json",
    summary: "The public keys of tokens",
    access: OPEN_READ,
    cache: "minutes",
    response: Jwks,
    ready: ({ quickAuth: { ready } }) => {
      let sent: { readonly keys: readonly PublicJwk[]; readonly body: TaggedBody } | undefined;
      return () => {
        const keys = ready.publicKeys();
        if (keys && sent?.keys !== keys) sent = { keys, body: tagBody(bytesOf({ keys })) };
        return keys && sent?.body;
      };
    },
    run: async ({ quickAuth }) => {
      requireIssuer(quickAuth);
      return { keys: await quickAuth.publicKeys() };
    },
  }),
  op({
    ...shared,
    id: "quickAuthConfiguration",
    path: "/.well-known/openid-configuration",
    summary: "Where the keys of tokens are",
    access: OPEN_READ,
    response: object({
      issuer: Type.String(),
      jwks_uri: Type.String(),
      id_token_signing_alg_values_supported: Type.Array(Type.String()),
    }),
    run: async ({ quickAuth }) => {
      const issuer = requireIssuer(quickAuth);
      const keys = await quickAuth.publicKeys();
      const algorithms = [...new Set(keys.map(({ alg }) => String(alg)))];
      return {
        issuer,
        jwks_uri: `${issuer}/.well-known/jwks.json`,
        id_token_signing_alg_values_supported: algorithms,
      };
    },
  }),
];

/** @throws ApiError `notImplemented` if tokens are not issued */
function requireIssuer({ issuer, canSign }: QuickAuth): string {
  if (!canSign) throw new ApiError("notImplemented", NO_TOKEN_KEY);
  const url = issuer();
  if (url === undefined) throw new ApiError("notImplemented", NO_ISSUER);
  return url;
}

function bytesOf(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
