import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { errorKinds } from "../../../src/http/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../src/http/openapi/document.ts";
import { eventKinds } from "../../../src/webhooks/subscription-schema.ts";
import type { TestApi } from "../../support/api.ts";
import { makeHttp } from "../../support/http.ts";
import { aliasesOf, expectMatchesOpenApi, expectMatchesWebhook, objectsIn } from "../../support/openapi.ts";
import { startDemoApi } from "../openapi-examples/demo-api.ts";
import {
  examplesPath,
  generateExamples,
  REFRESH,
  readExamples,
  textOf,
} from "../openapi-examples/generate.ts";
import { documentedOperations, queryText } from "../openapi-examples/operations.ts";

const MAX_DOCUMENT_BYTES = 1_160_000;

let api: TestApi;
beforeAll(async () => {
  api = await startDemoApi();
}, 180_000);
afterAll(() => api[Symbol.asyncDispose]());

const child = (value: Json | undefined, ...keys: string[]): Json | undefined =>
  keys.reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), value);

const operations = () => documentedOperations(api.document.paths);
const exampleIn = (holder: Json | undefined) => child(holder, "content", "application/json", "example");

/** The example request of a GET, from the examples of its parameters. */
function exampleQuery(operation: JsonObject): JsonObject {
  const parameters = Array.isArray(operation.parameters) ? operation.parameters : [];
  const shown = parameters.flatMap((parameter): [string, Json][] =>
    isObject(parameter) && parameter.example !== undefined
      ? [[String(parameter.name), parameter.example]]
      : [],
  );
  return Object.fromEntries(shown);
}

test("every operation has an example of each successful response that matches its schema", () => {
  for (const { method, path, operation } of operations()) {
    for (const [status, response] of Object.entries(operation.responses as JsonObject)) {
      if (!status.startsWith("2")) continue;
      if (status === "204") {
        expect({ path, content: child(response, "content") }).toEqual({ path, content: undefined });
        continue;
      }
      const stream = child(response, "content", "text/event-stream");
      if (stream !== undefined) {
        expect(child(stream, "example")).toBeString();
        continue;
      }
      const example = exampleIn(response);
      expect({ method, path, status, example }).toEqual({ method, path, status, example: expect.anything() });
      expectMatchesOpenApi(api.document, method, path, Number(status), example);
    }
  }
});

test("every response object of the API lists all of its properties", () => {
  const responses = operations().flatMap(({ path, operation }) =>
    path.startsWith("/v2/") ? [[path, operation.responses] as const] : [],
  );
  const schemas = Object.entries(child(api.document.components, "schemas") as JsonObject);
  const shown = schemas.filter(([name]) => !/Request$|^SignedEnvelope$/.test(name));
  for (const [where, value] of [...responses, ...shown]) {
    for (const { properties, additionalProperties } of objectsIn(value)) {
      if (isObject(properties)) expect({ where, additionalProperties }).not.toEqual({ where });
    }
  }
});

test("every operation with a body has an example of it", () => {
  for (const { method, path, operation } of operations()) {
    // Swagger UI shows no example of a body of protobuf.
    if (child(operation.requestBody, "content", "application/json") === undefined) continue;
    const example = exampleIn(operation.requestBody);
    expect({ method, path, example }).toEqual({ method, path, example: expect.anything() });
  }
});

test("no example has an unknown operation", async () => {
  const { native, compat } = await readExamples();
  const ids = (dialect: string) => operations().flatMap((one) => (one.dialect === dialect ? [one.id] : []));
  expect(Object.keys(native).filter((id) => !ids("native").includes(id))).toEqual([]);
  expect(Object.keys(compat).filter((id) => !ids("compat").includes(id))).toEqual([]);
});

test("the document has a bounded size and does not contain the default name of a renamed service", async () => {
  expect(JSON.stringify(api.document).length).toBeLessThan(MAX_DOCUMENT_BYTES);
  const { server } = makeHttp({ ...api.plugins, serviceName: "hub" });
  // The method of scores has this name in every service.
  expect(
    JSON.stringify(await server.openApi())
      .replaceAll("svc-trust-1", "")
      .search(/svc/i),
  ).toBe(-1);
});

