import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { ok } from "../../src/lib/result.ts";
import { decodeMessage, decodeMessageData } from "../../src/protocol/message/signed-message.ts";
import { validateMessage } from "../../src/protocol/validate/message.ts";
import {
  FarcasterNetwork,
  Message,
  MessageData,
  MessageType,
} from "../../src/protocol/wire/generated/message.ts";
import {
  MESSAGE_DATA_SCHEMA,
  MESSAGE_SCHEMA,
  ON_CHAIN_EVENT_SCHEMA,
  USER_NAME_PROOF_SCHEMA,
} from "../../src/protocol/wire/generated/wire-schemas.ts";
import { findWireError, type WireSchema } from "../../src/protocol/wire-check.ts";
import {
  DEFAULT_NOW_SECS,
  encodeData,
  makeSigner,
  sealDataBytes,
  signedCast,
  signMessage,
} from "../support/messages.ts";

const signer = makeSigner("fuzz");
const ctx = { network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET, nowUnixSecs: DEFAULT_NOW_SECS };

const samples = [
  signedCast(1, "hello there", signer),
  signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid: 2 ** 40,
      body: {
        $case: "castAddBody",
        value: {
          text: "é🎩 and a text of more than thirty-two bytes",
          mentions: [1, 300],
          mentionsPositions: [0, 2],
          embeds: [
            { embed: { $case: "url", value: "https://example.com" } },
            { embed: { $case: "castId", value: { fid: 5, hash: new Uint8Array(20) } } },
          ],
          parent: { $case: "parentCastId", value: { fid: 7, hash: new Uint8Array(20) } },
        },
      },
    },
    signer,
  ),
  signMessage(
    {
      type: MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE,
      fid: 3,
      body: { $case: "linkCompactStateBody", value: { type: "follow", targetFids: [1, 2 ** 50, 3] } },
    },
    signer,
  ),
];

/** Samples with a few bytes replaced, inserted or removed. */
const mutated = (originals: readonly Uint8Array[]) =>
  fc
    .tuple(
      fc.constantFrom(...originals),
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 }), fc.constantFrom("replace", "insert", "cut")), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    .map(([sample, edits]) => {
      let bytes = Buffer.from(sample);
      for (const [where, byte, edit] of edits) {
        const at = where % (bytes.length + 1);
        const kept = edit === "insert" ? at : at + 1;
        const added = edit === "cut" ? [] : [byte];
        bytes = Buffer.concat([bytes.subarray(0, at), Uint8Array.from(added), bytes.subarray(kept)]);
      }
      return new Uint8Array(bytes);
    });

/** The data bytes of a sample. */
function dataBytesOf(sample: Uint8Array): Uint8Array {
  return Message.decode(sample).dataBytes ?? new Uint8Array();
}

