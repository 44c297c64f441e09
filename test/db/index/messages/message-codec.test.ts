import { describe, expect, test } from "bun:test";
import * as core from "@farcaster/core";
import fc from "fast-check";
import type { TypedColumns } from "../../../../src/db/index/messages/columns.ts";
import { encodeData } from "../../../../src/db/index/messages/encode-data.ts";
import { readColumns } from "../../../../src/db/index/messages/read-data.ts";
import { messageDataOf, rebuildEncoded, rebuildMessage } from "../../../../src/db/index/messages/rebuild.ts";
import { splitEncoded, splitMessage } from "../../../../src/db/index/messages/split.ts";
import {
  decodeMessage,
  encodeMessage,
  type SignedMessage,
} from "../../../../src/protocol/message/signed-message.ts";
import {
  type CastAddBody,
  FarcasterNetwork,
  Message,
  MessageData,
  MessageType,
} from "../../../../src/protocol/wire/generated/message.ts";
import { makeSigner, sealDataBytes } from "../../../support/messages.ts";
import { ODD_ENCODINGS } from "../../../support/odd-encodings.ts";

const MAINNET = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const signer = makeSigner("codec");
const SIGNATURE = new Uint8Array(64).fill(5);

type Body = NonNullable<MessageData["body"]>;

const uint32 = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 0xffff_ffff }));
const fid = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const hash = fc.uint8Array({ minLength: 20, maxLength: 20 });
const castId = fc.record({ fid, hash });
/** Any text, also with NUL, a byte-order mark, and lengths around those at which the length prefix grows. */
const text = (maxBytes: number) =>
  fc.oneof(
    fc.string({ unit: "binary", maxLength: maxBytes / 4 }).filter((value) => value.isWellFormed()),
    fc.constantFrom("", "gm", "a\0b", "\uFEFFmark", "é".repeat(Math.min(64, maxBytes / 2))),
    fc.constantFrom(127, 128, 129, 320).map((length) => "x".repeat(Math.min(length, maxBytes))),
  );
const url = text(256).filter((value) => value !== "");
const linkType = fc.oneof(
  fc.constantFrom("follow", "block", "1", "2", "follow2"),
  text(8).filter((value) => value !== ""),
);

const castBody: fc.Arbitrary<Body> = fc
  .record({
    embedsDeprecated: fc.oneof(fc.constant<string[]>([]), fc.array(url, { maxLength: 2 })),
    mentions: fc.oneof(fc.constant<number[]>([]), fc.array(fid, { maxLength: 3 })),
    parent: fc.oneof(
      fc.constant(undefined),
      castId.map((value) => ({ $case: "parentCastId" as const, value })),
      url.map((value) => ({ $case: "parentUrl" as const, value })),
    ),
    text: fc.oneof(text(320), fc.constantFrom("é".repeat(5000), "x".repeat(10_000))),
    mentionsPositions: fc.oneof(fc.constant<number[]>([]), fc.array(uint32, { maxLength: 3 })),
    embeds: fc.oneof(
      fc.constant<CastAddBody["embeds"]>([]),
      fc.array(
        fc.oneof(
          url.map((value) => ({ embed: { $case: "url" as const, value } })),
          castId.map((value) => ({ embed: { $case: "castId" as const, value } })),
        ),
        { maxLength: 4 },
      ),
    ),
    type: fc.nat(2),
  })
  .map((value) => ({ $case: "castAddBody", value }));
const reactionBody: fc.Arbitrary<Body> = fc
  .record({
    type: fc.integer({ min: 1, max: 2 }),
    target: fc.oneof(
      castId.map((value) => ({ $case: "targetCastId" as const, value })),
      url.map((value) => ({ $case: "targetUrl" as const, value })),
    ),
  })
  .map((value) => ({ $case: "reactionBody", value }));
const linkBody: fc.Arbitrary<Body> = fc
  .record({
    type: linkType,
    displayTimestamp: fc.oneof(fc.constant(undefined), uint32),
    target: fid.map((value) => ({ $case: "targetFid" as const, value })),
  })
  .map((value) => ({ $case: "linkBody", value }));
const userDataBody: fc.Arbitrary<Body> = fc
  .record({ type: fc.integer({ min: 1, max: 14 }), value: text(256) })
  .map((value) => ({ $case: "userDataBody", value }));

const TYPES: Readonly<Record<string, MessageType>> = {
  castAddBody: MessageType.MESSAGE_TYPE_CAST_ADD,
  reactionBody: MessageType.MESSAGE_TYPE_REACTION_ADD,
  linkBody: MessageType.MESSAGE_TYPE_LINK_ADD,
  userDataBody: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
};

