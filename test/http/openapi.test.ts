import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { JsonObject, OpenApiDocument } from "../../src/http/openapi/document.ts";
import { isObject } from "../../src/http/openapi/document.ts";
import { aliasOf, operation } from "../../src/http/route/operation.ts";
import { makeHttp, type RunHttpOptions, type RunningHttp, runHttp } from "../support/http.ts";
import { expectMatchesOpenApi, objectsIn } from "../support/openapi.ts";
import { sampleRoutes } from "./sample-routes.ts";

let http: RunningHttp;
let document: OpenApiDocument;
beforeAll(async () => {
  http = runHttp({ plugins: sampleRoutes() });
  document = await http.server.openApi();
});
afterAll(() => http[Symbol.asyncDispose]());

function child(value: unknown, ...keys: (string | number)[]): unknown {
  return keys.reduce<unknown>(
    (at, key) => (at as Record<string | number, unknown> | undefined)?.[key],
    value,
  );
}

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(isObject(item) ? item : {}).map(([method, value]) => ({
      name: `${method} ${path}`,
      operation: value as JsonObject,
    })),
  );

test("is served, cacheable, and equal to the document of a server that does not listen", async () => {
  const response = await fetch(`${http.url}/openapi.json`);
  expect(response.headers.get("etag")).toBeTruthy();
  expect(await response.json()).toEqual(document);
  expect(await makeHttp({ plugins: sampleRoutes() }).server.openApi()).toEqual(document);
});

test("has a title, a version and a server", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.info).toMatchObject({ title: "Svc API", version: "1.2.3" });
  expect(document.servers).toEqual([{ url: "/", description: "This server" }]);
  expect(document.tags).toEqual([{ name: "Samples" }, { name: "Operations" }]);
});

describe("every operation", () => {
  test("has a unique id, a summary, a tag, and either a response with a schema or 501", () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(ids.every((id) => typeof id === "string" && id !== "")).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { name, operation } of operations()) {
      expect({ name, summary: operation.summary }).toEqual({ name, summary: expect.any(String) });
      expect({ name, tags: operation.tags }).toEqual({ name, tags: [expect.any(String)] });
      const responses = operation.responses as JsonObject;
      const success = Object.keys(responses).filter((status) => status.startsWith("2"));
      const schemas = success.map((status) =>
        child(responses, status, "content", "application/json", "schema"),
      );
      if (success.length === 0) expect(Object.keys(responses)).toEqual(["431", "501"]);
      expect(schemas.every((schema) => typeof schema === "object" && schema !== null)).toBe(true);
    }
  });

  test("has the 431 of the server under every operation, without a body", () => {
    const { responses } = child(document, "components") as { responses: Record<string, JsonObject> };
    expect(Object.keys(responses.headersTooLarge ?? {})).toEqual(["description"]);
    for (const { name, operation } of operations()) {
      const ref = child(operation, "responses", "431", "$ref");
      expect([name, ref]).toEqual([name, "#/components/responses/headersTooLarge"]);
    }
  });

  test("describes its errors by the shared schema", () => {
    const statusesOf = (path: string, method: string) =>
      Object.keys(child(document.paths, path, method, "responses") as JsonObject);
    expect(statusesOf("/v2/svc/user", "get")).toEqual(["200", "400", "404", "431", "500"]);
    expect(statusesOf("/v2/svc/notes", "post")).toEqual([
      "201",
      "400",
      "408",
      "413",
      "429",
      "431",
      "500",
      "503",
    ]);
    expect(statusesOf("/ready", "get")).toEqual(["200", "400", "431", "500", "503"]);
    const { headersTooLarge: _, ...own } = child(document.components, "responses") as JsonObject;
    for (const [name, response] of Object.entries(own)) {
      const schema = child(response, "content", "application/json", "schema");
      expect({ name, schema }).toEqual({ name, schema: { $ref: "#/components/schemas/Error" } });
    }
  });
});

test("an operation that can respond with 501 documents the condition and the message", () => {
  const sentence = { description: "Always.", content: { "application/json": expect.anything() } };
  const responses = child(document.paths, "/v2/svc/cast", "post", "responses");
  expect(child(responses, "501")).toEqual(sentence);
  expect(child(responses, "501", "content", "application/json")).toEqual({
    schema: { $ref: "#/components/schemas/Error" },
    example: { message: "not implemented" },
  });
});

