import { expect, test } from "bun:test";
import { MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { signMessage } from "../../support/messages.ts";
import { type Body, checkMessage, ctx, FID, signer } from "./message-tables.ts";

const bytes = (length: number) => new Uint8Array(length).fill(0x61);
const accepting = { ...ctx, acceptsFrameActions: true };

function reasonOf(over: Body<"frameActionBody">, context = accepting): string | undefined {
  const value = { url: bytes(1), ...over };
  const body = { $case: "frameActionBody" as const, value };
  const message = signMessage({ type: MessageType.MESSAGE_TYPE_FRAME_ACTION, fid: FID, body }, signer);
  return checkMessage(message, context)?.reason;
}

test("a frame action is accepted up to the limit of each field, and refused one above", () => {
  for (const [field, limit, reason] of [
    ["url", 1024, "url must be 1 to 1024 bytes"],
    ["inputText", 256, "input_text is longer than 256 bytes"],
    ["state", 4096, "state is longer than 4096 bytes"],
    ["transactionId", 256, "transaction_id is longer than 256 bytes"],
    ["address", 64, "address is longer than 64 bytes"],
  ] as const) {
    expect(reasonOf({ [field]: bytes(limit) })).toBeUndefined();
    expect(reasonOf({ [field]: bytes(limit + 1) })).toBe(reason);
  }
  expect(reasonOf({ buttonIndex: 5 })).toBeUndefined();
  expect(reasonOf({ buttonIndex: 6 })).toBe("button_index is above 5");
});

test("a frame action needs a URL, but neither button nor cast", () => {
  expect(reasonOf({})).toBeUndefined();
  expect(reasonOf({ url: bytes(0) })).toBe("url must be 1 to 1024 bytes");
  expect(reasonOf({ castId: { fid: 0, hash: bytes(20) } })).toBe("cast_id fid is missing");
});

test("a frame action is refused where it would be stored", () => {
  expect(reasonOf({}, { ...accepting, acceptsFrameActions: false })).toBe("frame actions are not stored");
});