/** The data of casts, reactions, links and user data within the limits of the protocol's types. */
const data: fc.Arbitrary<MessageData> = fc
  .record({
    body: fc.oneof(castBody, reactionBody, linkBody, userDataBody),
    fid,
    timestamp: uint32,
  })
  .map(({ body, ...head }) => ({ ...head, body, type: TYPES[body.$case] ?? 0, network: MAINNET }));

/** An envelope of any data bytes, without a valid signature. */
function seal(dataBytes: Uint8Array): SignedMessage {
  const sealed = { ...sealDataBytes(dataBytes, signer), signature: SIGNATURE };
  const message = decodeMessage(Message.encode(sealed).finish());
  if (!message.ok) throw new Error(message.error.reason);
  return message.value;
}

function typedColumns(message: SignedMessage): TypedColumns {
  const { columns } = splitMessage(message, MAINNET);
  if (columns.table === "messages") throw new Error("stored as a generic row");
  return columns;
}

describe("splitMessage and rebuildMessage", () => {
  test("give every canonical message back from only its columns", () => {
    fc.assert(
      fc.property(data, (value) => {
        const message = seal(MessageData.encode(value).finish());
        const { columns, envelope, hash } = splitMessage(message, MAINNET);
        expect(envelope.data).toBeNull();
        expect(splitEncoded(encodeMessage(message), MAINNET)).toEqual({ columns, envelope, hash });
        expect(rebuildMessage(columns, envelope, MAINNET)).toEqual({ ...message, hash });
        expect(Buffer.from(rebuildEncoded(columns, envelope, MAINNET))).toEqual(
          Buffer.from(encodeMessage(message)),
        );
      }),
      { numRuns: 500 },
    );
  });

  test("give every canonical message of another network back from its bytes", () => {
    const value = MessageData.fromPartial({ type: 11, fid: 3, timestamp: 5, network: 3 });
    value.body = { $case: "userDataBody", value: { type: 1, value: "x" } };
    const message = seal(MessageData.encode(value).finish());
    const { columns, envelope } = splitMessage(message, MAINNET);
    expect(envelope.data).toEqual(message.dataBytes);
    expect(rebuildMessage(columns, envelope, MAINNET)).toEqual(message);
  });

  test("give every message of the public client library back from only its columns", () => {
    fc.assert(
      fc.property(data, (value) => {
        // The library writes empty lists that the protocol's canonical form leaves out.
        const theirs = core.MessageData.decode(MessageData.encode(value).finish());
        const message = seal(core.MessageData.encode(theirs).finish());
        const { columns, envelope } = splitMessage(message, MAINNET);
        expect(envelope.data).toBeNull();
        expect(rebuildMessage(columns, envelope, MAINNET)).toEqual(message);
      }),
      { numRuns: 500 },
    );
  });

  /** The generators of random messages of the public client library, one for each type. */
  const factories = Object.entries(core.Factories).flatMap(([name, factory]) =>
    name.endsWith("Message") && name !== "Message" && name !== "FrameActionMessage"
      ? [[name, factory as unknown as { create(): Promise<core.Message> }] as const]
      : [],
  );

  test.each(factories)("give messages of the public generator back: %s", async (name, factory) => {
    for (let round = 0; round < 5; round++) {
      const { data } = await factory.create();
      if (!data) throw new Error("no data");
      const message = seal(core.MessageData.encode(data).finish());
      const { columns, envelope } = splitMessage(message, data.network as number);
      expect(rebuildMessage(columns, envelope, data.network as number)).toEqual(message);
      expect(splitEncoded(encodeMessage(message), data.network as number)).toEqual({
        columns,
        envelope,
        hash: message.hash,
      });
      const isTyped = /^(Cast|Reaction|Link|UserData)Add/.test(name);
      expect(columns.table === "messages").toBe(!isTyped);
      expect(envelope.data === null).toBe(isTyped);
    }
  });

  for (const [name, encode] of Object.entries(ODD_ENCODINGS)) {
    test(`give a message back byte for byte: ${name}`, () => {
      let differing = 0;
      fc.assert(
        fc.property(data, (value) => {
          const canonical = MessageData.encode(value).finish();
          const message = seal(encode(canonical));
          const { columns, envelope } = splitMessage(message, MAINNET);
          if (Buffer.compare(message.dataBytes, canonical) !== 0) differing++;
          expect(rebuildMessage(columns, envelope, MAINNET)).toEqual(message);
          expect(Buffer.from(rebuildEncoded(columns, envelope, MAINNET))).toEqual(
            Buffer.from(encodeMessage(message)),
          );
          expect(splitEncoded(encodeMessage(message), MAINNET)).toEqual({
            columns,
            envelope,
            hash: message.hash,
          });
          // The columns do not depend on the encoding.
          expect(messageDataOf(typedColumns(message), MAINNET)).toEqual(message.data);
        }),
        { numRuns: 150 },
      );
      expect(differing).toBeGreaterThan(0);
    });
  }

  test("give back a message that arrived with data and without data_bytes", () => {
    fc.assert(
      fc.property(data, (value) => {
        const sealed = sealDataBytes(MessageData.encode(value).finish(), signer);
        const wire = Message.encode({ ...sealed, data: value, dataBytes: undefined }).finish();
        const message = decodeMessage(wire);
        if (!message.ok) throw new Error(message.error.reason);
        const { columns, envelope } = splitMessage(message.value, MAINNET);
        expect(envelope.data).toBeNull();
        expect(rebuildMessage(columns, envelope, MAINNET)).toEqual(message.value);
      }),
      { numRuns: 100 },
    );
  });

  test("keep the bytes of all other types", () => {
    const bodies: [MessageType, Body][] = [
      [2, { $case: "castRemoveBody", value: { targetHash: new Uint8Array(20) } }],
      [4, { $case: "reactionBody", value: { type: 1, target: { $case: "targetUrl", value: "u" } } }],
      [6, { $case: "linkBody", value: { type: "follow", target: { $case: "targetFid", value: 5 } } }],
      [8, { $case: "verificationRemoveBody", value: { address: new Uint8Array(20), protocol: 0 } }],
      [14, { $case: "linkCompactStateBody", value: { type: "follow", targetFids: [3, 4] } }],
      [15, { $case: "lendStorageBody", value: { toFid: 5, numUnits: 1, unitType: 2 } }],
    ];
    for (const [type, body] of bodies) {
      const bytes = MessageData.encode({ type, fid: 7, timestamp: 9, network: MAINNET, body }).finish();
      for (const odd of [bytes, Buffer.concat([bytes, Buffer.from("c23e03616263", "hex")])]) {
        const message = seal(odd);
        const { columns, envelope, hash } = splitMessage(message, MAINNET);
        expect(columns).toMatchObject({ table: "messages", fid: 7, timestamp: message.data.timestamp });
        expect(rebuildMessage(columns, envelope, MAINNET)).toEqual({ ...message, hash });
      }
    }
  });
});