describe("aliases", () => {
  test("respond to the example request with the same bytes as their canonical path", async () => {
    let compared = 0;
    for (const { method, path, operation } of operations()) {
      const request = queryText(exampleQuery(operation));
      const responseOf = async (at: string) => {
        const response = await fetch(api.url + at + request, { method: method.toUpperCase() });
        return { status: response.status, text: await response.text() };
      };
      for (const alias of aliasesOf(operation)) {
        const canonical = await responseOf(path);
        expect({ alias, ...(await responseOf(alias)) }).toEqual({ alias, ...canonical });
        expect(method === "get" ? [200] : [401, 501]).toContain(canonical.status);
        expect(operation.description).toContain(`\`${alias}\``);
        expect(api.document.paths[alias]).toBeUndefined();
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(30);
  });
});

describe("operations that can respond with 501", () => {
  test("send the documented message if all their requests are 501", async () => {
    for (const { method, path, operation } of operations()) {
      const responses = operation.responses as JsonObject;
      if (Object.keys(responses).join() !== "501") continue;
      const response = await fetch(api.url + path, { method: method.toUpperCase() });
      expect({ path, status: response.status }).toEqual({ path, status: 501 });
      expect((await response.json()) as Json).toEqual(exampleIn(responses["501"]) ?? null);
      expect(child(responses["501"], "description")).toStartWith("Always. ");
    }
  });

  test.each([
    ["/v2/farcaster/user/fid", { "x-wallet-id": "w" }],
    ["/v2/farcaster/feed?feed_type=filter&filter_type=embed_types", {}],
  ])("%s sends the documented message", async (path, headers) => {
    const response = await fetch(api.url + path, { headers: headers as Record<string, string> });
    expect(response.status).toBe(501);
    const [route = ""] = path.split("?");
    const documented = child(api.document.paths, route, "get", "responses", "501");
    expect((await response.json()) as Json).toEqual(exampleIn(documented) ?? null);
    expect(child(documented, "description")).not.toBe(errorKinds.notImplemented.message);
  });
});

describe("webhooks", () => {
  const posts = () =>
    Object.entries(api.document.webhooks as JsonObject).map(
      ([kind, item]) => [kind, child(item, "post") as JsonObject] as const,
    );

  test("are in the document by event kind", () => {
    expect(posts().map(([kind]) => kind)).toEqual(eventKinds.map(({ kind }) => kind));
    const ids = [...operations().map(({ operation }) => operation), ...posts().map(([, post]) => post)];
    expect(new Set(ids.map(({ operationId }) => operationId)).size).toBe(ids.length);
  });

  test("have an example body that matches their schema", () => {
    for (const [kind, { requestBody }] of posts()) {
      const example = exampleIn(requestBody);
      expect(child(example, "type")).toBe(kind);
      expectMatchesWebhook(api.document, kind, example);
      const other = { ...(example as JsonObject), data: {} };
      expect(() => expectMatchesWebhook(api.document, kind, other)).toThrow();
    }
  });

  test("have an example delivery whose signatures verify", () => {
    for (const [, { parameters, requestBody, description }] of posts()) {
      const headers = (parameters as JsonObject[]).map(({ name, example, required }) => ({
        name,
        example,
        required,
      }));
      const [, secret = ""] = /secret `(\w+)`/.exec(String(description)) ?? [];
      const body = JSON.stringify(exampleIn(requestBody));
      const own = createHmac("sha512", secret).update(body).digest("hex");
      const [, , id, timestamp] = headers.map(({ example }) => String(example));
      const signed = `${id}.${timestamp}.${body}`;
      const standard = createHmac("sha256", secret).update(signed).digest("base64");
      expect(headers).toEqual([
        { name: "X-Svc-Signature", required: true, example: own },
        { name: "X-Neynar-Signature", required: false, example: own },
        { name: "webhook-id", required: true, example: expect.stringMatching(/^msg_[0-9a-f]{32}$/) },
        { name: "webhook-timestamp", required: true, example: expect.stringMatching(/^\d{10}$/) },
        { name: "webhook-signature", required: true, example: `v1,${standard}` },
      ]);
    }
  });
});

// This test is last because it advances the network of the other tests.
test(`the examples equal those of a fresh demo network (after a change of responses: ${REFRESH})`, async () => {
  expect(await Bun.file(examplesPath).text()).toBe(textOf(await generateExamples(api, await readExamples())));
}, 180_000);
