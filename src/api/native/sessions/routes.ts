import { type Static, Type } from "@sinclair/typebox";
import type { AnyElysia } from "elysia";
import { SESSION_ACCESS, type Session } from "../../../auth/sessions/session.ts";
import { createSignedRoutes } from "../../../auth/signed-routes.ts";
import { ApiError } from "../../../http/errors.ts";
import { optional, text } from "../../../http/params.ts";
import { flag } from "../../../http/word-params.ts";
import { CreateSessionRequest } from "../../../sessions/session-requests.ts";
import { Deleted, type ManagementDeps, unwrapOrThrow } from "../../shared/management.ts";
import { closed, Fid, nullable, UnixSecs } from "../../shared/schemas.ts";

const SessionSchema = Type.Object(
  {
    object: Type.Literal("session"),
    session_id: Type.String({ pattern: "^[1-9A-HJ-NP-Za-km-z]{16}$" }),
    fid: Fid,
    access: Type.Union(SESSION_ACCESS.map((access) => Type.Literal(access))),
    label: Type.String(),
    origin: Type.String({ description: "Origin of the page that it is for" }),
    created_at: UnixSecs("Creation"),
    expires_at: UnixSecs("When it ends"),
    last_used_at: nullable(UnixSecs("Last use; may lag a minute")),
  },
  { ...closed, $id: "Session" },
);
const SessionResponse = Type.Object({ session: SessionSchema }, closed);
const SessionsResponse = Type.Object({ sessions: Type.Array(SessionSchema) }, closed);

const OFF = "404 where the operator has turned sessions off.";

/** `/session`: keys that a custody address lets sign requests of its fid for a while. */
export function sessionRoutes({ auth, sessions }: Pick<ManagementDeps, "auth" | "sessions">): AnyElysia {
  const isOff = auth.sessions === undefined;
  const routes = createSignedRoutes(auth, { name: "sessions", tag: "Sessions", isOff });

  routes.add(
    "createSession",
    {
      summary: "Let a key sign requests of the fid for a while",
      description: `The key signs reads and, with \`operate\`, what can be undone or is only a try; everything else still needs the custody address. At most 20 live sessions of an fid: one more ends the oldest. They end with a transfer of the fid. ${OFF}`,
      body: CreateSessionRequest,
      response: SessionResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ body, ...actor }) => ({
      session: presentSession(unwrapOrThrow(await sessions.create(actor, body))),
    }),
  );

  routes.add(
    "listSessions",
    {
      summary: "Live sessions of the signing fid",
      description: `Newest first, all in one response. ${OFF}`,
      response: SessionsResponse,
      errors: ["notFound"],
    },
    async ({ fid }) => ({ sessions: (await sessions.list(fid)).map(presentSession) }),
  );

  routes.add(
    "deleteSession",
    {
      summary: "End one session of the fid, or all",
      description: `Effective with the response, on every node. A session may end itself. ${OFF}`,
      query: {
        session_id: optional(text({ maxChars: 64, description: "The session's id" })),
        all: flag(false, { description: "All sessions of the fid, in place of session_id" }),
      },
      response: Deleted,
      errors: ["notFound"],
    },
    async ({ query: { session_id: sessionId, all }, ...actor }) => {
      if (all === (sessionId !== undefined)) {
        throw new ApiError("badRequest", "give either session_id or all=true");
      }
      unwrapOrThrow(await sessions.end(actor, sessionId === undefined ? "all" : { sessionId }));
      return { deleted: true };
    },
  );

  return routes.plugin;
}

function presentSession(session: Session): Static<typeof SessionSchema> {
  const { sessionId, ownerFid, access, label, origin, createdAt, expiresAt, lastUsedAt } = session;
  return {
    object: "session",
    session_id: sessionId,
    fid: ownerFid,
    access,
    label,
    origin,
    created_at: createdAt,
    expires_at: expiresAt,
    last_used_at: lastUsedAt,
  };
}
