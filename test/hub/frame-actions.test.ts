import { expect, test } from "bun:test";
import { Message as WireMessage } from "@farcaster/hub-nodejs";
import { indexPath } from "../../src/db/index/database.ts";
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import { signerEvent } from "../support/events.ts";
import { startTestHub } from "../support/hub.ts";
import { makeSigner, signMessage, type TestSigner } from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode } from "../support/node.ts";

const VALID = {
  url: Buffer.from("https://frame.example/"),
  buttonIndex: 1,
  castId: { fid: 2, hash: Buffer.alloc(20, 1) },
  inputText: Buffer.alloc(256, 97),
  state: Buffer.alloc(4096, 97),
  transactionId: Buffer.alloc(256),
  address: Buffer.alloc(64),
};

function frameAction(over: Partial<typeof VALID> = {}, signer: TestSigner = accountSigner(1)) {
  const bytes = signMessage(
    {
      type: MessageType.MESSAGE_TYPE_FRAME_ACTION,
      fid: 1,
      body: { $case: "frameActionBody", value: { ...VALID, ...over } },
    },
    signer,
  );
  return WireMessage.decode(bytes);
}

test("ValidateMessage accepts the frame action of an active key and refuses any other; none is ever stored", async () => {
  using node = startTestNode();
  node.ingestAll(accountRecords(1));
  const removed = makeSigner("removed");
  node.ingestEvent(signerEvent(1, removed.publicKey, { block: 900_000 }));
  node.ingestEvent(signerEvent(1, removed.publicKey, { block: 900_001 }, "remove"));
  await using hub = await startTestHub(indexPath(node.dir), {
    clock: node.clock,
    submit: async (records) => node.merge(records),
  });
  const { client } = hub;
  const verdict = async (message: WireMessage) =>
    (await client.validateMessage(message)).match(
      ({ valid }) => (valid ? "valid" : "invalid"),
      ({ message: reason }) => reason,
    );
  expect(await verdict(frameAction())).toBe("valid");
  expect(await verdict(frameAction({ buttonIndex: 5, state: Buffer.alloc(0) }))).toBe("valid");
  for (const [over, reason] of [
    [{ buttonIndex: 6 }, "button_index is above 5"],
    [{ url: Buffer.alloc(0) }, "url must be 1 to 1024 bytes"],
    [{ url: Buffer.alloc(1025) }, "url must be 1 to 1024 bytes"],
    [{ inputText: Buffer.alloc(257) }, "input_text is longer than 256 bytes"],
    [{ state: Buffer.alloc(4097) }, "state is longer than 4096 bytes"],
    [{ transactionId: Buffer.alloc(257) }, "transaction_id is longer than 256 bytes"],
    [{ address: Buffer.alloc(65) }, "address is longer than 64 bytes"],
    [{ castId: { fid: 2, hash: Buffer.alloc(19) } }, "cast_id hash must be 20 bytes"],
  ] as const)
    expect(await verdict(frameAction(over as Partial<typeof VALID>))).toBe(reason);
  expect(await verdict(frameAction({}, removed))).toBe("signer is not an active key of the fid");
  const submitted = await client.submitMessage(frameAction());
  expect(submitted._unsafeUnwrapErr().message).toBe("frame actions are not stored");
  const bulk = (await client.submitBulkMessages({ messages: [frameAction()] }))._unsafeUnwrap();
  expect(bulk.messages[0]?.messageError?.message).toBe("frame actions are not stored");
});