describe("decoding", () => {
  test("returns a message or a refusal for any bytes and never throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), mutated(samples)), (bytes) => {
        const message = decodeMessage(bytes);
        if (!message.ok) return message.error.code === "bad_request.parse_failure";
        const verdict = validateMessage(message.value, ctx);
        return verdict === undefined || verdict.code === "bad_request.validation_failure";
      }),
      { numRuns: 3000 },
    );
  });

  test("refuses what is larger than any message before it is decoded", () => {
    const sized = (size: number) => {
      const [sample = new Uint8Array()] = samples;
      // An unknown field: its tag, and its length in three bytes.
      const padding = size - sample.length - 4;
      const length = [(padding & 127) | 128, ((padding >> 7) & 127) | 128, padding >> 14];
      return Buffer.concat([sample, Buffer.of(0x7a, ...length), Buffer.alloc(padding)]);
    };
    expect(sized(262_144)).toHaveLength(262_144);
    expect(decodeMessage(sized(262_144)).ok).toBe(true);
    expect(decodeMessage(sized(262_145))).toMatchObject({
      error: {
        code: "bad_request.parse_failure",
        reason: expect.stringContaining("larger than 262144 bytes"),
      },
    });
  });

  test("returns data that encodes to the same data, or a refusal, for any signed data bytes", () => {
    fc.assert(
      fc.property(mutated(samples.map(dataBytesOf)), (dataBytes) => {
        const { hash, signature, signer: publicKey } = sealDataBytes(dataBytes, signer);
        const decoded = decodeMessageData(dataBytes);
        if (!decoded.ok) return true;
        const data = decoded.value;
        const message = {
          data,
          dataBytes,
          hash,
          hashScheme: 1,
          signature,
          signatureScheme: 1,
          signer: publicKey,
        };
        expect(decodeMessageData(MessageData.encode(data).finish())).toEqual(ok(data));
        const verdict = validateMessage(message, ctx);
        return verdict === undefined || verdict.code === "bad_request.validation_failure";
      }),
      { numRuns: 2000 },
    );
  });

  test("decodes every well-formed Unicode text unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 80 }), (text) => {
        const data = decodeMessageData(
          encodeData({
            type: MessageType.MESSAGE_TYPE_CAST_ADD,
            body: { $case: "castAddBody", value: { text } },
          }),
        );
        return (
          data.ok &&
          data.value.body?.$case === "castAddBody" &&
          data.value.body.value.text === text.toWellFormed()
        );
      }),
    );
  });

  test("accepts a text if and only if a strict TextDecoder accepts its bytes", () => {
    const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const bytesOfText = fc.array(
      fc.constantFrom(0x41, 0x80, 0xbf, 0xc2, 0xe0, 0xa0, 0xed, 0xf0, 0x90, 0xf4, 0xff),
      {
        maxLength: 40,
      },
    );
    fc.assert(
      fc.property(bytesOfText, (text) => {
        const dataBytes = Uint8Array.from([0x2a, text.length + 2, 0x22, text.length, ...text]);
        let expected: string | undefined;
        try {
          expected = strict.decode(Uint8Array.from(text));
        } catch {
          expected = undefined;
        }
        const data = decodeMessageData(dataBytes);
        const actual =
          data.ok && data.value.body?.$case === "castAddBody" ? data.value.body.value.text : undefined;
        return actual === expected;
      }),
      { numRuns: 2000 },
    );
  });

  test("refuses 4 MiB of packed integers, groups or garbage", () => {
    for (const fill of [0x01, 0x80, 0xff, 0x0b, 0xf3]) {
      const bytes = Buffer.alloc(4 * 1024 * 1024, fill);
      const packed = Buffer.concat([
        Uint8Array.of(0x8a, 0x01, 0xfd, 0xff, 0xff, 0x01, 0x12, 0xf9, 0xff, 0xff, 0x01),
        bytes,
      ]);
      for (const input of [bytes, packed]) {
        expect(decodeMessageData(input).ok).toBe(false);
        expect(typeof (findWireError(input, MESSAGE_SCHEMA) ?? "")).toBe("string");
      }
    }
  });
});

