import { describe, expect, test } from "bun:test";
import { Message, makeCastAdd, NobleEd25519Signer } from "@farcaster/core";
import { buildMessage, ed25519KeyFromSeed } from "../../src/protocol/message/build-message.ts";
import { decodeMessage, encodeMessage } from "../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork, MessageData, MessageType } from "../../src/protocol/wire/generated/message.ts";

const seed = new Uint8Array(32).fill(11);
const text = "Mehr Licht! 猫";

describe("buildMessage", () => {
  test("returns the same bytes as the protocol's library", async () => {
    const theirs = await makeCastAdd(
      {
        text,
        type: 0,
        embeds: [{ url: "https://demo.example/1" }],
        embedsDeprecated: [],
        mentions: [3],
        mentionsPositions: [4],
        parentCastId: { fid: 5, hash: new Uint8Array(20).fill(9) },
      },
      { fid: 7, network: 1, timestamp: 150_000_000 },
      new NobleEd25519Signer(seed),
    );
    const data = MessageData.fromPartial({
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid: 7,
      timestamp: 150_000_000,
      network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
      body: {
        $case: "castAddBody",
        value: {
          text,
          embeds: [{ embed: { $case: "url", value: "https://demo.example/1" } }],
          mentions: [3],
          mentionsPositions: [4],
          parent: { $case: "parentCastId", value: { fid: 5, hash: new Uint8Array(20).fill(9) } },
        },
      },
    });
    const ours = buildMessage(data, ed25519KeyFromSeed(seed));
    const expected = theirs._unsafeUnwrap();
    expect(ours.hash).toEqual(new Uint8Array(expected.hash));
    expect(ours.signature).toEqual(new Uint8Array(expected.signature));
    expect(ours.signer).toEqual(new Uint8Array(expected.signer));
    expect(decodeMessage(encodeMessage(ours))).toEqual(decodeMessage(Message.encode(expected).finish()));
  });

  test("rejects a seed of another length", () => {
    for (const length of [0, 31, 33, 64]) {
      expect(() => ed25519KeyFromSeed(new Uint8Array(length))).toThrow(RangeError);
    }
  });
});
