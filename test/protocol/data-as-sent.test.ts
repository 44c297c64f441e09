import { expect, test } from "bun:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import {
  decodeMessage,
  decodeMessageData,
  MAX_DATA_BYTES_OF_ANY_TYPE,
} from "../../src/protocol/message/signed-message.ts";
import { Message, MessageData, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { encodeData, makeSigner, sealDataBytes, type TestData } from "../support/messages.ts";
import { padded } from "./validate/message-tables.ts";

const SIGNER = makeSigner("data as sent");
const CAST: TestData = {
  type: MessageType.MESSAGE_TYPE_CAST_ADD,
  fid: 1,
  body: { $case: "castAddBody", value: { text: "hi" } },
};
const CANONICAL = encodeData(CAST);

/** The encoding of published clients: empty lists of mentions and of their positions are written. */
const AS_CLIENTS_WRITE = Buffer.concat([
  CANONICAL.subarray(0, CANONICAL.length - 6),
  Buffer.of(0x2a, 8, 0x12, 0, 0x22, 2, 0x68, 0x69, 0x2a, 0),
]);

/** A message without `data_bytes`: its data, then its envelope. */
function sentAs(data: Uint8Array, signed: Uint8Array): Uint8Array {
  const { dataBytes: _, ...envelope } = sealDataBytes(signed, SIGNER);
  return Buffer.concat([
    new BinaryWriter().uint32(0x0a).bytes(data).finish(),
    Message.encode({ ...envelope, data: undefined, dataBytes: undefined }).finish(),
  ]);
}

function dataBytesOf(bytes: Uint8Array): string {
  const message = decodeMessage(bytes);
  if (!message.ok) throw new Error(message.error.reason);
  return message.value.dataBytes.toHex();
}

test("of a message without data_bytes, the signed bytes are its data as it was sent if they have its hash", () => {
  expect(MessageData.decode(AS_CLIENTS_WRITE)).toEqual(MessageData.decode(CANONICAL));
  expect(dataBytesOf(sentAs(AS_CLIENTS_WRITE, AS_CLIENTS_WRITE))).toBe(AS_CLIENTS_WRITE.toString("hex"));
});

test("otherwise they are the canonical encoding of its data", () => {
  expect(dataBytesOf(sentAs(AS_CLIENTS_WRITE, CANONICAL))).toBe(CANONICAL.toHex());
  expect(dataBytesOf(sentAs(CANONICAL, CANONICAL))).toBe(CANONICAL.toHex());
});

test("also if the data is the largest that a message may have", () => {
  const largest = padded(CAST, MAX_DATA_BYTES_OF_ANY_TYPE);
  expect(dataBytesOf(sentAs(largest, largest))).toBe(largest.toHex());
  expect(decodeMessageData(padded(CAST, MAX_DATA_BYTES_OF_ANY_TYPE + 1))).toMatchObject({
    ok: false,
    error: { reason: "data is larger than 65536 bytes" },
  });
});

test("empty data_bytes are none", () => {
  const message = Buffer.concat([sentAs(CANONICAL, CANONICAL), Buffer.of(0x3a, 0)]);
  expect(dataBytesOf(message)).toBe(CANONICAL.toHex());
});

test("data_bytes take precedence over data of any kind", () => {
  const { dataBytes = CANONICAL } = sealDataBytes(CANONICAL, SIGNER);
  const both = Buffer.concat([
    sentAs(AS_CLIENTS_WRITE, AS_CLIENTS_WRITE),
    Buffer.of(0x3a, dataBytes.length),
    dataBytes,
  ]);
  expect(dataBytesOf(both)).toBe(CANONICAL.toHex());
});
