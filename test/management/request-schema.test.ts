import { describe, expect, test } from "bun:test";
import { type TUnsafe, Type } from "@sinclair/typebox";
import fc from "fast-check";
import { description } from "../../src/management/record-fields.ts";
import { FidNumber, Name, schemaOf, schemaReader, Text } from "../../src/management/request-schema.ts";
import { namedByMessage } from "../support/case-name.ts";

const read = schemaReader(
  Type.Object({
    name: Name,
    url: Type.Optional(schemaOf({ type: "url" }) as TUnsafe<string>),
    description: Type.Optional(schemaOf(description("what it is")) as TUnsafe<string | null>),
    fids: Type.Optional(Type.Array(FidNumber, { maxItems: 2 })),
    texts: Type.Optional(Type.Array(Type.String(), { minItems: 2 })),
    at: Type.Optional(Type.Integer({ minimum: 0 })),
    dry_run: Type.Optional(Type.Boolean()),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 8 })),
    part: Type.Optional(
      Type.Object({ text: Type.Optional(Text({ max: 3 })) }, { additionalProperties: false }),
    ),
  }),
);
const valid = { name: "App" };

describe("a schema's reader", () => {
  test.each(
    namedByMessage<unknown>([
      [undefined, "request body must be an object"],
      [null, "request body must be an object"],
      [[], "request body must be an object"],
      ["{}", "request body must be an object"],
      [{}, "missing field name"],
      [JSON.parse('{"__proto__":{"name":"App"}}'), "missing field name"],
      [{ name: null }, "name must be a string"],
      [{ name: "" }, "name must have 1 to 128 characters"],
      [{ name: "🎈".repeat(129) }, "name must have 1 to 128 characters"],
      [{ name: "a\0" }, "name must be well-formed Unicode without NUL"],
      [{ ...valid, url: 1 }, "url must be a string"],
      [{ ...valid, url: "\ud800" }, "url must be well-formed Unicode"],
      [{ ...valid, description: 1 }, "description must be a string"],
      [{ ...valid, description: "x".repeat(10_001) }, "description must have at most 10000 characters"],
      [{ ...valid, fids: {} }, "fids must be an array"],
      [{ ...valid, fids: [1, 2, 3] }, "fids must have at most 2 entries"],
      [{ ...valid, texts: [] }, "texts must have at least 2 entries"],
      [{ ...valid, at: "soon" }, "at must be an integer from 0 to 9007199254740991"],
      [{ ...valid, dry_run: "yes" }, "dry_run must be true or false"],
      [{ ...valid, label: "" }, "label must have at least 1 character"],
      [{ ...valid, label: "x".repeat(9) }, "label must have at most 8 characters"],
      [{ ...valid, part: [] }, "part must be an object"],
      [{ ...valid, part: { text: "abcd" } }, "part.text must have at most 3 characters"],
      [{ ...valid, part: { constructor: 1 } }, 'part has an unknown key "constructor"'],
      [{ ...valid, part: { "a/~b": 1 } }, 'part has an unknown key "a/~b"'],
      [{ ...valid, part: { ["x".repeat(500)]: 1 } }, `part has an unknown key "${"x".repeat(50)}"`],
    ]),
  )("rejects with the message: %s", (_name, value, message) => {
    expect(read(value)).toEqual({ ok: false, error: { kind: "badRequest", message } });
  });

  test.each([-1, 0.5, 2 ** 53, 1e300, "3", null, [[1]]])("rejects the fid %j", (fid) => {
    const message = "every entry of fids must be an integer from 0 to 9007199254740991";
    expect(read({ ...valid, fids: [1, fid] })).toEqual({ ok: false, error: { kind: "badRequest", message } });
  });

  test("returns a valid body unchanged, with its unknown fields", () => {
    const body = { name: "🎈".repeat(128), description: null, fids: [0, 2 ** 53 - 1], part: {}, other: 1 };
    expect(read(body)).toEqual({ ok: true, value: body });
  });

  test("accepts or rejects any JSON and never throws", () => {
    const key = fc.constantFrom("name", "url", "description", "fids", "part", "text", "__proto__");
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), (value) => {
        read(value);
      }),
    );
  });
});