describe("aliases", () => {
  const text = { tags: ["Things"], response: Type.Object({ id: Type.Integer() }) };
  const things = operation({ ...text, operationId: "getThings", summary: "Things", description: "All." });
  const thing = operation({ ...text, operationId: "getThing", summary: "Thing" });
  const handler = () => ({ id: 1 });
  const routes = (canonicalPath: string) =>
    new Elysia()
      .get("/thing", handler, aliasOf("/thing/one", thing))
      .get("/thing/one", handler, thing)
      .get("/things", handler, things)
      .get("/things/all", handler, aliasOf(canonicalPath, things))
      .get("/all", handler, aliasOf(canonicalPath, things));
  const plugins = [routes("/things")];
  const documentOf = (options: RunHttpOptions) => makeHttp(options).server.openApi();

  test("are removed from the paths and listed at their canonical path, under every prefix", async () => {
    const { paths } = await documentOf({ plugins, compatPrefixes: ["old"], compatPlugins: () => plugins });
    expect(Object.keys(paths).filter((path) => path.startsWith("/v2/"))).toEqual([
      "/v2/svc/thing/one",
      "/v2/svc/things",
      "/v2/old/thing/one",
      "/v2/old/things",
    ]);
    expect(child(paths, "/v2/svc/thing/one", "get")).toMatchObject({
      operationId: "getThing",
      description: "Alias: `/v2/svc/thing`.",
      "x-aliases": ["/v2/svc/thing"],
    });
    expect(child(paths, "/v2/old/things", "get")).toMatchObject({
      operationId: "oldGetThings",
      description: "All.\n\nAliases: `/v2/old/things/all`, `/v2/old/all`.",
      "x-aliases": ["/v2/old/things/all", "/v2/old/all"],
    });
    expect(JSON.stringify(paths)).not.toContain("x-alias-of");
  });

  test("are served like any other route", async () => {
    await using running = runHttp({ plugins });
    for (const path of ["/thing", "/thing/one", "/things", "/things/all", "/all"])
      expect(await (await fetch(running.api(path))).json()).toEqual({ id: 1 });
  });

  test("of a path that does not exist are an error", async () => {
    await expect(documentOf({ plugins: [routes("/nowhere")] })).rejects.toThrow("alias of no path");
  });
});

test("schemas have no keyword of the framework, and JSON is the only media type", () => {
  for (const object of objectsIn(document)) {
    if (Array.isArray(object.anyOf)) {
      const types = object.anyOf.map((member) => child(member, "type"));
      const numeric = types.includes("integer") || types.includes("number");
      expect(numeric && types.includes("string")).toBe(false);
    }
    expect(Object.keys(object)).not.toContainAnyValues(["$id", "elysiaMeta", "noValidate"]);
    if (isObject(object.content)) expect(Object.keys(object.content)).toEqual(["application/json"]);
  }
});

test("every reference resolves", () => {
  const references = [...objectsIn(document)].flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : []));
  expect(references.length).toBeGreaterThan(5);
  for (const reference of references) {
    expect(reference).toStartWith("#/");
    expect(child(document, ...reference.slice(2).split("/"))).toBeDefined();
  }
});

test("parameters have the type of their value", () => {
  expect(child(document.paths, "/v2/svc/user/bulk", "get", "parameters")).toEqual([
    {
      name: "fids",
      in: "query",
      required: true,
      style: "form",
      explode: false,
      schema: {
        type: "array",
        minItems: 1,
        maxItems: 350,
        items: { type: "integer", format: "int64", minimum: 0 },
      },
      example: [2, 3],
    },
    {
      name: "limit",
      in: "query",
      required: false,
      description: "Size of a page; more than 100 means 100",
      schema: { type: "integer", minimum: 1, maximum: 100, default: 10 },
    },
    {
      name: "cursor",
      in: "query",
      required: false,
      description: "`next.cursor` of the previous page, unchanged",
      schema: { type: "string", minLength: 1, maxLength: 512 },
    },
  ]);
  expect(child(document.paths, "/v2/svc/items/{id}", "get", "parameters")).toEqual([
    { name: "id", in: "path", required: true, schema: { type: "string" } },
  ]);
});

test("a named schema is in the components once and is closed", () => {
  expect(child(document.components, "schemas", "SampleUser")).toEqual({
    type: "object",
    required: ["object", "fid", "name"],
    properties: {
      object: { type: "string", const: "user" },
      fid: { type: "integer", format: "int64" },
      name: { anyOf: [{ type: "string" }, { type: "null" }] },
      pro: { type: "string", enum: ["active", "expired"] },
    },
    additionalProperties: false,
  });
  const response = child(
    document.paths,
    "/v2/svc/user",
    "get",
    "responses",
    "200",
    "content",
    "application/json",
  );
  expect(response).toMatchObject({
    schema: { properties: { user: { $ref: "#/components/schemas/SampleUser" } } },
  });
});

test("the kinds of authentication are described, under the service's name", async () => {
  const schemes = child(document.components, "securitySchemes") as JsonObject;
  expect(Object.values(schemes).map((scheme) => child(scheme, "name") ?? child(scheme, "type"))).toEqual([
    "X-Svc-Fid",
    "X-Svc-Op",
    "X-Svc-Signed-At",
    "X-Svc-Nonce",
    "X-Svc-Signature",
    "X-Svc-Session",
    "X-Svc-Signature",
    "x-api-key",
    "http",
  ]);
  const other = await makeHttp({ serviceName: "hub", plugins: sampleRoutes() }).server.openApi();
  expect(JSON.stringify(other)).not.toMatch(/svc/i);
});

