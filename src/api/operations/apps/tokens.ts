import { type Static, Type } from "@sinclair/typebox";
import { text } from "../../../http/request/params.ts";
import { type TokenRecord, tokenStates } from "../../../push/store/tokens/token-store.ts";
import { cursorCodec, cutPage } from "../../../read/cursor.ts";
import { Fid, Next, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { decodeCursor, presentRecord, unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { signedRead } = topic({ tag: "Mini apps" });

/** Enough of a token to distinguish it from others, and too little to send with it. */
const SHOWN_TOKEN_CHARS = 8;

const NotificationToken = object(
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
  { $id: "NotificationToken" },
);

const TokensResponse = object({ tokens: Type.Array(NotificationToken), next: Next });

const tokenCursor = cursorCodec("app-tokens", ["int", "int"]);

export const tokenOperations = [
  signedRead({
    id: "listAppTokens",
    path: "/frame/app/tokens",
    op: "app.read",
    summary: "Notification tokens of a mini app",
    description:
      "Ordered by fid and client. A user has one token for each client app in which they added the mini app.",
    query: { app_id: text({ description: "The app's id" }), ...page() },
    response: TokensResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ push: { tokens } }, { fid, query }) => {
      const [afterFid, afterClient] = decodeCursor(tokenCursor, query.cursor) ?? [];
      const after =
        afterFid === undefined || afterClient === undefined
          ? undefined
          : { fid: afterFid, clientFid: afterClient };
      const found = unwrapOrThrow(
        await tokens.list(fid, { appId: query.app_id, after, max: query.limit + 1 }),
      );
      const page = cutPage(found, query.limit, (last) => tokenCursor.encode([last.fid, last.clientFid]));
      return { tokens: page.rows.map(presentToken), next: { cursor: page.cursor } };
    },
  }),
];

function presentToken(token: TokenRecord): Static<typeof NotificationToken> {
  const { details } = token;
  return presentRecord(NotificationToken, token, {
    url: details?.url ?? null,
    token: details ? firstCharacters(details.token) : null,
  });
}

/** Never all of a token, however short it is. Truncates at whole characters: half a surrogate pair is not valid text. */
function firstCharacters(token: string): string {
  const characters = [...token];
  return characters.slice(0, Math.min(SHOWN_TOKEN_CHARS, Math.floor(characters.length / 2))).join("");
}
