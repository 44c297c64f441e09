import { expect, test } from "bun:test";
import { Message as CoreMessage, MessageData as CoreMessageData } from "@farcaster/core";
import fc from "fast-check";
import { decodeMessage, messageFromJson } from "../../src/protocol/message/signed-message.ts";
import { MessageType, ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { makeSigner, signMessage, type TestData } from "../support/messages.ts";

const key = makeSigner("json");
const CAST: TestData = {
  type: MessageType.MESSAGE_TYPE_CAST_ADD,
  fid: 7,
  body: {
    $case: "castAddBody",
    value: {
      text: "hi @",
      mentions: [3],
      mentionsPositions: [3],
      parent: { $case: "parentUrl", value: "https://a.example" },
    },
  },
};
const BODIES: readonly TestData[] = [
  CAST,
  {
    type: MessageType.MESSAGE_TYPE_REACTION_ADD,
    fid: 7,
    body: {
      $case: "reactionBody",
      value: {
        type: ReactionType.REACTION_TYPE_LIKE,
        target: { $case: "targetCastId", value: { fid: 3, hash: new Uint8Array(20).fill(5) } },
      },
    },
  },
  {
    type: MessageType.MESSAGE_TYPE_LINK_ADD,
    fid: 7,
    body: { $case: "linkBody", value: { type: "follow", target: { $case: "targetFid", value: 3 } } },
  },
];

/** The JSON of a message by the official library; `data` as it was decoded from the signed bytes. */
function jsonOf(data: TestData): Record<string, unknown> {
  const message = CoreMessage.decode(signMessage(data, key));
  const decoded = CoreMessageData.decode(message.dataBytes ?? new Uint8Array());
  return CoreMessage.toJSON({ ...message, data: decoded }) as Record<string, unknown>;
}

function hashAndData(bytes: Uint8Array) {
  const message = decodeMessage(bytes);
  if (!message.ok) throw new Error(message.error.reason);
  return { hash: message.value.hash, data: message.value.data };
}

test("the JSON of the official library is the message that was signed", () => {
  for (const data of BODIES) {
    const bytes = messageFromJson(JSON.parse(JSON.stringify(jsonOf(data))));
    if (!bytes.ok) throw new Error(bytes.error);
    expect(hashAndData(bytes.value)).toEqual(hashAndData(signMessage(data, key)));
  }
});

test("data beside dataBytes is not read, whatever it is", () => {
  const genuine = jsonOf(CAST);
  for (const data of [jsonOf({ ...CAST, fid: 8 }).data, { fid: "x" }, [], 7, "text", null]) {
    const bytes = messageFromJson({ ...genuine, data });
    if (!bytes.ok) throw new Error(bytes.error);
    expect(hashAndData(bytes.value)).toEqual(hashAndData(signMessage(CAST, key)));
  }
});

test("without dataBytes, or with empty ones, data is encoded", () => {
  for (const data of BODIES) {
    const { dataBytes: _, ...genuine } = jsonOf(data);
    for (const json of [genuine, { ...genuine, dataBytes: "" }, { ...genuine, dataBytes: null }]) {
      const bytes = messageFromJson(json);
      if (!bytes.ok) throw new Error(bytes.error);
      expect(hashAndData(bytes.value)).toEqual(hashAndData(signMessage(data, key)));
    }
  }
});

test("the type of a cast may have the libraries' name, the full name or the number, and no other", () => {
  const hashOf = (name: string, type: unknown) => {
    const { dataBytes: _, data, ...envelope } = jsonOf(CAST);
    const { castAddBody, ...rest } = data as { castAddBody: object };
    return messageFromJson({ ...envelope, data: { ...rest, [name]: { ...castAddBody, type } } });
  };
  for (const name of ["castAddBody", "cast_add_body"]) {
    const expected = hashOf(name, 1);
    expect(expected.ok).toBe(true);
    for (const type of ["LONG_CAST", "CAST_TYPE_LONG_CAST"]) expect(hashOf(name, type)).toEqual(expected);
    for (const type of ["SHORT_CAST", "1", "toString"]) expect(hashOf(name, type).ok).toBe(false);
  }
});

test("any JSON is a message or an error, never a fault", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (whole, data, dataBytes) => {
      messageFromJson(whole);
      messageFromJson({ data, dataBytes, hash: whole, hashScheme: data });
      messageFromJson({ data: { castAddBody: data, type: whole, fid: dataBytes }, signer: data });
    }),
  );
});