describe("encodeData", () => {
  test("gives the bytes of the generated encoder", () => {
    fc.assert(
      fc.property(data, (value) => {
        const columns = typedColumns(seal(MessageData.encode(value).finish()));
        expect(Buffer.from(encodeData(columns, MAINNET))).toEqual(
          Buffer.from(MessageData.encode(messageDataOf(columns, MAINNET)).finish()),
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe("readColumns", () => {
  test("reads every canonical encoding", () => {
    fc.assert(
      fc.property(data, (value) => {
        const columns = readColumns(MessageData.encode(value).finish());
        if (!columns) throw new Error("not read");
        expect(messageDataOf(columns, MAINNET)).toEqual(
          MessageData.decode(MessageData.encode(value).finish()),
        );
      }),
      { numRuns: 500 },
    );
  });

  test("reads nothing of a link without a target", () => {
    const body = { $case: "linkBody" as const, value: { type: "follow", target: undefined } };
    const link = { type: MessageType.MESSAGE_TYPE_LINK_ADD, fid: 1, timestamp: 1, network: MAINNET, body };
    expect(readColumns(MessageData.encode(MessageData.fromPartial(link)).finish())).toBeUndefined();
  });

  test("reads what the generated decoder reads, or nothing, when bytes are changed, cut or added", () => {
    let read = 0;
    fc.assert(
      fc.property(
        data,
        fc.nat(),
        fc.nat(255),
        fc.constantFrom("change", "cut", "add"),
        (value, where, byte, kind) => {
          const canonical = MessageData.encode(value).finish();
          const at = where % Math.min(canonical.length, 60);
          const bytes =
            kind === "change"
              ? canonical.with(at, byte)
              : kind === "cut"
                ? canonical.slice(0, -1 - (at % 8))
                : Uint8Array.from([...canonical.slice(0, at), byte, ...canonical.slice(at)]);
          let message: SignedMessage;
          try {
            message = seal(bytes);
          } catch {
            return;
          }
          const columns = readColumns(bytes);
          if (!columns || message.data.network !== MAINNET) return;
          read++;
          expect(messageDataOf(columns, MAINNET)).toEqual(message.data);
        },
      ),
      { numRuns: 1500 },
    );
    expect(read).toBeGreaterThan(50);
  });
});
