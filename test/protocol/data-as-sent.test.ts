import { expect, test } from "bun:test";
import { decodeMessage } from "../../src/protocol/message/signed-message.ts";
import { Message, MessageData, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { encodeData, makeSigner, sealDataBytes } from "../support/messages.ts";

const SIGNER = makeSigner("data as sent");
const CANONICAL = encodeData({
  type: MessageType.MESSAGE_TYPE_CAST_ADD,
  fid: 1,
  body: { $case: "castAddBody", value: { text: "hi" } },
});

/** The encoding of published clients: empty lists of mentions and of their positions are written. */
const AS_CLIENTS_WRITE = Buffer.concat([
  CANONICAL.subarray(0, CANONICAL.length - 6),
  Buffer.of(0x2a, 8, 0x12, 0, 0x22, 2, 0x68, 0x69, 0x2a, 0),
]);

/** A message without `data_bytes`: its data, then its envelope. */
function sentAs(data: Uint8Array, signed: Uint8Array): Uint8Array {
  const { dataBytes: _, ...envelope } = sealDataBytes(signed, SIGNER);
  const head = Buffer.of(0x0a, data.length);
  return Buffer.concat([
    head,
    data,
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

test("data_bytes take precedence over data of any kind", () => {
  const { dataBytes = CANONICAL } = sealDataBytes(CANONICAL, SIGNER);
  const both = Buffer.concat([
    sentAs(AS_CLIENTS_WRITE, AS_CLIENTS_WRITE),
    Buffer.of(0x3a, dataBytes.length),
    dataBytes,
  ]);
  expect(dataBytesOf(both)).toBe(CANONICAL.toHex());
});
