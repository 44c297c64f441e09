import { Message, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { encodeData, sealDataBytes, type TestData } from "./messages.ts";
import { accountSigner } from "./node.ts";
import { ODD_ENCODINGS } from "./odd-encodings.ts";

/** Valid messages of an fid of `accountRecords` in every odd encoding: a cast, a like, a follow and a removed recast of each. */
export function oddMessages(fid: number): Uint8Array[] {
  return Object.values(ODD_ENCODINGS).flatMap((encode, index) => {
    const hash = new Uint8Array(20).fill(index + 1);
    const target = { $case: "targetCastId" as const, value: { fid: 9, hash } };
    const data: TestData[] = [
      {
        type: MessageType.MESSAGE_TYPE_CAST_ADD,
        body: {
          $case: "castAddBody",
          value: {
            text: `odd ${index}`,
            mentions: [3, 4],
            mentionsPositions: [0, 1],
            embeds: [{ embed: { $case: "castId", value: { fid: 5, hash } } }],
            parent: { $case: "parentUrl", value: `https://example.com/${index}` },
          },
        },
      },
      {
        type: MessageType.MESSAGE_TYPE_REACTION_ADD,
        body: { $case: "reactionBody", value: { type: 1, target } },
      },
      {
        type: MessageType.MESSAGE_TYPE_LINK_ADD,
        body: {
          $case: "linkBody",
          value: { type: "follow", target: { $case: "targetFid", value: 100 + index } },
        },
      },
      {
        type: MessageType.MESSAGE_TYPE_REACTION_REMOVE,
        body: { $case: "reactionBody", value: { type: 2, target } },
      },
    ];
    return data.map((one) =>
      Message.encode(sealDataBytes(encode(encodeData({ fid, ...one })), accountSigner(fid))).finish(),
    );
  });
}
