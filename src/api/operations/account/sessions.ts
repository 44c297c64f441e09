import { type Static, Type } from "@sinclair/typebox";
import { SESSION_ACCESS, type Session } from "../../../auth/session.ts";
import { ApiError } from "../../../http/errors.ts";
import { optional, text } from "../../../http/request/params.ts";
import { flag } from "../../../http/request/word-params.ts";
import { CreateSessionRequest } from "../../../sessions/session-service.ts";
import type { ApiDeps } from "../../deps.ts";
import { Fid, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { presentRecord, unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";
import { Deleted } from "./records.ts";

const { signed, signedRead } = topic({ tag: "Sessions", surface: "native" });

const SessionSchema = object(
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
  { $id: "Session" },
);

const SessionResponse = object({ session: SessionSchema });

const SessionsResponse = object({ sessions: Type.Array(SessionSchema) });

const OFF = "404 where the operator has turned sessions off.";

const isWithoutSessions = ({ auth }: ApiDeps) => auth.sessions === undefined;

export const sessionOperations = [
  signed({
    id: "createSession",
    method: "POST",
    path: "/session",
    isOff: isWithoutSessions,
    op: "session.create",
    maxBodyBytes: ID_ONLY_BYTES,
    share: "newSessions",
    summary: "Let a key sign requests of the fid for a while",
    description: `The key signs reads and, with \`operate\`, what can be undone or is only a try; everything else still needs the custody address. At most 20 live sessions of an fid: one more ends the oldest. They end with a transfer of the fid. ${OFF}`,
    body: CreateSessionRequest,
    response: SessionResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ sessions }, { body, ...actor }) => ({
      session: presentSession(unwrapOrThrow(await sessions.create(actor, body))),
    }),
  }),
  signedRead({
    id: "listSessions",
    path: "/session/list",
    isOff: isWithoutSessions,
    op: "session.read",
    command: { usage: "session list", help: "list the live sessions of the fid, newest first" },
    summary: "Live sessions of the signing fid",
    description: `Newest first, all in one response. ${OFF}`,
    response: SessionsResponse,
    errors: ["notFound"],
    run: async ({ sessions }, owner) => ({ sessions: (await sessions.list(owner)).map(presentSession) }),
  }),
  signed({
    id: "deleteSession",
    method: "DELETE",
    path: "/session",
    isOff: isWithoutSessions,
    op: "session.delete",
    session: { access: "read", onlyItself: true },
    maxBodyBytes: ID_ONLY_BYTES,
    command: { usage: "session end [session_id]", help: "end one session of the fid, or all" },
    summary: "End one session of the fid, or all",
    description: `Effective with the response, on every node. A session may end itself. ${OFF}`,
    query: {
      session_id: optional(text({ maxChars: 64, description: "The session's id" })),
      all: flag(false, { description: "All sessions of the fid, in place of session_id" }),
    },
    response: Deleted,
    errors: ["notFound"],
    run: async ({ sessions }, { query: { session_id: sessionId, all }, ...actor }) => {
      if (all === (sessionId !== undefined)) {
        throw new ApiError("badRequest", "give either session_id or all=true");
      }
      unwrapOrThrow(await sessions.end(actor, sessionId === undefined ? "all" : { sessionId }));
      return { deleted: true };
    },
  }),
];

function presentSession(session: Session): Static<typeof SessionSchema> {
  return presentRecord(SessionSchema, session, { object: "session", fid: session.ownerFid });
}
