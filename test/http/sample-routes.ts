import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "../../src/http/errors.ts";
import { rawBody } from "../../src/http/request/body.ts";
import { cursor, fid, fidList, limit, optional } from "../../src/http/request/params.ts";
import { operation, refused as refusedRoute } from "../../src/http/route/operation.ts";

const User = Type.Object(
  {
    object: Type.Literal("user"),
    fid: Type.Integer({ format: "int64" }),
    name: Type.Union([Type.String(), Type.Null()]),
    pro: Type.Optional(Type.Union([Type.Literal("active"), Type.Literal("expired")])),
  },
  { $id: "SampleUser", additionalProperties: false },
);

const tags = ["Samples"];

const toUser = (number: number) => ({ object: "user", fid: number, name: null });

/** Minimal routes in the style of the API's routes. */
export function sampleRoutes() {
  const reads = new Elysia({ name: "sample-reads" })
    .get(
      "/user",
      ({ query }) => {
        if (query.fid > 1000) throw new ApiError("notFound", "no such user");
        return { user: toUser(query.fid) };
      },
      operation({
        cache: "shared",
        operationId: "getSampleUser",
        summary: "One user",
        tags,
        query: { fid: fid(), viewer_fid: optional(fid()) },
        response: Type.Object({ user: User }, { additionalProperties: false }),
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/bulk",
      async ({ query }) => ({ users: query.fids.map(toUser), next: { cursor: query.cursor ?? null } }),
      operation({
        cache: "shared",
        operationId: "getSampleUsers",
        summary: "Many users",
        tags,
        query: { fids: fidList({ maxItems: 350 }), limit: limit(), cursor: cursor() },
        response: Type.Object({
          users: Type.Array(User),
          next: Type.Object({ cursor: Type.Union([Type.String(), Type.Null()]) }),
        }),
      }),
    )
    .get(
      "/items/:id",
      ({ params }) => ({ id: params.id }),
      operation({
        cache: "shared",
        operationId: "getSampleItem",
        summary: "The id of the path",
        tags,
        response: Type.Object({ id: Type.String() }),
      }),
    );

  const Note = Type.Object(
    { name: Type.String({ minLength: 1, maxLength: 8 }), size: Type.Optional(Type.Integer({ minimum: 0 })) },
    { additionalProperties: false },
  );
  const echoes = (operationId: string) =>
    operation({
      operationId,
      summary: "Says what it read",
      tags,
      body: Note,
      response: { 201: Type.Object({ name: Type.String(), bytes: Type.Integer() }) },
    });
  const takesAnything = (operationId: string) =>
    operation({
      operationId,
      summary: "Counts the bytes of its body",
      tags,
      body: Type.Unknown(),
      response: Type.Object({ bytes: Type.Integer() }),
    });
  const count = ({ request }: { request: Request }) => ({ bytes: rawBody(request).byteLength });

  const writes = new Elysia({ name: "sample-writes" })
    .post(
      "/notes",
      ({ body, request, set }) => {
        set.status = 201;
        set.headers["x-sample"] = "note";
        return { name: body.name, bytes: rawBody(request).byteLength };
      },
      echoes("createSampleNote"),
    )
    .post("/frame/app", count, takesAnything("countApp"))
    .post("/frame/webhook/:app_id", count, takesAnything("countTokenWebhook"))
    .post("/frame/notifications/:app_id", count, takesAnything("countSend"))
    .post("/webhook", count, takesAnything("countWebhook"))
    .post("/batch/count", count, takesAnything("countBatch"))
    .post("/webhooks-of-another-kind", count, takesAnything("countOther"));

  const refused = [
    { method: "POST", path: "/cast", operationId: "publishCast", summary: "Publish a cast", tags },
    { method: "DELETE", path: "/cast", operationId: "deleteCast", summary: "Delete a cast", tags },
  ] as const;
  for (const { method, path, ...text } of refused) {
    const { handler, hook } = refusedRoute(text, { when: "Always." });
    writes.route(method, path, handler, hook);
  }
  return [reads, writes];
}

/** A text that no response may contain. */
export const secretText = "secret boom at /etc/shadow";

const boom = () => new Error(secretText, { cause: new Error(secretText) });

/** Handlers with every kind of failure. Their sources differ on purpose, because Elysia reads them. */
export function brokenRoutes() {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  return new Elysia({ name: "broken" })
    .get("/throws", () => {
      throw boom();
    })
    .get("/throws-async", async () => {
      await Promise.resolve();
      throw boom();
    })
    .get("/rejects-unseen", () => {
      const rejected = Promise.reject(boom());
      return rejected;
    })
    .get("/throws-text", () => {
      throw secretText;
    })
    .get("/throws-nothing", () => {
      throw undefined;
    })
    .get("/throws-a-lookalike", () => {
      throw Object.assign(boom(), {
        status: 200,
        code: "NOT_FOUND",
        toResponse: () => new Response(secretText),
      });
    })
    .get("/returns-nothing", () => undefined)
    .get("/returns-a-circle", () => circular)
    .get("/returns-a-bigint", () => ({ value: 1n }))
    .post("/throws-with-body", ({ body }) => Promise.reject(new Error(`${secretText} ${body}`)), {
      ...operation({
        operationId: "throwsWithBody",
        summary: "Throws",
        tags,
        body: Type.Unknown(),
        response: Type.Unknown(),
      }),
    })
    .get("/resolves-unseen", () => {
      const promised = new Promise((resolve) => queueMicrotask(() => resolve({ ok: true })));
      return promised;
    });
}
