import { type Static, Type } from "@sinclair/typebox";
import type { AnyElysia } from "elysia";
import { createSignedRoutes } from "../../../auth/signed-routes.ts";
import type { AuthDeps } from "../../../auth/verify.ts";
import { cursor, limit, text } from "../../../http/params.ts";
import { type TokenRecord, tokenStates } from "../../../push/store/token-store.ts";
import type { TokenService } from "../../../push/tokens/token-service.ts";
import { cursorCodec, cutPage } from "../../../read/cursor.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import { unwrapOrThrow } from "../../shared/management.ts";
import { closed, Fid, Next, nullable, UnixSecs } from "../../shared/schemas.ts";

/** Enough of a token to distinguish it from others, and too little to send with it. */
const SHOWN_TOKEN_CHARS = 8;

const NotificationToken = Type.Object(
  {
    fid: Fid,
    client_fid: Type.Integer({
      format: "int64",
      minimum: 0,
      description: "Fid of the client app; 0 if its key names none",
    }),
    state: Type.Unsafe<TokenRecord["state"]>({ type: "string", enum: [...tokenStates] }),
    url: nullable(Type.String({ description: "URL at which the client accepts notifications" })),
    token: nullable(
      Type.String({
        description: `The first ${SHOWN_TOKEN_CHARS} characters of the token; of a short one at most half`,
      }),
    ),
    last_event: Type.String({
      description:
        "The client's last event about this row; `imported` for a token imported from another service",
    }),
    created_at: UnixSecs("First event"),
    updated_at: UnixSecs("Last event"),
  },
  { ...closed, $id: "NotificationToken" },
);

const TokensResponse = Type.Object({ tokens: Type.Array(NotificationToken), next: Next }, closed);

const tokenCursor = cursorCodec("app-tokens", ["int", "int"]);

/** `/frame/app/tokens`: the notification tokens of an app, for its owner. */
export function appTokenRoutes(deps: { readonly auth: AuthDeps; readonly tokens: TokenService }): AnyElysia {
  const routes = createSignedRoutes(deps.auth, { name: "app-tokens", tag: "Mini apps" });
  routes.add(
    "listAppTokens",
    {
      summary: "Notification tokens of a mini app",
      description:
        "Ordered by fid and client. A user has one token for each client app in which they added the mini app.",
      query: { app_id: text({ description: "The app's id" }), limit: limit(), cursor: cursor() },
      response: TokensResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => {
      const [afterFid, afterClient] = decodeCursor(tokenCursor, query.cursor) ?? [];
      const after =
        afterFid === undefined || afterClient === undefined
          ? undefined
          : { fid: afterFid, clientFid: afterClient };
      const found = unwrapOrThrow(
        await deps.tokens.list(fid, { appId: query.app_id, after, max: query.limit + 1 }),
      );
      const page = cutPage(found, query.limit, (last) => tokenCursor.encode([last.fid, last.clientFid]));
      return { tokens: page.rows.map(presentToken), next: { cursor: page.cursor } };
    },
  );
  return routes.plugin;
}

function presentToken(token: TokenRecord): Static<typeof NotificationToken> {
  return {
    fid: token.fid,
    client_fid: token.clientFid,
    state: token.state,
    url: token.details?.url ?? null,
    token: token.details ? firstCharacters(token.details.token) : null,
    last_event: token.lastEvent,
    created_at: token.createdAt,
    updated_at: token.updatedAt,
  };
}

/** Never all of a token, however short it is. Truncates at whole characters: half a surrogate pair is not valid text. */
function firstCharacters(token: string): string {
  const characters = [...token];
  return characters.slice(0, Math.min(SHOWN_TOKEN_CHARS, Math.floor(characters.length / 2))).join("");
}