test("examples are in parameters, request bodies and responses; those of a compat prefix take precedence there", async () => {
  const user = (fid: number) => ({ user: { object: "user", fid, name: null } });
  const examples = {
    native: {
      getSampleUser: { query: { fid: 3 }, responses: { 200: user(3) } },
      createSampleNote: { body: { name: "a" }, responses: { 201: { name: "a", bytes: 12 } } },
    },
    compat: { getSampleUser: { query: { fid: 4 }, responses: { 200: user(4) } } },
  };
  const { paths } = await makeHttp({
    plugins: sampleRoutes(),
    compatPrefixes: ["old"],
    compatPlugins: sampleRoutes,
    documentation: async () => ({ examples: () => examples, webhooks: () => ({}) }),
  }).server.openApi();
  for (const [base, fid] of [
    ["/v2/svc", 3],
    ["/v2/old", 4],
  ] as const) {
    const get = child(paths, `${base}/user`, "get");
    expect(child(get, "parameters")).toMatchObject([{ name: "fid", example: fid }, { name: "viewer_fid" }]);
    expect(child(get, "parameters", 1)).not.toHaveProperty("example");
    expect(child(get, "responses", "200", "content", "application/json", "example")).toEqual(user(fid));
    const post = child(paths, `${base}/notes`, "post");
    expect(child(post, "requestBody", "content", "application/json", "example")).toEqual({ name: "a" });
    const created = child(post, "responses", "201", "content", "application/json", "example");
    expect(created).toEqual({ name: "a", bytes: 12 });
  }
});

test("webhooks are next to the paths, their schemas in the components", async () => {
  const body = Type.Object({ user: Type.Object({ fid: Type.Integer() }, { $id: "HookUser" }) });
  const content = { "application/json": { schema: JSON.parse(JSON.stringify(body)) } };
  const post = { operationId: "onSample", requestBody: { content }, responses: {} };
  const sample = await makeHttp({
    plugins: sampleRoutes(),
    documentation: async () => ({
      examples: () => ({ native: {}, compat: {} }),
      webhooks: ({ headerPrefix }) => ({ [`${headerPrefix}sample`]: { post } }),
    }),
  }).server.openApi();
  const schema = child(sample.webhooks, "X-Svc-sample", "post", "requestBody", "content", "application/json");
  expect(schema).toMatchObject({
    schema: { properties: { user: { $ref: "#/components/schemas/HookUser" } } },
  });
  expect(child(sample.components, "schemas", "HookUser")).toMatchObject({ required: ["fid"] });
  expect(document).not.toHaveProperty("webhooks");
});

describe("expectMatchesOpenApi", () => {
  const get = async (path: string) => (await fetch(http.api(path))).json();

  test("accepts real responses, of success and of error", async () => {
    expectMatchesOpenApi(document, "GET", "/v2/svc/user", 200, await get("/user?fid=3"));
    expectMatchesOpenApi(document, "GET", "/v2/svc/user/bulk", 200, await get("/user/bulk?fids=3,4"));
    expectMatchesOpenApi(document, "GET", "/v2/svc/user", 400, await get("/user"));
    expectMatchesOpenApi(document, "GET", "/v2/svc/user", 404, await get("/user?fid=1001"));
    expectMatchesOpenApi(document, "GET", "/v2/svc/items/{id}", 200, await get("/items/x"));
  });

  test.each([
    ["a missing key", { user: { object: "user", fid: 3 } }],
    ["a wrong type", { user: { object: "user", fid: "3", name: null } }],
    ["a key that is not described", { user: { object: "user", fid: 3, name: null, more: 1 } }],
    ["a key that is not described, outside", { user: { object: "user", fid: 3, name: null }, more: 1 }],
    ["a constant that is another", { user: { object: "cast", fid: 3, name: null } }],
    ["a fraction", { user: { object: "user", fid: 3.5, name: null } }],
  ])("refuses %s", (_name, body) => {
    expect(() => expectMatchesOpenApi(document, "GET", "/v2/svc/user", 200, body)).toThrow();
  });

  test("rejects what the document does not describe", () => {
    expect(() => expectMatchesOpenApi(document, "GET", "/v2/svc/user", 418, {})).toThrow(
      "describes no JSON body",
    );
    expect(() => expectMatchesOpenApi(document, "PUT", "/v2/svc/user", 200, {})).toThrow(
      "describes no JSON body",
    );
    expect(() => expectMatchesOpenApi(document, "GET", "/nowhere", 200, {})).toThrow(
      "describes no JSON body",
    );
  });
});
