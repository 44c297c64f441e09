import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { SchemaCleanup } from "../../src/http/openapi/cleanup.ts";
import type { Json, JsonObject } from "../../src/http/openapi/document.ts";

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as JsonObject;

/** The cleaned form of one operation in the generator's form. */
function cleaned(operation: unknown): { operation: JsonObject; schemas: JsonObject } {
  const cleanup = new SchemaCleanup();
  return { operation: cleanup.operation(plain(operation)), schemas: cleanup.schemas({}) };
}

const respondingWith = (schema: unknown) => ({
  responses: { 200: { content: { "application/json": { schema } } } },
});

function cleanedSchema(schema: unknown): { schema: Json | undefined; schemas: Json | undefined } {
  const { operation, schemas } = cleaned(respondingWith(schema));
  const content = ((operation.responses as JsonObject)["200"] as JsonObject).content as JsonObject;
  return {
    schema: (content["application/json"] as JsonObject).schema,
    schemas,
  };
}

test("a union of constants is an enumeration, a union of types stays one", () => {
  expect(
    cleanedSchema(Type.Union([Type.Literal("a"), Type.Literal("b")], { description: "d" })).schema,
  ).toEqual({
    type: "string",
    enum: ["a", "b"],
    description: "d",
  });
  expect(cleanedSchema(Type.Union([Type.Literal(1), Type.Literal(2)])).schema).toEqual({
    type: "number",
    enum: [1, 2],
  });
  const mixed = plain(Type.Union([Type.String(), Type.Null()]));
  expect(cleanedSchema(mixed).schema).toEqual(mixed);
});

test("converts a recursive schema to a component that refers to itself", () => {
  const Thread = Type.Recursive((This) => Type.Object({ replies: Type.Array(This) }), { $id: "Thread" });
  const { schema, schemas } = cleanedSchema(Type.Object({ thread: Thread }));
  expect(schema).toMatchObject({ properties: { thread: { $ref: "#/components/schemas/Thread" } } });
  expect(schemas).toEqual({
    Thread: {
      type: "object",
      required: ["replies"],
      properties: { replies: { type: "array", items: { $ref: "#/components/schemas/Thread" } } },
    },
  });
});

test("a property may have the name of a keyword", () => {
  const { schema } = cleanedSchema(
    Type.Object({ properties: Type.String(), anyOf: Type.String(), error: Type.String() }),
  );
  expect(schema).toMatchObject({ required: ["properties", "anyOf", "error"] });
  expect(Object.keys((schema as JsonObject).properties as JsonObject)).toEqual([
    "properties",
    "anyOf",
    "error",
  ]);
});

test("converts the schemas of parameters and request bodies", () => {
  const schema = Type.Object({ a: Type.String() }, { $id: "Named" });
  const reference = { $ref: "#/components/schemas/Named" };
  const { operation } = cleaned({
    parameters: [{ name: "a", in: "query", schema }],
    requestBody: { required: true, content: { "application/json": { schema, example: {} } } },
  });
  expect(operation).toEqual({
    parameters: [{ name: "a", in: "query", schema: reference }],
    requestBody: { required: true, content: { "application/json": { schema: reference, example: {} } } },
  });
});