describe("findWireError", () => {
  const errorIn = (...bytes: number[]) => findWireError(Uint8Array.from(bytes), MESSAGE_DATA_SCHEMA);
  const nested = (depth: number) =>
    [...new Array(depth).fill(0xf3), ...new Array(depth).fill(0xf4)].flatMap((tag) => [tag, 0x01]);

  test("accepts unknown fields of every wire type, empty ones included", () => {
    expect(errorIn(0xf0, 0x01, 0x00)).toBeUndefined();
    expect(errorIn(0xf2, 0x01, 0x00)).toBeUndefined();
    expect(errorIn(0xf1, 0x01, ...new Array(8).fill(0))).toBeUndefined();
    expect(errorIn(0xf5, 0x01, ...new Array(4).fill(0))).toBeUndefined();
    expect(errorIn(0xf3, 0x01, 0xf4, 0x01)).toBeUndefined();
  });

  test("accepts repeated integers packed and unpacked", () => {
    expect(errorIn(0x2a, 4, 0x12, 2, 1, 2)).toBeUndefined();
    expect(errorIn(0x2a, 4, 0x10, 1, 0x10, 2)).toBeUndefined();
  });

  test("accepts 50 nested groups and refuses 51", () => {
    expect(errorIn(...nested(50))).toBeUndefined();
    expect(errorIn(...nested(51))).toMatch(/too deeply/);
  });

  test("accepts a varint of ten bytes and 64 bits, refuses one of eleven bytes or 65 bits", () => {
    const ten = new Array(9).fill(0xff);
    expect(errorIn(0xf0, 0x01, ...ten, 0x01)).toBeUndefined();
    expect(errorIn(0xf0, 0x01, ...ten, 0x02)).toMatch(/varint/);
    expect(errorIn(0xf0, 0x01, ...ten, 0x80, 0x01)).toMatch(/varint/);
  });

  test("refuses a tag of more than 32 bits, also in a group", () => {
    // Field 30, whose tag has bit 32 set beside it.
    const wide = [0xf0, 0x81, 0x80, 0x80, 0x10, 0x00];
    expect(errorIn(...wide)).toMatch(/malformed tag/);
    expect(errorIn(0xf3, 0x01, ...wide, 0xf4, 0x01)).toMatch(/malformed tag/);
  });

  test("refuses bytes that end after a tag", () => {
    for (const tag of [[0x08], [0x2a], [0xf0, 0x01], [0xf2, 0x01]]) expect(errorIn(...tag)).toMatch(/varint/);
    expect(errorIn(0x2a, 1, 0x22)).toMatch(/varint/);
    expect(errorIn(0x2a, 1, 0x12)).toMatch(/varint/);
  });

  test("refuses a field that crosses the end of its message", () => {
    expect(errorIn(0x2a, 2, 0x40, 0x80, 0x10, 0x01)).toMatch(/varint/);
    expect(errorIn(0x2a, 3, 0x12, 2, 1, 0x10, 1)).toMatch(/past the end/);
    expect(errorIn(0x2a, 4, 0x12, 2, 1, 0x80, 0x01)).toMatch(/varint/);
    expect(errorIn(0x2a, 3, 0x22, 2, 0x61, 0x10, 1)).toMatch(/past the end/);
    expect(errorIn(0xf1, 0x01, ...new Array(7).fill(0))).toMatch(/past the end/);
    expect(errorIn(0xf5, 0x01, ...new Array(3).fill(0))).toMatch(/past the end/);
  });
});

describe("wire schemas", () => {
  test("match every field of the .proto files", () => {
    const proto = ["message", "on-chain"]
      .map((name) => readFileSync(new URL(`../../src/protocol/wire/${name}.proto`, import.meta.url), "utf8"))
      .join("\n");
    const enums = new Set([...proto.matchAll(/^enum (\w+)/gm)].map((match) => match[1]));
    const messages = new Map(
      [...proto.matchAll(/^message (\w+) \{\n(.*?)^\}/gms)].map((m) => [m[1], m[2] ?? ""]),
    );

    function schemaInProto(name: string): unknown {
      const fields = [
        ...(messages.get(name) ?? "").matchAll(/^ +(repeated |optional )?(\w+) \w+ = (\d+);/gm),
      ];
      const schema: unknown[] = [];
      for (const [, label, type = "", number] of fields) {
        const isRepeated = label === "repeated ";
        const isVarint = enums.has(type) || type === "uint32" || type === "uint64";
        if (isVarint) schema[Number(number)] = isRepeated ? "varints" : "varint";
        else if (type === "string") schema[Number(number)] = "text";
        else if (type === "bytes") schema[Number(number)] = "bytes";
        else schema[Number(number)] = { message: schemaInProto(type), repeated: isRepeated };
      }
      return Array.from(schema);
    }

    const countFields = (schema: WireSchema): number =>
      schema.reduce(
        (sum, field) => sum + (typeof field === "object" ? countFields(field.message) : field ? 1 : 0),
        0,
      );
    expect(MESSAGE_SCHEMA as unknown).toEqual(schemaInProto("Message"));
    expect(ON_CHAIN_EVENT_SCHEMA as unknown).toEqual(schemaInProto("OnChainEvent"));
    expect(USER_NAME_PROOF_SCHEMA as unknown).toEqual(schemaInProto("UserNameProof"));
    expect(countFields(MESSAGE_SCHEMA)).toBeGreaterThan(60);
  });
});
