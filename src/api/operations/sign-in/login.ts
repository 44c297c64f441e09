import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { keyCallerOf } from "../../../http/exchange.ts";
import { text } from "../../../http/request/params.ts";
import { requireKey } from "../../../http/route-terms.ts";
import { NO_ISSUER } from "../../../sign-in/quick-auth.ts";
import { CompatUser } from "../../dialects/compat-objects.ts";
import { nullable, object } from "../../dialects/fields.ts";
import { respondWithUser, unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { op } = topic({ tag: "Signers", surface: "compat" });

const BY_KEY = { security: "apiKey", access: requireKey("signers") } as const;
const NO_WEB_SIGN_IN = "web sign-in is off, or the URL of this server is not known";

/** The operations for an app's own code: the address of the login page, and the exchange of a code. */
export const loginOperations = [
  op({
    ...BY_KEY,
    id: "authorizeLogin",
    path: "/login/authorize",
    summary: "The address of the login page for a login client of the owner of the key",
    query: { client_id: text({ maxChars: 64 }) },
    response: object({ authorization_url: Type.String() }),
    errors: ["forbidden", "notFound"],
    notImplemented: {
      when: "Without web sign-in, or where the URL of this server is not known.",
      message: NO_ISSUER,
    },
    run: async ({ loginClients, loginUrl }, { query, request }) => {
      const { clientId } = unwrapOrThrow(
        await loginClients.get(keyCallerOf(request).ownerFid, query.client_id),
      );
      const url = loginUrl(clientId);
      if (url === undefined) throw new ApiError("notImplemented", NO_WEB_SIGN_IN);
      return { authorization_url: url };
    },
  }),
  op({
    ...BY_KEY,
    id: "exchangeLoginCode",
    method: "POST",
    path: "/login/token",
    summary: "Exchange the code of a login: once, within 60 seconds",
    body: Type.Object({
      code: Type.String({ maxLength: 64 }),
      client_id: Type.String({ maxLength: 64 }),
      redirect_uri: Type.String({ maxLength: 2048 }),
    }),
    response: object({
      is_authenticated: Type.Literal(true),
      signer_uuid: nullable(Type.String({ format: "uuid" })),
      fid: Type.String(),
      user: CompatUser,
    }),
    errors: ["forbidden", "unauthorized"],
    run: async ({ logins, reads }, { body, request }) => {
      const { code, client_id: clientId, redirect_uri: redirectUri } = body;
      const { ownerFid } = keyCallerOf(request);
      const loggedIn = await logins.exchange({ code, clientId, redirectUri, ownerFid });
      if (!loggedIn)
        throw new ApiError("unauthorized", "code is unknown, used or expired, or not for this client");
      const { fid, signerUuid } = loggedIn;
      const { user } = respondWithUser(reads, {}, () => fid, "no such user") as { readonly user: object };
      return { is_authenticated: true, signer_uuid: signerUuid, fid: String(fid), user };
    },
  }),
];
